package tools

import "github.com/runcode-go/runcode/internal/schema"

// How values are called in problem texts, and what they must be.
var (
	argsRoot  = schema.Root{Name: "arguments", Arguments: true}
	valueRoot = schema.Root{Name: "value"}
)

// compileSchema compiles a definition's schema; the zero JSON gives nil, which
// allows what its root allows.
func compileSchema(text JSON) (*schema.Schema, error) {
	if text.IsZero() {
		return nil, nil
	}
	s, err := schema.Compile(text.String())
	if err != nil {
		return nil, &Error{Name: "ToolSchemaError", Code: CodeUnsupportedSchema, Message: err.Error(), Err: err}
	}
	return s, nil
}

// check lists what is wrong with value. The zero JSON, no value, satisfies only
// the absence of a schema.
func check(s *schema.Schema, value JSON, root schema.Root) []Problem {
	if value.IsZero() {
		if s == nil && !root.Arguments {
			return nil
		}
		return []Problem{{Text: `"` + root.Name + `" is missing`}}
	}
	if s == nil && !root.Arguments {
		return nil
	}
	var problems []Problem
	for _, p := range s.Check(value.String(), root) {
		problems = append(problems, Problem{Pointer: p.Pointer, Text: p.Text})
	}
	return problems
}
