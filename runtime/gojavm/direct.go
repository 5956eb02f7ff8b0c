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
	"github.com/dop251/goja/token"
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
		c.out.WriteByte(',')
		c.write(segment{column: len(wrapPrefix) + 1 + i, origin: 1 + i})
	}
	text, err := json.Marshal(map[string]any{
		"version":  3,
		"sources":  []string{name, compiledName},
		"mappings": c.out.String(),
	})
	if err != nil {
		return nil, err
	}
	consumer, err := sourcemap.Parse("", text)
	return &places{name: name, consumer: consumer, written: true}, err
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
	if rareArrows(r.text) > maxRareArrows {
		r.refuse("arrows with rare parameters")
		return
	}
	extra := 0
	for i, c := range r.text {
		switch {
		case c == '\r' && r.text[i+1] != '\n', c < ' ' && c != '\r' && c != '\n' && c != '\t', c == 0x7f:
			r.refuse("a control character")
		case c < utf8.RuneSelf:
		case unicode.IsSpace(c), unicode.Is(unicode.Cf, c), strings.ContainsRune(lineTerminators, c):
			r.refuse("a space or a line's end beyond ASCII")
		default:
			n := utf8.RuneLen(c)
			extra += n - 1
			r.wide = append(r.wide, wideCharacter{i + n, extra})
		}
	}
}

// maxRareArrows is how many arrows may have parameters that arrows may be in: the
// engine's parser reads parameters twice, and so each arrow in them four times.
const maxRareArrows = 4

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
	if len(r.wide) == 0 || *idx == 0 {
		return
	}
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

// declarations moves what the parser lists beside the tree.
func (r *reader) declarations(list []*ast.VariableDeclaration) {
	for _, d := range list {
		r.place(&d.Var)
	}
}

// body is the block of a function. Only here functions are declared: those in other
// blocks are esbuild's to hoist.
func (r *reader) body(block *ast.BlockStatement) {
	r.place(&block.LeftBrace)
	var declared []string
	for _, s := range block.List {
		f, ok := s.(*ast.FunctionDeclaration)
		if !ok {
			r.statement(s)
			continue
		}
		name := f.Function.Name.Name.String()
		if slices.Contains(declared, name) || len(declared) > 500 {
			r.refuse("functions that are declared twice")
		}
		declared = append(declared, name)
		r.function(f.Function)
	}
	r.place(&block.RightBrace)
}

func (r *reader) block(block *ast.BlockStatement) {
	if block == nil {
		return
	}
	outer := len(r.lexical)
	r.place(&block.LeftBrace)
	r.statements(block.List)
	r.place(&block.RightBrace)
	r.lexical = r.lexical[:outer]
}

func (r *reader) statements(list []ast.Statement) {
	for _, s := range list {
		if r.why != "" {
			return
		}
		r.statement(s)
	}
}

func (r *reader) statement(s ast.Statement) {
	switch s := s.(type) {
	case nil:
	case *ast.BlockStatement:
		r.block(s)
	case *ast.EmptyStatement:
		r.place(&s.Semicolon)
	case *ast.ExpressionStatement:
		r.expressionStatement(s)
	case *ast.IfStatement:
		r.condition(&s.Test)
		r.statement(s.Consequent)
		r.statement(s.Alternate)
	case *ast.ReturnStatement:
		r.place(&s.Return)
		r.optional(&s.Argument)
	case *ast.ThrowStatement:
		r.place(&s.Throw)
		r.expression(&s.Argument)
	case *ast.VariableStatement:
		r.place(&s.Var)
		r.bindings(s.List, hoists)
	case *ast.LexicalDeclaration:
		r.place(&s.Idx)
		r.lexicals(s)
	case *ast.TryStatement:
		r.try(s)
	case *ast.SwitchStatement:
		r.switching(s)
	case *ast.BranchStatement:
		r.place(&s.Idx)
		if s.Label != nil {
			r.name(s.Label)
		}
	case *ast.LabelledStatement:
		r.labelled(s)
	default:
		r.loop(s)
	}
}

