package tools

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

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

// Error says what is wrong and where.
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

// ToJSON makes a JSON of a Go value by the rules of encoding/json/v2: struct
// tags apply, maps are written in sorted order, nil slices and maps as [] and
// {}, a time.Duration as nanoseconds, a value that implements json.Marshaler
// speaks for itself.
func ToJSON(v any) (JSON, error) {
	if j, ok := v.(JSON); ok {
		return j, nil
	}
	text, err := marshal(v)
	if err != nil {
		// The codec refuses unpaired surrogates, which a JSON inside v may hold.
		// Letting it pass them would also let it replace bytes that are no
		// text; then there would be a replacement character.
		lenient, again := marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
		if again != nil || bytes.ContainsRune(lenient, utf8.RuneError) {
			return JSON{}, err
		}
		text = lenient
	}
	return ParseJSON(string(text))
}

func marshal(v any, options ...json.Options) ([]byte, error) {
	return json.Marshal(v, append(options, json.Deterministic(true), jsonv1.FormatDurationAsNano(true))...)
}

// StringJSON is the JSON string that holds s.
func StringJSON(s string) JSON { return JSON{text: jsonscan.Quote(s)} }

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
	return json.Unmarshal([]byte(j.text), v, jsontext.AllowInvalidUTF8(true), jsonv1.FormatDurationAsNano(true))
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
	count  int    // members or elements begun
	key    string // the current member's name, unescaped
	first  int    // where its names begin in canonicalizer.names
	seen   map[string]bool
}

// fewNames is the number of members up to which an object's names are compared
// one by one.
const fewNames = 16

// canonicalizer checks a text and rewrites it in one pass without recursion. A
// text that is canonical already is only read: nothing is copied.
type canonicalizer struct {
	scanner jsonscan.Scanner
	text    string
	same    int // while !copied: text[:same] is the output
	copied  bool
	out     []byte // once copied
	stack   []frame
	names   []string // of the open objects, inner after outer
	scratch []byte
}

func canonicalize(text string) (string, error) {
	c := canonicalizers.Get().(*canonicalizer)
	defer c.release()
	c.text = text
	c.scanner.Reset(text)
	return c.run()
}

// canonicalizers keep their memory from text to text: most are small.
var canonicalizers = sync.Pool{New: func() any { return new(canonicalizer) }}

// mostNames and mostFrames are how long the lists may be whose memory is kept.
const mostNames, mostFrames = 4 * fewNames, 16

// release forgets the text. What was taken off the lists is cleared too.
func (c *canonicalizer) release() {
	fresh := canonicalizer{scanner: c.scanner}
	fresh.scanner.Reset("")
	if cap(c.names) <= mostNames {
		clear(c.names[:cap(c.names)])
		fresh.names = c.names[:0]
	}
	if cap(c.stack) <= mostFrames {
		clear(c.stack[:cap(c.stack)])
		fresh.stack = c.stack[:0]
	}
	if cap(c.out)+cap(c.scratch) <= mostKept {
		fresh.out, fresh.scratch = c.out[:0], c.scratch[:0]
	}
	*c = fresh
	canonicalizers.Put(c)
}

func (c *canonicalizer) run() (string, error) {
	text := c.text
	for {
		tok, err := c.scanner.Next()
		if err != nil {
			var syntax *jsonscan.Error
			errors.As(err, &syntax)
			c.expect(syntax.Offset)
			return "", &JSONError{Offset: syntax.Offset, Pointer: pointer(c.stack), Problem: syntax.Problem}
		}
		switch tok.Kind {
		case jsonscan.EOF:
			if c.copied {
				return string(c.out), nil
			}
			return text[:c.same], nil
		case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
			c.close()
			c.emit(tok.Raw, tok.Offset)
			continue
		}
		c.separate(tok.Kind)
		switch tok.Kind {
		case jsonscan.Key:
			if !c.name(jsonscan.Unquote(tok.Raw)) {
				return "", &JSONError{Offset: tok.Offset, Pointer: pointer(c.stack), Problem: "the property name is given twice; send it once"}
			}
			c.emitString(tok)
			c.punctuate(":")
		case jsonscan.String:
			c.emitString(tok)
		case jsonscan.ObjectStart, jsonscan.ArrayStart:
			c.stack = append(c.stack, frame{object: tok.Kind == jsonscan.ObjectStart, first: len(c.names)})
			c.emit(tok.Raw, tok.Offset)
		default:
			c.emit(tok.Raw, tok.Offset)
		}
	}
}

