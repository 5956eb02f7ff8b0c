package runtimetest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/runcode-go/runcode/runtime"
)

// Suite says what is tested. The zero value has nothing to open.
type Suite struct {
	// Open gives a fresh runtime; the suite closes it. One serves all parts but
	// those about closing.
	Open func(t *testing.T) runtime.Runtime
	// Kills says that the runtime can end what its engine cannot interrupt, such
	// as a backtracking pattern. Hostile leaves out what would take a runtime
	// without it down.
	Kills bool
	// Bounded says that the system bounds the runtime's memory. Hostile leaves out
	// what would take all the memory there is.
	Bounded bool

	shared runtime.Runtime // serves the whole suite, as one serves a whole program
}

// Run tests the runtimes that open returns with everything that a runtime in
// this process can keep.
func Run(t *testing.T, open func(t *testing.T) runtime.Runtime) {
	Suite{Open: open}.Run(t)
}

// Run runs the suite but for the hostile programs (see Hostile). It takes well
// under a minute.
func (s Suite) Run(t *testing.T) {
	s.shared = s.open(t)
	for _, part := range []struct {
		name string
		run  func(Suite, *testing.T)
	}{
		{"language", Suite.language},
		{"library", Suite.library},
		{"values", Suite.values},
		{"namespaces", Suite.namespaces},
		{"calls", Suite.calls},
		{"lane", Suite.lane},
		{"call options", Suite.callOptions},
		{"outstanding", Suite.outstanding},
		{"timers", Suite.timers},
		{"console", Suite.console},
		{"failures", Suite.failures},
		{"syntax errors", Suite.syntaxErrors},
		{"limits", Suite.limits},
		{"output ledger", Suite.output},
		{"stopping", Suite.stopping},
		{"closing", Suite.closing},
		{"world", Suite.world},
		{"tampering", Suite.tampering},
		{"replay", Suite.replay},
		{"nested runs", Suite.nested},
		{"many at once", Suite.crowd},
		{"misuse", Suite.misuse},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(s, t) })
	}
}

// open gives the suite's runtime, which is closed at its end.
func (s Suite) open(t *testing.T) runtime.Runtime {
	t.Helper()
	if s.shared != nil {
		return s.shared
	}
	rt := s.Open(t)
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return rt
}

// row is one program and what it must give.
type row struct {
	name     string
	code     string
	input    string
	limits   runtime.Limits
	parallel int

	value string   // the completion as JSON text, exact; empty: undefined
	logs  []string // exact
	fails *failure // nil: the program succeeds
	notes []string // each is part of one of the notes; nil: there is none
	calls []string // "member args" in the order the host saw them; nil: not compared
	hasty bool     // the program may give up the calls before the host sees one
	loose bool     // the logs are not compared
}

// failure is what a row that fails must say. Empty fields are not compared,
// except kind.
type failure struct {
	kind   runtime.Kind
	or     runtime.Kind // another kind that is as good
	is     string       // the whole message
	says   []string     // parts of the message, any case
	name   string
	code   string
	tool   string
	line   int
	column int
}

// throws is the failure of a program that threw name: text at line.
func throws(line int, name, text string) *failure {
	f := &failure{kind: runtime.Exception, name: name, line: line}
	if text != "" {
		f.says = []string{text}
	}
	return f
}

// ends is a failure that has no line of its own.
func ends(kind runtime.Kind, says ...string) *failure {
	return &failure{kind: kind, says: says}
}

// at is f with a line.
func (f *failure) at(line int) *failure {
	f.line = line
	return f
}

// run runs every row in one runtime.
func (s Suite) rows(t *testing.T, rows []row) {
	t.Helper()
	rt := s.open(t)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) { r.check(t, rt) })
	}
}

// bounded is l with limits that end a test that hangs, and leave room for a busy
// machine with the race detector.
func bounded(l runtime.Limits) runtime.Limits {
	if l.Wall == 0 {
		l.Wall = 5 * time.Minute
	}
	if l.Compute == 0 {
		l.Compute = 4 * time.Minute
	}
	return l
}

