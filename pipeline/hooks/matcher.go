package hooks

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

const (
	// matchTimeout is how long testing one name may take.
	matchTimeout = 250 * time.Millisecond
	// maxPattern is the longest pattern that is compiled, in bytes, and
	// maxGroups how deep its groups may be nested: compiling cannot be
	// interrupted, and each repetition of a repetition makes it take four times
	// as long.
	maxPattern = 4096
	maxGroups  = 6
	// maxSubject is the longest name that is tested, in bytes. Providers allow
	// 64 characters for that of a tool.
	maxSubject = 1024
)

// matcher selects tools by name, or what else an event has. The zero matcher
// selects all.
type matcher struct {
	text   string
	exact  []string        // names, if it is a list of these
	regex  *regexp2.Regexp // else
	broken error           // why it selects nothing
}

// newMatcher reads a matcher: nothing or "*" for all, a list of names, or else a
// regular expression that need not match the whole name.
func newMatcher(text string) *matcher {
	m := &matcher{text: text}
	switch {
	case text == "" || text == "*":
	case isList(text):
		for _, name := range strings.Split(strings.ReplaceAll(text, ",", "|"), "|") {
			m.exact = append(m.exact, strings.TrimSpace(name))
		}
	case strings.HasSuffix(text, ":*)"):
		m.broken = errors.New("it has the form of a permission rule; a matcher is about a tool's name alone")
	case len(text) > maxPattern:
		m.broken = fmt.Errorf("it has %d bytes, the most is %d", len(text), maxPattern)
	case groupDepth(text) > maxGroups:
		m.broken = fmt.Errorf("it nests groups %d deep, the most is %d", groupDepth(text), maxGroups)
	default:
		m.regex, m.broken = compile(text)
	}
	return m
}

// all reports whether the matcher selects everything.
func (m *matcher) all() bool { return m.exact == nil && m.regex == nil && m.broken == nil }

// isList reports whether a matcher is names with | or commas between them, and
// perhaps spaces around them. A hyphen is part of a name only in a list that
// could not be an expression: alone it makes one, which selects no less.
func isList(text string) bool {
	spaced := strings.ContainsAny(text, " ,")
	return strings.IndexFunc(text, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && r != '_' && r != '|' && r != ',' && r != ' ' && !(r == '-' && spaced)
	}) < 0
}

// groupDepth is how deep a pattern nests groups. Brackets that are escaped or in
// a class do not count.
func groupDepth(pattern string) (deepest int) {
	depth, class := 0, false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
			deepest = max(deepest, depth)
		case c == ')':
			depth--
		}
	}
	return deepest
}

// compile reads a pattern as JavaScript does, but without regard to case: a tool
// has a name in either, and one that is excluded under Claude Code's must not be
// found under ours.
func compile(text string) (regex *regexp2.Regexp, err error) {
	defer func() {
		if r := recover(); r != nil {
			regex, err = nil, fmt.Errorf("the regular expression compiler crashed: %v", r)
		}
	}()
	regex, err = regexp2.Compile(text, regexp2.ECMAScript, regexp2.Unicode, regexp2.IgnoreCase)
	if err == nil {
		regex.MatchTimeout = matchTimeout
	}
	return regex, err
}

// errSlow says that a test was given up.
var errSlow = fmt.Errorf("took more than %v to test", matchTimeout)

// matches reports whether the matcher selects any of the names. An error means
// that nobody can say.
func (m *matcher) matches(names []string) (bool, error) {
	switch {
	case m.broken != nil:
		return false, fmt.Errorf("does not compile: %w", m.broken)
	case m.exact != nil:
		return slices.ContainsFunc(names, m.named), nil
	case m.all():
		return true, nil
	}
	for _, name := range names {
		if ok, err := m.found(name); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// named compares without regard to case: a tool is the same in either.
func (m *matcher) named(name string) bool {
	return slices.ContainsFunc(m.exact, func(alternative string) bool { return strings.EqualFold(alternative, name) })
}

func (m *matcher) found(name string) (ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			ok, err = false, fmt.Errorf("crashed: %v", r)
		}
	}()
	if len(name) > maxSubject {
		return false, fmt.Errorf("cannot be tested on a name of %d bytes", len(name))
	}
	ok, err = m.regex.MatchString(name)
	switch {
	case err == nil:
		return ok, nil
	case errors.Is(err, regexp2.ErrBacktrackingStackLimit):
		return false, errors.New("needs too much memory to test")
	}
	return false, errSlow
}
