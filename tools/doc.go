// Package tools is the vocabulary of tools: definitions, calls, results, errors
// and the registry that holds them. It executes nothing; package pipeline does.
//
// The quickest way to a tool is a typed function:
//
//	type in struct {
//		Path  string `json:"path" jsonschema:"file to read"`
//		Limit int    `json:"limit,omitempty" jsonschema:"most lines to return"`
//	}
//	read := tools.Define("read", "Read a text file.", func(ctx context.Context, in in) (string, error) {
//		return readLines(ctx, in.Path, in.Limit)
//	})
//	reg, err := tools.NewRegistry(read)
//
// [Define] infers both schemas from the Go types. Tools whose schemas come from
// elsewhere (an MCP server, an OpenAPI document) fill in a [Definition]; the two
// are the same to everything else.
//
// Values cross every border as [JSON], one immutable canonical text: what policy
// judged, what the body decodes and what the log holds cannot differ. Arguments
// are always validated against the input schema, and the problems of an
// [ArgsError] are written for the model that made the call: all of them at once,
// each with what was sent, what is allowed and the nearest known name. Names are
// case-sensitive, and an argument that differs from a declared one only in case
// is refused. Values are validated against the output schema, unless a Go type
// vouches for them or the schema only describes ([Definition.OutputDescribes]).
//
// Schemas are JSON Schema, draft 2020-12 unless $schema names another. They load
// nothing: a reference that leaves the schema is an error when the tool is
// added. The keyword format is an annotation. Checking is bounded in steps,
// depth and time, since neither schemas nor values need come from a friend.
package tools
