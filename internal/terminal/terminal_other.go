//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package terminal

import (
	"context"
	"fmt"
	goruntime "runtime"
)

// Terminal is the controlling terminal of the process, which this system has
// none of: nothing makes one.
type Terminal struct{}

// Open fails: reading an answer that can be cancelled, and throwing away what
// was typed before, are only known of Unix terminals.
func Open() (*Terminal, error) { return nil, errUnsupported() }

func errUnsupported() error {
	return fmt.Errorf("no terminal to ask at: questions need a Unix terminal, which %s does not have; let rules decide", goruntime.GOOS)
}

// Close does nothing.
func (t *Terminal) Close() error { return nil }

// Size is 80 by 24.
func (t *Terminal) Size() (columns, rows int) { return 80, 24 }

// Write fails.
func (t *Terminal) Write([]byte) (int, error) { return 0, errUnsupported() }

func (t *Terminal) converse(context.Context, *Screen, func(dialog) error) error {
	return errUnsupported()
}
