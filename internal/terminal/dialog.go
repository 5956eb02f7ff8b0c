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
	// ask throws away what has been typed, shows the prompt and returns the
	// line that is typed then, without its end.
	ask(prompt string) (string, error)
}

// errEnd is a person who ends the input, or a terminal that has gone away.
var errEnd = errors.New("no answer: the input of the terminal has ended")

// trimEnd removes the end of a line.
func trimEnd(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }
