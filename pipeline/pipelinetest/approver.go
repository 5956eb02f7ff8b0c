package pipelinetest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/runcode-go/runcode/pipeline"
)

// Approver answers from a script and remembers what it was asked. It is safe
// for concurrent use.
type Approver struct {
	mu      sync.Mutex
	answers []pipeline.Answer
	asked   []pipeline.ApprovalRequest
}

// NewApprover makes an approver that gives the answers in order and fails once
// they are used up.
func NewApprover(answers ...pipeline.Answer) *Approver {
	return &Approver{answers: answers}
}

// Approve gives the next answer.
func (a *Approver) Approve(_ context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, ask)
	if len(a.answers) == 0 {
		return pipeline.Unavailable, errors.New("the scripted approver has no answer left")
	}
	answer := a.answers[0]
	a.answers = a.answers[1:]
	return answer, nil
}

// Asked is a copy of what was asked so far.
func (a *Approver) Asked() []pipeline.ApprovalRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}
