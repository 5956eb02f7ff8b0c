package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/mcpserver"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/pipeline/spill"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
	"github.com/runcode-go/runcode/tools/mcptools"
	"github.com/runcode-go/runcode/tools/todotools"
)

// sessionFlags are the flags of every command that makes calls.
type sessionFlags struct {
	tools     toolFlags
	servers   serverFlags
	config    configFlags
	approve   string
	dryRun    bool
	mode      string // the command's own flag
	events    string
	stages    bool
	recording bool // --record, or what stands for it
	inProcess bool
	parallel  count
	policies  policyFlags
	limits    limitFlags
	json      bool
	quiet     bool
	secrets   []redact.Secret // that the environment's names do not tell; no flag
}

// registerTools adds the flags that stand before a command's own, registerRest
// those behind.
func (f *sessionFlags) registerTools(flags *pflag.FlagSet) {
	f.tools.register(flags)
	f.servers.register(flags)
	f.config.register(flags)
	flags.StringVar(&f.approve, "approve", "ask", "the `answer` to calls that need approval: ask (without a terminal: deny), never or always")
	flags.BoolVar(&f.dryRun, "dry-run", false, "run what reads; show what would be changed and change nothing (PreToolUse hooks do run)")
}

func (f *sessionFlags) registerRest(flags *pflag.FlagSet) {
	flags.StringVar(&f.events, "events", "", "append the event log to this `file` (JSON lines)")
	flags.BoolVar(&f.stages, "stages", false, "log also what every rule, hook and wrapper answered for each call (with --events)")
	flags.BoolVar(&f.inProcess, "in-process", false, "run in this process instead of a worker: faster to start; one huge step can still end the command")
	flags.Var(&f.parallel, "parallel", "how many concurrency-safe calls may overlap (default 1: one after another)")
	f.policies.register(flags)
	f.limits.register(flags)
	flags.BoolVar(&f.json, "json", false, "print one JSON object: outcome, calls, usage")
	flags.BoolVar(&f.quiet, "quiet", false, "print nothing on standard error but usage errors, and ask nothing: what needs approval is denied")
}

// registerRecord adds the flag of commands that have no cassette to record.
func (f *sessionFlags) registerRecord(flags *pflag.FlagSet) {
	flags.BoolVar(&f.recording, "record", false, "log also what runcode replay needs; a program's clock then stands still while it computes (with --events)")
}

// session is everything a command that makes calls opens.
type session struct {
	streams  *streams
	flags    *sessionFlags
	console  *console
	config   *config
	tools    *toolset
	servers  mcptools.Config // to start
	redactor *redact.Redactor
	policy   *permission.Policy
	pipeline *pipeline.Pipeline
	codemode *codemode.CodeMode
	live     *liveView         // nil: --quiet, or MCP clients are served
	clients  *mcpserver.Server // nil: none are served
	storing  sync.Mutex
	store    *spill.Store   // nil until it is needed; storing is held
	unasked  atomic.Int32   // calls denied because nobody could be asked
	closers  []func() error // in the order of opening
}

// audience is whom a session's calls are made for.
type audience struct {
	// source says where calls come from, for a person who is asked about one.
	source func(tools.Call) string
	// clients are asked and told instead of a person.
	clients *mcpserver.Server
}

// readSession reads the files that the flags name and those that are found. One of
// them may keep it waiting, so the key that interrupts should still end the process.
func readSession(s *streams, f *sessionFlags) (_ *session, err error) {
	ses := &session{streams: s, flags: f, redactor: ownSecrets()}
	defer func() {
		if err != nil {
			err = errors.Join(err, ses.close())
		}
	}()
	if err := f.check(); err != nil {
		return nil, err
	}
	if ses.tools, err = f.tools.open(f.dryRun); err != nil {
		return nil, err
	}
	ses.closers = append(ses.closers, ses.tools.close)
	if ses.config, err = f.config.load(f.tools.root); err != nil {
		return nil, err
	}
	var notes []string
	if ses.servers, notes, err = f.servers.load(f.tools.root, !f.config.ignore); err != nil {
		return nil, err
	}
	ses.tools.notes = append(ses.tools.notes, notes...)
	ses.redactor = withSecrets(slices.Concat(ses.servers.Secrets(), f.tools.documents.secrets(), f.secrets))
	return ses, nil
}

// open opens the rest, starts the servers, and says what is to be known of them.
// After an error the session is closed.
func (s *session) open(ctx context.Context, to audience) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	s.clients = to.clients
	s.console = openConsole(s.streams, s.flags.quiet || to.clients != nil)
	s.closers = append(s.closers, s.console.close)
	said := s.console.err
	if !s.flags.quiet && to.clients == nil {
		s.openLive()
		said = s.live
	}
	if to.clients != nil {
		s.tools.changed = to.clients.Refresh
	}
	if err := s.tools.connect(ctx, s.servers, s.flags.dryRun); err != nil {
		return err
	}
	logger := hostLog(said, s.flags.quiet, s.redactor)
	if err := s.openPipeline(logger, to.source); err != nil {
		return err
	}
	if err := s.openPolicy(logger); err != nil {
		return err
	}
	for _, note := range s.tools.notes {
		s.note("%s", note)
	}
	return s.openCodeMode(logger)
}

