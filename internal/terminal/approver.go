package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Options says how an Approver asks and what it shows.
type Options struct {
	// Terminal is where it asks. Nil: nobody can be asked, so nothing is
	// allowed.
	Terminal *Terminal
	// Screen is held while a question is open. Nil: no output is.
	Screen *Screen
	// Card makes what is shown above the arguments, for example with
	// tools.Tool.PresentCall; the arguments are redacted. Nil: nothing is.
	Card func(tool string, args tools.JSON) tools.Card
	// Draw makes the lines of a card, escaped and no wider than so many
	// columns. Nil: a few plain ones.
	Draw func(card tools.Card, columns int) []string
	// Redact and RedactText take secrets out of what is shown. Nil: nothing is
	// taken out.
	Redact     func(tools.JSON) tools.JSON
	RedactText func(string) string
	// OnlyOnce names calls that one answer must not allow for longer than once.
	// Nil: none.
	OnlyOnce func(tools.Call) bool
	// Source is the place that made the call and its text, for example of
	// SourceOf. Nil or "": of a call that a program makes its line is shown.
	Source func(tools.Call) string
}

// Approver asks a person at the terminal. It is safe for concurrent use.
type Approver struct {
	opts Options
	note *screenWriter // the terminal, among all other writers

	mu      sync.Mutex
	granted map[grant]bool
}

// grant is what was allowed for as long as the Approver lives: exactly these
// arguments of this definition of a tool. What is registered under the same name
// later, such as by a server that declares the tool anew, is asked about again.
type grant struct {
	tool         *tools.Tool // nil: the name meant nothing
	name, digest string
}

// NewApprover makes an Approver. Nil options are empty ones.
func NewApprover(opts *Options) *Approver {
	a := &Approver{granted: map[grant]bool{}}
	if opts != nil {
		a.opts = *opts
	}
	if a.opts.Screen == nil {
		a.opts.Screen = new(Screen)
	}
	a.note = &screenWriter{s: a.opts.Screen, w: a.opts.Terminal}
	return a
}

var _ pipeline.Approver = (*Approver)(nil)

// errNoTerminal is why nobody is asked.
var errNoTerminal = errors.New("there is no terminal to ask at; start the command from a terminal, or let rules decide")

// Approve implements pipeline.Approver. Only a clear yes is AllowedOnce, only a
// clear no is Rejected. No clear answer, the end of the input and the end of ctx
// are Cancelled; where nobody can be asked the answer is Unavailable, with the
// reason as its error.
func (a *Approver) Approve(ctx context.Context, ask pipeline.ApprovalRequest) (pipeline.Answer, error) {
	if a.opts.Terminal == nil {
		return pipeline.Unavailable, errNoTerminal
	}
	q := &question{
		a:     a,
		ask:   ask,
		grant: grant{ask.Call.Tool(), ask.Call.Name(), ask.Digest()},
		once:  a.opts.OnlyOnce != nil && a.opts.OnlyOnce(ask.Call),
	}
	if q.allowedBefore() {
		a.note.line(q.allowedBeforeLine())
		return pipeline.Granted, nil
	}
	var answer pipeline.Answer
	err := a.opts.Terminal.converse(ctx, a.opts.Screen, func(d dialog) (err error) {
		answer, err = q.put(d)
		return err
	})
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil, errors.Is(err, errEnd):
		return pipeline.Cancelled, nil
	}
	return pipeline.Unavailable, err
}

// question is one question about a call.
type question struct {
	a     *Approver
	ask   pipeline.ApprovalRequest
	grant grant
	once  bool // must not be allowed for longer
}

// allowedBefore reports whether an earlier answer covers this call. It looks at
// once too: what the call touches may have changed since.
func (q *question) allowedBefore() bool {
	q.a.mu.Lock()
	defer q.a.mu.Unlock()
	return !q.once && q.a.granted[q.grant]
}

func (q *question) allowedBeforeLine() string {
	return fmt.Sprintf("allowed before: %s, sha256 %s", termtext.Cut(termtext.EscapeLine(q.grant.name), 80), q.grant.digest)
}

