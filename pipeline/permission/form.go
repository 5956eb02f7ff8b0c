package permission

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRule is the longest rule that is accepted, in bytes.
const maxRule = 1024

// form is a rule as text, taken apart: Tool, Tool(spec), mcp__server,
// mcp__server__* or mcp__server__tool.
type form struct {
	name   string
	spec   string
	scoped bool // there are parentheses
}

// parseForm takes a rule apart. What is no rule at all is an error that says
// what to write.
func parseForm(text string) (form, error) {
	switch {
	case text == "":
		return form{}, errors.New(`the rule is empty; name a tool, as in "Read" or "Read(./secrets/**)"`)
	case len(text) > maxRule:
		return form{}, fmt.Errorf("the rule has %d bytes, the most is %d", len(text), maxRule)
	case strings.ContainsFunc(text, unprintable):
		return form{}, fmt.Errorf("the rule %+q holds a character nobody can see or tell from a space; remove it", text)
	}
	name, rest, scoped := strings.Cut(text, "(")
	f := form{name: name, scoped: scoped}
	if scoped {
		var closed bool
		if f.spec, closed = strings.CutSuffix(rest, ")"); !closed {
			return form{}, fmt.Errorf(`the rule %q does not end with ")"; write Tool or Tool(spec)`, text)
		}
		if !balanced(f.spec) {
			return form{}, fmt.Errorf("the parentheses of the rule %q do not match; write one rule a string, and * for a parenthesis in it", text)
		}
		if strings.TrimSpace(f.spec) == "" {
			return form{}, fmt.Errorf("the rule %q has nothing between its parentheses; write %s for every use of the tool", text, name)
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return form{}, fmt.Errorf("the rule %+q does not begin with the name of a tool: names are of ASCII letters; write Tool or Tool(spec)", text)
	}
	if name == "" || strings.ContainsFunc(name, notInName) || strings.ContainsAny(name[:1], "-.:") {
		return form{}, fmt.Errorf("the rule %q does not begin with the name of a tool; write Tool or Tool(spec), as in Read(./secrets/**)", text)
	}
	if scoped && strings.Contains(name, "*") && !imported(name) {
		return form{}, fmt.Errorf("the rule %q says more about every tool that matches %s; name one tool", text, name)
	}
	if !imported(name) && len(name) > len(importedPrefix) && imported(strings.ToLower(name)) {
		return form{}, fmt.Errorf("the rule %q names no imported tool; write mcp__ in lower case", text)
	}
	if imported(name) && strings.Trim(name[len(importedPrefix):], "_") == "" {
		return form{}, fmt.Errorf("the rule %q names no server; write mcp__server or mcp__server__tool", text)
	}
	return f, nil
}

// balanced reports whether every parenthesis in a spec has its partner, so that
// the rule does not really end before its last character.
func balanced(spec string) bool {
	depth := 0
	for i := 0; i < len(spec) && depth >= 0; i++ {
		switch spec[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	return depth == 0
}

func unprintable(r rune) bool {
	return r == utf8.RuneError || r != ' ' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Zs)
}

func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.:*", r)
}
