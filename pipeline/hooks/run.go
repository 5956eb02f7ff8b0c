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

// occasion is what hooks are asked about.
type occasion struct {
	agent    any
	call     *tools.Call           // nil for an event that is not about one
	subjects []string              // what matchers are tested on
	fields   func() []tools.Member // what hooks read besides the fields of all events
	// failOpen says that no failure blocks, whatever the file says.
	failOpen bool
}

// point is one moment at which hooks are asked.
type point struct {
	traits
	occasion
	b       *Bridge
	p       *pipeline.Pipeline // takes the log entries; nil: nobody does
	session Session

	stdin   string // once made
	verdict verdict
}

// ask runs the hooks of an event whose matchers select the occasion, one after
// the other in the order of the file, and all of them. An error means that ctx
// ended before a hook had answered. Except before a call, a matcher nobody can
// test selects: one hook too many is the smaller harm.
func (b *Bridge) ask(ctx context.Context, p *pipeline.Pipeline, event string, o occasion) (verdict, error) {
	groups := b.config.groups[event]
	if len(groups) == 0 {
		return verdict{}, nil
	}
	pt := &point{traits: traitsOf(event), occasion: o, b: b, p: p, session: b.session(o.agent)}
	for _, g := range groups {
		matched, err := g.matcher.matches(o.subjects)
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
	entry := pt.invoked(g, g.place)
	a := failed(word, "%v", err)
	pt.settled(entry, a, proc.Result{Code: -1})
	pt.note(a, g.failureBlocks, g.place, proc.Result{})
	pt.verdict.add(a, g.failureBlocks, fmt.Sprintf("the matcher %q of %s", g.matcher.text, who(pt.event, g.place)))
}

// run runs one hook and folds its answer in.
func (pt *point) run(ctx context.Context, h *hook) {
	entry := pt.invoked(h.group, h.place)
	result, err := pt.b.start(ctx, h, pt.line())
	var a answer
	if err != nil {
		result.Code = -1
		a = failed(wordError, "could not be run: %v", err)
	} else {
		a = decode(pt.traits, result)
	}
	if result.End == proc.TimedOut {
		a.failure += " of " + h.timeout.String()
	}
	a.redact(pt.b.opts.Redact)
	blocks := h.failureBlocks && !pt.failOpen
	pt.settled(entry, a, result)
	pt.note(a, blocks, h.place, result)
	pt.verdict.add(a, blocks, who(pt.event, h.place))
}

// who names a hook to a model, without the directories its file is in.
func who(event, place string) string {
	return fmt.Sprintf("the %s hook at %s", event, filepath.Base(place))
}

// entry is one pair of log events. The id is unique among those of its bridge.
type entry struct {
	place string
	id    string
	begun time.Time
}

// invoked writes that a hook is asked.
func (pt *point) invoked(g *group, place string) entry {
	e := entry{
		place: place,
		id:    fmt.Sprintf("%s:%s:%d", dialect, pt.event, pt.b.count.Add(1)),
		begun: pt.b.opts.Now(),
	}
	members := append(pt.common(e), text("dialect", dialect))
	if g.matcher.text != "" {
		members = append(members, text("matcher", g.matcher.text))
	}
	pt.emit(EventHookInvoked, members)
	return e
}

// settled writes what came of it.
func (pt *point) settled(e entry, a answer, r proc.Result) {
	took := float64(pt.b.opts.Now().Sub(e.begun).Microseconds()) / 1000
	members := append(pt.common(e), text("decision", a.logged()))
	if r.Code >= 0 {
		members = append(members, number("exitCode", r.Code))
	}
	if stderr := summary(r.Stderr); stderr != "" {
		members = append(members, text("stderrSummary", stderr))
	}
	pt.emit(EventHookResult, append(members,
		tools.Member{Name: "durationMs", Value: tools.MustJSON(strconv.FormatFloat(took, 'f', -1, 64))}))
}

// emit writes an event. The pipeline reports a sink that fails.
func (pt *point) emit(eventType string, members []tools.Member) {
	if pt.p != nil {
		_ = pt.p.Emit(eventType, tools.ComposeObject(members...))
	}
}

// common are the members both events have.
func (pt *point) common(e entry) []tools.Member {
	members := []tools.Member{
		number("turn", pt.session.Turn), text("point", pt.event), text("handlerId", e.id), text("hook", e.place),
	}
	if pt.session.ID != "" {
		members = append(members, text("sessionId", pt.session.ID))
	}
	if pt.call != nil {
		members = append(members, text("callId", pt.call.ID()))
	}
	return members
}

// note tells the host what has no effect, or an unexpected one.
func (pt *point) note(a answer, blocks bool, place string, r proc.Result) {
	log := pt.b.opts.Logger.With("hook", place, "event", pt.event)
	if pt.call != nil {
		log = log.With("tool", pt.call.Name(), "call", pt.call.ID())
	}
	if a.failure != "" {
		log.Warn("hook failed", "problem", a.failure, "blocks", blocks)
	}
	if a.replaces {
		log.Warn("hook wants other arguments or another result; that is not applied")
	}
	if a.rank == rankDeny && !pt.blocks || a.rank == rankAsk && pt.event != PreToolUse {
		log.Warn("hook decides where nothing is to be decided", "decision", a.word, "reason", clipped(a.reason))
	}
	if a.context != "" && !pt.contexts {
		log.Warn("hook has context for the model; that is not passed on at this event", "context", clipped(a.context))
	}
	if a.elsewhere != "" {
		log.Warn("hook answers for another event; that has no effect", "hookEventName", a.elsewhere)
	}
	if a.systemMessage != "" && !pt.harness {
		log.Warn("hook has a message for the person", "message", clipped(a.systemMessage))
	}
	if a.stop && !pt.harness {
		log.Warn("hook wants the session to stop; the call goes on", "reason", clipped(a.stopReason))
	}
	if r.Left > 0 {
		log.Warn("processes of a hook could not be ended", "count", r.Left)
	}
}

// start runs a hook's command. The error is for one that never ran.
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
	if err != nil && ctx.Err() != nil {
		return proc.Result{End: proc.Cancelled, Code: -1}, nil
	}
	if b.opts.Redact != nil {
		head := b.opts.Redact(result.Stderr.Head)
		result.Stderr.Size += int64(len(head) - len(result.Stderr.Head)) // what is left out stays the same
		result.Stderr.Head = head
	}
	return result, err
}