func (q *question) allowAlways() {
	q.a.mu.Lock()
	defer q.a.mu.Unlock()
	q.a.granted[q.grant] = true
}

// prompt is what an answer is typed behind.
const prompt = "answer: "

// maxUnclear is how many unclear answers are no answer.
const maxUnclear = 3

// put asks until the answer is clear.
func (q *question) put(d dialog) (pipeline.Answer, error) {
	if q.allowedBefore() { // by the answer to a question that was open meanwhile
		return pipeline.Granted, d.show(q.allowedBeforeLine() + "\n")
	}
	v := q.view(d, false)
	text, seen := v.short, !v.hidden
	for unclear := 0; ; {
		answer, err := askBelow(d, text)
		meant := strings.ToLower(answer)
		if err == nil && meant == "s" {
			v = q.view(d, seen) // the window may have another size now
			var end bool
			end, err = showAll(d, v.all)
			seen = seen || end
			if text = q.answers(v, seen); err == nil {
				continue
			}
		}
		switch {
		case err == errContinued:
			v = q.view(d, seen)
			text = append([]string{""}, v.short...)
			continue
		case err != nil:
			return 0, err
		}
		switch meant {
		case "y", "yes":
			return pipeline.AllowedOnce, nil
		case "n", "no":
			return pipeline.Rejected, nil
		case "a", "always":
			if seen && !v.redacted && !q.once {
				q.allowAlways()
				return pipeline.AllowedOnce, nil
			}
		}
		if unclear++; unclear == maxUnclear {
			return pipeline.Cancelled, d.show("denied: there was no clear answer\n")
		}
		text = []string{"not one of the answers: " + termtext.Cut(termtext.EscapeLine(answer), 40)}
	}
}

// askBelow shows lines and returns the answer that is typed below them.
func askBelow(d dialog, lines []string) (string, error) {
	if err := d.show(strings.Join(lines, "\n") + "\n"); err != nil {
		return "", err
	}
	if err := d.settle(); err != nil {
		return "", err
	}
	return d.ask(prompt)
}

// answers are the lines that say what can be answered.
func (q *question) answers(v *view, seen bool) []string {
	lines := []string{"  y  allow this call once"}
	switch {
	case q.once:
		lines = append(lines, "     (such a call is asked about each time)")
	case v.redacted:
		lines = append(lines, "     (not for longer: a part of it is redacted)")
	case !seen:
		lines = append(lines, "     (for longer only once all of it was shown)")
	default:
		lines = append(lines, "  a  allow exactly this until the run ends")
	}
	lines = append(lines, "  n  deny it")
	if v.hidden {
		lines = append(lines, "  s  show all")
	}
	return lines
}

// showAll shows lines page by page. It reports whether the last one was shown.
func showAll(d dialog, lines []string) (end bool, err error) {
	for from := 0; ; {
		_, rows := d.size()
		to := min(from+max(rows-2, 1), len(lines))
		if err := d.show(strings.Join(lines[from:to], "\n") + "\n"); err != nil {
			return false, err
		}
		if to == len(lines) {
			return true, nil
		}
		answer, err := d.ask(fmt.Sprintf("%d of %d lines; Enter shows more, q ends: ", to, len(lines)))
		if err != nil || answer != "" {
			return false, err
		}
		from = to
	}
}

// lineEnds makes one of all that end a line of JavaScript: a program that could
// be counted otherwise would be shown with another line than the one that calls.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n")

// SourceOf makes Options.Source for one program: the name, the line and its text
// of calls the program itself made.
func SourceOf(name, program string) func(tools.Call) string {
	lines := strings.Split(lineEnds.Replace(program), "\n")
	return func(call tools.Call) string {
		line := call.Site().Line
		if call.ParentID() == "" || call.ParentID() != call.RootID() || line < 1 || line > len(lines) {
			return "" // unknown, or the place is in another program
		}
		return fmt.Sprintf("%s:%d  %s", name, line, strings.TrimSpace(lines[line-1]))
	}
}
