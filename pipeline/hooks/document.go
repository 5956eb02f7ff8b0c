package hooks

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// maxConfig is the largest settings file that is read, in bytes.
const maxConfig = 1 << 20

// ConfigError says what is wrong with a settings file and where. Line and
// Column count from 1, the column in characters.
type ConfigError struct {
	File         string
	Line, Column int
	Problem      string // what was found, what was expected, what to do
}

// Error is "file:line:column: problem".
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// document is a settings file, read so far that every value knows its place.
type document struct {
	file string
	text string
	root node
}

// node is one JSON value. Only objects have members, only arrays items.
type node struct {
	kind    jsonscan.Kind
	raw     string
	offset  int
	members []member
	items   []node
}

type member struct {
	name   string
	offset int
	value  node
}

// readDocument reads one JSON text strictly: a name given twice is an error,
// since two readers would follow different ones.
func readDocument(file, text string) (*document, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	d := &document{file: file, text: text}
	if len(text) > maxConfig {
		return nil, d.fault(0, "the file has more than %d bytes; hook settings are never that large", maxConfig)
	}
	if _, err := tools.ParseJSON(text); err != nil {
		var syntax *tools.JSONError
		if errors.As(err, &syntax) {
			return nil, d.fault(syntax.Offset, "invalid JSON: %s", syntax.Problem)
		}
		return nil, d.fault(0, "%v", err)
	}
	s := jsonscan.New(text)
	d.root = readNode(s, next(s))
	return d, nil
}

// readNode reads the value that begins with tok. The text is known to be valid.
func readNode(s *jsonscan.Scanner, tok jsonscan.Token) node {
	n := node{kind: tok.Kind, raw: tok.Raw, offset: tok.Offset}
	switch tok.Kind {
	case jsonscan.ObjectStart:
		for tok = next(s); tok.Kind == jsonscan.Key; tok = next(s) {
			m := member{name: plain(tok.Raw), offset: tok.Offset}
			m.value = readNode(s, next(s))
			n.members = append(n.members, m)
		}
	case jsonscan.ArrayStart:
		for tok = next(s); tok.Kind != jsonscan.ArrayEnd; tok = next(s) {
			n.items = append(n.items, readNode(s, tok))
		}
	}
	return n
}

// next is the next token of a text that has been checked.
func next(s *jsonscan.Scanner) jsonscan.Token {
	tok, err := s.Next()
	if err != nil {
		panic("hooks: a checked text is not JSON: " + err.Error())
	}
	return tok
}

// plain is the text of a JSON string. Unpaired surrogates become U+FFFD.
func plain(raw string) string {
	return strings.ToValidUTF8(jsonscan.Unquote(raw), "\uFFFD")
}

// fault is an error at a place of the file.
func (d *document) fault(offset int, format string, args ...any) error {
	line, column := d.position(offset)
	return &ConfigError{File: d.file, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// place names a place of the file.
func (d *document) place(offset int) string {
	line, column := d.position(offset)
	return fmt.Sprintf("%s:%d:%d", d.file, line, column)
}

func (d *document) position(offset int) (line, column int) {
	before := d.text[:min(offset, len(d.text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// find is the value of a member, nil if there is none.
func (n node) find(name string) *node {
	for i := range n.members {
		if n.members[i].name == name {
			return &n.members[i].value
		}
	}
	return nil
}

// described names a value in an error: what was received.
func (n node) described() string {
	switch n.kind {
	case jsonscan.ObjectStart:
		return "an object"
	case jsonscan.ArrayStart:
		return "an array"
	case jsonscan.String:
		return fmt.Sprintf("the string %.60s", n.raw)
	}
	return fmt.Sprintf("%.60s", n.raw)
}
