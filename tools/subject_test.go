package tools_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func TestSubjects(t *testing.T) {
	file := tools.Subject{Access: tools.AccessRead, Path: "/srv/a"}
	def := tools.Definition{
		Name: "x", Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil },
		Input: tools.MustJSON(`{"type":"object","required":["n"]}`),
		Subjects: func(args tools.JSON) ([]tools.Subject, error) {
			switch args.String() {
			case `{"n":0}`:
				panic("zero")
			case `{"n":1}`:
				return []tools.Subject{file}, errors.New("the second file is not known")
			}
			return []tools.Subject{file}, nil
		},
	}
	tool, err := tools.NewTool(&def)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, args string
		want       []tools.Subject
		err        string
	}{
		{"what the definition tells", `{"n":2}`, []tools.Subject{file}, ""},
		{"nothing beside an error", `{"n":1}`, nil, "the second file is not known"},
		{"a panic", `{"n":0}`, nil, `finding the subjects of tool "x" crashed`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := tools.MustJSON(tt.args)
			call := tools.NewCall(tools.CallSpec{Name: "x", Args: args, Subjects: tools.SubjectsOf(tool, args)})
			for by, find := range map[string]func() ([]tools.Subject, error){
				"tool": func() ([]tools.Subject, error) { return tool.Subjects(args) },
				"call": call.Subjects,
				"call of a host's own": tools.NewCall(tools.CallSpec{Name: "x", Subjects: func() ([]tools.Subject, error) {
					subjects, err := tool.Subjects(args)
					if err != nil {
						subjects = []tools.Subject{file}
					}
					return subjects, err
				}}).Subjects,
			} {
				got, err := find()
				text := ""
				if err != nil {
					text = err.Error()
				}
				if diff := cmp.Diff(tt.want, got); diff != "" || text != tt.err {
					t.Errorf("%s: error %q, want %q, subjects (-want +got):\n%s", by, text, tt.err, diff)
				}
			}
		})
	}
	if _, err := tool.Subjects(tools.MustJSON(`{}`)); tools.InfoOf(err).Code != tools.CodeInvalidArgs {
		t.Errorf("arguments that do not fit: %v", err)
	}
}
