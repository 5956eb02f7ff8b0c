package gojavm

import (
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/runcode-go/runcode/runtime"
)

// Notes about how a program ended without a return of its own.
const (
	functionCalled = "the function that the program defines was called"
	lastReturned   = "the program has no return; the value of its last expression was returned"
	lastAwaited    = "the promise of the last expression was awaited"
)

// ending gives a program that does not return anything the end its author had in
// mind, in the syntax tree:
//
//   - what is exported by default is returned, and called if it is a function;
//   - a program that is one function, or ends in one that nothing names, calls it;
//   - the value of a last expression is returned.
//
// A program with a return of its own is left alone. So is the value of a last
// call that is one of several steps, or where the program prints, for that is its
// output then; but the promise of such a call is awaited, or the program would
// be over before it.
type ending struct {
	program *program
	body    *ast.BlockStatement
	globals []string // that a function may have as parameters
	parts   moduleParts
}

// apply says whether it changed the program.
func (e *ending) apply() bool {
	if e.returns() {
		if e.parts.name != "" || e.parts.exported.Line > 0 {
			e.program.notes = append(e.program.notes, exportRemoved)
		}
		return false
	}
	switch last := e.last(); {
	case e.parts.name != "":
		return e.finish(e.complete(e.named(e.parts.name)), defaultReturned)
	case e.parts.exported.Line > 0:
		return e.exportDefault()
	case e.lone() != nil:
		return e.finish(e.lone(), functionCalled)
	case last != nil:
		return e.trailing(last)
	}
	return false
}

// returns says whether the program has a return statement of its own, and notes
// the place if there is one.
func (e *ending) returns() bool {
	var found returnFinder
	found.node(e.body)
	if found.count == 1 {
		e.program.returned = int(found.last.Return) - e.program.file.Base()
	}
	return found.count > 0
}

// returnFinder is a walker that finds the return statements of a function: those
// in its expressions and declarations belong to others.
type returnFinder struct {
	count int
	last  *ast.ReturnStatement
}

func (f *returnFinder) node(n any) {
	switch x := n.(type) {
	case *ast.ReturnStatement:
		f.count++
		f.last = x
	case *ast.FunctionLiteral, *ast.ClassLiteral, *ast.Binding:
	default:
		walkStatement(n, f)
	}
}

func (f *returnFinder) expression(*ast.Expression) {}

func (f *returnFinder) body(s *ast.Statement) { f.node(*s) }

func (f *returnFinder) list(list *[]ast.Statement) {
	for _, s := range *list {
		f.node(s)
	}
}

// finish ends the body with a return.
func (e *ending) finish(value ast.Expression, note string) bool {
	e.body.List = append(e.body.List, &ast.ReturnStatement{Return: value.Idx0(), Argument: value})
	e.program.notes = append(e.program.notes, note)
	return true
}

// complete is what x gives when it is called, or x itself. A function that is
// known gets the globals that it names its parameters after.
func (e *ending) complete(x ast.Expression, list *ast.ParameterList) ast.Expression {
	if call := e.callOf(x, list); call != nil {
		return call
	}
	return helperCall(completeName, x.Idx0(), x)
}

// named is a function declared in the body, and its parameters, or another name.
func (e *ending) named(name string) (ast.Expression, *ast.ParameterList) {
	for _, s := range e.body.List {
		if f, ok := s.(*ast.FunctionDeclaration); ok && f.Function.Name.Name.String() == name {
			return f.Function.Name, f.Function.ParameterList
		}
	}
	return &ast.Identifier{Name: unistring.NewFromString(name), Idx: e.body.LeftBrace}, nil
}

// exportDefault evaluates the expression behind the marker where it stands and
// returns it at the end.
func (e *ending) exportDefault() bool {
	for i, statement := range e.body.List {
		s, ok := statement.(*ast.ExpressionStatement)
		if !ok {
			continue
		}
		list, ok := s.Expression.(*ast.SequenceExpression)
		if !ok || len(list.Sequence) < 2 || e.program.siteOf(list.Sequence[0]) != e.parts.exported {
			continue
		}
		value, at := list.Sequence[1], list.Idx0()
		e.body.List[i] = &ast.LexicalDeclaration{Idx: at, Token: token.CONST, List: []*ast.Binding{{
			Target: &ast.Identifier{Name: exportName, Idx: at}, Initializer: value,
		}}}
		return e.finish(e.complete(&ast.Identifier{Name: exportName, Idx: at}, parameters(value)), defaultReturned)
	}
	return false
}

