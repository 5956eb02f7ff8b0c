package fstools

import (
	"context"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// patience is how long a call may take where the timeout policy is in use.
const patience = time.Minute

var (
	//go:embed read.md
	readText string
	//go:embed glob.md
	globText string
	//go:embed grep.md
	grepText string
	//go:embed write.md
	writeText string
	//go:embed edit.md
	editText string
)

// Tools returns the definitions of read, glob, grep, write and edit.
func (s *Set) Tools() []*tools.Definition {
	return append(s.ReadTools(),
		changes("write", writeText, tools.Annotations{Destructive: true, Idempotent: true}, writeSchema, s.write, s.writeSubjects, renderWrite, writeCard, writeResult),
		changes("edit", editText, tools.Annotations{Destructive: true}, editSchema, s.edit, s.editSubjects, renderEdit, editCard, editResult),
	)
}

// ReadTools returns the definitions of the tools that only look: read, glob and
// grep.
func (s *Set) ReadTools() []*tools.Definition {
	return []*tools.Definition{
		looks("read", readText, s.read, s.readSubjects, renderRead, readCard, readResult),
		looks("glob", globText, s.glob, s.globSubjects, renderGlob, globCard, globResultCard),
		looks("grep", grepText, s.grep, s.grepSubjects, renderGrep, grepCard, grepResultCard),
	}
}

// The values of the tools that change something: their bodies return more than
// the value, so no Go type tells its schema.
const (
	writeSchema = `{"type": "object", "additionalProperties": false, "required": ["path", "bytes", "created"], "properties": {
		"path": {"type": "string"}, "bytes": {"type": "integer"}, "created": {"type": "boolean"}}}`
	editSchema = `{"type": "object", "additionalProperties": false, "required": ["path", "replacements"], "properties": {
		"path": {"type": "string"}, "replacements": {"type": "integer"}, "note": {"type": "string"}}}`
)

// shared is what the definitions of all tools here have.
func shared[In, Out any](name, description string, find func(In) ([]tools.Subject, error), render func(Out) string,
	before func(In) tools.Card, after func(In, Out, tools.Final) tools.Card) tools.Definition {
	return tools.Definition{
		Name:          name,
		Description:   strings.TrimSpace(description),
		Timeout:       patience,
		Subjects:      subjects(find),
		PresentCall:   cardOf(before),
		PresentResult: resultCard(before, after),
		Render: func(_, value tools.JSON) ([]tools.Content, error) {
			var v Out
			if err := value.Unmarshal(&v); err != nil {
				return nil, err
			}
			return []tools.Content{tools.TextContent(render(v))}, nil
		},
	}
}

// looks defines a tool that changes nothing, so that its calls may overlap and
// be repeated.
func looks[In, Out any](name, description string, body func(context.Context, *tools.Run, In) (Out, error), find func(In) ([]tools.Subject, error),
	render func(Out) string, before func(In) tools.Card, after func(In, Out, tools.Final) tools.Card) *tools.Definition {
	def := shared(name, description, find, render, before, after)
	def.Concurrent = func(tools.JSON) bool { return true }
	def.Annotations = tools.Annotations{ReadOnly: true, Idempotent: true}
	return tools.DefineWith(def, body)
}

// changes defines a tool that changes a file. Its preview is its body up to
// where that would begin to write.
func changes[In, Out any](name, description string, annotations tools.Annotations, output string,
	body func(ctx context.Context, run *tools.Run, in In, dryRun bool) (tools.Result, error), find func(In) ([]tools.Subject, error),
	render func(Out) string, before func(In) tools.Card, after func(In, Out, tools.Final) tools.Card) *tools.Definition {
	def := shared(name, description, find, render, before, after)
	def.Annotations = annotations
	def.Output = tools.MustJSON(output)
	def.Preview = tools.HandlerOf(name, func(ctx context.Context, run *tools.Run, in In) (tools.Result, error) {
		return body(ctx, run, in, true)
	})
	return tools.DefineWith(def, func(ctx context.Context, run *tools.Run, in In) (tools.Result, error) {
		return body(ctx, run, in, false)
	})
}

// resultOf is a value and what the host keeps beside it.
func resultOf(value, detail any) (tools.Result, error) {
	text, err := tools.ToJSON(value)
	return tools.Result{Value: text, Detail: detail}, err
}

// wellFormed refuses arguments with an unpaired surrogate: half of a character,
// which a file of UTF-8 text cannot hold, and which a Go string does not show.
func wellFormed(tool string, args tools.JSON) error {
	if !strings.Contains(args.String(), `\ud`) {
		return nil
	}
	var members map[string]tools.JSON
	if err := args.Unmarshal(&members); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if value := members[name]; value.Kind() == '"' && !utf8.ValidString(jsonscan.Unquote(value.String())) {
			return badArgs(tool, name, "holds half of a character (an unpaired surrogate), which no file of UTF-8 text can; remove it")
		}
	}
	return nil
}
