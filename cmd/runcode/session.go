package main

import (
	"errors"
	"fmt"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
)

// session is everything one `runcode run` opens.
type session struct {
	streams  *streams
	flags    *runFlags
	codemode *codemode.CodeMode
	live     *liveView      // nil: --quiet
	closers  []func() error // in the order of opening
}

func openSession(s *streams, f *runFlags) (_ *session, err error) {
	ses := &session{streams: s, flags: f}
	defer func() {
		if err != nil {
			err = errors.Join(err, ses.close())
		}
	}()
	mode, err := codemode.ParseMode(f.mode)
	if err != nil {
		return nil, fmt.Errorf("--mode: %w", err)
	}
	if mode == codemode.ModeNative {
		return nil, errors.New("--mode native offers no run_code, so there is nothing to run a program with; use code or both")
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	set, err := f.tools.open()
	if err != nil {
		return nil, err
	}
	ses.closers = append(ses.closers, set.close)

	opts := &pipeline.Options{Logger: hostLog(s.err, f.quiet)}
	if opts.Sink, err = ses.sink(opts); err != nil {
		return nil, err
	}
	p := pipeline.New(set.registry, opts)
	p.PreExecute.Use("destructive", askDestructive(set.registry))

	isolation := codemode.IsolationAuto
	if f.inProcess {
		isolation = codemode.IsolationInProcess
	}
	ses.codemode, err = codemode.New(p, &codemode.Options{
		Mode:      mode,
		Isolation: isolation,
		Limits:    f.limits.limits(),
		Parallel:  int(f.parallel),
		Worker:    codemode.WorkerOptions{Logger: opts.Logger},
	})
	if err != nil {
		return nil, err
	}
	ses.closers = append(ses.closers, ses.codemode.Close)
	return ses, nil
}

// check refuses what would make every run fail.
func (f *runFlags) check() error {
	if f.parallel > runtime.MaxParallel {
		return fmt.Errorf("--parallel is %d; at most %d calls can overlap", f.parallel, runtime.MaxParallel)
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
		log, err := eventlog.Open(s.flags.events, nil)
		if err != nil {
			return nil, fmt.Errorf("--events: %w", err)
		}
		s.closers = append(s.closers, log.Close)
		opts.FirstSeq, opts.LogRequired = log.NextSeq(), true
		sinks = append(sinks, log)
	}
	if !s.flags.quiet {
		s.live = newLiveView(s.streams.err)
		sinks = append(sinks, s.live)
	}
	if len(sinks) == 0 {
		return nil, nil
	}
	return pipeline.Tee(sinks...), nil
}

// close closes in the reverse order of opening.
func (s *session) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}