func (r *reader) loop(s ast.Statement) {
	outer := len(r.lexical)
	defer func() { r.lexical = r.lexical[:outer] }()
	switch s := s.(type) {
	case *ast.WhileStatement:
		r.place(&s.While)
		r.expression(&s.Test)
		r.statement(s.Body)
	case *ast.DoWhileStatement:
		r.place(&s.Do)
		r.statement(s.Body)
		r.expression(&s.Test)
		r.place(&s.RightParenthesis)
	case *ast.ForStatement:
		r.place(&s.For)
		r.initializer(s)
		r.optional(&s.Test)
		r.optional(&s.Update)
		r.statement(s.Body)
	case *ast.ForInStatement:
		r.place(&s.For)
		r.into(s.Into, s.For)
		r.expression(&s.Source)
		r.statement(s.Body)
	case *ast.ForOfStatement:
		r.place(&s.For)
		r.into(s.Into, s.For)
		r.expression(&s.Source)
		r.statement(s.Body)
	default:
		r.refuse(fmt.Sprintf("a statement that is not known: %T", s))
	}
}

// typeWords begin a declaration of TypeScript if they stand alone before another
// word, where JavaScript may see a statement of one word.
var typeWords = []string{"type", "declare", "abstract", "namespace", "module", "global", "as", "satisfies", "using", "accessor", "defer", "source"}

func (r *reader) expressionStatement(s *ast.ExpressionStatement) {
	switch x := s.Expression.(type) {
	case *ast.StringLiteral:
		r.refuse("what may be a directive")
	case *ast.Identifier:
		if slices.Contains(typeWords, x.Name.String()) {
			r.refuse("a word that begins a declaration of TypeScript")
		}
	}
	if constant(s.Expression) && !literal(s.Expression) {
		r.refuse("a statement that is a constant") // esbuild leaves most of them out
	}
	r.expression(&s.Expression)
}

// literal says whether an expression is one that esbuild keeps as a statement.
func literal(x ast.Expression) bool {
	switch x.(type) {
	case *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.ArrayLiteral, *ast.ObjectLiteral, *ast.TemplateLiteral,
		*ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.RegExpLiteral, *ast.AssignExpression:
		return true
	}
	return false
}

// condition is a test that esbuild may know the outcome of.
func (r *reader) condition(x *ast.Expression) {
	if constant(*x) {
		r.refuse("a condition that is a constant")
	}
	r.expression(x)
}

func (r *reader) try(s *ast.TryStatement) {
	r.place(&s.Try)
	r.block(s.Body)
	if c := s.Catch; c != nil {
		outer := len(r.lexical)
		defer func() { r.lexical = r.lexical[:outer] }()
		c.Catch = s.Body.RightBrace
		if c.Parameter != nil {
			r.target(c.Parameter, declares)
			if declaresAgain(c.Body.List, c.Parameter) {
				r.refuse("a declaration of what catch declares")
			}
		}
		r.block(c.Body)
	}
	r.block(s.Finally)
}

// declaresAgain says whether statements may declare the name of a parameter again.
func declaresAgain(list []ast.Statement, parameter ast.BindingTarget) bool {
	name, ok := parameter.(*ast.Identifier)
	if !ok {
		return true // patterns are too rare to be looked into
	}
	for _, s := range list {
		switch s := s.(type) {
		case *ast.LexicalDeclaration:
			for _, b := range s.List {
				if other, ok := b.Target.(*ast.Identifier); !ok || other.Name == name.Name {
					return true
				}
			}
		}
	}
	return false
}

func (r *reader) switching(s *ast.SwitchStatement) {
	r.place(&s.Switch)
	r.expression(&s.Discriminant)
	for _, c := range s.Body {
		r.place(&c.Case)
		r.optional(&c.Test)
		if len(c.Consequent) > 0 && beginsArrow(c.Consequent[0]) {
			r.refuse("an arrow that a type may stand before")
		}
		r.statements(c.Consequent)
	}
	r.place(&s.RightBrace)
}

// beginsArrow says whether a statement is an arrow:
//
//	case (a): b => c
func beginsArrow(s ast.Statement) bool {
	x, ok := s.(*ast.ExpressionStatement)
	if !ok {
		return false
	}
	first := x.Expression
	if list, ok := first.(*ast.SequenceExpression); ok {
		first = list.Sequence[0]
	}
	_, arrow := first.(*ast.ArrowFunctionLiteral)
	return arrow
}

