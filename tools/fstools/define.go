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
	write := tool[writeIn, writeOut]{"write", writeText, s.writeSubjects, renderWrite, writeCard, writeResult}
	edit := tool[editIn, editOut]{"edit", editText, s.editSubjects, renderEdit, editCard, editResult}
	return append(s.ReadTools(),
		write.changes(s.write, writeSchema, tools.Annotations{Destructive: true, Idempotent: true}),
		edit.changes(s.edit, editSchema, tools.Annotations{Destructive: true}),
	)
}

// ReadTools returns the definitions of the tools that only look: read, glob and
// grep.
func (s *Set) ReadTools() []*tools.Definition {
	read := tool[readIn, readOut]{"read", readText, s.readSubjects, renderRead, readCard, readResult}
	glob := tool[globIn, globOut]{"glob", globText, s.globSubjects, renderGlob, globCard, globResultCard}
	grep := tool[grepIn, grepOut]{"grep", grepText, s.grepSubjects, renderGrep, grepCard, grepResultCard}
	return []*tools.Definition{read.looks(s.read), glob.looks(s.glob), grep.looks(s.grep)}
}

// The values of the tools that change something: their bodies return more than
// the value, so no Go type tells its schema.
const (
	writeSchema = `{"type": "object", "additionalProperties": false, "required": ["path", "bytes", "created"], "properties": {
		"path": {"type": "string"}, "bytes": {"type": "integer"}, "created": {"type": "boolean"}}}`
	editSchema = `{"type": "object", "additionalProperties": false, "required": ["path", "replacements"], "properties": {
		"path": {"type": "string"}, "replacements": {"type": "integer"}, "note": {"type": "string"}}}`
)

// tool is a tool but for its body.
type tool[In, Out any] struct {
	name, text string
	subjects   func(In) ([]tools.Subject, error)
	render     func(Out) string
	call       func(In) tools.Card
	result     func(In, Out, tools.Final) tools.Card
}

// looks defines a tool that changes nothing, so that its calls may overlap and
// be repeated.
func (t tool[In, Out]) looks(body func(context.Context, *tools.Run, In) (Out, error)) *tools.Definition {
	def := t.definition()
	def.Concurrent = func(tools.JSON) bool { return true }
	def.Annotations = tools.Annotations{ReadOnly: true, Idempotent: true}
	return tools.DefineWith(def, func(ctx context.Context, run *tools.Run, in In) (out Out, err error) {
		if err := wellFormed(t.name, run.Args()); err != nil {
			return out, err
		}
		return body(ctx, run, in)
	})
}

// changes defines a tool that changes a file. Its preview is its body up to
// where that would begin to write.
func (t tool[In, Out]) changes(body func(ctx context.Context, run *tools.Run, in In, dryRun bool) (tools.Result, error), output string, annotations tools.Annotations) *tools.Definition {
	with := func(dryRun bool) func(context.Context, *tools.Run, In) (tools.Result, error) {
		return func(ctx context.Context, run *tools.Run, in In) (tools.Result, error) {
			if err := wellFormed(t.name, run.Args()); err != nil {
				return tools.Result{}, err
			}
			return body(ctx, run, in, dryRun)
		}
	}
	def := t.definition()
	def.Annotations = annotations
	def.Output = tools.MustJSON(output)
	def.Preview = tools.HandlerOf(t.name, with(true))
	return tools.DefineWith(def, with(false))
}

func (t tool[In, Out]) definition() tools.Definition {
	return tools.Definition{
		Name:          t.name,
		Description:   strings.TrimSpace(t.text),
		Timeout:       patience,
		Subjects:      t.subjectsOf,
		PresentCall:   t.presentCall,
		PresentResult: t.presentResult,
		Render: func(_, value tools.JSON) ([]tools.Content, error) {
			var v Out
			if err := value.Unmarshal(&v); err != nil {
				return nil, err
			}
			return []tools.Content{tools.TextContent(t.render(v))}, nil
		},
	}
}

func (t tool[In, Out]) subjectsOf(args tools.JSON) ([]tools.Subject, error) {
	var in In
	if err := args.Unmarshal(&in); err != nil {
		return nil, err
	}
	return t.subjects(in)
}

// resultOf is a value and what the host keeps beside it.
func resultOf(value, detail any) (tools.Result, error) {
	text, err := tools.ToJSON(value)
	return tools.Result{Value: text, Detail: detail}, err
}

// wellFormed refuses arguments with an unpaired surrogate: half of a character,
// which no UTF-8 text can hold. A Go string has another character in its place.
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
			return badArgs(tool, name, "holds half of a character (an unpaired surrogate), which no UTF-8 text can; remove it")
		}
	}
	return nil
}
