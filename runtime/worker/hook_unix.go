//go:build unix

package worker

import (
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// init turns a process that New started into a worker; every other process goes
// on to main. A worker never does.
func init() {
	if len(os.Args) != 4 || os.Args[0] != marker || privileged() || !fromParent(linkDescriptor) {
		return
	}
	closeInherited(os.Args[2])
	becomeWorker(connect, os.Args[1], os.Args[3])
}

func connect() (net.Conn, error) {
	file := os.NewFile(linkDescriptor, "parent")
	defer file.Close()
	return net.FileConn(file)
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
