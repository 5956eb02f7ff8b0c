package terminal

import (
	"context"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestPolicies(t *testing.T) {
	careful := func(call tools.Call) bool { return call.Name() == "careful" }
	for _, tc := range []struct {
		name     string
		approver pipeline.Approver
		tool     string
		want     pipeline.Answer
		wantErr  string
	}{
		{"never", Never("asking is switched off"), "any", pipeline.Unavailable, "asking is switched off"},
		{"always", Always(nil, nil), "careful", pipeline.Granted, ""},
		{"always but for some", Always(careful, Never("no")), "any", pipeline.Granted, ""},
		{"the excepted", Always(careful, pipelinetest.NewApprover(pipeline.Rejected)), "careful", pipeline.Rejected, ""},
		{"the excepted without a fallback", Always(careful, nil), "careful", pipeline.Unavailable,
			`this call of tool "careful" is never allowed unseen, and there is nobody to ask`},
		{"no terminal", NewApprover(nil), "any", pipeline.Unavailable, errNoTerminal.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer, err := tc.approver.Approve(context.Background(), pipeline.ApprovalRequest{Call: tools.NewCall(tools.CallSpec{Name: tc.tool})})
			text := ""
			if err != nil {
				text = err.Error()
			}
			if answer != tc.want || text != tc.wantErr {
				t.Errorf("Approve = %v, %q, want %v, %q", answer, text, tc.want, tc.wantErr)
			}
		})
	}
}
