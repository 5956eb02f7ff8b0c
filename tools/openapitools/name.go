package openapitools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

func checkName(name string) error {
	odd := strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) })
	if name == "" || len(name) > 32 || odd || strings.Contains(name, "__") || strings.Trim(name, "_") != name {
		return fmt.Errorf("Options.Name is %q; want at most 32 letters, digits, - and _, without __ and without _ at an end", name)
	}
	return nil
}

func isNameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
}

// maxName is how long the name of a tool may be where models are given it.
const maxName = 64

// toolName is a name no other tool of the set has, renamed if it is not the
// document's.
func (s *Set) toolName(id, method, path string) (name string, renamed bool) {
	prefix := "mcp__" + s.opts.Name + "__"
	base := nameOf(id)
	if base == "" {
		base = nameOf(strings.ToLower(method) + " " + path)
	}
	if name := prefix + base; len(name) <= maxName && !s.taken[name] {
		return name, false
	}
	sum := sha256.Sum256([]byte(method + " " + path))
	suffix := "_" + hex.EncodeToString(sum[:])[:8]
	return prefix + base[:min(len(base), maxName-len(prefix)-len(suffix))] + suffix, true
}

// nameOf makes a name of a text: what is no letter, digit or - separates.
func nameOf(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !isNameRune(r) || r == '_' })
	return strings.Join(words, "_")
}