// last is the statement that a value can come from: the last that is neither
// empty nor a function's declaration. What esbuild makes of a program with
// using is looked into.
func (e *ending) last() *ast.Statement {
	list := e.body.List
	for i := len(list) - 1; i >= 0; i-- {
		switch s := list[i].(type) {
		case *ast.EmptyStatement, *ast.FunctionDeclaration:
			continue
		case *ast.TryStatement:
			if !disposes(s) {
				return nil
			}
			list, i = s.Body.List, len(s.Body.List)
			continue
		case *ast.BlockStatement:
			if object := objectOf(s); object != nil {
				list[i] = &ast.ExpressionStatement{Expression: object}
				return &list[i]
			}
		case *ast.ExpressionStatement:
			return &list[i]
		}
		return nil
	}
	return nil
}

// objectOf is the object that a block of names was meant to be, or nil. To the
// language { a, b } at the beginning of a statement is a block.
func objectOf(block *ast.BlockStatement) ast.Expression {
	if len(block.List) != 1 {
		return nil
	}
	object := &ast.ObjectLiteral{LeftBrace: block.LeftBrace, RightBrace: block.RightBrace}
	switch s := block.List[0].(type) {
	case *ast.LabelledStatement: // { a: x }
		value, ok := s.Statement.(*ast.ExpressionStatement)
		if !ok || isEffect(value.Expression) || isStep(value.Expression) {
			return nil
		}
		object.Value = []ast.Property{&ast.PropertyKeyed{
			Key:  &ast.StringLiteral{Idx: s.Label.Idx, Literal: s.Label.Name.String(), Value: s.Label.Name},
			Kind: ast.PropertyKindValue, Value: value.Expression,
		}}
	case *ast.ExpressionStatement:
		names := []ast.Expression{s.Expression}
		if list, ok := s.Expression.(*ast.SequenceExpression); ok {
			names = list.Sequence
		}
		for _, x := range names {
			name, ok := x.(*ast.Identifier)
			if !ok {
				return nil
			}
			object.Value = append(object.Value, &ast.PropertyShort{Name: ast.Identifier{Name: name.Name, Idx: name.Idx}})
		}
	default:
		return nil
	}
	return object
}

// disposes says whether a try statement is one that esbuild makes of using.
func disposes(s *ast.TryStatement) bool {
	if s.Finally == nil {
		return false
	}
	found := false
	eachNode(s.Finally, func(x any) bool {
		if call, ok := x.(*ast.CallExpression); ok {
			found = found || calls(call, "__callDispose")
		}
		return true
	})
	return found
}

// lone is the call of the function that is all of the program, or nil.
func (e *ending) lone() ast.Expression {
	var only ast.Statement
	for _, s := range e.body.List {
		if _, empty := s.(*ast.EmptyStatement); empty {
			continue
		}
		if only != nil {
			return nil
		}
		only = s
	}
	switch s := only.(type) {
	case *ast.FunctionDeclaration:
		return e.callOf(s.Function.Name, parameters(s.Function))
	case *ast.LexicalDeclaration:
		return e.callOfBinding(s.List)
	case *ast.VariableStatement:
		return e.callOfBinding(s.List)
	}
	return nil
}

func (e *ending) callOfBinding(list []*ast.Binding) ast.Expression {
	if len(list) != 1 {
		return nil
	}
	name, ok := list[0].Target.(*ast.Identifier)
	if !ok {
		return nil
	}
	return e.callOf(name, parameters(list[0].Initializer))
}

// parameters are those of a function's expression, nil for any other.
func parameters(x ast.Expression) *ast.ParameterList {
	switch f := x.(type) {
	case *ast.ArrowFunctionLiteral:
		return f.ParameterList
	case *ast.FunctionLiteral:
		if !f.Generator {
			return f.ParameterList
		}
	}
	return nil
}

// callOf is the call of a function with the globals that it names its parameters
// after, or nil if it has others.
func (e *ending) callOf(function ast.Expression, list *ast.ParameterList) ast.Expression {
	if list == nil || list.Rest != nil || function == nil {
		return nil
	}
	at := function.Idx0()
	call := &ast.CallExpression{Callee: function, LeftParenthesis: at, RightParenthesis: function.Idx1()}
	for _, p := range list.List {
		argument := e.argument(p.Target, at)
		if argument == nil && p.Initializer != nil {
			break // a default serves
		}
		if argument == nil {
			return nil
		}
		call.ArgumentList = append(call.ArgumentList, argument)
	}
	return call
}

// argument is the global that a parameter is named after, or an object of those
// in { tools, input }; nil if there is no such global.
func (e *ending) argument(target ast.BindingTarget, at file.Idx) ast.Expression {
	switch t := target.(type) {
	case *ast.Identifier:
		if slices.Contains(e.globals, t.Name.String()) {
			return &ast.Identifier{Name: t.Name, Idx: at}
		}
	case *ast.ObjectPattern:
		object := &ast.ObjectLiteral{LeftBrace: at, RightBrace: at}
		for _, property := range t.Properties {
			short, ok := property.(*ast.PropertyShort)
			if !ok || !slices.Contains(e.globals, short.Name.Name.String()) {
				return nil
			}
			object.Value = append(object.Value, &ast.PropertyShort{Name: ast.Identifier{Name: short.Name.Name, Idx: at}})
		}
		return object
	}
	return nil
}