// openPipeline makes the pipeline with its log and its approver, which ask the
// policy that is installed after it.
func (s *session) openPipeline(logger *slog.Logger, source func(tools.Call) string) error {
	opts := &pipeline.Options{Logger: logger, Stages: s.flags.stages, Values: s.flags.recording}
	sink, err := s.sink(opts)
	if err != nil {
		return err
	}
	opts.Sink = sink
	opts.Approver = s.approver(source)
	s.pipeline = pipeline.New(s.tools.registry, opts)
	s.tools.emit = s.pipeline.Emit
	s.pipeline.OnResult("command", s.settled)
	if s.flags.dryRun {
		s.afterDryRun()
	}
	return nil
}

func (s *session) openPolicy(logger *slog.Logger) error {
	policy, closeHooks, err := s.config.install(s.pipeline, s.protected(), logger, s.redactor.Text)
	s.closers = append(s.closers, closeHooks)
	if err != nil {
		return err
	}
	s.policy = policy
	s.flags.policies.install(s.pipeline)
	if s.tools.files != nil {
		s.tools.files.SetHide(policy.Hidden)
	}
	for _, note := range s.config.notes {
		s.note("%s", note)
	}
	return nil
}

func (s *session) openCodeMode(logger *slog.Logger) error {
	mode, err := codemode.ParseMode(s.flags.mode)
	if err != nil {
		return err
	}
	opts := &codemode.Options{
		Mode:     mode,
		Limits:   s.flags.limits.limits(),
		Parallel: int(s.flags.parallel),
		Redact:   s.redactor.Known,
		Record:   s.flags.recording,
		Worker:   codemode.WorkerOptions{Logger: logger},
	}
	if s.flags.inProcess {
		opts.Isolation = codemode.IsolationInProcess
	}
	switch {
	case s.clients != nil:
		opts.OnLog = s.clients.Log
	case s.live != nil:
		opts.OnLog = func(_ string, line runtime.Line) { s.live.log(line) }
	}
	if s.flags.events != "" {
		opts.Store = s.save
	}
	if s.codemode, err = codemode.New(s.pipeline, opts); err != nil {
		return err
	}
	s.closers = append(s.closers, s.codemode.Close)
	return nil
}

// check refuses what would make every run fail.
func (f *sessionFlags) check() error {
	if _, err := codemode.ParseMode(f.mode); err != nil {
		return fmt.Errorf("--mode: %w", err)
	}
	if !slices.Contains(approvals, f.approve) {
		return fmt.Errorf("--approve: unknown answer %q; the answers are ask, never and always", f.approve)
	}
	if f.parallel > runtime.MaxParallel {
		return fmt.Errorf("--parallel is %d; at most %d calls can overlap", f.parallel, runtime.MaxParallel)
	}
	for _, adds := range []struct {
		flag string
		set  bool
	}{{"--stages", f.stages}, {"--record", f.recording}} {
		if adds.set && f.events == "" {
			return fmt.Errorf("%s adds to the event log, and there is none; name its file with --events", adds.flag)
		}
	}
	if err := f.policies.check(); err != nil {
		return err
	}
	if heap := f.limits.heap; heap > 0 && heap < worker.MinHeap && !f.inProcess {
		return fmt.Errorf("--heap is %d bytes; a worker needs at least %d MiB", heap, worker.MinHeap>>20)
	}
	return nil
}

// sink opens what the events go to, nil if nothing.
func (s *session) sink(opts *pipeline.Options) (pipeline.Sink, error) {
	var sinks []pipeline.Sink
	if s.flags.events != "" {
		log, err := s.openLog()
		if err != nil {
			return nil, fmt.Errorf("--events: %w", err)
		}
		opts.FirstSeq, opts.LogRequired = log.NextSeq(), true
		sinks = append(sinks, log)
	}
	if s.live != nil {
		sinks = append(sinks, s.live)
	}
	if s.clients != nil {
		sinks = append(sinks, s.clients)
	}
	if len(sinks) == 0 {
		return nil, nil
	}
	return pipeline.Tee(sinks...), nil
}

func (s *session) openLive() {
	s.live = newLiveView(s.console.err)
	s.live.registry, s.live.redactor, s.live.dryRun = s.tools.registry, s.redactor, s.flags.dryRun
	if f, ok := s.streams.err.(*os.File); ok {
		s.live.onTerminal(f)
	}
}

