package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/internal/jsondoc"
	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Name is the name of the bridge's listeners in a pipeline, and the plugin in
// the source of the messages it adds.
const Name = "hooks-claude-code"

// The defaults of Options.
const (
	defaultTimeout   = 60 * time.Second
	defaultMaxOutput = 256 << 10
)

// Options configures a Bridge. The zero value is useful.
type Options struct {
	// Dir is the directory hooks run in, and their cwd field. Empty: the
	// current one.
	Dir string
	// ProjectDir is CLAUDE_PROJECT_DIR for hooks. Empty: Dir.
	ProjectDir string
	// PluginRoot is CLAUDE_PLUGIN_ROOT for hooks. Empty: a command that uses it
	// is an error.
	PluginRoot string
	// Shell runs the commands, as "shell -c -- command". Empty: bash.
	Shell string
	// Env adds NAME=value entries to the environment of hooks. What hooks get
	// from this process is PATH, HOME, USER, LOGNAME, SHELL, LANG, LANGUAGE,
	// LC_*, TZ and TMPDIR.
	Env []string
	// Timeout is that of hooks which name none. Zero: 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of a hook's standard output are read; an
	// answer in JSON that is longer counts as a failure. Zero: 256 KiB. Of
	// standard error no more than 64 KiB are read.
	MaxOutput int
	// Redact takes secrets out of the texts of hooks, wherever these go: what they
	// write to standard error, and the reasons, contexts and messages they answer
	// with. Nil: nothing is taken out.
	Redact func(text string) string
	// Session says which session an agent, nil for none, is in at this moment.
	// It is asked at every event that has hooks, so it must be quick. Nil: the
	// zero Session.
	Session func(agent any) Session
	// Now is the clock of the durations in the log. Nil: time.Now.
	Now func() time.Time
	// Logger is told of hooks that fail and of answers that have no effect.
	// Nil: slog.Default().
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("cannot find the directory of the hooks: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return o, fmt.Errorf("cannot run hooks in Options.Dir: %w", err)
	} else if !info.IsDir() {
		return o, fmt.Errorf("cannot run hooks in Options.Dir: %s is not a directory", dir)
	}
	o.Dir = dir
	if o.ProjectDir == "" {
		o.ProjectDir = dir
	}
	if o.Timeout < 0 || o.MaxOutput < 0 {
		return o, errors.New("Options.Timeout and Options.MaxOutput must not be negative; zero means the default")
	}
	for _, entry := range o.Env {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" || strings.ContainsRune(entry, 0) {
			return o, fmt.Errorf("the entry %q of Options.Env is not of the form NAME=value", entry)
		}
	}
	o.Shell = or(o.Shell, "bash")
	o.Timeout = or(o.Timeout, defaultTimeout)
	o.MaxOutput = or(o.MaxOutput, defaultMaxOutput)
	o.Logger = or(o.Logger, slog.Default())
	if o.Session == nil {
		o.Session = func(any) Session { return Session{} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// Session is what hooks read of a session, and the turn that stands in the log.
// The zero Session has no name.
type Session struct {
	ID, TranscriptPath string // session_id and transcript_path
	PermissionMode     string // permission_mode; empty: "default"
	Turn               int
}

func (b *Bridge) session(agent any) Session {
	s := b.opts.Session(agent)
	s.PermissionMode = or(s.PermissionMode, "default")
	return s
}

// or is v, or instead of the zero value the other.
func or[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// Bridge runs the hooks of one settings file. It is safe for concurrent use;
// make it with Load or Read and end it with Close.
type Bridge struct {
	opts   Options
	config config
	shell  string // as a path
	env    []string
	count  atomic.Uint64 // of the hooks run, for their ids in the log

	closing context.Context // ends with Close
	close   context.CancelFunc

	mu      sync.Mutex // guards closed, and running against a late Add
	closed  bool
	running sync.WaitGroup
}

// Load is Read for a file.
func Load(path string, opts *Options) (*Bridge, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot load hooks: %w", err)
	}
	defer f.Close()
	return Read(f, path, opts)
}

// Read reads settings: an object whose hooks member is Claude Code's map from
// events to groups, or that map itself. name stands for the file in errors and
// notes. Nothing is run yet.
//
// Within the hooks everything must be known: an unknown event, key or form is a
// *ConfigError. What Claude Code knows and this package does not is listed by
// Ignored, NotConnected and NeedHarness, so that a caller can show it. nil
// options are the zero Options.
//
// Hooks are programs. Read does not ask whether the file is to be trusted: one
// that comes with a working tree is not the operator's own.
func Read(r io.Reader, name string, opts *Options) (*Bridge, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	doc, err := jsondoc.Read(r, name)
	if err != nil {
		return nil, err
	}
	b := &Bridge{opts: o}
	if b.config, err = parseConfig(doc, o); err != nil {
		return nil, err
	}
	if err := b.findShell(); err != nil {
		return nil, err
	}
	b.env = proc.Environ(append(b.variables(), o.Env...)...)
	b.closing, b.close = context.WithCancel(context.Background())
	return b, nil
}

func (b *Bridge) findShell() error {
	if len(b.config.groups) == 0 {
		return nil
	}
	path, err := exec.LookPath(b.opts.Shell)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return fmt.Errorf("cannot run hooks: the shell %q is missing: %w; install it where PATH finds it (in a Go program: or name another in Options.Shell)", b.opts.Shell, err)
	}
	b.shell = path
	return nil
}

func (b *Bridge) variables() []string {
	env := []string{"CLAUDE_PROJECT_DIR=" + b.opts.ProjectDir}
	if b.opts.PluginRoot != "" {
		env = append(env, "CLAUDE_PLUGIN_ROOT="+b.opts.PluginRoot)
	}
	return env
}

// Hook is one hook that runs, as Hooks lists it.
type Hook struct {
	Event   string // one of the constants, PreToolUse and so on
	Matcher string // as written, "" for everything
	Command string
	Timeout time.Duration
	Blocks  bool   // whether a failure of the hook blocks what it is asked about
	Place   string // file:line:column
}

// Hooks lists the hooks that run, event by event, in the order they run in. What
// they will say cannot be known without running them.
func (b *Bridge) Hooks() []Hook {
	hooks := []Hook{}
	for _, t := range connected {
		for _, g := range b.config.groups[t.event] {
			hooks = append(hooks, g.list()...)
		}
	}
	return hooks
}

// HooksFor lists those of Hooks that calls of a tool are put to; event is
// PreToolUse or PostToolUse. Those whose matcher cannot be tested are among them.
func (b *Bridge) HooksFor(event, tool string) []Hook {
	hooks := []Hook{}
	for _, g := range b.config.groups[event] {
		if matched, err := g.matcher.matches(subjects(tool)); matched || err != nil {
			hooks = append(hooks, g.list()...)
		}
	}
	return hooks
}

func (g *group) list() (hooks []Hook) {
	for _, h := range g.hooks {
		hooks = append(hooks, Hook{g.event, g.matcher.text, h.command, h.timeout, h.failureBlocks, h.place})
	}
	return hooks
}

// Ignored lists what the file says and what has no effect here.
func (b *Bridge) Ignored() []Note { return slices.Clone(b.config.ignored) }

// NotConnected lists the events of the file whose hooks never run.
func (b *Bridge) NotConnected() []Note { return slices.Clone(b.config.notConnected) }

// NeedHarness lists the events of the file whose hooks run only when the methods
// of these names are called: UserPromptSubmit, Stop, SessionStart, SubagentStart
// and SubagentStop. A program that has no agent and so never calls them should
// show the list.
func (b *Bridge) NeedHarness() []Note { return slices.Clone(b.config.needHarness) }

// Install adds the PreToolUse and PostToolUse hooks to a pipeline, as listeners
// called Name after those that are there. A bridge may serve several pipelines.
// remove takes the hooks out again; until then, calls that a PreToolUse hook is
// to judge are denied once the bridge is closed.
func (b *Bridge) Install(p *pipeline.Pipeline) (remove func()) {
	var removes []func()
	if len(b.config.groups[PreToolUse]) > 0 {
		removes = append(removes, p.PreExecute.Use(Name, b.before(p)))
	}
	if len(b.config.groups[PostToolUse]) > 0 {
		removes = append(removes, p.PostExecute.Use(Name, b.after(p)))
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// before is the pre-execute listener. A hook can only tighten: its allow means
// that the listeners further in are asked as if it had said nothing, and its
// ask does not keep them from denying.
func (b *Bridge) before(p *pipeline.Pipeline) pipeline.Listener[tools.Call, pipeline.Decision] {
	return func(ctx context.Context, call tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		v, err := b.ask(ctx, p, PreToolUse, ofCall(call, func() []tools.Member { return callFields(call, tools.JSON{}) }))
		if err != nil {
			return pipeline.Decision{}, err
		}
		if v.rank == rankDeny {
			return pipeline.Deny(v.reason(fallback(PreToolUse))), nil
		}
		d, err := next(ctx)
		if err != nil || v.rank != rankAsk || d.Verdict() == pipeline.VerdictDeny {
			return d, err
		}
		if d.Verdict() == pipeline.VerdictAsk && d.Reason() != "" {
			v.reasons = append(v.reasons, d.Reason())
		}
		return pipeline.Ask(v.reason("")), nil
	}
}

// after is the post-execute listener.
func (b *Bridge) after(p *pipeline.Pipeline) pipeline.Listener[pipeline.Settled, pipeline.PostDecision] {
	return func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		v, err := b.ask(ctx, p, PostToolUse, ofCall(s.Call, func() []tools.Member { return callFields(s.Call, toolResponse(s.Result)) }))
		if err != nil {
			return pipeline.PostDecision{}, err
		}
		if v.rank == rankDeny {
			feedback := tools.TextContent(v.reason(fallback(PostToolUse)))
			return pipeline.Block([]tools.Content{feedback}).WithContexts(v.messages()...), nil
		}
		d, err := next(ctx)
		if err != nil {
			return d, err
		}
		return d.WithContextsFirst(v.messages()...), nil
	}
}

// ofCall is the occasion of a call.
func ofCall(call tools.Call, fields func() []tools.Member) occasion {
	return occasion{agent: call.Agent(), call: &call, subjects: subjects(call.Name()), fields: fields}
}

var errClosed = errors.New("the hooks have been closed")

// enter counts a hook in, unless the bridge is closed.
func (b *Bridge) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.running.Add(1)
	}
	return !b.closed
}

// Close ends the hooks that run, with everything they have started, and returns
// when they are gone. No hook runs after that: each counts as failed, so that
// what a PreToolUse hook would have judged is denied. Close again has no effect.
func (b *Bridge) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.close()
	b.running.Wait()
}