// labelled takes labels of loops alone.
func (r *reader) labelled(s *ast.LabelledStatement) {
	switch s.Statement.(type) {
	case *ast.ForStatement, *ast.ForOfStatement, *ast.ForInStatement, *ast.WhileStatement, *ast.DoWhileStatement:
	default:
		r.refuse("a label of no loop")
	}
	r.name(s.Label)
	r.place(&s.Colon)
	r.statement(s.Statement)
}

func (r *reader) initializer(s *ast.ForStatement) {
	switch i := s.Initializer.(type) {
	case nil:
	case *ast.ForLoopInitializerExpression:
		r.expression(&i.Expression)
	case *ast.ForLoopInitializerVarDeclList:
		r.bindings(i.List, hoists)
	case *ast.ForLoopInitializerLexicalDecl:
		i.LexicalDeclaration.Idx = s.For
		r.lexicals(&i.LexicalDeclaration)
	}
}

func (r *reader) into(into ast.ForInto, loop file.Idx) {
	switch i := into.(type) {
	case *ast.ForIntoVar:
		r.target(i.Binding.Target, hoists)
		if i.Binding.Initializer != nil {
			r.refuse("a loop's variable with a value")
		}
	case *ast.ForDeclaration:
		i.Idx = loop
		r.target(i.Target, declares)
	case *ast.ForIntoExpression:
		if isPattern(i.Expression) {
			r.refuse("a loop that assigns to a pattern")
			return
		}
		r.assigned(&i.Expression)
	}
}

// lexicals are the bindings of let and const.
func (r *reader) lexicals(s *ast.LexicalDeclaration) {
	for _, b := range s.List {
		if b.Initializer == nil && s.Token == token.CONST {
			r.refuse("a constant without a value")
		}
	}
	r.bindings(s.List, declares)
}

func (r *reader) bindings(list []*ast.Binding, use use) {
	for _, b := range list {
		r.target(b.Target, use)
		r.optional(&b.Initializer)
	}
}

// use is what becomes of a name or a pattern.
type use int

const (
	assigns  use = iota // it is assigned to
	receives            // it is a parameter
	declares            // its names are declared in a block
	hoists              // its names are declared in the function
)

// target is what a declaration binds.
func (r *reader) target(t ast.BindingTarget, use use) {
	switch t := t.(type) {
	case *ast.Identifier:
		r.bound(t, use)
	case *ast.ArrayPattern:
		r.arrayPattern(t, use)
	case *ast.ObjectPattern:
		r.objectPattern(t, use)
	default:
		r.refuse("a target that is none")
	}
}

// manyNames is how many names of blocks a variable is compared with.
const manyNames = 200

// bound is a name that is bound or assigned to. The engine does not see all
// variables that collide with a name of a block that they reach through.
func (r *reader) bound(id *ast.Identifier, use use) {
	name := id.Name.String()
	switch {
	case name == "undefined" || name == "NaN" || name == "Infinity":
		r.refuse("a constant of the language that is bound")
	case use == hoists && (len(r.lexical) > manyNames || slices.Contains(r.lexical, name)):
		r.refuse("a variable that may collide with a name of a block")
	case use == declares:
		r.lexical = append(r.lexical, name)
	}
	r.name(id)
}

// assigned is the left side of an assignment.
func (r *reader) assigned(x *ast.Expression) {
	switch t := (*x).(type) {
	case *ast.Identifier:
		r.bound(t, assigns)
	case *ast.DotExpression, *ast.BracketExpression:
		r.expression(x)
	case *ast.ArrayPattern:
		r.arrayPattern(t, assigns)
	case *ast.ObjectPattern:
		r.objectPattern(t, assigns)
	default:
		r.refuse("an assignment to what is no target")
	}
}

// The parser does not keep the parentheses of a pattern's elements, of which most
// are errors, and takes a comma after the rest of an object.

