package bindings

import "github.com/runcode-go/runcode/tools"

// ToolDescription is the description of run_code for the model. It names both
// required arguments, because a text that speaks of the program alone makes
// models leave the other one out.
const ToolDescription = "Run a TypeScript program that calls the available tools. " +
	"Send two required arguments: `code`, the program, and `description`, a short label for it. " +
	"The program is the body of an async function: top-level `await` and `return` work, types are erased. " +
	"Call a tool with `await tools.name(args)`, following the declarations in the system prompt; filter, join and loop over results in code. " +
	"Only what the program returns or prints with `console.log` comes back, so return just what you need. " +
	"Images from tool results are attached after the text."

// codeDescription describes the parameter code.
const codeDescription = "TypeScript source of the program: the body of an async function, without a surrounding function, imports or code fence."

// labelDescription describes the parameter description.
const labelDescription = "What the program does, for the user interface: active voice, 5 to 10 words. " +
	"Examples: \"Count open orders per customer\"; \"Rename the config key in all packages\"; \"Compare prices of the three suppliers\"."

// TransportSchema is the input schema of run_code. Like DSH's it is open:
// further properties are accepted and ignored.
func TransportSchema() tools.JSON {
	return tools.MustJSON(`{"type":"object","properties":{` +
		`"code":{"type":"string","description":` + tools.StringJSON(codeDescription).String() + `},` +
		`"description":{"type":"string","description":` + tools.StringJSON(labelDescription).String() + `}},` +
		`"required":["code","description"]}`)
}
