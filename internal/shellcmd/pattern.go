package shellcmd

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds on one pattern.
const (
	maxPattern   = 4_096
	maxWildcards = 32
)

// star stands for a wildcard while a pattern is parsed as a command. It is a
// character Unicode reserves for such use.
const star = "\uFDD0"

// Pattern is the text in the parentheses of a Bash rule: the words of one simple
// command, in which "*" stands for any text, spaces included, wherever it
// stands. It is immutable. The zero Pattern matches nothing.
type Pattern struct {
	// pieces is the pattern between its wildcards. Every word ends in a NUL,
	// as in flatten, so that "npm *" matches "npm" and "npm install" but not
	// "npmx", and "npm*" matches all three.
	pieces []string
}

// ParsePattern reads the text of a rule. "npm run build" matches exactly that
// command, "npm run test:*" and "npm run test *" the command with any further
// words or none, "git * main" any command with that begin and end, "*" every
// command. Words may be quoted as for a shell, `\*` is the character itself.
//
// An error says that the text could never do what it seems to: it is empty or
// longer than 4,096 bytes, has control characters, more than 32 wildcards or
// ":*" before its end, or is anything but one simple command.
func ParsePattern(spec string) (Pattern, error) {
	words, err := patternWords(spec)
	if err != nil {
		return Pattern{}, fmt.Errorf("shell command pattern %.80q: %w", spec, err)
	}
	flat := flatten(words)
	if rest, ok := strings.CutSuffix(flat, star+end); ok {
		flat = rest + star
	}
	pieces := strings.Split(flat, star)
	if len(pieces) > maxWildcards+1 {
		return Pattern{}, fmt.Errorf("shell command pattern %.80q: has %d wildcards, at most %d are allowed; shorten it", spec, len(pieces)-1, maxWildcards)
	}
	return Pattern{pieces}, nil
}

func patternWords(spec string) ([]word, error) {
	switch {
	case strings.TrimSpace(spec) == "":
		return nil, errors.New(`is empty; write a command such as "npm test", or "*" for all`)
	case len(spec) > maxPattern:
		return nil, fmt.Errorf("is %d bytes long, at most %d are allowed; shorten it", len(spec), maxPattern)
	case !utf8.ValidString(spec):
		return nil, errors.New("is not valid UTF-8; save it as UTF-8")
	case strings.ContainsFunc(spec, unicode.IsControl) || strings.Contains(spec, star):
		return nil, errors.New("has control characters; write it on one line with plain spaces")
	}
	if prefix, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = prefix + " *"
		if strings.TrimSpace(prefix) == "" {
			return nil, errors.New(`has no command before ":*"; write one, or "*" for all`)
		}
	}
	if strings.Contains(spec, ":*") {
		return nil, errors.New(`has ":*" before its end; write "*" where any text may stand`)
	}
	words, why := parseSimple(markStars(spec))
	if why != "" {
		return nil, fmt.Errorf("is not one simple command, it %s; write one rule for each command, without operators, redirections, assignments and comments", why)
	}
	return words, nil
}

// markStars replaces every wildcard of a pattern.
func markStars(spec string) string {
	var b strings.Builder
	for i := 0; i < len(spec); i++ {
		switch {
		case spec[i] == '*':
			b.WriteString(star)
		case spec[i] == '\\' && i+1 < len(spec):
			b.WriteString(spec[i : i+2])
			i++
		default:
			b.WriteByte(spec[i])
		}
	}
	return b.String()
}

// Matches reports whether the pattern matches a simple command in normal form,
// as Commands lists them. Anything else does not match. The time it takes is
// linear in the length of the command.
func (p Pattern) Matches(command string) bool {
	words, why := parseSimple(command)
	return why == "" && p.match(flatten(words))
}

// match compares the pattern with the flat form of a whole command. Between
// wildcards the leftmost occurrence is always as good as a later one.
func (p Pattern) match(flat string) bool {
	if len(p.pieces) == 0 {
		return false
	}
	last := len(p.pieces) - 1
	if last == 0 {
		return flat == p.pieces[0]
	}
	flat, ok := strings.CutPrefix(flat, p.pieces[0])
	if !ok {
		return false
	}
	flat, ok = inOrder(flat, p.pieces[1:last])
	return ok && strings.HasSuffix(flat, p.pieces[last])
}

// within looks for the pattern at the begin of any word of a flat text, or of
// the file name at its end. What follows the match may be anything: where a
// command ends is not known here.
func (p Pattern) within(flat string) bool {
	if len(p.pieces) == 0 {
		return false
	}
	first := p.pieces[0]
	for rest := flat; ; {
		i := strings.Index(rest, first)
		if i < 0 {
			return false
		}
		at := len(flat) - len(rest) + i
		if at == 0 || first == "" || flat[at-1] == end[0] || flat[at-1] == '/' {
			// If the other pieces do not follow the first such place, they
			// follow none.
			_, ok := inOrder(flat[at+len(first):], p.pieces[1:])
			return ok
		}
		rest = rest[i+1:]
	}
}

// inOrder cuts off what stands before and in the pieces, one after another.
func inOrder(flat string, pieces []string) (rest string, ok bool) {
	for _, piece := range pieces {
		if _, flat, ok = strings.Cut(flat, piece); !ok {
			return "", false
		}
	}
	return flat, true
}

// all reports whether the pattern is nothing but wildcards.
func (p Pattern) all() bool {
	return len(p.pieces) > 1 && strings.Join(p.pieces, "") == ""
}
