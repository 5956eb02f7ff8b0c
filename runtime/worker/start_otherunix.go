//go:build unix && !linux

package worker

import (
	"os"
	"sync"
	"syscall"
)

// pinned is the running file's path as it was at the first use. A replaced file
// shows in the greeting's build.
var pinned = sync.OnceValues(os.Executable)

func ownBinary() (string, error) { return pinned() }

func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func endGroup(int) {}

func inheritable() []string { return nil }
