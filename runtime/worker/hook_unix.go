//go:build unix

package worker

import (
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
)

// init turns a process that New started into a worker; every other process goes
// on to main. A worker never does.
func init() {
	if len(os.Args) != 4 || os.Args[0] != marker || privileged() || !fromParent(linkDescriptor) {
		return
	}
	closeInherited(os.Args[2])
	if err := serveProcess(os.Args[1], strings.Split(os.Args[3], ",")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// fromParent says whether the descriptor is a nameless stream socket whose other
// end the parent of this process made.
func fromParent(fd int) bool {
	if kind, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil || kind != syscall.SOCK_STREAM {
		return false
	}
	name, err := syscall.Getpeername(fd)
	if err != nil {
		return false
	}
	unix, ok := name.(*syscall.SockaddrUnix)
	nameless := ok && (unix.Name == "" || unix.Name == "@") // as package syscall spells it on Linux
	return nameless && madeByParent(fd)
}

// closeInherited closes what the parent itself was started with and every child
// of its inherits. No code of this process has opened any of it.
func closeInherited(list string) {
	for name := range strings.SplitSeq(list, ",") {
		if fd, err := strconv.Atoi(name); err == nil && fd > linkDescriptor {
			syscall.Close(fd)
		}
	}
}

// maxStack is the largest stack of a goroutine in a worker. What needs more is a
// runaway recursion of the parser's or the engine's own.
const maxStack = 64 << 20

// newEngine is what a worker hosts.
var newEngine = func() (engine, error) { return gojavm.New(&gojavm.Options{OwnProcess: true}) }

// serveProcess is what a worker does instead of main.
func serveProcess(nonce string, without []string) error {
	descriptors := descriptorLayer(extraDescriptors())
	file := os.NewFile(linkDescriptor, "parent")
	conn, err := net.FileConn(file)
	if err != nil {
		return err
	}
	file.Close()
	vm, err := newEngine()
	if err != nil {
		return err
	}
	debug.SetMaxStack(maxStack) // after the engine, which allows more
	layers, err := confineProcess(without)
	if err != nil {
		return fmt.Errorf("confine the worker process: %w", err)
	}
	return newServer(newLink(conn), vm, prepare).serve(helloMeta{Nonce: nonce, Version: protocolVersion, Build: buildID(), Layers: append(layers, descriptors)})
}

// prepare sets what depends on a run's limits and only the process itself can
// set: the collector works harder before the kernel refuses memory.
func prepare(limits runtime.Limits) { debug.SetMemoryLimit(limits.Heap) }

// descriptorLayer says whether package initialisation left descriptors open.
func descriptorLayer(extra int) Layer {
	if extra == 0 {
		return Layer{Name: LayerDescriptors, State: LayerOn}
	}
	return Layer{Name: LayerDescriptors, State: LayerMissing, Note: fmt.Sprintf("package initialisation leaves %d descriptors open in worker processes; name a slim Worker.Binary to keep them out", extra)}
}
