// Package mocktools makes tools out of a JSON file, for tests and
// demonstrations: what a tool is called, what it accepts, and what it answers
// to which arguments.
//
//	{"tools": [{
//	  "name": "weather",
//	  "description": "Weather of a city",
//	  "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
//	  "concurrent": true,
//	  "delayMs": 20,
//	  "cases": [
//	    {"when": {"city": "Oslo"}, "result": {"temp": -4}},
//	    {"when": {"city": "Atlantis"}, "error": {"message": "no such city", "code": "NOT_FOUND"}}
//	  ],
//	  "result": {"temp": 20}
//	}]}
//
// Of a tool: name is required; description, inputSchema, outputSchema,
// concurrent (calls may overlap), readOnly, idempotent and destructive (the
// annotations), delayMs (before the answer), ignoresCancel (the delay passes also
// when the call has been given up), timeoutMs (the definition's Timeout), cases
// and result are optional. The first case whose "when" is contained in the
// arguments answers: objects may have more members, everything else must be equal
// as a JSON value; without "when" it matches everything. Of a case: "result" is the value, "content" the blocks a model reads (a string
// stands for a text block; text blocks alone are also the value of a tool
// without outputSchema), "error" a failure with a message and perhaps a code,
// "contexts" are texts deferred as additional contexts. A tool's own "result"
// answers what no case matches.
//
// Loading is strict: an unknown member, a wrong type or a schema that does not
// compile is refused, and every problem names its line, column and pointer.
package mocktools