func (r row) check(t *testing.T, rt runtime.Runtime) {
	t.Helper()
	h := newHost(t, rt)
	res := h.run(t.Context(), runtime.Request{
		Program: r.code, Input: r.input, Limits: r.limits, Parallel: r.parallel,
	})
	if r.fails == nil {
		if res.Failure != nil {
			t.Fatalf("failed (%s): %s\n%s", res.Failure.Kind, res.Failure.Message, res.Failure.Frame)
		}
		if res.Value != r.value {
			t.Errorf("value:\n got %s\nwant %s", short(res.Value), short(r.value))
		}
	} else {
		r.fails.check(t, res)
	}
	if !r.loose {
		if diff := cmp.Diff(r.logs, res.Logs, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("logs (-want +got):\n%s", diff)
		}
	}
	if r.notes == nil && r.fails == nil && len(res.Notes) > 0 {
		t.Errorf("unexpected notes: %q", res.Notes)
	}
	for _, want := range r.notes {
		if !strings.Contains(strings.Join(res.Notes, "\n"), want) {
			t.Errorf("no note says %q: %q", want, res.Notes)
		}
	}
	if r.calls != nil && !(r.hasty && len(h.seen()) == 0) {
		if diff := cmp.Diff(r.calls, h.seen(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
}

func (f *failure) check(t *testing.T, res runtime.Result) {
	t.Helper()
	got := res.Failure
	if got == nil {
		t.Fatalf("succeeded with %s, want kind %s", short(res.Value), f.kind)
	}
	if got.Kind != f.kind && got.Kind != f.or {
		t.Fatalf("kind %s (%s), want %s", got.Kind, short(got.Message), f.kind)
	}
	if f.is != "" && got.Message != f.is {
		t.Errorf("message %q, want %q", short(got.Message), f.is)
	}
	for _, part := range f.says {
		if !strings.Contains(strings.ToLower(got.Message), strings.ToLower(part)) {
			t.Errorf("message %q does not say %q", short(got.Message), part)
		}
	}
	for _, x := range []struct{ what, got, want string }{
		{"name", got.Name, f.name}, {"code", got.Code, f.code}, {"tool", got.Tool, f.tool},
	} {
		if x.want != "" && x.got != x.want {
			t.Errorf("%s %q, want %q", x.what, x.got, x.want)
		}
	}
	if f.line != 0 && got.Site.Line != f.line {
		t.Errorf("line %d, want %d (%s)", got.Site.Line, f.line, short(got.Message))
	}
	if f.column != 0 && got.Site.Column != f.column {
		t.Errorf("column %d, want %d", got.Site.Column, f.column)
	}
	if f.line != 0 && !strings.Contains(got.Frame, "^") {
		t.Errorf("frame %q has no caret", got.Frame)
	}
}

// settled checks what is true of every result.
func settled(t *testing.T, req runtime.Request, res runtime.Result) {
	t.Helper()
	if res.Value != "" && !json.Valid([]byte(res.Value)) && !deep(res.Value) {
		t.Errorf("the value is no JSON text: %s", short(res.Value))
	}
	if res.Usage.Isolation != "in-process" && res.Usage.Isolation != "worker" {
		t.Errorf("isolation is %q", res.Usage.Isolation)
	}
	if res.Usage.Wall < 0 || res.Usage.Compute < 0 {
		t.Errorf("negative usage: %+v", res.Usage)
	}
	for _, c := range res.Usage.NotStarted {
		if c.Args != "" {
			t.Errorf("a call that did not start carries its arguments: %+v", c)
		}
	}
	f := res.Failure
	if f == nil {
		return
	}
	if res.Value != "" {
		t.Errorf("a failed run has the value %s", short(res.Value))
	}
	if f.Kind == "" || (f.Message == "" && f.Kind != runtime.OutputLimit && f.Kind != runtime.Exception) {
		t.Errorf("failure without kind or message: %+v", f)
	}
	lines := 1 + strings.Count(req.Program, "\n")
	sites := []runtime.Site{f.Site}
	for _, frame := range f.Stack {
		sites = append(sites, frame.Site)
	}
	for _, site := range sites {
		if site.Line < 0 || site.Line > lines || site.Column < 0 {
			t.Errorf("the site %d:%d is outside the program of %d lines", site.Line, site.Column, lines)
		}
	}
	if trace := enginePath.FindString(f.Message + f.Frame); trace != "" {
		t.Errorf("the failure shows the host: %q", trace)
	}
}

// enginePath matches what would be the host's business in a failure.
var enginePath = regexp.MustCompile(`(/[a-z0-9_.-]+)+\.go:\d+|goroutine \d+ |dop251`)

// deep says that text nests further than the standard library reads.
func deep(text string) bool { return strings.HasPrefix(text, strings.Repeat("[", 9_000)) }

func short(text string) string {
	if len(text) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", text[:300], len(text))
	}
	return text
}
