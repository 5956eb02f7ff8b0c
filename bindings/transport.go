package bindings

import "github.com/runcode-go/runcode/tools"

// ToolDescription is the description of run_code for the model. It names both
// required arguments, because a text that speaks of the program alone makes
// models leave the other one out.
const ToolDescription = "Run a program that calls tools. Two arguments are required: `code` and `description`. " +
	"Only what it returns or prints with `console.log` comes back, and images of tool results."

// codeDescription describes the parameter code.
const codeDescription = "TypeScript: the body of an async function, ended by `return`."

// labelDescription describes the parameter description.
const labelDescription = "Label for the user: what the program does, in 5 to 10 words."

// TransportSchema is the input schema of run_code. Like DSH's it is open:
// further properties are accepted and ignored.
func TransportSchema() tools.JSON {
	return tools.MustJSON(`{"type":"object","properties":{` +
		`"code":{"type":"string","description":` + tools.StringJSON(codeDescription).String() + `},` +
		`"description":{"type":"string","description":` + tools.StringJSON(labelDescription).String() + `}},` +
		`"required":["code","description"]}`)
}
