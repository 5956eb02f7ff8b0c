// Package jsondoc reads settings files in JSON so that every value knows its
// place: what is wrong with a file is reported as file:line:column. It is
// strict, since two readers of a lenient file may follow different rules.
package jsondoc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// MaxBytes is the largest text Parse accepts.
const MaxBytes = 1 << 20

// Error says what is wrong with a settings file and where. Line and Column
// count from 1, the column in characters.
type Error struct {
	File         string
	Line, Column int
	Problem      string // what was found, what was expected, what to do
}

// Error is "file:line:column: problem".
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// Document is one file, read so far that every value knows its place. It is
// immutable.
type Document struct {
	Root Node

	file  string
	text  string
	marks []mark // of every markBytes-th byte, the first included
}

// mark is the line and the column of a byte.
type mark struct{ line, column int }

// markBytes is how far marks are apart: no place takes longer to find, however
// many are asked for and wherever they are.
const markBytes = 1 << 10

// Node is one JSON value. Only objects have members, only arrays items.
type Node struct {
	Kind    jsonscan.Kind
	Raw     string // the token, of objects and arrays the first
	Members []Member
	Items   []Node

	Offset int // in bytes
	end    int // where the text after the value begins
}

// Member is a member of an object.
type Member struct {
	Name   string
	Offset int // of the name
	Value  Node
}

// Read reads what r has left, at most what Parse accepts, and parses it. file
// stands for it in errors.
func Read(r io.Reader, file string) (*Document, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", file, err)
	}
	return Parse(file, string(text))
}

// Load is Read for a regular file; name stands for it in errors. Anything else
// may never end or never begin, and is not opened.
func Load(path, name string) (*Document, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file; name one")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	defer f.Close()
	return Read(f, name)
}

// Parse reads one JSON text. A byte order mark is passed over. Everything that
// is not JSON is an *Error, a name given twice, comments and text in UTF-16
// included.
func Parse(file, text string) (*Document, error) {
	d := &Document{file: file, text: text}
	switch {
	case len(text) > MaxBytes:
		return nil, d.Fault(0, "the file has more than %d bytes; settings are never that large", MaxBytes)
	case utf16(text):
		return nil, d.Fault(0, "the file is not UTF-8 but UTF-16; save it as UTF-8")
	}
	d.text = strings.TrimPrefix(text, "\ufeff")
	d.mark()
	if strings.TrimSpace(d.text) == "" {
		return nil, d.Fault(0, "the file is empty; write {} for settings that say nothing")
	}
	if _, err := tools.ParseJSON(d.text); err != nil {
		var syntax *tools.JSONError
		if !errors.As(err, &syntax) {
			return nil, d.Fault(0, "%v", err)
		}
		if rest := d.text[syntax.Offset:]; strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") {
			return nil, d.Fault(syntax.Offset, "invalid JSON: comments are not allowed; remove it")
		}
		return nil, d.Fault(syntax.Offset, "invalid JSON: %s", syntax.Problem)
	}
	s := jsonscan.New(d.text)
	d.Root = readNode(s, next(s))
	return d, nil
}

// utf16 reports whether a text begins like JSON in UTF-16, in either byte order
// and with or without a mark.
func utf16(text string) bool {
	return strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") ||
		len(text) > 1 && (text[0] == 0) != (text[1] == 0)
}

// readNode reads the value that begins with tok. The text is known to be valid.
func readNode(s *jsonscan.Scanner, tok jsonscan.Token) Node {
	n := Node{Kind: tok.Kind, Raw: tok.Raw, Offset: tok.Offset}
	switch tok.Kind {
	case jsonscan.ObjectStart:
		for tok = next(s); tok.Kind == jsonscan.Key; tok = next(s) {
			m := Member{Name: plain(tok.Raw), Offset: tok.Offset}
			m.Value = readNode(s, next(s))
			n.Members = append(n.Members, m)
		}
	case jsonscan.ArrayStart:
		for tok = next(s); tok.Kind != jsonscan.ArrayEnd; tok = next(s) {
			n.Items = append(n.Items, readNode(s, tok))
		}
	}
	n.end = tok.Offset + len(tok.Raw)
	return n
}

// next is the next token of a text that has been checked.
func next(s *jsonscan.Scanner) jsonscan.Token {
	tok, err := s.Next()
	if err != nil {
		panic("jsondoc: a checked text is not JSON: " + err.Error())
	}
	return tok
}

// plain is the text of a JSON string. Unpaired surrogates become U+FFFD.
func plain(raw string) string {
	return strings.ToValidUTF8(jsonscan.Unquote(raw), "\uFFFD")
}

// Fault is an *Error at a place of the file.
func (d *Document) Fault(offset int, format string, args ...any) error {
	line, column := d.position(offset)
	return &Error{File: d.file, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// Place names a place of the file: file:line:column.
func (d *Document) Place(offset int) string {
	line, column := d.position(offset)
	return fmt.Sprintf("%s:%d:%d", d.file, line, column)
}

// mark finds the places of the marks.
func (d *Document) mark() {
	at := mark{1, 1}
	for i := 0; i < len(d.text); i += markBytes {
		d.marks = append(d.marks, at)
		at = at.after(d.text[i:min(i+markBytes, len(d.text))])
	}
}

// after is the place of what follows a text that begins at m.
func (m mark) after(text string) mark {
	if lines := strings.Count(text, "\n"); lines > 0 {
		m = mark{m.line + lines, 1}
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	for i := range len(text) {
		if utf8.RuneStart(text[i]) {
			m.column++
		}
	}
	return m
}

func (d *Document) position(offset int) (line, column int) {
	offset = min(offset, len(d.text))
	at, from := mark{1, 1}, 0
	if i := min(offset/markBytes, len(d.marks)-1); i >= 0 {
		at, from = d.marks[i], i*markBytes
	}
	at = at.after(d.text[from:offset])
	return at.line, at.column
}

// JSON is a value of the document.
func (d *Document) JSON(n Node) tools.JSON { return tools.MustJSON(d.text[n.Offset:n.end]) }

// Find is the value of a member, nil if there is none.
func (n Node) Find(name string) *Node {
	for i := range n.Members {
		if n.Members[i].Name == name {
			return &n.Members[i].Value
		}
	}
	return nil
}

// Text is the characters of a string and whether the value is one; n may be
// nil. Unpaired surrogates become U+FFFD.
func (n *Node) Text() (string, bool) {
	if n == nil || n.Kind != jsonscan.String {
		return "", false
	}
	return plain(n.Raw), true
}

// Described names a value in an error: what was received.
func (n Node) Described() string {
	switch n.Kind {
	case jsonscan.ObjectStart:
		return "an object"
	case jsonscan.ArrayStart:
		return "an array"
	case jsonscan.String:
		return fmt.Sprintf("the string %.60s", n.Raw)
	}
	return fmt.Sprintf("%.60s", n.Raw)
}
