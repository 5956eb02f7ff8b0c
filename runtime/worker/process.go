package worker

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// process is a live worker as the parent sees it. One session at a time uses
// its link.
type process struct {
	link  *link
	hello helloMeta
	pid   int
	diag  *diagnostics

	kill   func()        // ends it at once; may be called at any time, often
	layers []Layer       // in the order of LayerNames; nil: nobody looked
	exited chan struct{} // closed when it is gone and its diagnostics are read
	status exitStatus    // once exited is closed
	unread atomic.Bool   // it could not be told something
	deaf   atomic.Bool   // it was ended because it read no more and went on
	born   int64         // resident bytes when it had greeted, 0 if not known

	// What is done to the process by its number or handle is done under reap, and
	// no more once it is reaped.
	reap   sync.Mutex
	reaped bool
	used   time.Duration              // processor time of its whole life, once reaped
	look   func() (usage, error)      // what it uses; nil: the system does not tell
	arm    func(runtime.Limits) error // sets the limits of a run from outside; nil: there are none

	// The rest belongs to whoever holds the process: a session or the pool.
	served map[runID]bool // the runs it has had
	names  places         // the namespaces it keeps
	trust  any            // the Request.Trust of them all
	heap   int64          // the largest Limits.Heap it has had
	idle   *time.Timer    // ends it while it waits in the pool
	rested time.Time      // when it last began to wait there
}

// exitStatus is how a process ended.
type exitStatus struct {
	Code   int    // -1 if a signal ended it
	Signal string // its name, "" if none

	Intruder bool // the signal is that of the system call filter
	OutOfCPU bool // the signal is that of RLIMIT_CPU
}

func (s exitStatus) String() string {
	if s.Signal != "" {
		return fmt.Sprintf("was ended by signal %s", s.Signal)
	}
	return fmt.Sprintf("exited with code %d", s.Code)
}

// maxRuns is how many runs one process serves before another takes its place.
const maxRuns = 200

// helloWait is how long a new process may take to greet. An idle machine needs
// milliseconds; one that is busy with ten other things took over two seconds.
const helloWait = 10 * time.Second

// endGrace is how long an idle process gets to leave by itself.
const endGrace = 250 * time.Millisecond

// end closes the connection, which a worker takes as the order to exit, and
// returns when the process is gone.
func (p *process) end() {
	p.link.close()
	select {
	case <-p.exited:
	case <-time.After(endGrace):
		p.kill()
		<-p.exited
	}
}

// retire ends the process at once and returns when it is gone. It has no run,
// so there is nothing that it could still do.
func (p *process) retire() {
	p.kill()
	<-p.exited
	p.link.close()
}

// notRead is told that something could not be sent. A process that is ending says why
// by itself; one that goes on without reading is ended, as its run would never be.
func (p *process) notRead() {
	if p.unread.Swap(true) {
		return
	}
	time.AfterFunc(stopGrace, func() {
		if !p.gone() {
			p.deaf.Store(true)
			p.kill()
		}
	})
}

// fresh says whether the process has served no run yet.
func (p *process) fresh() bool { return len(p.served) == 0 }

// mostGrowth is by how much a process may have grown over what it had at its
// start and still serve. Go gives memory back slowly, so this is what an idle
// worker would keep. A program that got 10 MB of rows leaves 140 to 235 MiB and
// should not cost a start each time; one that held 300 MB leaves 360 MiB or more.
const mostGrowth = 256 << 20

// grown says whether the process's runs have left it too large to be kept, with now
// being what it uses, or nothing if that is not known.
func (p *process) grown(now usage) bool {
	return p.born > 0 && now.resident-p.born > mostGrowth
}

// gone says whether the process has ended.
func (p *process) gone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// has says whether a layer holds.
func (p *process) has(name string) bool {
	return slices.ContainsFunc(p.layers, func(l Layer) bool { return l.Name == name && l.State == LayerOn })
}

// lacks names the layers that do not hold.
func (p *process) lacks() (names []string) {
	for _, l := range p.layers {
		if l.State != LayerOn {
			names = append(names, l.Name)
		}
	}
	return names
}

// limit sets what bounds a run from outside the process. One that has ended
// needs no limit.
func (p *process) limit(limits runtime.Limits) error {
	if p.arm == nil {
		return nil
	}
	p.reap.Lock()
	defer p.reap.Unlock()
	if p.reaped {
		return nil
	}
	if err := p.arm(limits); err != nil && !gone(err) {
		return err
	}
	return nil
}

// usage is what a process uses, as the system says.
type usage struct {
	cpu      time.Duration // of its life so far, user and system
	resident int64         // bytes of memory, 0 if not known
}

// usage is what the process uses now; of one that has ended it is the time it used
// in all. The error may pass.
func (p *process) usage() (usage, error) {
	if p.look == nil {
		return usage{}, errors.ErrUnsupported
	}
	p.reap.Lock()
	defer p.reap.Unlock()
	if p.reaped {
		return usage{cpu: p.used}, nil
	}
	return p.look()
}

// greeting is what the parent expects of a hello.
type greeting struct {
	nonce string
	build string // "" if any will do
	wait  time.Duration
}

func newNonce() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func newRunID() (id runID) {
	rand.Read(id[:])
	return id
}

var helloCaps = caps{kindHello: {helloCap, 0}}

// greet reads the hello of a process that has just been started. Until it
// returns without an error nothing is sent to the process: what has not proved
// to be a worker is given nothing to execute. After an error the process is
// gone.
func (p *process) greet(want greeting) error {
	err := p.checkHello(want)
	if err == nil {
		now, _ := p.usage()
		p.born = now.resident
		return nil
	}
	p.kill()
	<-p.exited
	p.link.close()
	// One that left by itself says more by its status than by the lost
	// connection.
	if lost := (*lostHello)(nil); errors.As(err, &lost) {
		err = &startError{problem: fmt.Sprintf("it %v instead of greeting", p.status)}
	}
	var start *startError
	if errors.As(err, &start) {
		start.said = withoutDump(p.diag.String())
	}
	return err
}

// lostHello is the end of the connection before the hello.
type lostHello struct{ cause error }

func (e *lostHello) Error() string { return e.cause.Error() }

func (p *process) checkHello(want greeting) error {
	timer := time.AfterFunc(want.wait, p.kill)
	f, err := p.link.receive(helloCaps)
	if !timer.Stop() {
		return &startError{problem: fmt.Sprintf("it said nothing for %v", want.wait), cause: os.ErrDeadlineExceeded}
	}
	if err == nil {
		err = decode(f, &p.hello)
	}
	if broken := (*fault)(nil); errors.As(err, &broken) {
		return &startError{problem: "its greeting is not one of a worker: " + broken.text, cause: broken}
	}
	if err != nil {
		// It is about to exit, or has; a kill now would hide the status.
		select {
		case <-p.exited:
		case <-time.After(endGrace):
		}
		return &lostHello{err}
	}
	switch {
	case p.hello.Nonce != want.nonce:
		return &startError{problem: "its greeting repeats another start's nonce"}
	case p.hello.Version != protocolVersion:
		return &startError{problem: fmt.Sprintf("it speaks version %d of the protocol and this process version %d; build both from one version of this module", p.hello.Version, protocolVersion)}
	case want.build != "" && p.hello.Build != want.build:
		return &startError{problem: "it is another build than this process: the file was replaced after the start"}
	}
	return nil
}
