package gitignore

import (
	"errors"
	"fmt"
	"strings"
)

// Pattern is one pattern of a .gitignore, used to select files. It is immutable.
type Pattern struct{ r rule }

// ParsePattern reads one pattern, which is not a line of a file: "#" begins no
// comment. A wildcard for one character stands for a whole one, of however many
// bytes. With fold the pattern is for texts made by Fold. What git would take for
// a pattern that matches nothing is an error, and so are a negation and a set of
// other than ASCII characters.
func ParsePattern(text string, fold bool) (*Pattern, error) {
	text = trimSpaces(text)
	switch {
	case text == "":
		return nil, errors.New("the pattern is empty")
	case len(text) > maxPattern:
		return nil, fmt.Errorf("the pattern has %d bytes, the most is %d", len(text), maxPattern)
	case text[0] == '!':
		return nil, errors.New(`a pattern that begins with "!" selects nothing; put a backslash before it if the name begins so`)
	}
	how := byCharacters
	if fold {
		how = folded
	}
	r, ok := parseRule(text, how)
	if !ok {
		return nil, errors.New("the pattern matches nothing: it has a bracket that is not closed or holds other than ASCII characters, or ends in a backslash")
	}
	return &Pattern{r}, nil
}

// Covers reports whether the pattern matches a slash-separated path relative to
// the directory the pattern belongs to, or a directory the path lies in. dir
// says that the path itself is a directory. The cost is at most the length of
// the pattern times that of the path.
func (p *Pattern) Covers(path string, dir bool) bool {
	if p.r.dirOnly && !dir {
		above := strings.LastIndexByte(path, '/')
		if above < 0 {
			return false
		}
		path = path[:above]
	}
	if p.r.basename {
		for name := range strings.SplitSeq(path, "/") {
			if p.r.match(name, true) {
				return true
			}
		}
		return false
	}
	rest, ok := strings.CutPrefix(path, p.r.literal)
	return ok && p.r.rest.run(rest, true)
}