func (r *reader) arrayPattern(p *ast.ArrayPattern, use use) {
	if hasComment(r.between(p.LeftBracket, p.RightBracket)) {
		r.refuse("a comment in a pattern")
		return
	}
	r.place(&p.LeftBracket)
	for i := range p.Elements {
		r.element(&p.Elements[i], use)
	}
	r.rest(p.Rest, use)
	r.place(&p.RightBracket)
}

func (r *reader) objectPattern(p *ast.ObjectPattern, use use) {
	inside := r.between(p.LeftBrace, p.RightBrace)
	if hasComment(inside) {
		r.refuse("a comment in a pattern")
		return
	}
	if p.Rest != nil && strings.HasSuffix(strings.TrimRight(inside, " \t\r\n"), ",") {
		r.refuse("a comma after the rest")
	}
	r.place(&p.LeftBrace)
	for _, property := range p.Properties {
		switch property := property.(type) {
		case *ast.PropertyShort:
			r.bound(&property.Name, use)
			r.optional(&property.Initializer)
		case *ast.PropertyKeyed:
			r.key(&property.Key, property.Computed)
			r.element(&property.Value, use)
		default:
			r.refuse("a pattern that is not known")
		}
	}
	r.rest(p.Rest, use)
	r.place(&p.RightBrace)
}

// element is one of a pattern, with or without a default.
func (r *reader) element(x *ast.Expression, use use) {
	if *x == nil {
		return
	}
	if r.follows((*x).Idx0()) == '(' {
		r.refuse("parentheses in a pattern")
		return
	}
	left := x
	if assign, ok := (*x).(*ast.AssignExpression); ok {
		if assign.Operator != token.ASSIGN {
			r.refuse("a default that is none")
		}
		r.expression(&assign.Right)
		left = &assign.Left
	}
	if use == assigns {
		r.assigned(left)
		return
	}
	if target, ok := (*left).(ast.BindingTarget); ok {
		r.target(target, use)
		return
	}
	r.refuse("a target that is none")
}

func (r *reader) rest(x ast.Expression, use use) {
	switch x := x.(type) {
	case nil:
	case *ast.Identifier:
		if r.follows(x.Idx) != '.' {
			r.refuse("parentheses in a pattern")
		}
		r.bound(x, use)
	default:
		r.refuse("a rest that is no name")
	}
}

// oddNames are words that are names in some places only, or that esbuild treats
// apart.
var oddNames = map[string]bool{
	"await": true, "async": true, "yield": true, "let": true, "static": true, "of": true,
	"implements": true, "interface": true, "package": true, "private": true, "protected": true, "public": true, "enum": true,
	"eval": true, "arguments": true, "using": true,
}

// name is a name that is bound or read.
func (r *reader) name(id *ast.Identifier) {
	if oddNames[id.Name.String()] {
		r.refuse("the name " + id.Name.String())
	}
	r.word(id)
}

// word is a name or a property's. It must be written as it is, in ASCII.
func (r *reader) word(id *ast.Identifier) {
	name := id.Name.String()
	if text := r.textAt(id.Idx); !strings.HasPrefix(text, name) || !plainASCII(name) {
		r.refuse("a name with escapes or beyond ASCII")
	}
	r.place(&id.Idx)
}

func (r *reader) function(f *ast.FunctionLiteral) {
	if f.Async && f.Generator {
		r.refuse("an async generator")
	}
	r.declarations(f.DeclarationList)
	r.place(&f.Function)
	if f.Name != nil {
		r.bound(f.Name, receives)
	}
	r.parameters(f.ParameterList)
	outer, names := r.params, r.lexical
	r.params, r.lexical = false, nil
	r.body(f.Body)
	r.params, r.lexical = outer, names
}

func (r *reader) arrow(f *ast.ArrowFunctionLiteral) {
	r.declarations(f.DeclarationList)
	r.arrowParameters(f)
	r.place(&f.Start)
	r.parameters(f.ParameterList)
	outer, names := r.params, r.lexical
	r.params, r.lexical = outer && !f.Async, nil
	switch body := f.Body.(type) {
	case *ast.BlockStatement:
		r.body(body)
	case *ast.ExpressionBody:
		r.expression(&body.Expression)
	}
	r.params, r.lexical = outer, names
}

