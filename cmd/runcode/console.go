package main

import (
	"io"
	"os"

	"github.com/runcode-go/runcode/internal/cardview"
	"github.com/runcode-go/runcode/internal/terminal"
)

// console is what a run writes to, and the terminal a person may be asked at.
type console struct {
	out, err io.Writer
	screen   terminal.Screen
	tty      *terminal.Terminal // nil: nobody can be asked
	colour   bool               // standard error takes colours
}

// openConsole takes the streams over. Only where standard error is a terminal is
// somebody taken to be there who sees a question; a pipe's other end may be
// anything.
func openConsole(s *streams, quiet bool) *console {
	c := &console{out: s.out, err: s.err}
	if isTerminal(s.out) {
		c.out = c.screen.Writer(s.out)
	}
	if !isTerminal(s.err) {
		return c
	}
	c.err = c.screen.Writer(s.err)
	c.colour = cardview.ColourFor(s.err.(*os.File), os.Getenv)
	if !quiet {
		c.tty, _ = terminal.Open() // without one, asking is denying
	}
	return c
}

func (c *console) close() error {
	if c.tty == nil {
		return nil
	}
	return c.tty.Close()
}
