package worker

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// startError says why a worker could not be started.
type startError struct {
	problem string
	cause   error
	said    string // what it printed
}

func (e *startError) Error() string {
	text := e.problem
	if e.said != "" {
		text += fmt.Sprintf("; it printed: %s", shorten(e.said, 2000))
	}
	return text
}

func (e *startError) Unwrap() error { return e.cause }

// transient says whether the same start may succeed a moment later: the system
// is short of processes, descriptors or memory, or too busy to start one in
// time.
func transient(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
		errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, os.ErrDeadlineExceeded) ||
		slices.ContainsFunc(shortages, func(shortage error) bool { return errors.Is(err, shortage) })
}

// gone says whether an error means that the process it is about has ended.
func gone(err error) bool { return errors.Is(err, syscall.ESRCH) || errors.Is(err, os.ErrNotExist) }
