package main

import (
	"context"
	"fmt"

	"github.com/runcode-go/runcode/internal/cardview"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// afterDryRun keeps what comes after a call, such as a hook that formats the
// changed file, from a call that changed nothing. It stands before all hooks.
func (s *session) afterDryRun() {
	s.pipeline.PostExecute.Use("dry-run", func(ctx context.Context, settled pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		if s.previewed(settled.Call) {
			return pipeline.Accept(), nil
		}
		return next(ctx)
	})
}

// previewed reports whether a call of a dry run only seems to run.
func (s *session) previewed(call tools.Call) bool {
	tool := s.tools.registry.Lookup(call.Name())
	return tool != nil && !call.IsTransport() && !tool.Definition().Annotations.ReadOnly
}

// showDry says what a call of a dry run would have done. A live view draws it
// itself.
func (s *session) showDry(out pipeline.Outcome) {
	call := out.Call()
	if !s.previewed(call) {
		return
	}
	tool := s.tools.registry.Lookup(call.Name())
	card := cardview.MapTexts(presented(tool, out), s.redactor.Text)
	switch {
	case out.Info().Code == tools.CodeDryRun:
		s.say("not run: %s", s.titleOf(tool, call, cardview.MapTexts(tool.PresentCall(call.Args()), s.redactor.Text)))
	case out.IsError():
	case card.Type == tools.CardDiff:
		for _, diff := range card.Diffs {
			verb := "change"
			if diff.Created {
				verb = "create"
			}
			s.say("would %s %s", verb, termtext.EscapeLine(diff.Path))
		}
		for _, line := range cardview.Draw(card, cardview.Style{Width: 100, MaxLines: 40, Colour: s.console.colour})[1:] {
			s.say("%s", line)
		}
	default:
		s.say("would run %s", s.titleOf(tool, call, card))
	}
}

// titleOf is a call by its card, or by its arguments if the card says no more
// than the tool's name.
func (s *session) titleOf(tool *tools.Tool, call tools.Call, card tools.Card) string {
	if card.Type != tools.CardGeneric || card.Title != tool.Name() {
		return cardview.Title(card)
	}
	return termtext.EscapeLine(head(tool.Name() + " " + s.redactor.JSON(call.Args()).String()))
}

func (s *session) say(format string, args ...any) {
	if !s.flags.quiet {
		fmt.Fprintf(s.console.err, format+"\n", args...)
	}
}
