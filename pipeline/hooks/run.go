package hooks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// The types of event this package writes, as DSH names them.
const (
	EventHookInvoked = "hook/invoked"
	EventHookResult  = "hook/result"
)

// dialect names the protocol in the log.
const dialect = "claude-code"

// maxStderr is how much of a hook's standard error is kept, in bytes. A model
// reads all of it as the reason of a block.
const maxStderr = 64 << 10

// point is one moment at which hooks are asked about one call.
type point struct {
	b        *Bridge
	p        *pipeline.Pipeline
	event    string
	call     tools.Call
	response func() tools.JSON // of PostToolUse, else nil

	stdin   string // once made
	verdict verdict
}

// ask runs the hooks whose matchers select the call, one after the other in the
// order of the file, and all of them. An error means that ctx ended before a
// hook had answered. After a call, a matcher nobody can test selects it: one
// hook too many is the smaller harm.
func (pt *point) ask(ctx context.Context) (verdict, error) {
	names := subjects(pt.call.Name())
	for _, g := range pt.b.config.groups[pt.event] {
		matched, err := g.matcher.matches(names)
		if err != nil && pt.event == PreToolUse {
			pt.unmatched(g, err)
			continue
		}
		if !matched && err == nil {
			continue
		}
		for _, h := range g.hooks {
			if ctx.Err() == nil {
				pt.run(ctx, h)
			}
			if ctx.Err() != nil {
				return verdict{}, context.Cause(ctx)
			}
		}
	}
	return pt.verdict, nil
}

// unmatched deals with a matcher nobody can test before the tool runs: its hooks
// cannot be asked, so the call is denied, unless the group says otherwise.
func (pt *point) unmatched(g *group, err error) {
	word := wordError
	if errors.Is(err, errSlow) {
		word = wordTimeout
	}
	entry := pt.invoked(g)
	a := failed(word, "%v", err)
	pt.settled(entry, a, proc.Result{Code: -1})
	pt.note(a, g.blocks, g.place, proc.Result{})
	pt.verdict.add(a, g.blocks, fmt.Sprintf("the matcher %q of %s", g.matcher.text, who(pt.event, g.place)))
}

// run runs one hook and folds its answer in.
func (pt *point) run(ctx context.Context, h *hook) {
	entry := pt.invoked(h.group)
	result, err := pt.b.start(ctx, h, pt.line())
	var a answer
	if err != nil {
		result.Code = -1
		a = failed(wordError, "could not be run: %v", err)
	} else {
		a = decode(pt.event, result)
	}
	pt.settled(entry, a, result)
	pt.note(a, h.blocks, h.place, result)
	pt.verdict.add(a, h.blocks, who(pt.event, h.place))
}

// who names a hook to a model, without the directories its file is in.
func who(event, place string) string {
	return fmt.Sprintf("the %s hook at %s", event, filepath.Base(place))
}

// line is what hooks read, made when the first one needs it.
func (pt *point) line() string {
	if pt.stdin == "" {
		var response tools.JSON
		if pt.response != nil {
			response = pt.response()
		}
		pt.stdin = pt.b.input(pt.event, pt.call, response)
	}
	return pt.stdin
}

// entry is one pair of log events.
type entry struct {
	id    string
	begun time.Time
}

// invoked writes that a hook is asked.
func (pt *point) invoked(g *group) entry {
	e := entry{
		id:    fmt.Sprintf("%s:%s:%d", dialect, pt.event, pt.b.count.Add(1)),
		begun: pt.b.opts.Now(),
	}
	members := append(pt.common(), tools.Member{Name: "dialect", Value: tools.StringJSON(dialect)})
	if g.matcher.text != "" {
		members = append(members, tools.Member{Name: "matcher", Value: tools.StringJSON(g.matcher.text)})
	}
	members = append(members, tools.Member{Name: "handlerId", Value: tools.StringJSON(e.id)})
	_ = pt.p.Emit(EventHookInvoked, tools.ComposeObject(members...))
	return e
}

// settled writes what came of it.
func (pt *point) settled(e entry, a answer, r proc.Result) {
	took := float64(pt.b.opts.Now().Sub(e.begun).Microseconds()) / 1000
	members := append(pt.common(),
		tools.Member{Name: "handlerId", Value: tools.StringJSON(e.id)},
		tools.Member{Name: "decision", Value: tools.StringJSON(a.logged())},
	)
	if r.Code >= 0 {
		members = append(members, tools.Member{Name: "exitCode", Value: number(r.Code)})
	}
	if text := summary(r.Stderr); text != "" {
		members = append(members, tools.Member{Name: "stderrSummary", Value: tools.StringJSON(text)})
	}
	members = append(members, tools.Member{Name: "durationMs", Value: tools.MustJSON(strconv.FormatFloat(took, 'f', -1, 64))})
	_ = pt.p.Emit(EventHookResult, tools.ComposeObject(members...))
}

// common are the members both events have.
func (pt *point) common() []tools.Member {
	return []tools.Member{
		{Name: "turn", Value: number(pt.b.opts.Turn())},
		{Name: "point", Value: tools.StringJSON(pt.event)},
		{Name: "callId", Value: tools.StringJSON(pt.call.ID())},
	}
}

func number(n int) tools.JSON { return tools.MustJSON(strconv.Itoa(n)) }

// note tells the host what has no effect on the call, or an unexpected one.
func (pt *point) note(a answer, blocks bool, place string, r proc.Result) {
	log := pt.b.opts.Logger.With("hook", place, "event", pt.event, "tool", pt.call.Name(), "call", pt.call.ID())
	if a.failure != "" {
		log.Warn("hook failed", "problem", a.failure, "blocks", blocks)
	}
	if a.replaces {
		log.Warn("hook wants other arguments or another result; that is not applied")
	}
	if a.context != "" && pt.event == PreToolUse {
		log.Warn("hook has context for the model; that is not passed on before a call", "context", a.context)
	}
	if a.systemMessage != "" {
		log.Warn("hook has a message for the person", "message", a.systemMessage)
	}
	if a.stop {
		log.Warn("hook wants the session to stop; the call goes on", "reason", a.stopReason)
	}
	if r.Left > 0 {
		log.Warn("processes of a hook could not be ended", "count", r.Left)
	}
}

// start runs a hook's command.
func (b *Bridge) start(ctx context.Context, h *hook, stdin string) (proc.Result, error) {
	if !b.enter() {
		return proc.Result{}, errClosed
	}
	defer b.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.closing, cancel)()
	result, err := proc.Run(ctx, proc.Command{
		Path:      b.shell,
		Args:      []string{"-c", "--", h.command}, // a command may begin with "-"
		Dir:       b.opts.Dir,
		Env:       b.env,
		Stdin:     stdin,
		Timeout:   h.timeout,
		MaxStdout: b.opts.MaxOutput,
		MaxStderr: min(maxStderr, b.opts.MaxOutput),
	})
	if b.opts.Redact != nil {
		result.Stderr.Head = b.opts.Redact(result.Stderr.Head)
	}
	return result, err
}

// contextMessage is the contexts of one point as one message, a block for each.
func contextMessage(contexts []string) tools.Message {
	m := tools.ContextMessage(Name, "")
	m.Content = m.Content[:0]
	for _, text := range contexts {
		m.Content = append(m.Content, tools.TextContent(text))
	}
	return m
}

// fallback is the reason of a denial without one.
func fallback(event string) string { return "blocked by " + event + " hook" }
