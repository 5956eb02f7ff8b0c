package worker

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// init turns a process that New started into a worker; every other process goes
// on to main. A worker never does. No start on Windows gives a process more rights
// than whoever started it has.
func init() {
	if len(os.Args) != 4 || os.Args[0] != marker {
		return
	}
	handle, err := strconv.ParseUint(os.Args[2], 10, 32) // handles are 32 bits wide
	if err != nil || !fromParent(windows.Handle(handle)) {
		return
	}
	connect := func() (io.ReadWriteCloser, error) { return newPipeConn(windows.Handle(handle), "parent"), nil }
	becomeWorker(connect, os.Args[1], os.Args[3])
}

// fromParent says whether the handle is an end of a pipe that the parent of this
// process made. A process gets no handle that its parent did not pass to it.
func fromParent(handle windows.Handle) bool {
	if kind, err := windows.GetFileType(handle); err != nil || kind != windows.FILE_TYPE_PIPE {
		return false
	}
	var flags, maker uint32
	if err := windows.GetNamedPipeInfo(handle, &flags, nil, nil, nil); err != nil || flags&windows.PIPE_SERVER_END != 0 {
		return false
	}
	err := windows.GetNamedPipeServerProcessId(handle, &maker)
	return err == nil && int(maker) == os.Getppid()
}