// arrowParameters refuses parentheses around a parameter, which the parser does
// not keep where it took the list for an expression at first.
func (r *reader) arrowParameters(f *ast.ArrowFunctionLiteral) {
	list := f.ParameterList
	if len(list.List) == 0 || f.Async || list.Opening != 0 && list.Opening != list.List[0].Idx0() {
		return // it was read as a list
	}
	if f.Start == list.List[0].Idx0() {
		return // it has none
	}
	text := r.between(f.Start, list.List[len(list.List)-1].Idx0())
	if !strings.HasPrefix(text, "(") || hasComment(text) {
		r.refuse("parameters that are written in another way")
		return
	}
	for i, b := range list.List {
		before := r.follows(b.Idx0())
		first := i == 0 && strings.TrimSpace(r.between(f.Start, b.Idx0())) == "("
		if before != ',' && !first {
			r.refuse("parentheses around a parameter")
		}
	}
}

// parameters are a function's. What waits in them is an error to esbuild.
func (r *reader) parameters(list *ast.ParameterList) {
	outer := r.params
	r.params = true
	r.place(&list.Opening)
	r.bindings(list.List, receives)
	r.parameterRest(list.Rest)
	r.place(&list.Closing)
	r.params = outer
}

func (r *reader) parameterRest(x ast.Expression) {
	if id, ok := x.(*ast.Identifier); ok {
		r.rest(id, receives)
	} else if x != nil {
		r.refuse("a rest that is no name")
	}
}

func (r *reader) optional(x *ast.Expression) {
	if *x != nil {
		r.expression(x)
	}
}

func (r *reader) expressions(list []ast.Expression) {
	for i := range list {
		if r.why != "" {
			return
		}
		r.optional(&list[i])
	}
}

func (r *reader) expression(x *ast.Expression) {
	switch x := (*x).(type) {
	case *ast.BooleanLiteral:
		r.place(&x.Idx)
	case *ast.NullLiteral:
		r.place(&x.Idx)
	case *ast.ThisExpression:
		r.place(&x.Idx)
	case *ast.NumberLiteral:
		r.number(x)
	case *ast.StringLiteral:
		r.escapes(x.Literal)
		r.place(&x.Idx)
	case *ast.RegExpLiteral:
		r.pattern(x)
	case *ast.TemplateLiteral:
		r.template(x)
	case *ast.ArrayLiteral:
		r.place(&x.LeftBracket)
		r.expressions(x.Value)
		r.place(&x.RightBracket)
	case *ast.ObjectLiteral:
		r.object(x)
	case *ast.SpreadElement:
		r.spread(x)
	case *ast.SequenceExpression:
		r.expressions(x.Sequence)
	case *ast.FunctionLiteral:
		r.function(x)
	case *ast.ArrowFunctionLiteral:
		r.arrow(x)
	case *ast.AssignExpression:
		r.assigned(&x.Left)
		r.expression(&x.Right)
	case *ast.ConditionalExpression:
		r.conditional(x)
	case *ast.BinaryExpression:
		r.binary(x)
	case *ast.UnaryExpression:
		r.unary(x)
	case *ast.AwaitExpression:
		r.waits(&x.Await, &x.Argument)
	case *ast.YieldExpression:
		if x.Delegate {
			r.refuse("a generator in a generator")
		}
		r.waits(&x.Yield, &x.Argument)
	default:
		r.access(x)
	}
	if id, ok := (*x).(*ast.Identifier); ok && id.Name == "undefined" {
		*x = undefinedAt(id.Idx)
	}
}

func (r *reader) spread(x *ast.SpreadElement) {
	if _, assigns := x.Expression.(*ast.AssignExpression); assigns {
		r.refuse("an assignment that is spread")
	}
	r.expression(&x.Expression)
}

// undefinedAt is what esbuild makes of the name, which the engine looks up each time.
func undefinedAt(at file.Idx) ast.Expression {
	return &ast.UnaryExpression{Operator: token.VOID, Idx: at, Operand: &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}}
}

