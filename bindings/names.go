package bindings

import (
	"fmt"
	"strings"
	"unicode"
)

// shortPaths finds the short form of every name that has one. A server that
// bears the exact name of a tool would hide it, or be hidden by it, so all of
// that server's tools go without and one note says so.
func shortPaths(names []string) (paths map[string][]string, notes []string) {
	exact := make(map[string]bool, len(names))
	for _, name := range names {
		exact[name] = true
	}
	paths = make(map[string][]string)
	noted := make(map[string]bool)
	for _, name := range names {
		server, tool, ok := splitServer(name)
		if !ok {
			continue
		}
		if exact[server] {
			if !noted[server] {
				notes = append(notes, fmt.Sprintf("the tools of server %q have no short form in programs because a tool is named %q; call them by their full names, for example %s[%s]", server, server, Global, quoteName(name)))
			}
			noted[server] = true
			continue
		}
		paths[name] = []string{server, tool}
	}
	return paths, notes
}

// toolGroup is a server's tools that have short forms, or the tools that have none.
type toolGroup struct {
	server string // "": tools by their exact names
	tools  []int  // indices
}

// groups sorts names, which are in order, into servers; those without a short
// form come first. There is at least one group.
func groups(names []string, paths map[string][]string) []toolGroup {
	all := []toolGroup{{}}
	for i, name := range names {
		at := &all[0]
		if path := paths[name]; path != nil {
			if at = &all[len(all)-1]; at.server != path[0] {
				all = append(all, toolGroup{server: path[0]})
				at = &all[len(all)-1]
			}
		}
		at.tools = append(at.tools, i)
	}
	if len(all[0].tools) == 0 && len(all) > 1 {
		return all[1:]
	}
	return all
}

// splitServer splits mcp__server__tool. A server's name holds no "__", which
// makes the split unambiguous; the tool's name may.
func splitServer(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}

// isIdentifier reports whether name can stand after a dot or as a bare key.
func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// pascal makes one capitalised word of a name: "note.add" becomes NoteAdd. What
// is not an ASCII letter or digit only separates.
func pascal(name string) string {
	var b strings.Builder
	upper := true
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !isAlphanumeric(c) {
			upper = true
			continue
		}
		if upper && 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper = false
		b.WriteByte(c)
	}
	text := b.String()
	if text == "" || text[0] <= '9' {
		return "T" + text
	}
	return text
}

// sameLetters reports whether two names differ in case and separators at most.
func sameLetters(a, b string) bool { return letters(a) == letters(b) }

// letters are the letters and digits of a text, in lower case.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}
