package tools

import "context"

// Define makes a definition from a typed function.
func Define[In, Out any](name, description string, fn func(context.Context, In) (Out, error)) *Definition {
	return nil
}

// DefineWith is Define with the other fields of a definition given.
func DefineWith[In, Out any](def Definition, fn func(context.Context, *Run, In) (Out, error)) *Definition {
	return nil
}
