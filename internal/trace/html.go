package trace

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/tools"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageStyle string

//go:embed page/page.js
var pageScript string

// HTMLOptions changes a page. The zero value is useful.
type HTMLOptions struct {
	Title string // in the page's head; empty: "Trace"
	// Redact, if not nil, is given everything the page will show, and returns what
	// it shows. A log of package eventlog is redacted already.
	Redact func(tools.JSON) tools.JSON
}

// HTML writes a page that shows the trace: one file that asks nothing of any
// network and runs no script but its own, whatever the log says. Nil is
// HTMLOptions of nothing.
func (t *Trace) HTML(w io.Writer, opts *HTMLOptions) error {
	var o HTMLOptions
	if opts != nil {
		o = *opts
	}
	data, err := t.pageData(o)
	if err != nil {
		return fmt.Errorf("cannot make the page: %w", err)
	}
	// One pass: what the data says is not looked at again.
	_, err = strings.NewReplacer(
		"{{style-hash}}", hash(pageStyle), "{{script-hash}}", hash(pageScript),
		"{{style}}", pageStyle, "{{script}}", pageScript, "{{data}}", data,
	).WriteString(w, pageHTML)
	return err
}

// hash is a source as a Content-Security-Policy names it.
func hash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// pageData is the trace as JSON that may stand in a script element: the codec
// escapes <, >, &, U+2028 and U+2029.
func (t *Trace) pageData(o HTMLOptions) (string, error) {
	text, err := encode(t.page(o.Title))
	if err != nil || o.Redact == nil {
		return text, err
	}
	whole, err := tools.ParseJSON(text)
	if err != nil {
		return "", err
	}
	return encode(json.RawMessage(o.Redact(whole).String()))
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// The shapes the page's script reads. Times are in milliseconds; those of calls
// count from the beginning of the trace.
type pageTrace struct {
	Title    string        `json:"title"`
	Started  int64         `json:"started"` // since the epoch
	Staged   bool          `json:"staged"`
	Calls    []pageCall    `json:"calls"`
	Contexts []pageContext `json:"contexts"`
	Problems []pageProblem `json:"problems"`
}

type pageCall struct {
	ID          string         `json:"id"`
	Tool        string         `json:"tool"`
	Parent      int            `json:"parent"` // index in Calls, -1 for none
	N           int            `json:"n,omitempty"`
	Line        int            `json:"line,omitempty"`
	Fate        string         `json:"fate"`
	Args        string         `json:"args"`
	Result      string         `json:"result"`
	Value       string         `json:"value,omitempty"` // where it says more than the result
	Error       *pageError     `json:"error,omitempty"`
	Start       float64        `json:"start"`
	End         float64        `json:"end"`
	Took        float64        `json:"took"`
	ArgBytes    int            `json:"argBytes"`
	ResultBytes int            `json:"resultBytes"`
	Program     *string        `json:"program,omitempty"`
	About       string         `json:"about,omitempty"`
	FailedAt    int            `json:"failedAt,omitempty"` // the program's line
	Dropped     int            `json:"dropped,omitempty"`
	Stages      []pageStage    `json:"stages,omitempty"`
	Questions   []pageQuestion `json:"questions,omitempty"`
	Lookups     []pageLookup   `json:"lookups,omitempty"`
	Console     []pageLine     `json:"console,omitempty"`
	World       *pageWorld     `json:"world,omitempty"`
	Cuts        []pageCut      `json:"cuts,omitempty"`
}

type pageWorld struct {
	Seed   string    `json:"seed"` // in digits, which a script's numbers could not hold
	Start  int64     `json:"start"`
	Zone   string    `json:"zone"`
	Limits string    `json:"limits"`
	Tools  []string  `json:"tools"`
	Input  string    `json:"input"`
	Cuts   []pageCut `json:"cuts,omitempty"`
}

type pageError struct {
	Name    string `json:"name"`
	Code    string `json:"code"`
	Origin  string `json:"origin"`
	By      string `json:"by"`
	Message string `json:"message"`
}

type pageStage struct {
	Stage    string  `json:"stage"`
	By       string  `json:"by"`
	Decision string  `json:"decision"`
	Reason   string  `json:"reason"`
	Ms       float64 `json:"ms"`
}

type pageQuestion struct {
	Reason  string  `json:"reason"`
	By      string  `json:"by"`
	Outcome string  `json:"outcome"`
	Ms      float64 `json:"ms"`
}

type pageLookup struct {
	Member string `json:"member"`
	Args   string `json:"args"`
	Result string `json:"result"`
	Error  string `json:"error"`
	Line   int    `json:"line"`
}

type pageLine struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

type pageCut struct {
	Path    string `json:"path"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
	Locator string `json:"locator"`
	OfCall  bool   `json:"ofCall"`
}

type pageContext struct {
	From   string `json:"from"`
	CallID string `json:"callId"`
	Text   string `json:"text"`
}

type pageProblem struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (t *Trace) page(title string) pageTrace {
	p := pageTrace{Title: title, Started: t.Started.UnixMilli(), Staged: t.Staged, Calls: []pageCall{}, Contexts: []pageContext{}, Problems: []pageProblem{}}
	if t.Started.IsZero() {
		p.Started = 0
	}
	index := map[*Call]int{}
	t.Walk(func(c *Call, _ int) {
		index[c] = len(p.Calls)
		call := t.pageCall(c)
		call.Parent = -1
		if c.Parent != nil {
			call.Parent = index[c.Parent]
		}
		p.Calls = append(p.Calls, call)
	})
	for _, m := range t.Contexts {
		p.Contexts = append(p.Contexts, pageContext{m.From, m.CallID, m.Text})
	}
	for _, problem := range t.Problems {
		p.Problems = append(p.Problems, pageProblem(problem))
	}
	return p
}

func (t *Trace) pageCall(c *Call) pageCall {
	args, result := c.Sizes()
	call := pageCall{
		ID: c.ID, Tool: c.Tool, N: c.N, Line: c.Line, Fate: c.Fate(), Args: c.Arguments.String(), Result: c.Text(),
		Start: ms(c.Started.Sub(t.Started)), End: ms(c.Ended.Sub(t.Started)), Took: ms(c.Took),
		ArgBytes: args, ResultBytes: result, About: c.About, Dropped: c.DroppedContexts,
	}
	if value := c.Value.String(); value != call.Result {
		call.Value = value
	}
	if c.Program != "" {
		call.Program, call.Args, call.FailedAt = &c.Program, "", c.failedAt()
	}
	if c.Failure != nil {
		e := pageError(*c.Failure)
		call.Error = &e
	}
	for _, s := range c.Stages {
		call.Stages = append(call.Stages, pageStage{s.Stage, s.By, s.Decision, s.Reason, ms(s.Took)})
	}
	for _, q := range c.Questions {
		call.Questions = append(call.Questions, pageQuestion{q.Reason, q.By, q.Outcome, ms(q.Answered.Sub(q.Asked))})
	}
	for _, l := range c.Lookups {
		call.Lookups = append(call.Lookups, pageLookup{l.Member, l.Arguments.String(), l.Result.String(), l.Error, l.Line})
	}
	for _, l := range c.Console {
		call.Console = append(call.Console, pageLine{l.Level, l.Text})
	}
	if w := c.World; w != nil {
		call.World = &pageWorld{strconv.FormatUint(w.Seed, 10), w.Start.UnixMilli(), w.Zone, w.Limits.String(), w.Tools, w.Input.String(), pageCuts(w.Cuts)}
	}
	call.Cuts = pageCuts(c.Cuts)
	return call
}

func pageCuts(cuts []Cut) (out []pageCut) {
	for _, cut := range cuts {
		out = append(out, pageCut(cut))
	}
	return out
}

// failurePlace finds the line of a program in the text of its failure: that of
// the code frame, or in words.
var failurePlace = regexp.MustCompile(`(?m)^> *(\d+) \| |^at line (\d+), column \d+$`)

// failedAt is the line at which a program failed, 0 if it did not or that is not
// known.
func (c *Call) failedAt() int {
	if c.Failure == nil {
		return 0
	}
	head, _, _ := strings.Cut(c.Failure.Message, "\nCaptured output:")
	m := failurePlace.FindStringSubmatch(head)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1] + m[2]) // one of the two is empty
	return n
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
