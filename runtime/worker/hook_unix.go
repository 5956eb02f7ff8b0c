//go:build unix

package worker

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// init turns a process that New started into a worker; every other process goes
// on to main. A worker never does.
func init() {
	if len(os.Args) != 4 || os.Args[0] != marker || privileged() || !fromParent(proofDescriptor) || !pipe(fromParentDescriptor) || !pipe(toParentDescriptor) {
		return
	}
	closeInherited(os.Args[2])
	becomeWorker(connect, os.Args[1], os.Args[3])
}

// connect opens the pipes. What proved the parent is of no use any more.
func connect() (io.ReadWriteCloser, error) {
	if err := syscall.Close(proofDescriptor); err != nil {
		return nil, os.NewSyscallError("close", err)
	}
	for _, fd := range []int{fromParentDescriptor, toParentDescriptor} {
		if err := syscall.SetNonblock(fd, true); err != nil { // else each read would hold a thread
			return nil, os.NewSyscallError("fcntl", err)
		}
	}
	return &duplex{in: os.NewFile(fromParentDescriptor, "from parent"), out: os.NewFile(toParentDescriptor, "to parent")}, nil
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

// pipe says whether the descriptor is an end of a pipe.
func pipe(fd int) bool {
	var stat syscall.Stat_t
	return syscall.Fstat(fd, &stat) == nil && stat.Mode&syscall.S_IFMT == syscall.S_IFIFO
}

// closeInherited closes what the parent itself was started with and every child
// of its inherits. No code of this process has opened any of it.
func closeInherited(list string) {
	for name := range strings.SplitSeq(list, ",") {
		if fd, err := strconv.Atoi(name); err == nil && fd > lastDescriptor {
			syscall.Close(fd)
		}
	}
}
