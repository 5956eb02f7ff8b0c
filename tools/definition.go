package tools

import "time"

// TransportName is the reserved name of the tool that carries programs. No
// registry holds it and no program can call it.
const TransportName = "run_code"

// Definition declares a tool. It is read when it is added to a Registry; later
// changes to the struct have no effect.
type Definition struct {
	// Name is the registry key, policy's and the log's name of the tool.
	Name string
	// Description is for the model.
	Description string
	// Input is the JSON Schema of the arguments: draft 2020-12 unless $schema
	// names another, with format as an annotation and no reference that leaves
	// the schema. The zero JSON accepts any object. Arguments are always
	// validated against it.
	Input JSON
	// Output is the JSON Schema of the value. Zero: any value. Values of raw
	// definitions are validated; those of Define are trusted by their Go type.
	Output JSON
	// OutputDescribes makes Output what declarations say of the value and
	// nothing that binds: a value that does not fit passes. It is for tools whose
	// schema others wrote, where refusing a value would hide that a request was
	// carried out. False: a value that does not fit fails the call.
	OutputDescribes bool
	// Handler is the body. Required.
	Handler Handler
	// Concurrent reports whether a call with these arguments may overlap with
	// others. Nil, a panic or invalid arguments mean exclusive.
	Concurrent func(args JSON) bool
	// Render makes the blocks a model reads from a value. Nil: a string value
	// is its own text, another value is printed as JSON.
	Render func(args, value JSON) ([]Content, error)
	// Finalize may replace the blocks of any outcome of a call that reached
	// this tool's name, denials and bad arguments included; it runs exactly
	// once. Returning false keeps the blocks. A panic becomes an error result.
	Finalize func(call Call, outcome Final) ([]Content, bool)
	// Timeout is how long one body should take, for the execution wrapper that
	// enforces it, such as pipeline/policy's. Zero: none.
	Timeout time.Duration
	// Annotations describe the tool to policies.
	Annotations Annotations
	// Subjects says what a call with these arguments, which fit Input, would
	// touch, without touching it. Rules about paths, commands and hosts are
	// tested on the answer. With an error the body is not run: the error is the
	// call's. Nil: the tool does not tell, and only rules that name it apply.
	Subjects func(args JSON) ([]Subject, error)
	// Preview is the body of a dry run (see DryRun): it returns what the body
	// would return and changes nothing. Nil: such a call is refused, unless the
	// tool is ReadOnly, whose body runs.
	Preview Handler
	// PresentCall and PresentResult make the cards a person is shown, before
	// and after the body. Both are pure and may be called on replay, with
	// arguments that no longer fit Input. Nil, a panic and the zero Card mean
	// the generic card. Card.Content of a result may be left empty: it is then
	// the result's.
	PresentCall   func(args JSON) Card
	PresentResult func(args JSON, outcome Final) Card

	// inferred is the Output that was made of a Go type. As long as it is the
	// Output, values need no validation.
	inferred JSON
}

// Annotations describe what a tool does. The zero value promises nothing: not
// read-only, not idempotent, not known to be destructive (MCP tool annotations
// give the names).
type Annotations struct {
	ReadOnly    bool `json:"readOnlyHint,omitempty"`
	Destructive bool `json:"destructiveHint,omitempty"`
	Idempotent  bool `json:"idempotentHint,omitempty"`
	OpenWorld   bool `json:"openWorldHint,omitempty"`
}

// Final is the outcome a finalizer looks at and the card of a result is made of.
type Final struct {
	IsError bool
	Content []Content // a copy
	Value   JSON      // zero for errors
	Err     error     // nil for successes
	Detail  any       // Result.Detail; nil on replay, since no log holds it
}