// access is an expression that goes on from a name.
func (r *reader) access(x ast.Expression) {
	switch x := x.(type) {
	case *ast.Identifier:
		r.name(x)
	case *ast.DotExpression:
		if constant(x.Left) && x.Identifier.Name == "constructor" {
			r.refuse("a constant's constructor") // whose text esbuild knows
		}
		r.expression(&x.Left)
		r.word(&x.Identifier)
	case *ast.BracketExpression:
		r.expression(&x.Left)
		r.expression(&x.Member)
		x.LeftBracket = r.end(x.Left)
		r.place(&x.RightBracket)
	case *ast.CallExpression:
		r.expression(&x.Callee)
		r.expressions(x.ArgumentList)
		x.LeftParenthesis = r.end(x.Callee)
		r.place(&x.RightParenthesis)
	case *ast.NewExpression:
		r.made(x)
	case *ast.OptionalChain:
		r.expression(&x.Expression)
	case *ast.Optional:
		if _, chain := x.Expression.(*ast.OptionalChain); chain || constant(x.Expression) {
			r.refuse("a chain that goes on from a rare expression")
		}
		r.expression(&x.Expression)
	default:
		r.refuse(fmt.Sprintf("an expression that is not known: %T", x))
	}
}

func (r *reader) made(x *ast.NewExpression) {
	if x.LeftParenthesis == 0 {
		r.refuse("new without parentheses")
	}
	r.place(&x.New)
	r.expression(&x.Callee)
	r.place(&x.LeftParenthesis)
	r.expressions(x.ArgumentList)
	r.place(&x.RightParenthesis)
}

// waits is an await or a yield.
func (r *reader) waits(at *file.Idx, argument *ast.Expression) {
	if r.params {
		r.refuse("what waits in parameters")
	}
	r.place(at)
	r.optional(argument)
}

func (r *reader) object(x *ast.ObjectLiteral) {
	r.place(&x.LeftBrace)
	for _, property := range x.Value {
		switch property := property.(type) {
		case *ast.PropertyShort:
			if property.Initializer != nil || property.Name.Name == "undefined" {
				r.refuse("a short property that is none")
			}
			r.name(&property.Name)
		case *ast.PropertyKeyed:
			r.key(&property.Key, property.Computed)
			r.expression(&property.Value)
		case *ast.SpreadElement:
			r.spread(property)
		default:
			r.refuse("a property that is not known")
		}
	}
	r.place(&x.RightBrace)
}

// key is the name of a property.
func (r *reader) key(x *ast.Expression, computed bool) {
	key, ok := (*x).(*ast.StringLiteral)
	if !ok || computed {
		r.expression(x)
		return
	}
	if key.Value == "__proto__" {
		r.refuse("the property __proto__")
	}
	if quoted := strings.HasPrefix(key.Literal, `"`) || strings.HasPrefix(key.Literal, "'"); !quoted && (key.Literal != key.Value.String() || !plainASCII(key.Literal)) {
		r.refuse("a name with escapes or beyond ASCII")
	}
	r.escapes(key.Literal)
	r.place(&key.Idx)
}

// number takes plain decimal and short hexadecimal numbers.
func (r *reader) number(x *ast.NumberLiteral) {
	text := x.Literal
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		if len(digits) > 8 || strings.ContainsAny(digits, "_n") {
			r.refuse("a number that is written in a rare way")
		}
	} else if strings.ContainsAny(text, "_xXoObBN") || len(text) > 1 && text[0] == '0' && isDigit(rune(text[1])) {
		r.refuse("a number that is written in a rare way")
	}
	r.place(&x.Idx)
}

// escapes refuses the rare escapes of a literal: octal ones, and those in braces.
func (r *reader) escapes(literal string) {
	for {
		at := strings.IndexByte(literal, '\\')
		if at < 0 || at+1 >= len(literal) {
			return
		}
		next, after := literal[at+1], literal[at+2:]
		switch {
		case next == '0' && (after == "" || !isDigit(rune(after[0]))):
		case isDigit(rune(next)), next == 'u' && strings.HasPrefix(after, "{"), next == '\r', next >= utf8.RuneSelf:
			r.refuse("a rare escape")
			return
		}
		literal = after
	}
}

