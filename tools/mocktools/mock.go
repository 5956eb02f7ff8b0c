package mocktools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/runcode-go/runcode/tools"
)

// mock is what a tool answers. It is not changed after loading.
type mock struct {
	name  string
	delay time.Duration
	deaf  bool       // the delay passes whatever the context says
	cases []mockCase // the tool's own result is the last
}

// mockCase is one answer.
type mockCase struct {
	when     tools.JSON // zero: any arguments
	fallback bool       // the tool's own result
	result   tools.JSON
	content  []tools.Content
	err      error
	contexts []string
}

// sortFallback puts the tool's own result after the cases, wherever the file
// has it.
func (m *mock) sortFallback() {
	slices.SortStableFunc(m.cases, func(a, b mockCase) int {
		switch {
		case a.fallback == b.fallback:
			return 0
		case a.fallback:
			return 1
		}
		return -1
	})
}

// textValues gives cases that answer with text blocks alone that text as their
// value, for a tool that declares no output: a program gets text as a string.
func (m *mock) textValues() {
	for i := range m.cases {
		c := &m.cases[i]
		notText := func(b tools.Content) bool { return b.Type != tools.ContentText }
		if c.result.IsZero() && len(c.content) > 0 && !slices.ContainsFunc(c.content, notText) {
			c.result = tools.StringJSON(tools.ContentString(c.content))
		}
	}
}

// handle is the tool's body.
func (m *mock) handle(ctx context.Context, run *tools.Run) (tools.Result, error) {
	waiting := ctx
	if m.deaf {
		waiting = context.WithoutCancel(ctx)
	}
	if err := wait(waiting, m.delay); err != nil {
		return tools.Result{}, err
	}
	for _, c := range m.cases {
		if !c.when.IsZero() && !subset(c.when, run.Args()) {
			continue
		}
		for _, text := range c.contexts {
			run.Defer(tools.Message{
				Role:    "user",
				Content: []tools.Content{tools.TextContent(text)},
				Source:  tools.Source{Kind: "tool", CallID: run.Call().ID()},
			})
		}
		return tools.Result{Value: c.result, Content: slices.Clone(c.content)}, c.err
	}
	return tools.Result{}, m.noCase(run.Args())
}

// wait passes the time, or stops with the reason ctx ends for.
func wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// listedCases is how many cases an error lists.
const listedCases = 10

func (m *mock) noCase(args tools.JSON) error {
	text := fmt.Sprintf("mock tool %q has no answer to %s: ", m.name, shorten(args.String()))
	if len(m.cases) == 0 {
		return fmt.Errorf(`%sit has neither cases nor a result; add "result" or "cases" to it`, text)
	}
	var whens []string
	for _, c := range m.cases[:min(len(m.cases), listedCases)] {
		whens = append(whens, shorten(c.when.String()))
	}
	text += "its cases match " + strings.Join(whens, ", ")
	if more := len(m.cases) - listedCases; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf(`%s; add a case, or a "result" for all others`, text)
}

// shorten cuts a text for an error.
func shorten(text string) string {
	const width = 200
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width]) + "…"
}
