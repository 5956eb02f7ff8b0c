package gojavm

import (
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// mayBeTypes says whether TypeScript may read < as the beginning of type arguments:
// whether a > follows what can be types. a < b > (c) is a call in TypeScript.
func (r *reader) mayBeTypes(x *ast.BinaryExpression) bool {
	before := r.between(x.Left.Idx0(), x.Right.Idx0())
	at := strings.LastIndexByte(before, '<')
	r.scanned += len(before)
	if at < 0 || hasComment(before) {
		return true
	}
	text := r.textAt(x.Left.Idx0() + file.Idx(at) + 1)
	n, types := scanTypes(text)
	r.scanned += n
	return types || r.scanned > 2*len(r.text)+4096
}

// scanTypes reads what may be types, up to a >, which says that they may, or to
// what can be none. It errs to the former.
func scanTypes(text string) (n int, types bool) {
	depth, conditional := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '(' || b == '[' || b == '{':
			depth++
		case b == ')' || b == ']' || b == '}':
			if depth == 0 {
				return i, false
			}
			depth--
		case b == '"' || b == '\'':
			end := endOfString(text[i:])
			if end < 0 {
				return i, true
			}
			i += end
		case b == '`', b == '/' && (depth > 0 || strings.HasPrefix(text[i:], "//") || strings.HasPrefix(text[i:], "/*")):
			return i, true
		case depth > 0:
		case b == '>':
			return i, true
		case b == '=' && strings.HasPrefix(text[i:], "=>"):
			i++
		case b == '&' && strings.HasPrefix(text[i:], "&&"), b == '|' && strings.HasPrefix(text[i:], "||"):
			return i, false
		case strings.IndexByte(";=+*/%^~!", b) >= 0:
			return i, false
		case b == '?' && !conditional, b == ':' && !conditional:
			return i, false
		case b == 'e' && strings.HasPrefix(text[i:], "extends"):
			conditional = true
		}
	}
	return len(text), false
}

// endOfString is the offset of the quote that ends a string on its line, or
// negative.
func endOfString(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return i
		case '\\':
			i++
		case '\n':
			return -1
		}
	}
	return -1
}
