//go:build unix && !linux

package worker

import (
	"os"
	"strconv"
)

// ownBinary is the running file's path. The starter notices when the file behind
// it is replaced, and the greeting's build says so too.
func ownBinary() (string, error) { return os.Executable() }

func endGroup(int) {}

// observe finds nothing: the system does not tell of a process to what is open.
func observe(int) (look func() (usage, error), done func(), err error) {
	return nil, func() {}, nil
}

// mostInherited is how many descriptors are looked at. What a process was started
// with has low numbers.
const mostInherited = 4096

// inheritable lists the descriptors that every child of this process inherits,
// because whoever started this process left them open for that. Workers close
// them.
func inheritable() []string {
	var names []string
	for fd := lastDescriptor + 1; fd < mostInherited; fd++ {
		if passedOn(fd) {
			names = append(names, strconv.Itoa(fd))
		}
	}
	return names
}
