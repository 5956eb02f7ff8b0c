// Package jsonscan reads JSON text (RFC 8259) token by token, strictly, and
// writes JSON strings, keeping lone surrogates that UTF-8 cannot hold.
//
// It is the one JSON grammar of the house: package tools builds canonical text
// with it, package gojavm builds engine values with it. It knows no schema and
// no value type. It never recurses, so the depth of a text costs one bit a
// level and no stack.
//
// Strings are handed over in WTF-8: UTF-8 in which an unpaired surrogate
// \uD800-\uDFFF is spelled as its three-byte generalized encoding. Unquote
// produces it, AppendQuote and DecodeRune consume it.
package jsonscan

import (
	"fmt"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of objects and arrays a Scanner accepts.
const MaxDepth = 10_000

// Kind says what a Token is.
type Kind byte

// The kinds of token. Commas and colons are checked and not reported.
const (
	EOF         Kind = 0
	ObjectStart Kind = '{'
	ObjectEnd   Kind = '}'
	ArrayStart  Kind = '['
	ArrayEnd    Kind = ']'
	Key         Kind = 'k' // a string in the position of an object key
	String      Kind = '"'
	Number      Kind = '0'
	True        Kind = 't'
	False       Kind = 'f'
	Null        Kind = 'n'
)

// Token is one token of the text. Raw is its source text, for strings and keys
// with the quotes and escapes as written. Offset is in bytes from the start.
type Token struct {
	Kind Kind
	// Plain says of a string or key that it is ASCII without escapes, so that what
	// stands between the quotes are its characters, and of a number that it is an
	// integer without fraction and exponent.
	Plain  bool
	Raw    string
	Offset int
}

// Error is a violation of the grammar. Offset is in bytes from the start.
type Error struct {
	Offset  int
	Problem string // lower case, without position
}

func (e *Error) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Problem)
}

// state is what the grammar allows next.
type state byte

const (
	wantValue      state = iota // a value: start of text, after ':' or after ',' in an array
	wantValueOrEnd              // after '['
	wantKeyOrEnd                // after '{'
	wantKey                     // after ',' in an object
	wantCommaOrEnd              // after a value inside a container
	wantEOF                     // after the root value
)

// Scanner reads one JSON text. The zero value reads the empty text, which is
// an error at the first Next. A Scanner is not safe for concurrent use.
type Scanner struct {
	text  string
	pos   int
	state state
	depth int
	near  uint64   // one bit a level: 1 object, 0 array
	stack []uint64 // the same of the levels beyond the first 64
	err   error
}

// New returns a scanner over text.
func New(text string) *Scanner { return &Scanner{text: text} }

// Reset makes s read text from its start, keeping its memory.
func (s *Scanner) Reset(text string) { *s = Scanner{text: text, stack: s.stack[:0]} }

// Depth is the number of containers that are open now.
func (s *Scanner) Depth() int { return s.depth }

// Offset is the position, in bytes, of the next unread character.
func (s *Scanner) Offset() int { return s.pos }

// Next returns the next token, or an error of type *Error. After the root value
// and trailing white space it returns EOF; an error is returned again by every
// later call.
func (s *Scanner) Next() (Token, error) {
	if s.err != nil {
		return Token{}, s.err
	}
	tok, err := s.next()
	if err != nil {
		s.err = err
	}
	return tok, err
}

func (s *Scanner) next() (Token, error) {
	s.skipSpace()
	if s.state == wantCommaOrEnd {
		if s.pos < len(s.text) && s.text[s.pos] == ',' {
			s.pos++
			s.skipSpace()
			if s.inObject() {
				s.state = wantKey
			} else {
				s.state = wantValue
			}
		} else {
			return s.end()
		}
	}
	switch s.state {
	case wantEOF:
		if s.pos < len(s.text) {
			return Token{}, s.fail(s.pos, "unexpected %s after the value", s.describe())
		}
		return Token{Kind: EOF, Offset: s.pos}, nil
	case wantKey, wantKeyOrEnd:
		return s.key()
	case wantValueOrEnd:
		if s.pos < len(s.text) && s.text[s.pos] == ']' {
			return s.end()
		}
	}
	return s.value()
}

func (s *Scanner) end() (Token, error) {
	want := byte(']')
	if s.inObject() {
		want = '}'
	}
	if s.pos >= len(s.text) || s.text[s.pos] != want {
		return Token{}, s.fail(s.pos, "unexpected %s, expected ',' or '%c'", s.describe(), want)
	}
	tok := Token{Kind: Kind(want), Raw: s.text[s.pos : s.pos+1], Offset: s.pos}
	s.pos++
	s.depth--
	s.afterValue()
	return tok, nil
}

func (s *Scanner) key() (Token, error) {
	if s.pos < len(s.text) && s.text[s.pos] == '}' && s.state == wantKeyOrEnd {
		return s.end()
	}
	if s.pos >= len(s.text) || s.text[s.pos] != '"' {
		return Token{}, s.fail(s.pos, "unexpected %s, expected a property name in double quotes", s.describe())
	}
	tok, err := s.scanString()
	if err != nil {
		return Token{}, err
	}
	tok.Kind = Key
	s.skipSpace()
	if s.pos >= len(s.text) || s.text[s.pos] != ':' {
		return Token{}, s.fail(s.pos, "unexpected %s, expected ':' after a property name", s.describe())
	}
	s.pos++
	s.state = wantValue
	return tok, nil
}

