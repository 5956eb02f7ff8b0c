package bindings

import (
	"fmt"
	"strings"
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
