package tools

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// Define makes a definition from a typed function: In becomes the input schema,
// Out the output schema, and the body sees Go values only.
//
// In is a struct (or a map with string keys, or JSON for arguments as they
// are); a JSON name comes from the tag json, a description from the tag
// jsonschema:"...". A field is optional if it is a pointer or says omitempty or
// omitzero, any other is required, and properties the struct does not declare
// are refused. []byte is base64 text, time.Time an RFC 3339 date-time,
// time.Duration a count of nanoseconds; what marshals itself, JSON included, may
// be any value.
//
// Out is marshalled once; nil slices and maps become [] and {}. A value whose
// type is known this way is not validated again. Out may also be JSON, a value
// made by hand, or Result, for a body that chooses its own content.
//
// Define panics if In cannot be arguments or a type has no JSON form: both are
// faults of the program. An error fn returns is the call's error, unchanged.
func Define[In, Out any](name, description string, fn func(context.Context, In) (Out, error)) *Definition {
	if fn == nil {
		panic(fmt.Sprintf("tools.Define: tool %q has no function", name))
	}
	return DefineWith(Definition{Name: name, Description: description}, func(ctx context.Context, _ *Run, in In) (Out, error) {
		return fn(ctx, in)
	})
}

// DefineWith is Define with the other fields of a definition given, and with
// the body's handle on its execution. An Input or Output given in def replaces
// the inferred schema; values are validated against such an Output. Handler
// must be nil: fn is the body.
func DefineWith[In, Out any](def Definition, fn func(context.Context, *Run, In) (Out, error)) *Definition {
	if fn == nil {
		panic(fmt.Sprintf("tools.Define: tool %q has no function", def.Name))
	}
	if def.Handler != nil {
		panic(fmt.Sprintf("tools.Define: tool %q has a Handler beside its function; leave Handler nil", def.Name))
	}
	if def.Input.IsZero() {
		schema, err := inputSchema(reflect.TypeFor[In]())
		if err != nil {
			panic(fmt.Sprintf("tools.Define: tool %q: arguments of type %v: %v", def.Name, reflect.TypeFor[In](), err))
		}
		def.Input = schema
	}
	if def.Output.IsZero() {
		schema, err := outputSchema(reflect.TypeFor[Out]())
		if err != nil {
			panic(fmt.Sprintf("tools.Define: tool %q: result of type %v: %v", def.Name, reflect.TypeFor[Out](), err))
		}
		def.Output, def.inferred = schema, schema
	}
	def.Handler = HandlerOf(def.Name, fn)
	return &def
}

// decodeArgs fills in from arguments that passed their schema. What Go's types
// refuse beyond it (a number out of range, a malformed date) is an *ArgsError.
func decodeArgs(tool string, args JSON, in any) error {
	if raw, ok := in.(*JSON); ok {
		*raw = args
		return nil
	}
	if args.IsZero() {
		return &ArgsError{Tool: tool, Problems: []Problem{{Text: `"arguments" must be an object`}}}
	}
	if err := args.Unmarshal(in); err != nil {
		return &ArgsError{Tool: tool, Problems: []Problem{decodeProblem(err, "arguments")}}
	}
	return nil
}

// decodeProblem puts an error of the JSON decoder or encoder into words.
func decodeProblem(err error, root string) Problem {
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return Problem{Text: `"` + root + `" cannot be read: ` + err.Error()}
	}
	pointer := string(semantic.JSONPointer)
	subject := `"` + dotted(pointer, root) + `"`
	switch t := semantic.GoType; {
	case t == nil:
	case t == reflect.TypeFor[time.Time]():
		return Problem{pointer, subject + ` must be a date-time such as "2026-01-02T15:04:05Z"`}
	case isBytes(t):
		return Problem{pointer, subject + " must be base64 text"}
	case errors.Is(semantic.Err, strconv.ErrRange):
		return Problem{pointer, fmt.Sprintf("%s does not fit a %v", subject, t)}
	case errors.Is(semantic.Err, strconv.ErrSyntax):
		return Problem{pointer, subject + " must be a whole number without point or exponent"}
	}
	if semantic.Err != nil {
		return Problem{pointer, subject + ": " + semantic.Err.Error()}
	}
	return Problem{pointer, subject + " has the wrong type"}
}

// dotted writes a pointer as programs write it: /a/0/b is a[0].b.
func dotted(pointer, root string) string {
	if pointer == "" {
		return root
	}
	var b strings.Builder
	for i, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch _, err := strconv.Atoi(token); {
		case err == nil && i > 0:
			b.WriteString("[" + token + "]")
		case i > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// encodeResult makes a Result of what a typed body returned.
func encodeResult(tool string, out any) (Result, error) {
	switch out := out.(type) {
	case Result:
		return out, nil
	case JSON:
		return Result{Value: out}, nil
	}
	value, err := ToJSON(out)
	if err != nil {
		return Result{}, &OutputError{Tool: tool, Problems: []Problem{decodeProblem(err, "value")}}
	}
	return Result{Value: value}, nil
}
