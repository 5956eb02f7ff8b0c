//go:build unix

package worker

import (
	"errors"
	"os"
	"syscall"
)

// duplex is one side of a connection: frames go through two pipes. A socket would do,
// but it wakes up whoever has written to it once more when the other side has read,
// which costs a worker's call a sixth of its processor time.
type duplex struct {
	in, out *os.File
	// proof is the parent's end of the socket pair by whose other end a process knows
	// that its parent started it; nil in the worker.
	proof *os.File
}

func (d *duplex) Read(p []byte) (int, error) {
	n, err := d.in.Read(p)
	return n, nameless(err)
}

func (d *duplex) Write(p []byte) (int, error) {
	n, err := d.out.Write(p)
	return n, nameless(err)
}

// nameless is what went wrong without the name of the pipe, which says nothing.
func nameless(err error) error {
	if of, ok := err.(*os.PathError); ok {
		return of.Err
	}
	return err
}

// Close closes both directions, and with them any read or write in progress.
func (d *duplex) Close() error {
	err := errors.Join(d.out.Close(), d.in.Close())
	if d.proof != nil {
		err = errors.Join(err, d.proof.Close())
	}
	return err
}

// newConnection makes the connection to one worker. theirs is what the worker finds
// from proofDescriptor on, closed by the caller once it has it.
func newConnection() (ours *duplex, theirs []*os.File, err error) {
	var ends []*os.File
	for _, pair := range []func() (*os.File, *os.File, error){socketPair, os.Pipe, os.Pipe} {
		a, b, err := pair()
		if err != nil {
			closeAll(ends)
			return nil, nil, err
		}
		ends = append(ends, a, b)
	}
	return &duplex{proof: ends[0], out: ends[3], in: ends[4]}, []*os.File{ends[1], ends[2], ends[5]}, nil
}

func closeAll(files []*os.File) {
	for _, file := range files {
		file.Close()
	}
}

// socketPair makes a pair of connected stream sockets that no other child
// inherits.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "worker"), os.NewFile(uintptr(fds[1]), "parent"), nil
}
