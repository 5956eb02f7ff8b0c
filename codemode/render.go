package codemode

import (
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// noOutput is what a model reads when a program printed and returned nothing
// (DSH).
const noOutput = "(run_code completed with no output)"

// renderText is the text of a completed run: the console entries, then the
// result, joined by line breaks; empty parts are left out. A string result
// stands as it is, anything else is printed as JSON (DSH's rendering).
func renderText(logs []string, result tools.JSON) string {
	var parts []string
	if printed := strings.Join(logs, "\n"); printed != "" {
		parts = append(parts, printed)
	}
	text, isString := result.Text()
	if !isString && !result.IsZero() {
		text = prettyJSON(result.String())
	}
	if text != "" {
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return noOutput
	}
	return strings.Join(parts, "\n")
}

// A container this deep, counted from 0 at the root, and everything inside it
// is printed on one line, so that the size of a text stays linear in the size
// of the value.
const compactDepth = 5

// prettyJSON prints canonical JSON with two spaces a level for the first
// compactDepth levels. It equals JSON.stringify(v, null, 2) for shallow values.
func prettyJSON(canonical string) string {
	s := jsonscan.New(canonical)
	out := make([]byte, 0, len(canonical)+len(canonical)/4)
	empty := true     // nothing printed yet in the innermost open container
	afterKey := false // the next token is a member's value
	for {
		tok, err := s.Next()
		if err != nil || tok.Kind == jsonscan.EOF {
			return string(out)
		}
		opens := tok.Kind == jsonscan.ObjectStart || tok.Kind == jsonscan.ArrayStart
		if tok.Kind == jsonscan.ObjectEnd || tok.Kind == jsonscan.ArrayEnd {
			if !empty {
				out = newline(out, s.Depth(), s.Depth())
			}
			out = append(out, byte(tok.Kind))
			empty = false
			continue
		}
		level := s.Depth() // containers around the token
		if opens {
			level--
		}
		if level > 0 && !afterKey {
			if !empty {
				out = append(out, ',')
			}
			out = newline(out, level, level-1)
		}
		out = append(out, tok.Raw...)
		empty = opens
		afterKey = tok.Kind == jsonscan.Key
		if afterKey {
			out = append(out, ':')
			if level-1 < compactDepth {
				out = append(out, ' ')
			}
		}
	}
}

// newline starts a line indented by level if the container at depth is printed
// over several lines.
func newline(out []byte, level, depth int) []byte {
	if depth >= compactDepth {
		return out
	}
	out = append(out, '\n')
	for range level {
		out = append(out, ' ', ' ')
	}
	return out
}