// pattern takes the flags that the engine has; it checks the pattern later.
func (r *reader) pattern(x *ast.RegExpLiteral) {
	for i, flag := range x.Flags {
		if !strings.ContainsRune("gimsuy", flag) || strings.ContainsRune(x.Flags[:i], flag) {
			r.refuse("flags of a regular expression that are rare")
		}
	}
	if written := "/" + x.Pattern + "/" + x.Flags; !strings.HasPrefix(r.textAt(x.Idx), written) || isWord(r.after(x.Idx, len(written))) {
		r.refuse("a regular expression that is read in another way")
	}
	r.place(&x.Idx)
}

// after is the byte that far behind a place.
func (r *reader) after(idx file.Idx, n int) byte {
	if text := r.textAt(idx); n < len(text) {
		return text[n]
	}
	return 0
}

func (r *reader) template(x *ast.TemplateLiteral) {
	for _, e := range x.Elements {
		if !e.Valid {
			r.refuse("a template with wrong escapes")
		}
		r.escapes(e.Literal)
		r.place(&e.Idx)
	}
	r.expressions(x.Expressions)
	r.place(&x.CloseQuote)
	if x.Tag == nil {
		r.place(&x.OpenQuote)
		return
	}
	r.expression(&x.Tag)
	x.OpenQuote = r.end(x.Tag)
}

// conditional refuses what TypeScript may read as an arrow with a type:
//
//	a ? (b) : c => d
func (r *reader) conditional(x *ast.ConditionalExpression) {
	if _, ok := x.Alternate.(*ast.ArrowFunctionLiteral); ok {
		r.refuse("an arrow that a type may stand before")
	}
	r.condition(&x.Test)
	r.expression(&x.Consequent)
	r.expression(&x.Alternate)
}

func (r *reader) unary(x *ast.UnaryExpression) {
	switch x.Operator {
	case token.DELETE:
		switch x.Operand.(type) {
		case *ast.DotExpression, *ast.BracketExpression:
		default:
			r.refuse("delete of what is no property")
		}
		r.expression(&x.Operand)
		r.place(&x.Idx)
	case token.INCREMENT, token.DECREMENT:
		if next := strings.TrimLeft(r.textAt(x.Idx+2), " \t\r\n"); x.Postfix && next != "" && strings.IndexByte("([`/", next[0]) >= 0 {
			r.refuse("a line after an increment that esbuild reads on")
		}
		r.assigned(&x.Operand)
		if x.Postfix {
			x.Idx = r.end(x.Operand)
		} else {
			r.place(&x.Idx)
		}
	default:
		if _, number := x.Operand.(*ast.NumberLiteral); constant(x.Operand) && !number && x.Operator != token.VOID && x.Operator != token.TYPEOF {
			r.refuse("an operator of a constant")
		}
		r.place(&x.Idx)
		r.expression(&x.Operand)
	}
}

func (r *reader) binary(x *ast.BinaryExpression) {
	switch x.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		if mixes(x, x.Left) || mixes(x, x.Right) {
			r.refuse("?? beside && or ||")
		}
		if constant(x.Left) || x.Operator == token.COALESCE && !mayBeMissing(x.Left) {
			r.refuse("a condition that is a constant")
		}
	case token.LESS, token.SHIFT_LEFT:
		if r.mayBeTypes(x) {
			r.refuse("what may be type arguments")
		}
	}
	if constant(x.Left) && constant(x.Right) && !(computed(x.Left) && computed(x.Right)) {
		r.refuse("an operator of constants")
	}
	if inner, ok := x.Right.(*ast.BinaryExpression); ok && x.Operator == token.PLUS && inner.Operator == token.PLUS && (isText(inner.Left) || isText(inner.Right)) {
		r.refuse("an addition of a text that was put together") // it is put together from the left
	}
	if _, waits := x.Left.(*ast.AwaitExpression); waits && x.Operator == token.EXPONENT {
		r.refuse("a power of what is waited for")
	}
	if isRelational(x) && (isRelational(x.Left) || isRelational(x.Right)) {
		r.refuse("a comparison of a comparison")
	}
	r.expression(&x.Left)
	r.expression(&x.Right)
}

func isText(x ast.Expression) bool {
	switch x.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral:
		return true
	}
	return false
}

