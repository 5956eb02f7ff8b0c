package tools

import (
	"context"
	"fmt"
)

// CodeDryRun marks calls that a dry run does not make.
const CodeDryRun = "DRY_RUN"

// DryRun returns the definitions as a dry run has them: what only reads runs as
// it is, what has a Preview runs that in place of its body, and every other
// call is refused with the code DRY_RUN. The bodies that change something are
// not in the result at all, so no listener can reach them.
func DryRun(defs ...*Definition) []*Definition {
	out := make([]*Definition, len(defs))
	for i, def := range defs {
		dry := *def
		switch {
		case def.Annotations.ReadOnly:
		case def.Preview != nil:
			dry.Handler = def.Preview
		default:
			dry.Handler = refuseDryRun
		}
		out[i] = &dry
	}
	return out
}

func refuseDryRun(_ context.Context, run *Run) (Result, error) {
	name := run.Call().Name()
	return Result{}, &Error{
		Name: "DryRunError", Code: CodeDryRun,
		Message: fmt.Sprintf("dry run: %q was not run, and what it would return is not known; catch this error to go on", name),
	}
}

// HandlerOf makes a Handler of a typed function as DefineWith does, for a
// Preview beside a typed body. The name is for errors.
func HandlerOf[In, Out any](name string, fn func(context.Context, *Run, In) (Out, error)) Handler {
	if fn == nil {
		panic(fmt.Sprintf("tools.HandlerOf: tool %q has no function", name))
	}
	return func(ctx context.Context, run *Run) (Result, error) {
		var in In
		if err := decodeArgs(name, run.Args(), &in); err != nil {
			return Result{}, err
		}
		out, err := fn(ctx, run, in)
		if err != nil {
			return Result{}, err
		}
		return encodeResult(name, out)
	}
}
