package codemode

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// Report is the host's account of one run: what it called and what it cost. It
// travels beside the outcome and is never shown to a model as such. Its JSON
// form is what `runcode run --json` prints.
type Report struct {
	Calls []CallRecord `json:"calls"` // in the order they started, then those never started
	Usage Usage        `json:"usage"`
	// Output is the whole text of the outcome; what a model reads may be cut.
	Output string `json:"-"`
}

// CallRecord is one line of a run's ledger.
type CallRecord struct {
	ID    string         `json:"id,omitempty"` // empty: it never left the program's queue
	Name  string         `json:"name"`
	State pipeline.State `json:"state"`
	Ms    float64        `json:"ms"`              // from start to settlement
	Line  int            `json:"line,omitempty"`  // of the program, 1-based
	Error string         `json:"error,omitempty"` // the failure's message
	Code  string         `json:"code,omitempty"`  // the failure's code, if it has one
}

// Usage is what a run cost.
type Usage struct {
	Isolation       string   `json:"isolation"`               // "worker" or "in-process"
	MissingLayers   []string `json:"missingLayers,omitempty"` // of protection around a worker; see worker.LayerNames
	WallMs          float64  `json:"wallMs"`                  // less the time somebody was asked for an approval
	ComputeMs       float64  `json:"computeMs"`               // the engine was busy
	Calls           int      `json:"calls"`                   // sub-calls that reached the pipeline
	BytesIn         int64    `json:"bytesIn"`                 // JSON text of results handed to the program
	BytesOut        int64    `json:"bytesOut"`                // JSON text of arguments
	DroppedContexts int      `json:"droppedContexts"`
	Notes           []string `json:"notes"`
}

// ReportOf returns the report of a run_code outcome, nil if the outcome is not
// one or no program ran.
func ReportOf(o pipeline.Outcome) *Report {
	if r, ok := o.Detail().(*Report); ok {
		return r
	}
	if e := find[*RunError](o.Err()); e != nil {
		return e.Report
	}
	return nil
}

func newReport(res runtime.Result, calls []CallRecord, more []string, droppedContexts int) *Report {
	begun := len(calls)
	for _, inv := range res.Usage.NotStarted {
		if inv.Global == bindings.Global { // what the catalog is asked is no sub-call
			calls = append(calls, CallRecord{Name: inv.Member, State: pipeline.StateNotStarted, Line: inv.Site.Line})
		}
	}
	notes := append([]string{}, slices.Concat(res.Notes, more, abandonedNotes(calls))...) // never nil: in JSON a list
	return &Report{
		Calls: slices.Clip(append([]CallRecord{}, calls...)),
		Usage: Usage{
			Isolation:       res.Usage.Isolation,
			MissingLayers:   res.Usage.Missing,
			WallMs:          millis(res.Usage.Wall),
			ComputeMs:       millis(res.Usage.Compute),
			Calls:           begun,
			BytesIn:         res.Usage.BytesIn,
			BytesOut:        res.Usage.BytesOut,
			DroppedContexts: droppedContexts,
			Notes:           notes,
		},
	}
}

func millis(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// maxLedgerLines bounds the calls a failure text lists by name.
const maxLedgerLines = 20

// ledgerText tells a model which calls a failed program had already made, so
// that its next program does not make them twice. It is empty if none was made.
func ledgerText(calls []CallRecord) string {
	if len(calls) == 0 {
		return ""
	}
	count := map[pipeline.State]int{}
	for _, c := range calls {
		count[c.State]++
	}
	var sums []string
	for _, state := range []pipeline.State{pipeline.StateDone, pipeline.StateFailed, pipeline.StateAborted, pipeline.StateAbandoned, pipeline.StateNotStarted} {
		if n := count[state]; n > 0 {
			sums = append(sums, fmt.Sprintf("%d %s", n, spaced(state)))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Tool calls of this run: %s.", strings.Join(sums, ", "))
	if count[pipeline.StateDone] > 0 {
		b.WriteString(" What is done stays done.")
	}
	for _, c := range listed(calls) {
		if c.Name == "" {
			fmt.Fprintf(&b, "\n  ... %s", c.Error)
			continue
		}
		id := c.ID
		if id == "" {
			id = "-"
		}
		fmt.Fprintf(&b, "\n  %s %s: %s", id, oneLine(c.Name), spaced(c.State))
		if c.Error != "" {
			fmt.Fprintf(&b, " (%s)", firstLine(c.Error, 200))
		}
	}
	return b.String()
}

func spaced(s pipeline.State) string { return strings.ReplaceAll(string(s), "-", " ") }

// listed caps the ledger: its head, its tail, and in between one record without
// a name that says how many are left out.
func listed(calls []CallRecord) []CallRecord {
	if len(calls) <= maxLedgerLines {
		return calls
	}
	half := maxLedgerLines / 2
	out := slices.Clone(calls[:half])
	out = append(out, CallRecord{Error: fmt.Sprintf("%d more", len(calls)-maxLedgerLines)})
	return append(out, calls[len(calls)-half:]...)
}

// oneLine is a tool's name, quoted if it could pass for another line.
func oneLine(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return name
	}
	return strconv.Quote(name)
}

// firstLine is the beginning of a text, cut between words: Options.Redact, which
// comes later, does not find a secret of which a part is left.
func firstLine(text string, max int) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > max {
		text = text[:runeStart(text, max)]
		return text[:strings.LastIndexFunc(text, unicode.IsSpace)+1] + "..."
	}
	return text
}

// resultValue is run_code's canonical value: {logs, result?}. It is put together
// from texts that are canonical already, so that nothing in them changes.
func resultValue(logs []string, result tools.JSON) tools.JSON {
	entries := make([]tools.JSON, len(logs))
	for i, entry := range logs {
		entries[i] = tools.StringJSON(entry)
	}
	return tools.ComposeObject(
		tools.Member{Name: "logs", Value: tools.ComposeArray(entries...)},
		tools.Member{Name: "result", Value: result},
	)
}
