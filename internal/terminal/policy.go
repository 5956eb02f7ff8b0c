package terminal

import (
	"context"
	"errors"
	"fmt"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Never is the approver of a command that asks nobody: every call that needs an
// answer is denied as unanswerable, and the reason is logged.
func Never(reason string) pipeline.Approver {
	return pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
		return pipeline.Unavailable, errors.New(reason)
	})
}

// Always allows every call unseen, except those that onlyOnce says need a
// person's answer each time: these the fallback is asked about. A nil onlyOnce
// excepts none; without a fallback the excepted are denied.
func Always(onlyOnce func(tools.Call) bool, fallback pipeline.Approver) pipeline.Approver {
	return pipeline.ApproverFunc(func(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
		switch {
		case onlyOnce == nil || !onlyOnce(ask.Call):
			return pipeline.Granted, nil
		case fallback == nil:
			return pipeline.Unavailable, fmt.Errorf("this call of tool %q is never allowed unseen, and there is nobody to ask", ask.Call.Name())
		}
		return fallback.Approve(ctx, ask)
	})
}
