//go:build unix

package fstools

import "syscall"

// openFlags keep an open from waiting for the other end of a named pipe and
// from taking a terminal over.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