// expect moves the innermost frame to what a comma before offset announced, so
// that an error there is not blamed on the element before.
func (c *canonicalizer) expect(offset int) {
	top := len(c.stack) - 1
	if top < 0 || !strings.HasSuffix(strings.TrimRight(c.text[:offset], " \t\r\n"), ",") {
		return
	}
	if f := &c.stack[top]; f.object {
		f.count = 0 // a name is missing: the object itself is the place
	} else {
		f.count++
	}
}

// emit writes raw, which stands at offset in the text.
func (c *canonicalizer) emit(raw string, offset int) {
	if !c.copied {
		if offset == c.same {
			c.same += len(raw)
			return
		}
		c.copy()
	}
	c.out = append(c.out, raw...)
}

// punctuate writes a comma or colon.
func (c *canonicalizer) punctuate(mark string) {
	if !c.copied && c.same < len(c.text) && c.text[c.same] == mark[0] {
		c.same++
		return
	}
	c.copy()
	c.out = append(c.out, mark...)
}

// emitString writes a string or name with the fewest escapes.
func (c *canonicalizer) emitString(tok jsonscan.Token) {
	if tok.Plain || jsonscan.Short(tok.Raw) {
		c.emit(tok.Raw, tok.Offset)
		return
	}
	c.scratch = jsonscan.AppendQuote(c.scratch[:0], jsonscan.Unquote(tok.Raw))
	if string(c.scratch) == tok.Raw {
		c.emit(tok.Raw, tok.Offset)
		return
	}
	c.copy()
	c.out = append(c.out, c.scratch...)
}

func (c *canonicalizer) copy() {
	if !c.copied {
		c.copied = true
		c.out = append(slices.Grow(c.out[:0], len(c.text)), c.text[:c.same]...)
	}
}

// separate writes the comma before a member or element that is not the first.
func (c *canonicalizer) separate(kind jsonscan.Kind) {
	top := len(c.stack) - 1
	if top < 0 || c.stack[top].object && kind != jsonscan.Key {
		return
	}
	if c.stack[top].count > 0 {
		c.punctuate(",")
	}
	c.stack[top].count++
}

// close leaves the innermost container.
func (c *canonicalizer) close() {
	top := len(c.stack) - 1
	c.names = c.names[:c.stack[top].first]
	c.stack = c.stack[:top]
}

// name records a member name and reports whether it is new in its object.
func (c *canonicalizer) name(name string) bool {
	f := &c.stack[len(c.stack)-1]
	f.key = name
	if f.seen != nil {
		if f.seen[name] {
			return false
		}
		f.seen[name] = true
		return true
	}
	own := c.names[f.first:]
	for _, n := range own {
		if n == name {
			return false
		}
	}
	c.names = append(c.names, name)
	if own = c.names[f.first:]; len(own) > fewNames {
		f.seen = make(map[string]bool, 4*fewNames)
		for _, n := range own {
			f.seen[n] = true
		}
	}
	return true
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pointer is the RFC 6901 pointer of the place the open frames lead to.
func pointer(stack []frame) string {
	var b strings.Builder
	for _, f := range stack {
		if f.object {
			if f.count == 0 {
				break
			}
			b.WriteByte('/')
			b.WriteString(escapePointer.Replace(strings.ToValidUTF8(f.key, "\uFFFD")))
		} else {
			fmt.Fprintf(&b, "/%d", max(f.count-1, 0))
		}
	}
	return b.String()
}
