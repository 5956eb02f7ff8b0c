package codemode

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
)

// maxAbandonedNotes is how many abandoned calls are named one by one.
const maxAbandonedNotes = 10

// abandonedNotes names the tools that did not return when the run ended. The
// outcome would look final without it, and they may still act.
func abandonedNotes(calls []CallRecord) (notes []string) {
	n := 0
	for i, c := range calls {
		if c.State != pipeline.StateAbandoned {
			continue
		}
		if n++; n > maxAbandonedNotes {
			continue
		}
		place := ""
		if c.Line > 0 {
			place = fmt.Sprintf(", line %d", c.Line)
		}
		notes = append(notes, fmt.Sprintf("abandoned: %s (call %d%s) did not return after the run had ended; it may still act", oneLine(c.Name), i+1, place))
	}
	if n > maxAbandonedNotes {
		notes = append(notes, fmt.Sprintf("abandoned: %d further calls", n-maxAbandonedNotes))
	}
	return notes
}

// maxAbandonedNames is how many tools a refusal names.
const maxAbandonedNames = 10

// tooManyAbandoned refuses a program because of the bodies, by tool, that earlier
// runs have left behind. The names are in order.
func tooManyAbandoned(bodies []string) runtime.Failure {
	var tools []string
	for rest := bodies; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n] == rest[0] {
			n++
		}
		tools = append(tools, fmt.Sprintf("%s (%d)", oneLine(rest[0]), n))
		rest = rest[n:]
	}
	if more := len(tools) - maxAbandonedNames; more > 0 {
		tools = append(tools[:maxAbandonedNames], fmt.Sprintf("and %d other tools", more))
	}
	return runtime.Failure{
		Kind:    runtime.Abort,
		Message: fmt.Sprintf("refused: %d tool calls of earlier runs were abandoned and still run: %s", len(bodies), strings.Join(tools, ", ")),
		Hint:    "restart the process, or wait until they return; a tool must return when its context ends",
	}
}
