package trace

import (
	"time"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// The types of event that are read besides those of package pipeline. DSH's newer
// sessions have other names for nested calls. The last two are optional in any
// log: a line that a program printed, and what it took from the world around it
// (codemode.EventWorld).
const (
	eventDSHStart  = "tool/ptc-dispatch-start"
	eventDSHSettle = "tool/ptc-dispatch"
	eventCatalog   = "code/catalog" // package codemode's
	eventConsole   = "code/console" // {callId, level, text}
	eventWorld     = "code/world"   // {callId, seed, start, zone, limits, tools, input}: see World; start is in milliseconds since the epoch
)

// StateOpen is the state of a call whose result is not in the log.
const StateOpen pipeline.State = "open"

// Trace is what a log tells. It is not changed after Read, but for
// Call.Restore.
type Trace struct {
	Calls    []*Call   // the calls of models, in the order of the log
	Contexts []Context // messages that listeners and tools added for the model
	Problems []Problem // what is wrong with the log
	Events   int       // how many were read
	Staged   bool      // the log has records of stages
	Started  time.Time // of the first event, zero for an empty log
	Ended    time.Time // of the last one
}

// Call is one call, of a model or of a program.
type Call struct {
	ID, Tool string
	Parent   *Call // nil: a model made the call
	N        int   // which of its parent's calls it is, from 1
	Calls    []*Call
	Line     int            // of the program that made it, 1-based; 0: unknown
	State    pipeline.State // StateOpen: it has no result
	Rank     int            // its place among its parent's calls in the order of the results, from 1; 0: it has none
	// Arguments as the log has them; a text that is no JSON is a string.
	Arguments tools.JSON
	Content   []tools.Content // what a model reads of the result
	Value     tools.JSON      // what a program computes with; zero if it is not in the log
	Failure   *Failure        // nil: it succeeded, or it is open
	Program   string          // the code of a run_code call
	About     string          // its description
	// Started and Ended are the times of its events. Where several lie within one
	// millisecond they are spread so that none overlap that did not.
	Started, Ended  time.Time
	Settled         time.Time // the time of its result's event as the log has it, zero for none
	Took            time.Duration
	Questions       []Question
	Stages          []Stage // in the order of the answers
	Lookups         []Lookup
	Console         []Line // zero unless the log has them
	World           *World // nil: not in the log
	DroppedContexts int
	Cuts            []Cut // what was too large for the log

	call, result, world tools.JSON // the data of its events
	asked               uint64     // the number of the event that announced it
	settled             int        // how many of Calls have their results
	depth               int        // 0 for a call without a parent
}

// Failure says why a call failed.
type Failure struct {
	Name, Code string // empty: not known
	Origin, By string // who denied
	Message    string
}

// Question is one question to an approver. Outcome is "" if it is open.
type Question struct {
	ID, Reason, By, Digest, Outcome string
	Asked, Answered                 time.Time
}

// Stage is the answer of one decider; see pipeline.EventStage.
type Stage struct {
	Stage, By, Decision, Reason string
	Took                        time.Duration
}

// Lookup is one question of a program to its catalog.
type Lookup struct {
	Member            string
	Arguments, Result tools.JSON
	Error             string
	Line              int
}

// Line is one line a program printed.
type Line struct {
	Time        time.Time
	Level, Text string
}

// World is what a program took from the world around it: with it, a run can be
// repeated.
type World struct {
	Seed   uint64     // of its randomness
	Start  time.Time  // the reading of its clock before the first call
	Zone   string     // its time zone at Start, as in "CET +01:00"; empty: not in the log
	Limits tools.JSON // a runtime.Limits; zero: not in the log
	Tools  []string   // the names of the tools it may call; nil: not in the log
	Input  tools.JSON // the global input; zero: none
	Cuts   []Cut      // what was too large for the log
}

func newWorld(d data) *World {
	var names []string
	_ = decode(d.Tools, &names) // it may be missing, or cut
	return &World{
		Tools: names,
		Seed:  d.Seed, Start: time.UnixMicro(int64(d.Start * 1000)).UTC(), Zone: string(d.Zone), Limits: d.Limits, Input: d.Input,
		Cuts: cuts(d.Cut, false),
	}
}

// Context is a message that was added for the model.
type Context struct {
	Time         time.Time
	From, CallID string // who added it, and for which call, if that is known
	Text         string
}

// Problem is something a log should not have.
type Problem struct {
	Line int // of the log, 1-based; 0: the log as a whole
	Text string
}

// Cut is what is missing of an event's data.
type Cut struct {
	Path    string // RFC 6901 pointer into the data of the event
	Bytes   int
	SHA256  string
	Locator string // "" if nothing was kept
	OfCall  bool   // of the event that announced the call, not of its result
}

// Denied reports whether the call failed since somebody denied it.
func (c *Call) Denied() bool {
	if c.Failure == nil {
		return false
	}
	switch c.Failure.Code {
	case tools.CodeDeniedByPolicy, tools.CodeDeniedByGuard, tools.CodeApprovalRejected, tools.CodeApprovalCancelled, tools.CodeApprovalUnavailable:
		return true
	}
	return false
}

// Fate is in a word what became of the call: its state, or "denied".
func (c *Call) Fate() string {
	if c.Denied() {
		return "denied"
	}
	return string(c.State)
}

// Text is the result as a model reads it.
func (c *Call) Text() string { return tools.ContentString(c.Content) }

// Sizes are the bytes of the arguments' and the result's text, of what was cut
// too. Those of the result are the value's where the log has it.
func (c *Call) Sizes() (arguments, result int) {
	arguments = c.Arguments.Len()
	if c.Parent == nil && c.Arguments.Kind() == '"' { // a text that is no JSON
		text, _ := c.Arguments.Text()
		arguments = len(text)
	}
	if result = c.Value.Len(); result == 0 {
		for _, block := range c.Content {
			result += len(block.Text) + len(block.Data)
		}
	}
	for _, cut := range c.Cuts {
		for _, part := range []struct {
			size *int
			data tools.JSON
			in   bool
		}{{&arguments, c.call, cut.OfCall}, {&result, c.result, !cut.OfCall}} {
			if part.in && (cut.OfCall || !under(cut.Path, "/arguments")) {
				*part.size += cut.Bytes - len(plain(at(part.data, cut.Path)))
			}
		}
	}
	return max(arguments, 0), max(result, 0)
}

// plain is a string's text, of anything else the JSON.
func plain(j tools.JSON) string {
	if j.Kind() == '"' {
		return jsonscan.Unquote(j.String())
	}
	return j.String()
}

// Programs lists the calls of run_code, those of programs that programs ran too,
// an outer one before those in it.
func (t *Trace) Programs() []*Call {
	var runs []*Call
	t.Walk(func(c *Call, _ int) {
		if c.Tool == tools.TransportName {
			runs = append(runs, c)
		}
	})
	return runs
}

// Walk visits every call, a parent before its calls; depth is 0 for those of
// models.
func (t *Trace) Walk(visit func(c *Call, depth int)) {
	var walk func(calls []*Call, depth int)
	walk = func(calls []*Call, depth int) {
		for _, c := range calls {
			visit(c, depth)
			walk(c.Calls, depth+1)
		}
	}
	walk(t.Calls, 0)
}