// openLog opens the event log with the store beside it for what is too large
// for it, and takes up what earlier runs in it have read and planned.
func (s *session) openLog() (*eventlog.Log, error) {
	path := s.flags.events
	log, err := eventlog.Open(path, &eventlog.Options{
		Redact: s.redactor.JSON,
		Spill: func(ctx context.Context, text string) (string, error) {
			store, err := s.spillStore()
			if err != nil {
				return "", err
			}
			return store.Put(ctx, text)
		},
	})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, s.closeStore, log.Close)
	return log, s.resume(log, path)
}

// spillStore is the store beside the event log, made when it is first needed.
func (s *session) spillStore() (*spill.Store, error) {
	s.storing.Lock()
	defer s.storing.Unlock()
	if s.store != nil {
		return s.store, nil
	}
	store, err := spill.Open(s.flags.events+spillSuffix, &spill.Options{Redact: s.redactor.Text})
	if err != nil {
		return nil, err
	}
	s.store = store
	return store, nil
}

// save keeps a text that is too large for a model to read.
func (s *session) save(ctx context.Context, callID, text string) (locator string, err error) {
	store, err := s.spillStore()
	if err != nil {
		return "", err
	}
	return store.Save(ctx, callID, text)
}

// closeStore closes the store if there is one.
func (s *session) closeStore() error {
	s.storing.Lock()
	defer s.storing.Unlock()
	if s.store == nil {
		return nil
	}
	return s.store.Close()
}

// resume settles the calls that a run which died has left open in the log, and
// restores from it what the file tools have seen and what is to do.
func (s *session) resume(log *eventlog.Log, path string) error {
	past, err := eventlog.ReadFile(path, nil)
	if err != nil {
		return err
	}
	for _, call := range past.OpenCalls() {
		s.note("an earlier run in %s ended during the call %s of %s: %s", path, call.ID, call.Name, call.Text)
	}
	for _, e := range past.Repair(nil) {
		if err := log.Emit(e); err != nil {
			return err
		}
	}
	for _, e := range past.Events {
		switch {
		case wasCut(e): // what is left of it would be taken for all of it
		case e.Type == fstools.EventObserved && s.tools.observations != nil:
			err = s.tools.observations.Restore(actor{}, e.Data)
		case e.Type == todotools.EventTodoWrite && s.tools.todos != nil:
			err = s.tools.todos.Restore(actor{}, e.Data)
		}
		if err != nil {
			return fmt.Errorf("event %d cannot be taken up: %w", e.Seq, err)
		}
	}
	return nil
}

// wasCut reports whether an event was too large for the log.
func wasCut(e pipeline.Event) bool {
	var data struct {
		Cut tools.JSON `json:"cut"`
	}
	return e.Data.Unmarshal(&data) != nil || !data.Cut.IsZero()
}

// protected are the files no rule may open to writing: the log and what is
// beside it, and the command's own.
func (s *session) protected() []string {
	var paths []string
	if s.flags.events != "" {
		if abs, err := filepath.Abs(s.flags.events); err == nil {
			paths = append(paths, abs, abs+spillSuffix)
		}
	}
	return append(paths, ownFiles()...)
}

// ownFiles are the running program and what it keeps for the user: whoever
// writes there decides what is trusted.
func ownFiles() []string {
	var paths []string
	if exe, err := os.Executable(); err == nil {
		paths = append(paths, exe)
	}
	if dir, err := os.UserConfigDir(); err == nil {
		paths = append(paths, filepath.Dir(filepath.Join(dir, filepath.FromSlash(trustFile))))
	}
	return paths
}

// ownSecrets knows the secrets of this process, which nothing it writes has in
// it.
func ownSecrets() *redact.Redactor { return redact.New(redact.FromEnviron(os.Environ())) }

// spillSuffix names the directory beside an event log for what is too large for
// it.
const spillSuffix = ".spill"

// settled is told of every call that has settled.
func (s *session) settled(out pipeline.Outcome) {
	if out.Info().Code == tools.CodeApprovalUnavailable {
		s.unasked.Add(1)
	}
	switch {
	case s.live != nil && s.live.terminal:
		s.live.settledOutcome(out)
	case s.flags.dryRun:
		s.showDry(out)
	}
}

// note tells the person something before or after the run.
func (s *session) note(format string, args ...any) {
	if !s.flags.quiet {
		fmt.Fprintf(s.console.err, "note: %s\n", termtext.Escape(s.redactor.Text(fmt.Sprintf(format, args...))))
	}
}

// interject tells the person something while the run goes on, above what is drawn
// last.
func (s *session) interject(format string, args ...any) {
	if s.live != nil {
		fmt.Fprintf(s.live, "%s\n", termtext.EscapeLine(s.redactor.Text(fmt.Sprintf(format, args...))))
	}
}

// interrupted tells the person why the key has not ended the run yet.
func (s *session) interrupted() {
	s.interject("note: interrupted; waiting for calls that run to return (interrupt again to end at once)")
}

// close closes in the reverse order of opening.
func (s *session) close() error {
	var errs []error
	for _, close := range slices.Backward(s.closers) {
		errs = append(errs, close())
	}
	s.closers = nil
	return errors.Join(errs...)
}
