package worker

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// pipeBuffer is how many bytes of each direction the system keeps.
const pipeBuffer = 64 << 10

// newPipeConn takes over a handle for overlapped operations: reading, writing and
// closing do not wait for each other.
func newPipeConn(handle windows.Handle, name string) *os.File {
	return os.NewFile(uintptr(handle), name)
}

// newPipe makes a pipe for one child. ours is the end of the server, for overlapped
// operations; theirs is inheritable, and closed by the caller once the child has it.
// Its name is random and good for one client, which is us: nobody comes in between.
func newPipe(direction, theirAccess, theirFlags uint32) (ours, theirs windows.Handle, err error) {
	name, err := windows.UTF16PtrFromString(`\\.\pipe\` + marker + "-" + newNonce())
	if err != nil {
		return 0, 0, err
	}
	ours, err = windows.CreateNamedPipe(name, direction|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, pipeBuffer, pipeBuffer, 0, nil)
	if err != nil {
		return 0, 0, os.NewSyscallError("CreateNamedPipe", err)
	}
	theirs, err = windows.CreateFile(name, theirAccess, 0, inheritableHandle(), windows.OPEN_EXISTING, theirFlags, 0)
	if err != nil {
		windows.CloseHandle(ours)
		return 0, 0, os.NewSyscallError("CreateFile", err)
	}
	var client uint32
	if err := windows.GetNamedPipeClientProcessId(ours, &client); err != nil || int(client) != os.Getpid() {
		windows.CloseHandle(ours)
		windows.CloseHandle(theirs)
		return 0, 0, &startError{problem: fmt.Sprintf("its pipe is at the process %d (%v)", client, err)}
	}
	return ours, theirs, nil
}

// inheritableHandle are the attributes of a handle that a child gets if it is on
// the child's list.
func inheritableHandle() *windows.SecurityAttributes {
	attributes := &windows.SecurityAttributes{InheritHandle: 1}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	return attributes
}