func isRelational(x ast.Expression) bool {
	binary, ok := x.(*ast.BinaryExpression)
	return ok && slices.Contains(relational, binary.Operator)
}

// mixes says whether one of an operator and its side is ?? and the other && or ||:
// that needs parentheses, which the parser does not ask for everywhere.
func mixes(x *ast.BinaryExpression, side ast.Expression) bool {
	inner, ok := side.(*ast.BinaryExpression)
	if !ok {
		return false
	}
	logical := func(t token.Token) bool { return t == token.LOGICAL_AND || t == token.LOGICAL_OR }
	return x.Operator == token.COALESCE && logical(inner.Operator) || logical(x.Operator) && inner.Operator == token.COALESCE
}

// constant says whether an expression holds no name, so that esbuild may know what
// it gives.
func constant(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.RegExpLiteral,
		*ast.ArrayLiteral, *ast.ObjectLiteral, *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.TemplateLiteral:
		return true
	case *ast.Identifier:
		return x.Name == "undefined" || x.Name == "NaN" || x.Name == "Infinity"
	case *ast.UnaryExpression:
		return x.Operator == token.VOID || x.Operator == token.TYPEOF || constant(x.Operand)
	case *ast.BinaryExpression:
		if x.Operator == token.LOGICAL_AND || x.Operator == token.LOGICAL_OR {
			return constant(x.Right)
		}
		return constant(x.Left) && constant(x.Right)
	case *ast.SequenceExpression:
		return constant(x.Sequence[len(x.Sequence)-1])
	case *ast.ConditionalExpression:
		return constant(x.Test)
	case *ast.AssignExpression:
		return constant(x.Right)
	}
	return false
}

// computed says whether an expression is of numbers and strings alone, which esbuild
// computes as the engine does.
func computed(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	case *ast.UnaryExpression:
		return computed(x.Operand)
	case *ast.BinaryExpression:
		return computed(x.Left) && computed(x.Right)
	}
	return false
}

// mayBeMissing says whether an expression is one of those that stand before ?? with
// sense: after others esbuild leaves the rest out.
func mayBeMissing(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.BracketExpression, *ast.CallExpression, *ast.OptionalChain, *ast.AwaitExpression:
		return true
	case *ast.BinaryExpression:
		return x.Operator == token.COALESCE
	}
	return false
}

// end is the last place that esbuild's map has in what it prints of an expression
// whose parts were walked.
func (r *reader) end(x ast.Expression) file.Idx {
	switch x := x.(type) {
	case *ast.Identifier:
		return x.Idx
	case *ast.ThisExpression:
		return x.Idx
	case *ast.StringLiteral:
		return x.Idx
	case *ast.RegExpLiteral:
		return x.Idx
	case *ast.DotExpression:
		return x.Identifier.Idx
	case *ast.BracketExpression:
		return x.RightBracket
	case *ast.CallExpression:
		return x.RightParenthesis
	case *ast.NewExpression:
		return x.RightParenthesis
	case *ast.ArrayLiteral:
		return x.RightBracket
	case *ast.ObjectLiteral:
		return x.RightBrace
	case *ast.FunctionLiteral:
		return x.Body.RightBrace
	case *ast.Optional:
		return r.end(x.Expression)
	case *ast.OptionalChain:
		return r.end(x.Expression)
	case *ast.AwaitExpression:
		return r.end(x.Argument)
	case *ast.AssignExpression:
		return r.end(x.Right)
	case *ast.ConditionalExpression:
		return r.end(x.Alternate)
	case *ast.BinaryExpression:
		return r.end(x.Right)
	case *ast.SequenceExpression:
		return r.end(x.Sequence[len(x.Sequence)-1])
	case *ast.ArrowFunctionLiteral:
		switch body := x.Body.(type) {
		case *ast.BlockStatement:
			return body.RightBrace
		case *ast.ExpressionBody:
			return r.end(body.Expression)
		}
	case *ast.TemplateLiteral:
		if x.Tag == nil && len(x.Expressions) == 0 {
			return x.OpenQuote
		}
	}
	r.refuse(fmt.Sprintf("a call or a member of a rare expression: %T", x))
	return 0
}

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
