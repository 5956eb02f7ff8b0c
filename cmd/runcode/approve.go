package main

import (
	"context"

	"github.com/runcode-go/runcode/internal/cardview"
	"github.com/runcode-go/runcode/internal/terminal"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// approvals are the answers --approve knows.
var approvals = []string{"ask", "never", "always"}

// approver is who answers asks: nil for nobody, which denies with the reason of
// the ask.
func (s *session) approver(source func(tools.Call) string) pipeline.Approver {
	switch {
	case s.flags.dryRun: // nothing is changed, so there is nothing to approve
		return pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) {
			return pipeline.Granted, nil
		})
	case s.flags.approve == "never":
		return nil
	}
	var asked pipeline.Approver
	if s.clients != nil {
		asked = s.clients
	} else {
		asked = s.person(source)
	}
	if s.flags.approve == "always" {
		return terminal.Always(s.onlyOnce, asked)
	}
	return asked
}

// onlyOnce asks the policy, which is installed after the pipeline is made.
func (s *session) onlyOnce(call tools.Call) bool { return s.policy.OnlyOnce(call) }

// person asks at the terminal; nil where there is none.
func (s *session) person(source func(tools.Call) string) pipeline.Approver {
	if s.console.tty == nil {
		return nil
	}
	return terminal.NewApprover(&terminal.Options{
		Terminal: s.console.tty,
		Screen:   &s.console.screen,
		Card: func(tool string, args tools.JSON) tools.Card {
			if t := s.tools.registry.Lookup(tool); t != nil {
				return t.PresentCall(args)
			}
			return tools.Card{}
		},
		Draw: func(card tools.Card, columns int) []string {
			return cardview.Draw(card, cardview.Style{Width: columns, Colour: s.console.colour})
		},
		Redact:     s.redactor.JSON,
		RedactText: s.redactor.Text,
		OnlyOnce:   s.onlyOnce,
		Source:     source,
	})
}

// unaskedNote tells the person after a run why calls were denied and how to
// have them allowed.
func (s *session) unaskedNote() {
	unasked := int(s.unasked.Load())
	switch {
	case unasked == 0:
	case s.flags.approve == "never":
		s.note("%s denied, as --approve never says; allow such calls with a rule (--config FILE)", counted(unasked, "call was", "calls were"))
	case s.console.tty != nil: // there was somebody, and the denials say why that did not help
	case s.flags.approve == "always":
		s.note("%s never allowed unseen, and nobody could be asked", counted(unasked, "call was denied: it is", "calls were denied: they are"))
	default:
		s.note("%s denied because nobody could be asked; allow such calls with a rule (--config FILE), or all of them with --approve always", counted(unasked, "call was", "calls were"))
	}
}

// presented is the card of a settled call.
func presented(tool *tools.Tool, out pipeline.Outcome) tools.Card {
	return tool.PresentResult(out.Call().Args(), tools.Final{
		IsError: out.IsError(), Content: out.Content(), Value: out.Value(), Err: out.Err(), Detail: out.Detail(),
	})
}