// trailing treats a program that ends in an expression.
func (e *ending) trailing(last *ast.Statement) bool {
	x := (*last).(*ast.ExpressionStatement).Expression
	if list := parameters(x); list != nil {
		call := e.callOf(x, list)
		if call == nil {
			return false
		}
		*last = &ast.ReturnStatement{Return: x.Idx0(), Argument: call}
		e.program.notes = append(e.program.notes, functionCalled)
		return true
	}
	switch {
	case isEffect(x):
		return false
	case !isStep(x) || !e.steps(x):
		e.program.implicit = true
		*last = &ast.ReturnStatement{Return: x.Idx0(), Argument: x}
		return true
	}
	call, ok := x.(*ast.CallExpression)
	if !ok || e.callsMember(call) {
		return false
	}
	*last = &ast.ExpressionStatement{Expression: &ast.AwaitExpression{Await: x.Idx0(), Argument: helperCall(lastName, x.Idx0(), x)}}
	return true
}

// isEffect says whether an expression stands for what it does: nobody would mean
// its value.
func isEffect(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.AssignExpression:
		return true
	case *ast.UnaryExpression:
		return slices.Contains([]token.Token{token.INCREMENT, token.DECREMENT, token.DELETE, token.VOID}, x.Operator)
	case *ast.BinaryExpression:
		return slices.Contains([]token.Token{token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE}, x.Operator) && (isStep(x.Right) || isEffect(x.Right))
	case *ast.ConditionalExpression:
		return isEffect(x.Consequent) || isEffect(x.Alternate)
	case *ast.StringLiteral:
		return x.Value == "use strict"
	case *ast.CallExpression:
		switch callee := x.Callee.(type) {
		case *ast.Identifier:
			return slices.Contains(effects, callee.Name.String())
		case *ast.DotExpression:
			return slices.Contains(effects, callee.Identifier.Name.String()) || isConsole(callee.Left)
		}
	}
	return false
}

// effects are functions that are called for what they do.
var effects = []string{
	"push", "unshift", "splice", "set", "add", "delete", "clear", "forEach", "abort",
	"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "queueMicrotask",
}

// isStep says whether an expression is a call, or waits for one.
func isStep(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.CallExpression, *ast.AwaitExpression:
		return true
	case *ast.Optional:
		return isStep(x.Expression)
	case *ast.OptionalChain:
		return isStep(x.Expression)
	}
	return false
}

func isConsole(x ast.Expression) bool {
	name, ok := x.(*ast.Identifier)
	return ok && name.Name == "console"
}

// steps says whether the program has other calls that stand for what they do: the
// value of a last call is not meant then either. All that prints is one.
func (e *ending) steps(last ast.Expression) bool {
	found := prints(e.body)
	eachNode(e.body, func(x any) bool {
		switch x := x.(type) {
		case *ast.ExpressionStatement:
			found = found || x.Expression != last && isStep(x.Expression)
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
			return false
		}
		return true
	})
	return found
}

// prints says whether a part of a program calls a method of console.
func prints(part any) bool {
	found := false
	eachNode(part, func(x any) bool {
		if dot, ok := x.(*ast.DotExpression); ok {
			found = found || isConsole(dot.Left)
		}
		return true
	})
	return found
}

// callsMember says whether a call is one of a namespace's member. That nobody
// waits for it may be meant.
func (e *ending) callsMember(call *ast.CallExpression) bool {
	object := memberObject(call.Callee)
	return object != nil && slices.Contains(e.globals, object.Name.String())
}

// siteOf is the author's place of a node of the compiled program.
func (p *program) siteOf(n ast.Node) runtime.Site {
	position := p.file.Position(int(n.Idx0()) - p.file.Base())
	site, _ := p.places.at(position.Line, position.Column)
	return site
}

// completing is the function that what a program exports passes through.
func (r *run) completing(c goja.FunctionCall) goja.Value {
	if f, ok := goja.AssertFunction(c.Argument(0)); ok {
		return must(f(goja.Undefined()))
	}
	return c.Argument(0)
}

// lasting is the function that the last call of a program that prints passes
// through before it is awaited.
func (r *run) lasting(c goja.FunctionCall) goja.Value {
	if p, ok := c.Argument(0).Export().(*goja.Promise); ok && p.State() == goja.PromiseStatePending {
		r.note(lastAwaited)
	}
	return c.Argument(0)
}
