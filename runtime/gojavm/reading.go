package gojavm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// The walk over statements, functions and patterns of a tree that is read directly.

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
	if constant(s.Expression) && !keptStatement(s.Expression) {
		r.refuse("a statement that is a constant") // esbuild leaves most of them out
	}
	r.expression(&s.Expression)
}

// keptStatement says whether an expression is one that esbuild keeps as a statement.
func keptStatement(x ast.Expression) bool {
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

// isOddName says whether a word is a name in some places only, or one that esbuild
// treats apart.
func isOddName(name string) bool {
	switch name {
	case "await", "async", "yield", "let", "static", "of",
		"implements", "interface", "package", "private", "protected", "public", "enum",
		"eval", "arguments", "using":
		return true
	}
	return false
}

// name is a name that is bound or read.
func (r *reader) name(id *ast.Identifier) {
	if isOddName(string(id.Name)) { // they are ASCII
		r.refuse("the name " + id.Name.String())
	}
	r.word(id)
}

// word is a name or a property's. It must be written as it is, in ASCII.
func (r *reader) word(id *ast.Identifier) {
	name := string(id.Name) // which is the text of ASCII names alone
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
