//go:build unix || windows

package worker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// starter starts workers.
type starter struct {
	spawner // what this system needs for it

	binary  string
	build   string // what a worker must greet with, "" if another binary was named
	env     []string
	require []string      // layers
	without []string      // layers
	wait    time.Duration // for a hello
	logger  *slog.Logger

	mu    sync.Mutex
	first []Layer // of the first worker, nil until it has greeted
}

// newStarter checks what can be checked without starting anything.
func newStarter(opts *Options, wait time.Duration, logger *slog.Logger) (*starter, error) {
	if os.Getenv(depthVar) != "" {
		return nil, &startError{problem: "this process was itself started as a worker (" + depthVar + " is set) and did not become one, so starting it again would not end; name a binary that imports package runtime/worker directly"}
	}
	if err := checkLayerNames(opts.Require, opts.Without); err != nil {
		return nil, err
	}
	s := &starter{require: opts.Require, without: opts.Without, wait: wait, logger: logger}
	var err error
	if s.binary, s.build, err = workerBinary(opts.Binary); err != nil {
		return nil, err
	}
	if s.env, err = workerEnv(opts.Env); err != nil {
		return nil, err
	}
	return s, s.open()
}

// workerBinary is the file to start, and the build it must greet with.
func workerBinary(named string) (binary, build string, err error) {
	if named != "" {
		binary, err = filepath.Abs(named)
		if err == nil {
			err = checkExecutable(binary)
		}
		return binary, "", err
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if err := checkBuildMode(info.Settings); err != nil {
			return "", "", err
		}
	}
	binary, err = ownBinary()
	return binary, buildID(), err
}

// checkBuildMode refuses builds in which the running file is not this program:
// started again, a shared library's host would be the host, not a worker.
func checkBuildMode(settings []debug.BuildSetting) error {
	for _, setting := range settings {
		if setting.Key == "-buildmode" && !slices.Contains([]string{"exe", "pie", "default"}, setting.Value) {
			return &startError{problem: fmt.Sprintf("a program built with -buildmode=%s cannot start itself as a worker", setting.Value)}
		}
	}
	return nil
}

// workerEnv is the whole environment of a worker.
func workerEnv(extra []string) ([]string, error) {
	env := []string{depthVar + "=1", "GOMAXPROCS=1", "GOTRACEBACK=none"}
	if value, ok := os.LookupEnv(inheritedVar); ok {
		env = append(env, inheritedVar+"="+value)
	}
	for _, entry := range extra {
		if name, _, ok := strings.Cut(entry, "="); !ok || name == "" || strings.ContainsRune(entry, 0) {
			return nil, &startError{problem: fmt.Sprintf("the worker environment entry %q is not of the form NAME=value", entry)}
		}
		env = append(env, entry)
	}
	return env, nil
}

// start starts one worker and returns it once it has greeted. A process that is
// no worker has been given nothing and is gone when the error returns.
func (s *starter) start(ctx context.Context) (*process, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	nonce := newNonce()
	w, err := s.spawn(nonce)
	if err != nil {
		return nil, err
	}
	stopWatching := context.AfterFunc(ctx, w.kill)
	defer stopWatching()
	if err := w.greet(greeting{nonce: nonce, build: s.build, wait: s.wait}); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, err
	}
	outside, err := limitFromOutside(w, s.without)
	if err == nil {
		w.layers = mergeLayers(slices.Concat(s.around(), w.hello.Layers, outside))
		err = s.note(w.layers)
	}
	if err == nil && !stopWatching() {
		err = context.Cause(ctx)
	}
	if err != nil {
		w.end()
		return nil, err
	}
	return w, nil
}

// layers is what protects the workers of this starter, once one has been started.
func (s *starter) layers() []Layer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.first)
}

// note logs once which layers the workers of this host lack, and refuses one
// that lacks a required layer or one the first worker had.
func (s *starter) note(now []Layer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		return lostLayer(s.first, now)
	}
	if err := lackedLayer(s.require, now); err != nil {
		return err
	}
	s.first = now
	s.warn(now)
	return nil
}

// warn says which layers do not hold: those of other systems in one line.
func (s *starter) warn(layers []Layer) {
	var elsewhere []string
	for _, l := range layers {
		switch {
		case l.State == LayerOn:
		case l.Note == needsLinux:
			elsewhere = append(elsewhere, l.Name)
		default:
			s.logger.Warn("worker processes run without a layer of protection", "layer", l.Name, "state", l.State, "note", l.Note)
		}
	}
	if elsewhere != nil {
		s.logger.Warn("worker processes run without the layers of protection that need Linux", "layers", strings.Join(elsewhere, ", "))
	}
}

// newProcess makes a process of a child that has been started. await returns when
// the child has ended and been reaped, and has noted how.
func newProcess(pid int, conn io.ReadWriteCloser, said *os.File, await func(*process)) *process {
	p := &process{link: newLink(conn), pid: pid, diag: &diagnostics{}, exited: make(chan struct{}), served: map[runID]bool{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer said.Close()
		p.diag.collect(said)
	}()
	go func() {
		defer close(p.exited)
		await(p)
		// A descendant that outlived it could hold the pipe open for ever.
		timer := time.AfterFunc(endGrace, func() { said.SetReadDeadline(time.Now()) })
		<-read
		timer.Stop()
	}()
	return p
}

// slack is what a run may need beside the engine's heap: stacks, the allocator's
// own tables, a collection in progress, and garbage that the collector lets be.
const slack = 64<<20 + mostGarbage
