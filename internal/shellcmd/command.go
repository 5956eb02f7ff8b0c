package shellcmd

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds within which a text is parsed. Outside of them it is searched word
// by word only.
const (
	maxText    = 64 << 10 // bytes
	maxNesting = 2_000    // characters and words that open something
	maxLevel   = 16       // of commands within the words of commands
	maxFound   = 1 << 20  // bytes, of all commands and texts found in one text
)

// Command is one shell text taken apart. It is immutable. The zero Command is
// that of the empty text.
type Command struct {
	// problem is why the text is not allowed whatever the patterns. It is
	// empty if simple is all the text does.
	problem string
	// simple holds the simple commands as they stand in the text.
	simple [][]word
	// found is the flat form of the commands Denied compares: simple, and
	// those found behind wrappers and in texts given to a shell.
	found []string
	// loose is the flat form of what is searched word by word.
	loose []string
}

// Parse takes a shell text apart, in bash's language. It never fails: what is
// not understood is not allowed, and is searched word by word for what is
// denied. Its time and memory are bounded by the length of the text.
func Parse(text string) Command {
	f := finder{left: maxFound}
	f.read(text)
	if f.incomplete {
		f.addLoose(text)
	}
	return f.Command
}

// Allowed reports whether the text consists of literal simple commands only,
// each of which one of the patterns matches. If not, why says so in a short
// phrase for a person.
func (c Command) Allowed(patterns []Pattern) (ok bool, why string) {
	if c.problem != "" {
		return false, c.problem
	}
	if len(c.simple) == 0 {
		return false, "runs no command"
	}
	for _, words := range c.simple {
		flat := flatten(words)
		if first(patterns, func(p Pattern) bool { return p.match(flat) }) < 0 {
			return false, fmt.Sprintf("no rule allows %q", clip(normal(words)))
		}
	}
	return true, ""
}

// Denied finds a pattern that matches any command found anywhere in the text and
// returns its index, -1 if there is none. A pattern that matches every command
// matches every text.
func (c Command) Denied(patterns []Pattern) int {
	return first(patterns, func(p Pattern) bool {
		return p.all() || first(c.found, p.match) >= 0 || first(c.loose, p.within) >= 0
	})
}

// Commands lists the simple commands that stand in the text in normal form, for
// people: the words without their quotes, joined by one space, quoted again
// where they would not be the same words otherwise. Words that expand something
// are as written. The list of a text that cannot be parsed is empty.
func (c Command) Commands() []string {
	list := make([]string, len(c.simple))
	for i, words := range c.simple {
		list[i] = normal(words)
	}
	return list
}

func first[T any](list []T, match func(T) bool) int {
	for i, x := range list {
		if match(x) {
			return i
		}
	}
	return -1
}

// oddity says what in a text keeps it from being allowed before it is parsed:
// here the parser and bash may differ, or the parser would take too long.
func oddity(text string) string {
	switch {
	case len(text) > maxText:
		return fmt.Sprintf("is %d bytes long, more than the %d that are examined", len(text), maxText)
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return "has control characters"
	case nesting(text) > maxNesting:
		return "is nested too deeply to be examined"
	case breaksWord(text):
		return "breaks a line within a word"
	}
	return ""
}

// breaksWord reports whether a backslash ends a line without a blank before it.
// Bash goes on with the word, and with the "$" or the operator that it ends in.
func breaksWord(text string) bool {
	for i := range len(text) {
		if strings.HasPrefix(text[i:], "\\\n") && (i == 0 || text[i-1] != ' ' && text[i-1] != '\t') {
			return true
		}
	}
	return false
}

// nesting counts whatever could open something, without a look at quotes or at
// what closes it: the true depth is never more.
func nesting(text string) int {
	n := 0
	for i := range len(text) {
		if strings.IndexByte("([{`|&", text[i]) >= 0 {
			n++
		}
	}
	for _, w := range strings.FieldsFunc(text, isBreak) {
		switch w {
		case "!", "if", "elif", "while", "until", "for", "select", "case", "function", "time", "coproc":
			n++
		}
	}
	return n
}

// parse is the border to the parser.
func parse(text string) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("the parser crashed: %v", r)
		}
	}()
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

// parseSimple reads a text that is one simple command and nothing else, or says
// what else it does.
func parseSimple(text string) (words []word, why string) {
	if why := oddity(text); why != "" {
		return nil, why
	}
	file, err := parse(text)
	if err != nil {
		return nil, cannotParse(err)
	}
	if len(file.Stmts) != 1 {
		return nil, fmt.Sprintf("has %d commands", len(file.Stmts))
	}
	s := file.Stmts[0]
	if words = simpleCommand(text, s.Cmd); words == nil {
		return nil, construct(s.Cmd)
	}
	switch call, _ := s.Cmd.(*syntax.CallExpr); {
	case call != nil && len(call.Assigns) > 0:
		return nil, "assigns a variable"
	case len(s.Redirs) > 0:
		return nil, "redirects input or output"
	case s.Negated || s.Background || s.Coprocess || s.Disown:
		return nil, "has an operator"
	case len(s.Comments)+len(file.Last) > 0:
		return nil, "has a comment"
	}
	return words, ""
}

// cannotParse gives the parser's reason without the position in front of it.
func cannotParse(err error) string {
	text := err.Error()
	var parseErr syntax.ParseError
	if errors.As(err, &parseErr) {
		text = parseErr.Text
	}
	return "cannot be parsed: " + clip(text)
}

// simpleCommand is the words of a command that is a program or a builtin and
// its arguments; nil if it is not.
func simpleCommand(text string, cmd syntax.Command) []word {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		return readWords(text, cmd.Args)
	case *syntax.DeclClause:
		words := []word{{text: cmd.Variant.Value, source: cmd.Variant.Value}}
		for _, arg := range cmd.Args {
			words = append(words, declared(text, arg))
		}
		return words
	case *syntax.LetClause:
		words := []word{{text: "let", source: "let"}}
		for _, expr := range cmd.Exprs {
			words = append(words, asWritten(text, expr))
		}
		return words
	case *syntax.TimeClause:
		words := []word{{text: "time", source: "time"}}
		if cmd.Stmt != nil {
			if call, ok := cmd.Stmt.Cmd.(*syntax.CallExpr); ok {
				words = append(words, readWords(text, call.Args)...)
			}
		}
		return words
	}
	return nil
}

// declared is an argument of "export" and its like.
func declared(text string, arg *syntax.Assign) word {
	switch {
	case arg.Name == nil && arg.Value != nil:
		return readWord(text, arg.Value)
	case arg.Name != nil && arg.Value != nil && arg.Index == nil && !arg.Append:
		w := readWord(text, arg.Value)
		return word{text: arg.Name.Value + "=" + w.text, source: source(text, arg), why: "assigns a variable"}
	}
	return asWritten(text, arg)
}

func asWritten(text string, n syntax.Node) word {
	s := source(text, n)
	return word{text: s, source: s, why: "is an expression"}
}