func (s *Scanner) value() (Token, error) {
	if s.pos >= len(s.text) {
		return Token{}, s.fail(s.pos, "unexpected end of text, expected a value")
	}
	start := s.pos
	switch c := s.text[start]; c {
	case '{', '[':
		if s.depth == MaxDepth {
			return Token{}, s.fail(start, "nested deeper than %d levels", MaxDepth)
		}
		s.push(c == '{')
		s.pos++
		s.state = wantValueOrEnd
		if c == '{' {
			s.state = wantKeyOrEnd
		}
		return Token{Kind: Kind(c), Raw: s.text[start:s.pos], Offset: start}, nil
	case '"':
		tok, err := s.scanString()
		if err == nil {
			s.afterValue()
		}
		return tok, err
	case 't':
		return s.literal("true", True)
	case 'f':
		return s.literal("false", False)
	case 'n':
		return s.literal("null", Null)
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return s.number()
		}
		return Token{}, s.fail(start, "unexpected %s, expected a value", s.describe())
	}
}

func (s *Scanner) literal(word string, kind Kind) (Token, error) {
	start := s.pos
	if len(s.text)-start < len(word) || s.text[start:start+len(word)] != word {
		return Token{}, s.fail(start, "unexpected %s, expected a value", s.describe())
	}
	s.pos += len(word)
	s.afterValue()
	return Token{Kind: kind, Raw: word, Offset: start}, nil
}

func (s *Scanner) number() (Token, error) {
	start := s.pos
	n, integer := numberLen(s.text[s.pos:])
	if n == 0 {
		return Token{}, s.fail(start, "malformed number")
	}
	s.pos += n
	if s.pos < len(s.text) && isNumberByte(s.text[s.pos]) {
		return Token{}, s.fail(start, "malformed number %q", s.text[start:min(s.pos+8, len(s.text))])
	}
	s.afterValue()
	return Token{Kind: Number, Plain: integer, Raw: s.text[start:s.pos], Offset: start}, nil
}

// numberLen is the length of the JSON number text starts with, or 0, and whether
// it has neither fraction nor exponent.
func numberLen(text string) (n int, integer bool) {
	i := 0
	digits := func() bool {
		from := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > from
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return 0, false
	}
	whole := i
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return 0, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return 0, false
		}
	}
	return i, i == whole
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '+' || c == '-' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// scanString reads a string at pos, checking escapes, control characters and
// that the text is valid UTF-8.
func (s *Scanner) scanString() (Token, error) {
	start, plain := s.pos, true
	for i := start + 1; ; {
		i += plainLen(s.text[i:])
		if i == len(s.text) {
			return Token{}, s.fail(start, "string is not closed")
		}
		switch c := s.text[i]; {
		case c == '"':
			s.pos = i + 1
			return Token{Kind: String, Plain: plain, Raw: s.text[start:s.pos], Offset: start}, nil
		case c == '\\':
			n := escapeLen(s.text[i:])
			if n == 0 {
				return Token{}, s.fail(i, "malformed escape in a string")
			}
			i += n
			plain = false
		case c < ' ':
			return Token{}, s.fail(i, "control character U+%04X in a string must be escaped", c)
		default:
			plain = false
			r, n := utf8.DecodeRuneInString(s.text[i:])
			if r == utf8.RuneError && n == 1 {
				return Token{}, s.fail(i, "invalid UTF-8 in a string")
			}
			i += n
		}
	}
}

func escapeLen(text string) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(text[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(text string) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		c := text[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func (s *Scanner) skipSpace() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *Scanner) push(object bool) {
	if s.depth/64 > len(s.stack) {
		s.stack = append(s.stack, 0)
	}
	word, bit := s.word(s.depth), uint64(1)<<(s.depth%64)
	if object {
		*word |= bit
	} else {
		*word &^= bit
	}
	s.depth++
}

// word holds the bit of a level.
func (s *Scanner) word(level int) *uint64 {
	if level < 64 {
		return &s.near
	}
	return &s.stack[level/64-1]
}

func (s *Scanner) inObject() bool {
	if s.depth == 0 {
		return false
	}
	d := s.depth - 1
	return *s.word(d)&(1<<(d%64)) != 0
}

func (s *Scanner) afterValue() {
	s.state = wantCommaOrEnd
	if s.depth == 0 {
		s.state = wantEOF
	}
}

// describe names what stands at pos, for messages.
func (s *Scanner) describe() string {
	if s.pos >= len(s.text) {
		return "end of text"
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	return fmt.Sprintf("character %q", r)
}

func (s *Scanner) fail(offset int, format string, args ...any) error {
	return &Error{Offset: offset, Problem: fmt.Sprintf(format, args...)}
}
