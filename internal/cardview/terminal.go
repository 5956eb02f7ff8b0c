package cardview

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// terminalView draws a command and what it printed.
type terminalView struct{ card tools.Card }

func (v terminalView) title(more string) (subject, result string) {
	subject = short(v.label(), more)
	if command := strings.TrimSpace(v.card.Command); command != "" {
		line, rest, _ := strings.Cut(command, "\n")
		subject = "$ " + short(strings.TrimRight(line, "\r"), more)
		if rest != "" {
			subject += " " + more
		}
	}
	if _, status := v.status(more); status != "" {
		result = "  " + status
	}
	return subject, result
}

// label is what the command is for.
func (v terminalView) label() string {
	if v.card.Description != "" {
		return v.card.Description
	}
	return v.card.Title
}

// status is how the command ended, "" if it has not.
func (v terminalView) status(more string) (colour, string) {
	switch {
	case v.card.Signal != "":
		return red, "ended by " + short(v.card.Signal, more)
	case v.card.ExitCode == nil:
		return plain, ""
	case *v.card.ExitCode == 0:
		return green, "exit 0"
	}
	return red, fmt.Sprintf("exit %d", *v.card.ExitCode)
}

// head draws the status before the output, which may be too long for the card.
func (v terminalView) head(c *canvas) {
	if label := v.label(); label != "" {
		c.add(bold, "", short(label, c.more()))
	}
	if v.card.Command != "" {
		c.wrapped("$ ", "  ", v.card.Command)
	}
	if v.card.Dir != "" {
		c.add(dim, "  in ", v.card.Dir)
	}
	if colour, status := v.status(c.more()); status != "" {
		c.add(colour, "", status)
	}
}

// draw draws the output. Of a command that did not succeed the end tells more.
func (v terminalView) draw(c *canvas) {
	if v.card.ExitCode != nil && *v.card.ExitCode == 0 {
		c.text(v.card.Output)
		return
	}
	c.tail(v.card.Output)
}
