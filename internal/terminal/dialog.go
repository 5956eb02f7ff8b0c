package terminal

import (
	"errors"
	"strings"
)

// dialog is a conversation with a person. Its errors mean that there will be no
// more answers.
type dialog interface {
	// size is the size of the window now.
	size() (columns, rows int)
	// show shows text that is already escaped.
	show(text string) error
	// settle waits until nothing is typed any more: lines that come one after
	// the other were not typed by a reader of what was just shown.
	settle() error
	// ask throws away what has been typed, shows the prompt and returns the
	// line that is typed then, without its end.
	ask(prompt string) (string, error)
}

// errContinued is the error of a dialog whose process was stopped and goes on:
// others have used the terminal meanwhile. The dialog can go on too.
var errContinued = errors.New("the process was stopped and goes on")

// errEnd is a person who ends the input, or a terminal that has gone away.
var errEnd = errors.New("no answer: the input of the terminal has ended")

// trimEnd removes the end of a line.
func trimEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }
