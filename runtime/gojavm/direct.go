package gojavm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/go-sourcemap/sourcemap"
)

// Plain JavaScript needs no esbuild: the engine's parser reads the author's text,
// and what it read is used if esbuild would certainly have given the same. What is
// certain is written down here node by node. Anything else goes to esbuild: what
// the engine's parser refuses, what TypeScript reads otherwise, what one of the two
// parsers lets pass and the other does not, and what is too rare to be looked into.

// direct is the program read without esbuild, or why it must not be.
func (p *program) direct(parts moduleParts, globals []string) (read *program, why string) {
	defer func() {
		if x := recover(); x != nil {
			read, why = nil, fmt.Sprintf("the engine's parser failed: %v", x)
		}
	}()
	if p.text != p.source && !plainASCII(p.source) {
		return nil, "blanks for what was left out" // which may be more characters than it was
	}
	if looksTyped(p.text) {
		return nil, "it looks like TypeScript"
	}
	r := &reader{text: wrapPrefix + p.text + wrapSuffix}
	tree := r.read(p.name)
	if tree == nil {
		return nil, r.why
	}
	first, _, _ := strings.Cut(p.text, "\n")
	places, err := writtenPlaces(p.name, utf8.RuneCountInString(first))
	if err != nil {
		return nil, err.Error()
	}
	attempt := *p
	attempt.notes, attempt.places = slices.Clip(p.notes), places
	if failure := attempt.compileTree(tree, parts, globals); failure != nil {
		return nil, failure.Message
	}
	return &attempt, ""
}

// typeNames follow what has a type, as TypeScript is written by most. They have the
// same first two characters, and typeInitials for the third.
var typeNames = []string{": number", ": string", ": any", ": boolean", ": Promise<", ": Record<", ": unknown"}

const typeInitials = "nsabPRu"

// looksTyped says whether a text has types that can be seen without a parser. That
// saves the engine's parser the work; it would refuse them.
func looksTyped(text string) bool { return namesType(text) || declaresType(text) }

// namesType says whether one of typeNames is in a text.
func namesType(text string) bool {
	for {
		at := strings.IndexByte(text, ':')
		if at < 0 || at+2 >= len(text) {
			return false
		}
		text = text[at:]
		if text[1] == ' ' && strings.IndexByte(typeInitials, text[2]) >= 0 && slices.ContainsFunc(typeNames, func(name string) bool { return strings.HasPrefix(text, name) }) {
			return true
		}
		text = text[len(":"):]
	}
}

// declaresType says whether a line begins with the declaration of a type or of a
// variable with one.
func declaresType(text string) bool {
	for {
		text = behindBlanks(text)
		if beginsTyped(text) {
			return true
		}
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			return false
		}
		text = text[end+1:]
	}
}

// behindBlanks is a text without those that it begins with.
func behindBlanks(text string) string {
	n := 0
	for n < len(text) && (text[n] == ' ' || text[n] == '\t') {
		n++
	}
	return text[n:]
}

// beginsTyped is declaresType for what a text begins with: a word, a name, and what
// makes them such a declaration.
func beginsTyped(text string) bool {
	word := text[:wordLen(text)]
	rest, spaced := strings.CutPrefix(text[len(word):], " ")
	if !spaced {
		return false
	}
	name := rest[:wordLen(rest)]
	after := behindBlanks(rest[len(name):])
	if name == "" || after == "" {
		return false
	}
	switch word {
	case "interface":
		return true
	case "type":
		return after[0] == '=' || after[0] == '<'
	case "const", "let":
		return after[0] == ':'
	}
	return false
}

// maxFirstLine bounds the first line of such a program: each of its columns is an
// entry of a map.
const maxFirstLine = 4096

// shortFirstLine is as many columns as are prepared for programs without a name.
const shortFirstLine = 512

// writtenPlaces are the places of a program that is compiled as it was written: only
// the wrapper's prefix is before its first line.
func writtenPlaces(name string, columns int) (*places, error) {
	if name == defaultName && columns < shortFirstLine {
		return shortPlaces()
	}
	return firstLinePlaces(name, columns)
}

var shortPlaces = sync.OnceValues(func() (*places, error) { return firstLinePlaces(defaultName, shortFirstLine) })

func firstLinePlaces(name string, columns int) (*places, error) {
	c := &converter{}
	c.write(segment{column: 1, source: 1})
	for i := range columns + 1 {
		c.out = append(c.out, ',')
		c.write(segment{column: len(wrapPrefix) + 1 + i, origin: 1 + i})
	}
	text, err := json.Marshal(map[string]any{
		"version":  3,
		"sources":  []string{name, compiledName},
		"mappings": string(c.out),
	})
	if err != nil {
		return nil, err
	}
	consumer, err := sourcemap.Parse("", text)
	return &places{name: name, consumer: func() *sourcemap.Consumer { return consumer }, written: true}, err
}

// reader checks the tree of a wrapped program, and gives its nodes the places that
// they have by way of esbuild: the engine says where a call is by its parenthesis,
// esbuild's map by the word before it.
type reader struct {
	text    string // with the wrapper
	wide    []wideCharacter
	why     string   // the program must go to esbuild
	params  bool     // the walk is in a list of parameters
	lexical []string // names that blocks around the walk declare, up to the function
	scanned int      // by mayBeTypes, of all of them
}

// wideCharacter is one of several bytes.
type wideCharacter struct {
	end   int // the offset behind it
	extra int // bytes more than characters up to there
}

// refuse gives the program to esbuild.
func (r *reader) refuse(why string) {
	if r.why == "" {
		r.why = why
	}
}

// read is the tree of the text, or nil.
func (r *reader) read(name string) *ast.Program {
	if r.checkText(); r.why != "" {
		return nil
	}
	tree, err := parser.ParseFile(nil, name, r.text, 0, parser.WithDisableSourceMaps)
	if err != nil {
		r.refuse("the engine's parser refuses it")
		return nil
	}
	wrapper := wrapped(tree)
	if wrapper == nil {
		r.refuse("it closes the wrapper")
		return nil
	}
	r.declarations(wrapper.DeclarationList)
	r.body(wrapper.Body.(*ast.BlockStatement))
	if r.why != "" {
		return nil
	}
	if len(r.wide) > 0 {
		tree.File = file.NewFile(name, r.narrowed(), 1)
	}
	return tree
}

// wrapped is the arrow that a tree calls and holds nothing else of, or nil.
func wrapped(tree *ast.Program) *ast.ArrowFunctionLiteral {
	if len(tree.Body) != 1 || len(tree.DeclarationList) > 0 {
		return nil
	}
	s, ok := tree.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil
	}
	call, ok := s.Expression.(*ast.CallExpression)
	if !ok || len(call.ArgumentList) > 0 {
		return nil
	}
	arrow, ok := call.Callee.(*ast.ArrowFunctionLiteral)
	if !ok || !arrow.Async || len(arrow.ParameterList.List) > 0 || arrow.ParameterList.Rest != nil {
		return nil
	}
	if _, ok := arrow.Body.(*ast.BlockStatement); !ok {
		return nil
	}
	return arrow
}

// checkText refuses characters and marks on which the two may differ wherever they
// stand, and finds the wide characters.
func (r *reader) checkText() {
	if first := strings.IndexAny(r.text, "\r\n"); first > maxFirstLine {
		r.refuse("a first line that is long")
		return
	}
	if hasProperty(r.text) {
		r.refuse("a Unicode property")
		return
	}
	if !utf8.ValidString(r.text) {
		r.refuse("a character that is none")
		return
	}
	if strings.Contains(r.text, "</s") || strings.Contains(r.text, "</S") {
		r.refuse("the end of a script of HTML") // esbuild writes it in another way
		return
	}
	if strings.Contains(r.text, "<!--") || strings.Contains(r.text, "-->") {
		r.refuse("a comment of HTML")
		return
	}
	if rare := rareArrows(r.text); rare > manyRareArrows || rare > fewRareArrows && len(r.text) > shortText {
		r.refuse("arrows with rare parameters")
		return
	}
	r.checkCharacters()
}

// ordinary are the bytes that are characters on which the two agree.
var ordinary = func() (set [256]bool) {
	for b := range set {
		set[b] = b >= ' ' && b < 0x7f || b == '\t' || b == '\n'
	}
	return set
}()

// checkCharacters is checkText for each character that is not ordinary.
func (r *reader) checkCharacters() {
	extra, n := 0, 0
	for i := 0; i < len(r.text); i += n {
		if n = 1; ordinary[r.text[i]] {
			continue
		}
		var c rune
		c, n = utf8.DecodeRuneInString(r.text[i:])
		switch {
		case c == '\r' && r.text[i+1] == '\n':
		case c < utf8.RuneSelf:
			r.refuse("a control character")
		case unicode.IsSpace(c), unicode.Is(unicode.Cf, c), strings.ContainsRune(lineTerminators, c):
			r.refuse("a space or a line's end beyond ASCII")
		default:
			extra += n - 1
			r.wide = append(r.wide, wideCharacter{i + n, extra})
		}
	}
}

// How many arrows may have parameters that arrows may be in, in any text and in a
// short one: the engine's parser reads parameters twice, and so each arrow in them
// four times. Examples in comments count as well.
const (
	fewRareArrows  = 4
	manyRareArrows = 7
	shortText      = 8 << 10
)

// rareArrows counts the arrows whose parameters are more than names and brackets on
// one line.
func rareArrows(text string) (rare int) {
	for at := 0; ; at += len("=>") {
		next := strings.Index(text[at:], "=>")
		if next < 0 {
			return rare
		}
		at += next
		before := strings.TrimRight(text[:at], " \t\r\n")
		list, inBrackets := strings.CutSuffix(before, ")")
		if !inBrackets && before != "" && isWord(before[len(before)-1]) {
			continue
		}
		open := strings.LastIndexAny(list, "()\"'`/>\r\n")
		if !inBrackets || open < 0 || list[open] != '(' {
			rare++
		}
	}
}

// narrowed is the text with a letter in the place of each wide character: places
// are counted in bytes by the engine, and in characters by people.
func (r *reader) narrowed() string {
	var b strings.Builder
	b.Grow(len(r.text))
	from := 0
	for _, w := range r.wide {
		_, n := utf8.DecodeLastRuneInString(r.text[:w.end])
		b.WriteString(r.text[from : w.end-n])
		b.WriteByte('a')
		from = w.end
	}
	b.WriteString(r.text[from:])
	return b.String()
}

// place moves a place of the text to the one in the narrowed text.
func (r *reader) place(idx *file.Idx) {
	if len(r.wide) > 0 && *idx != 0 {
		r.narrow(idx)
	}
}

// narrow is place where there are wide characters.
func (r *reader) narrow(idx *file.Idx) {
	offset := int(*idx) - 1
	n, found := slices.BinarySearchFunc(r.wide, offset, func(w wideCharacter, at int) int { return cmp.Compare(w.end, at) })
	if found {
		n++
	}
	if n > 0 {
		*idx -= file.Idx(r.wide[n-1].extra)
	}
}

// textAt is the text from a place on that was not moved yet.
func (r *reader) textAt(idx file.Idx) string {
	if idx < 1 || int(idx) > len(r.text) {
		return ""
	}
	return r.text[idx-1:]
}

// between is the text from one place to another, neither moved yet.
func (r *reader) between(from, to file.Idx) string {
	if from < 1 || to < from || int(to) > len(r.text) {
		r.refuse("a node without a place")
		return ""
	}
	return r.text[from-1 : to-1]
}

// follows is the last character before a place that is no blank.
func (r *reader) follows(idx file.Idx) byte {
	for i := int(idx) - 2; i >= 0; i-- {
		if b := r.text[i]; b != ' ' && b != '\t' && b != '\n' && b != '\r' {
			return b
		}
	}
	return 0
}

func hasComment(text string) bool {
	return strings.Contains(text, "//") || strings.Contains(text, "/*")
}
