//go:build unix || windows

package worker

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/runcode-go/runcode/runtime/gojavm"
)

// marker is the argv[0] of a worker. It asks for the hook's checks; by itself it
// gives a process nothing.
const marker = "runcode-worker"

// depthVar is set in the environment of every worker and selects nothing. A
// process that has it and still gets as far as New is a binary that does not act
// on the hook: it must not start itself again.
const depthVar = "RUNCODE_WORKER_DEPTH"

// What a worker finds open beside its standard files: its end of the socket pair,
// which proves who started it, and the two pipes it is spoken to through.
const (
	proofDescriptor = 3 + iota
	fromParentDescriptor
	toParentDescriptor
	lastDescriptor = toParentDescriptor
)

// becomeWorker is what a worker does instead of main. connect opens its end of the
// connection, once it is known what else is open. The
// rest is what the parent says: its nonce, and the layers to leave out.
func becomeWorker(connect func() (io.ReadWriteCloser, error), nonce, without string) {
	// Package initialisation is tied to the main thread, and what is tied to a thread
	// costs switches of threads whenever its turn comes: here, for every frame.
	ended := make(chan error)
	go func() { ended <- serveProcess(connect, nonce, strings.Split(without, ",")) }()
	if err := <-ended; err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// maxStack is the largest stack of a goroutine in a worker. What needs more is a
// runaway recursion of the parser's or the engine's own.
const maxStack = 64 << 20

// newEngine is what a worker hosts.
var newEngine = func() (engine, error) { return gojavm.New(&gojavm.Options{OwnProcess: true}) }

func serveProcess(connect func() (io.ReadWriteCloser, error), nonce string, without []string) error {
	layers := openedByInit()
	conn, err := connect()
	if err != nil {
		return err
	}
	vm, err := newEngine()
	if err != nil {
		return err
	}
	debug.SetMaxStack(maxStack) // after the engine, which allows more
	confined, err := confineProcess(without)
	if err != nil {
		return fmt.Errorf("confine the worker process: %w", err)
	}
	s := newServer(newLink(conn), vm)
	s.pace = pace()
	return s.serve(helloMeta{Nonce: nonce, Version: protocolVersion, Build: buildID(), Layers: append(confined, layers...)})
}
