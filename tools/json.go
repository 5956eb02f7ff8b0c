package tools

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// JSON is one immutable JSON text in canonical form: what policy judged, what a
// tool body decodes and what the log holds is this one value.
//
// Canonical means compact, with key order and number tokens kept as written
// (-0, 1.0 and 9007199254740993 stay themselves), strings with the fewest
// escapes, unpaired surrogates kept as \udXXX escapes, no duplicate property
// names and at most 10,000 levels. It is deliberately not RFC 8785, which
// sorts keys and rounds numbers.
//
// The zero JSON is "no value" (JavaScript's undefined), which differs from
// null. JSON values can be compared with ==, copied freely and used from many
// goroutines.
type JSON struct{ text string }

// JSONError says why a text is not acceptable JSON.
type JSONError struct {
	Offset  int    // in bytes from the start of the text
	Pointer string // RFC 6901 pointer of the place, "" for the root
	Problem string
}

func (e *JSONError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Problem)
	}
	return fmt.Sprintf("invalid JSON at byte %d (%s): %s", e.Offset, e.Pointer, e.Problem)
}

// ParseJSON decodes one JSON text strictly and returns its canonical form. It
// refuses, with a *JSONError, anything that two readers could understand
// differently: duplicate property names (compared after unescaping), invalid
// UTF-8, text after the value, nesting beyond 10,000 levels.
func ParseJSON(text string) (JSON, error) {
	canonical, err := canonicalize(text)
	if err != nil {
		return JSON{}, err
	}
	return JSON{text: canonical}, nil
}

// MustJSON is ParseJSON for texts written in a program. It panics on an error.
func MustJSON(text string) JSON {
	j, err := ParseJSON(text)
	if err != nil {
		panic("tools.MustJSON: " + err.Error())
	}
	return j
}

// MarshalJSON makes a JSON of a Go value by the rules of encoding/json/v2:
// struct tags apply, maps are written in sorted order, a value that implements
// json.Marshaler speaks for itself.
func ToJSON(v any) (JSON, error) {
	if j, ok := v.(JSON); ok {
		return j, nil
	}
	text, err := json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(false))
	if err != nil {
		return JSON{}, err
	}
	return ParseJSON(string(text))
}

// StringJSON is the JSON string that holds s.
func StringJSON(s string) JSON { return JSON{text: string(jsonscan.AppendQuote(nil, s))} }

// IsZero reports whether j is no value at all.
func (j JSON) IsZero() bool { return j.text == "" }

// String returns the canonical text, "" for no value.
func (j JSON) String() string { return j.text }

// Bytes returns a copy of the canonical text.
func (j JSON) Bytes() []byte { return []byte(j.text) }

// Len is the length of the canonical text in bytes.
func (j JSON) Len() int { return len(j.text) }

// Kind is what the value is: '{', '[', '"', '0' (a number), 't', 'f', 'n', or 0
// for no value.
func (j JSON) Kind() byte {
	if j.text == "" {
		return 0
	}
	if c := j.text[0]; c == '-' || '0' <= c && c <= '9' {
		return '0'
	}
	return j.text[0]
}

// Text returns the characters of a JSON string and whether j is one. Unpaired
// surrogates become U+FFFD, since a Go string for people cannot hold them.
func (j JSON) Text() (string, bool) {
	if j.Kind() != '"' {
		return "", false
	}
	return strings.ToValidUTF8(jsonscan.Unquote(j.text), "\uFFFD"), true
}

// Unmarshal decodes j into v, matching property names case-sensitively and
// refusing nothing else that v's type accepts.
func (j JSON) Unmarshal(v any) error {
	if j.text == "" {
		return errors.New("no JSON value to decode")
	}
	// Unpaired surrogates have no Go string form; they decode as U+FFFD.
	return json.Unmarshal([]byte(j.text), v, jsontext.AllowInvalidUTF8(true))
}

// MarshalJSON lets a JSON stand inside a larger document: it writes itself, and
// null for no value.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j.text == "" {
		return []byte("null"), nil
	}
	return []byte(j.text), nil
}

// UnmarshalJSON is ParseJSON for codecs.
func (j *JSON) UnmarshalJSON(text []byte) error {
	parsed, err := ParseJSON(string(text))
	if err != nil {
		return err
	}
	*j = parsed
	return nil
}

// frame is one open container while canonicalizing.
type frame struct {
	object bool
	count  int             // members or elements begun
	key    string          // the current member's name, unescaped
	seen   map[string]bool // built only once an object has a few members
	names  []string
}

// canonicalize checks text and rewrites it in one pass without recursion.
func canonicalize(text string) (string, error) {
	s := jsonscan.New(text)
	out := make([]byte, 0, len(text))
	var stack []frame
	for {
		tok, err := s.Next()
		if err != nil {
			var syntax *jsonscan.Error
			errors.As(err, &syntax)
			return "", &JSONError{Offset: syntax.Offset, Pointer: pointer(stack), Problem: syntax.Problem}
		}
		switch tok.Kind {
		case jsonscan.EOF:
			// A canonical text is returned as it came, which keeps one copy.
			if string(out) == text {
				return text, nil
			}
			return string(out), nil
		case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
			stack = stack[:len(stack)-1]
			out = append(out, byte(tok.Kind))
			continue
		}
		if top := len(stack) - 1; top >= 0 && (tok.Kind == jsonscan.Key || !stack[top].object) {
			if stack[top].count > 0 {
				out = append(out, ',')
			}
			stack[top].count++
		}
		switch tok.Kind {
		case jsonscan.Key:
			name := jsonscan.Unquote(tok.Raw)
			if !stack[len(stack)-1].add(name) {
				return "", &JSONError{Offset: tok.Offset, Pointer: pointer(stack), Problem: "the property name is given twice; send it once"}
			}
			out = append(jsonscan.AppendQuote(out, name), ':')
		case jsonscan.String:
			out = jsonscan.AppendQuote(out, jsonscan.Unquote(tok.Raw))
		case jsonscan.ObjectStart, jsonscan.ArrayStart:
			stack = append(stack, frame{object: tok.Kind == jsonscan.ObjectStart})
			out = append(out, byte(tok.Kind))
		default:
			out = append(out, tok.Raw...)
		}
	}
}

// add records a member name and reports whether it is new.
func (f *frame) add(name string) bool {
	f.key = name
	const few = 16
	if f.seen == nil {
		for _, n := range f.names {
			if n == name {
				return false
			}
		}
		f.names = append(f.names, name)
		if len(f.names) > few {
			f.seen = make(map[string]bool, 2*few)
			for _, n := range f.names {
				f.seen[n] = true
			}
			f.names = nil
		}
		return true
	}
	if f.seen[name] {
		return false
	}
	f.seen[name] = true
	return true
}

// pointer is the RFC 6901 pointer of the place the open frames lead to.
func pointer(stack []frame) string {
	var b strings.Builder
	for _, f := range stack {
		if f.object {
			if f.count == 0 {
				break
			}
			b.WriteByte('/')
			b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(strings.ToValidUTF8(f.key, "\uFFFD")))
		} else {
			fmt.Fprintf(&b, "/%d", max(f.count-1, 0))
		}
	}
	return b.String()
}
