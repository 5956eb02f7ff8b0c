package tools_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func TestDryRun(t *testing.T) {
	body := func(text string) tools.Handler {
		return func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Value: tools.StringJSON(text)}, nil
		}
	}
	defs := []*tools.Definition{
		{Name: "reads", Handler: body("read"), Annotations: tools.Annotations{ReadOnly: true}},
		{Name: "previews", Handler: body("changed"), Preview: body("would change")},
		{Name: "acts", Handler: body("changed")},
	}
	var got []string
	for _, def := range tools.DryRun(defs...) {
		result, err := def.Handler(t.Context(), tools.NewRun(tools.NewCall(tools.CallSpec{Name: def.Name}), tools.RunHooks{}))
		text := result.Value.String()
		if err != nil {
			text = tools.InfoOf(err).Code + " " + err.Error()
		}
		got = append(got, text)
	}
	want := []string{`"read"`, `"would change"`, `DRY_RUN dry run: "acts" was not run, and what it would return is not known; catch this error to go on`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if result, _ := defs[1].Handler(t.Context(), nil); result.Value.String() != `"changed"` {
		t.Error("DryRun altered the definition it was given")
	}
}

func TestPresent(t *testing.T) {
	def := tools.Definition{
		Name: "x", Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil },
		Input: tools.MustJSON(`{"type":"object","required":["n"]}`),
		PresentCall: func(args tools.JSON) tools.Card {
			if args.String() == `{"n":0}` {
				panic("zero")
			}
			return tools.Card{Type: tools.CardTerminal, Title: "run"}
		},
		PresentResult: func(tools.JSON, tools.Final) tools.Card { return tools.Card{} },
	}
	tool, err := tools.NewTool(&def)
	if err != nil {
		t.Fatal(err)
	}
	generic := tools.Card{Type: tools.CardGeneric, Title: "x"}
	for _, tt := range []struct {
		args string
		want tools.Card
	}{
		{`{"n":1}`, tools.Card{Type: tools.CardTerminal, Title: "run"}},
		{`{"n":0}`, generic},
		{`{}`, generic},
	} {
		if diff := cmp.Diff(tt.want, tool.PresentCall(tools.MustJSON(tt.args))); diff != "" {
			t.Errorf("PresentCall(%s) (-want +got):\n%s", tt.args, diff)
		}
	}
	content := []tools.Content{tools.TextContent("done")}
	withContent := generic
	withContent.Content = content
	if diff := cmp.Diff(withContent, tool.PresentResult(tools.MustJSON(`{"n":1}`), tools.Final{Content: content})); diff != "" {
		t.Errorf("PresentResult (-want +got):\n%s", diff)
	}
}
