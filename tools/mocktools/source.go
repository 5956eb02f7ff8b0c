package mocktools

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/tools"
)

// value is one JSON value with its place in the file.
type value struct {
	kind       jsonscan.Kind
	start, end int // in bytes
	pointer    string
	names      []string // of members, unescaped
	places     []int    // of member names, in bytes
	kids       []*value
}

// source is the text of a file and the problems found in it.
type source struct {
	text     string
	problems []problem // at most maxProblems
	more     int       // further ones
}

// problem is one fault at a place of the file.
type problem struct {
	line, column int // 1-based, the column counts characters
	pointer      string
	text         string
}

func (p problem) String() string {
	if p.pointer == "" {
		return fmt.Sprintf("%d:%d: %s", p.line, p.column, p.text)
	}
	return fmt.Sprintf("%d:%d (%s): %s", p.line, p.column, p.pointer, p.text)
}

// maxProblems is the number of problems one error lists.
const maxProblems = 20

// err is one error of all problems, nil if there are none.
func (s *source) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	var texts []string
	for _, p := range s.problems {
		texts = append(texts, p.String())
	}
	if s.more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more problems", s.more))
	}
	return errors.New(strings.Join(texts, "\n"))
}

// fail records a problem at a byte offset.
func (s *source) fail(offset int, pointer, format string, args ...any) {
	if len(s.problems) == maxProblems { // each costs a look through the text
		s.more++
		return
	}
	before := s.text[:min(offset, len(s.text))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	s.problems = append(s.problems, problem{line, column, pointer, fmt.Sprintf(format, args...)})
}

// parse checks the whole text and builds its tree; nil with a problem recorded.
func (s *source) parse() *value {
	if _, err := tools.ParseJSON(s.text); err != nil {
		var syntax *tools.JSONError
		if errors.As(err, &syntax) {
			s.fail(syntax.Offset, syntax.Pointer, "invalid JSON: %s", syntax.Problem)
		} else {
			s.fail(0, "", "invalid JSON: %v", err)
		}
		return nil
	}
	return parseTree(s.text)
}

// parseTree builds the tree of a valid text, without recursion.
func parseTree(text string) *value {
	scan := jsonscan.New(text)
	var stack []*value
	for {
		tok, err := scan.Next()
		if err != nil || tok.Kind == jsonscan.EOF {
			return nil
		}
		var done *value
		switch tok.Kind {
		case jsonscan.Key:
			top := stack[len(stack)-1]
			top.names = append(top.names, jsonscan.Unquote(tok.Raw))
			top.places = append(top.places, tok.Offset)
			continue
		case jsonscan.ObjectStart, jsonscan.ArrayStart:
			stack = append(stack, &value{kind: tok.Kind, start: tok.Offset})
			continue
		case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
			done = stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			done.end = tok.Offset + 1
		default:
			done = &value{kind: tok.Kind, start: tok.Offset, end: tok.Offset + len(tok.Raw)}
		}
		if len(stack) == 0 {
			return done
		}
		top := stack[len(stack)-1]
		top.kids = append(top.kids, done)
	}
}

// child is the i-th member or element with its pointer set, which only values
// that are looked at need.
func (v *value) child(i int) *value {
	kid := v.kids[i]
	if v.kind == jsonscan.ObjectStart {
		kid.pointer = v.pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(strings.ToValidUTF8(v.names[i], "\uFFFD"))
	} else {
		kid.pointer = fmt.Sprintf("%s/%d", v.pointer, i)
	}
	return kid
}

// json is the value's canonical text.
func (s *source) json(v *value) tools.JSON {
	j, err := tools.ParseJSON(s.text[v.start:v.end])
	if err != nil { // the whole file was checked
		s.fail(v.start, v.pointer, "invalid JSON: %v", err)
	}
	return j
}

// members gives every member of an object to the function named for it, and
// refuses what no function is named for.
func (s *source) members(v *value, what string, known []string, take func(name string, member *value)) bool {
	if v.kind != jsonscan.ObjectStart {
		s.fail(v.start, v.pointer, "%s must be an object, got %s", what, v.describe())
		return false
	}
	for i, name := range v.names {
		member := v.child(i)
		if !contains(known, name) {
			s.fail(v.places[i], member.pointer, "unknown member %q of %s; %s", name, what, suggest(name, known))
			continue
		}
		take(name, member)
	}
	return true
}

func contains(list []string, name string) bool {
	for _, known := range list {
		if known == name {
			return true
		}
	}
	return false
}

func suggest(name string, known []string) string {
	text := "known are " + strings.Join(known, ", ")
	if near := nearest.Names(name, known, 1); len(near) > 0 {
		return fmt.Sprintf("did you mean %q? (%s)", near[0], text)
	}
	return text
}

// describe says what kind of value v is.
func (v *value) describe() string {
	switch v.kind {
	case jsonscan.ObjectStart:
		return "an object"
	case jsonscan.ArrayStart:
		return "an array"
	case jsonscan.String:
		return "a string"
	case jsonscan.Number:
		return "a number"
	case jsonscan.Null:
		return "null"
	default:
		return "a boolean"
	}
}

func (s *source) string(v *value, what string) (string, bool) {
	if v.kind != jsonscan.String {
		s.fail(v.start, v.pointer, "%s must be a string, got %s", what, v.describe())
		return "", false
	}
	text, _ := s.json(v).Text()
	return text, true
}

func (s *source) boolean(v *value, what string) bool {
	if v.kind != jsonscan.True && v.kind != jsonscan.False {
		s.fail(v.start, v.pointer, "%s must be true or false, got %s", what, v.describe())
	}
	return v.kind == jsonscan.True
}

func (s *source) array(v *value, what string, take func(element *value)) {
	if v.kind != jsonscan.ArrayStart {
		s.fail(v.start, v.pointer, "%s must be an array, got %s", what, v.describe())
		return
	}
	for i := range v.kids {
		take(v.child(i))
	}
}
