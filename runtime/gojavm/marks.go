package gojavm

import (
	"slices"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Names of functions that the wrapper takes as parameters, in this order. No
// source text can spell them; they are put into the syntax tree. See mark.
const (
	markName      unistring.String = "%await"
	throwName     unistring.String = "%throw"
	catchName     unistring.String = "%catch"
	stackName     unistring.String = "%stack"
	powerName     unistring.String = "%power"
	shiftName     unistring.String = "%shift"
	shiftBackName unistring.String = "%shiftBack"
	dateName      unistring.String = "%date"
	resultName    unistring.String = "%result"
	equalName     unistring.String = "%equal"
	completeName  unistring.String = "%complete"
	lastName      unistring.String = "%last"

	// caughtName is what a catch clause caught that takes it apart; see catchStatement.
	caughtName unistring.String = "%caught"

	// exportName is a constant of the program's body; see ending.
	exportName unistring.String = "%default"
)

// helperNames are those functions, in the order of the parameters.
var helperNames = [...]unistring.String{markName, throwName, catchName, stackName, powerName, shiftName, shiftBackName, dateName, resultName, equalName,
	completeName, lastName}

// needed says which of them a program calls: most are for those that mark puts them
// into alone. What does not wait has no others for parameters. For what does, the
// engine makes its stack anew after each await, with room for as much again as was
// on it, and with fewer parameters it would have to make it twice.
func (m *marker) needed() [len(helperNames)]bool {
	return [...]bool{true, m.throws, m.catches, m.stacks, m.operators, m.operators, m.operators, m.dates, m.results, m.equality, m.ended, m.ended}
}

// helpers are the arguments for the wrapper.
func (r *run) helpers() []goja.Value {
	var made []goja.Value
	for i, needed := range r.prog.marks.needed() {
		switch name := helperNames[i]; {
		case needed:
			made = append(made, r.native(strings.TrimPrefix(name.String(), "%"), 1, r.helper(name)))
		case r.prog.marks.waits:
			made = append(made, goja.Undefined())
		}
	}
	return made
}

// helper is the function of a name.
func (r *run) helper(name unistring.String) func(goja.FunctionCall) goja.Value {
	switch name {
	case throwName:
		return r.throwing
	case catchName:
		return r.catching
	case stackName:
		return r.tidyStack
	case powerName:
		return r.power
	case shiftName:
		return r.shift
	case shiftBackName:
		return r.shiftBack
	case dateName:
		return r.date
	case resultName:
		return r.iteratorResult
	case equalName:
		return r.looselyEqual
	case completeName:
		return r.completing
	case lastName:
		return r.lasting
	}
	return r.waiting.mark
}

// mark adds to a wrapper's body what the engine does not tell, such as where a
// program waits and where it loops, and repairs what it gets wrong.
//
// Every await x becomes await %await(x), so that the function can note the
// place. Before every loop, what takes a value apart, and the right side of in and
// instanceof stands %await.length: the engine keeps no place for these, and takes
// the one of what it did before, which is now theirs. throw x becomes
// throw %throw(x) unless it makes a new error there: what is no error has no
// place of its own. The block of catch (e) begins with %catch(e). Where a program
// reads the property stack, %stack(x) takes the place of x and writes the property
// as scripts expect it. Operators that may meet BigInts are guarded (guardOperator), == and !=
// are repaired (looseEquality), texts that become dates are read (dateArgument), chains of comparisons too (associate), try with catch
// and finally (splitTry), and so is what esbuild makes of async iteration.
// Positions of other code stay. Helpers outside the wrapper are left alone.
//
// The answer says what was done. A program that is ended has its end already; see
// ending.
func mark(wrapper *ast.ArrowFunctionLiteral, source string, places *file.File, ended bool) *marker {
	m := &marker{places: places, stacks: readsStacks(source), bigInts: mayHoldBigInts(source), delegates: mayDelegate(source), ended: ended}
	m.node(wrapper.Body)
	for i, needed := range m.needed() {
		if needed || m.waits {
			wrapper.ParameterList.List = append(wrapper.ParameterList.List, &ast.Binding{
				Target: &ast.Identifier{Name: helperNames[i], Idx: wrapper.Start},
			})
		}
	}
	m.asyncBody, m.places = nil, nil // or they would keep the tree and the text
	return m
}

// readsStacks says whether a program may read the stack of an error; others have
// a data structure of that name at most.
func readsStacks(source string) bool {
	return strings.Contains(source, "stack") &&
		(strings.Contains(source, "catch") || strings.Contains(source, "Error") || strings.Contains(source, "reject"))
}

// marker walks a syntax tree; see walker.
type marker struct {
	waits      bool               // there is an await
	stacks     bool               // the property stack needs care
	bigInts    bool               // operators may well meet BigInts
	delegates  bool               // there may be a yield*
	throws     bool               // there is a throw that needs the helper
	catches    bool               // there is a catch that gives what it caught a name
	operators  bool               // there is an operator that is guarded
	dates      bool               // there is a Date of a value
	results    bool               // there is a for await
	equality   bool               // there is a == that needs the helper
	refused    *ast.RegExpLiteral // the first that must be refused
	backtracks bool               // there is a pattern that may backtrack
	ended      bool               // the program got an end of ours

	places    *file.File           // of the tree
	async     bool                 // the walk is in an async generator's function
	asyncBody *ast.FunctionLiteral // that function, before the walk is in it
}

// node walks a node, and then changes it.
func (m *marker) node(n any) {
	if isLeaf(n) {
		return
	}
	outer := m.async
	m.enter(n)
	walkParts(n, m)
	m.async = outer
	m.leave(n)
}

func (m *marker) expression(x *ast.Expression) {
	m.node(*x)
	switch (*x).(type) {
	case *ast.BinaryExpression, *ast.AssignExpression:
		if changed := m.operator(*x); changed != *x {
			*x = changed
		}
	}
}

// body puts a place before a statement that stands alone where that needs one.
func (m *marker) body(s *ast.Statement) {
	m.node(*s)
	if at, ok := placeBefore(*s); ok {
		*s = &ast.BlockStatement{LeftBrace: (*s).Idx0(), List: []ast.Statement{placeMark(at), *s}, RightBrace: (*s).Idx1()}
	}
}

func (m *marker) list(list *[]ast.Statement) {
	for _, s := range *list {
		m.node(s)
	}
	*list = markPlaces(*list)
}

// operator is what takes the place of an operator.
func (m *marker) operator(x ast.Expression) ast.Expression {
	if binary, ok := x.(*ast.BinaryExpression); ok {
		switch binary.Operator {
		case token.EQUAL, token.NOT_EQUAL:
			return m.looseEquality(binary)
		case token.IN, token.INSTANCEOF:
			binary.Right = afterPlace(binary.Right, binary.Left.Idx0())
			return x
		}
		if m.bigInts && !binary.Comparison {
			binary.Right = afterPlace(binary.Right, binary.Left.Idx0()) // numbers may not mix
		}
	}
	guarded, ok := guardOperator(x)
	m.operators = m.operators || ok
	return guarded
}

// leave changes one node whose parts have been walked.
func (m *marker) leave(n any) {
	switch x := n.(type) {
	case *ast.AwaitExpression:
		m.waits = true
		x.Argument = helperCall(markName, x.Await, x.Argument)
	case *ast.ThrowStatement:
		if !makesError(x.Argument) {
			m.throws = true
			x.Argument = helperCall(throwName, x.Throw, x.Argument)
		}
	case *ast.TryStatement:
		splitTry(x)
	case *ast.CatchStatement:
		m.catchStatement(x)
	case *ast.YieldExpression:
		if x.Delegate && !m.async {
			syncDelegation(x)
		}
	case *ast.ForStatement:
		m.checkForAwait(x)
	case *ast.RegExpLiteral:
		m.backtracks = m.backtracks || backtracking(x)
		if m.refused == nil && repeatsGroupName(x.Pattern) {
			m.refused = x
		}
	case *ast.TemplateLiteral:
		if isName(x.Tag) {
			x.Tag = afterPlace(x.Tag, x.Tag.Idx0())
		}
	case *ast.NewExpression:
		m.dates = dateArgument(x) || m.dates
	case *ast.CallExpression:
		m.backtracks = m.backtracks || backtracking(x)
	}
	if m.stacks {
		stackRead(n)
	}
}

// catchStatement shows what a clause catches to %catch. What is taken apart at once
// gets a name first: catch ({ message }) {} becomes
// catch (%caught) { %catch(%caught); let { message } = %caught; {} }.
func (m *marker) catchStatement(x *ast.CatchStatement) {
	if x.Parameter == nil {
		return
	}
	m.catches = true
	name, ok := x.Parameter.(*ast.Identifier)
	if !ok {
		name = &ast.Identifier{Name: caughtName, Idx: x.Parameter.Idx0()}
		x.Body = &ast.BlockStatement{LeftBrace: x.Body.LeftBrace, RightBrace: x.Body.RightBrace, List: []ast.Statement{
			&ast.LexicalDeclaration{Idx: x.Parameter.Idx0(), Token: token.LET, List: []*ast.Binding{{Target: x.Parameter, Initializer: name}}},
			x.Body,
		}}
		x.Parameter = name
	}
	first := &ast.ExpressionStatement{Expression: helperCall(catchName, x.Catch, &ast.Identifier{Name: name.Name, Idx: name.Idx})}
	x.Body.List = append([]ast.Statement{first}, x.Body.List...)
}

// splitTry makes try { try {} catch {} } finally {} of try {} catch {} finally {}:
// in the latter the engine gives what finally throws to its own catch.
func splitTry(s *ast.TryStatement) {
	if s.Catch == nil || s.Finally == nil {
		return
	}
	inner := &ast.TryStatement{Try: s.Try, Body: s.Body, Catch: s.Catch}
	s.Body = &ast.BlockStatement{LeftBrace: s.Body.LeftBrace, List: []ast.Statement{inner}, RightBrace: s.Catch.Body.RightBrace}
	s.Catch = nil
}

// makesError says whether an expression makes a new error, by its name.
func makesError(x ast.Expression) bool {
	made, ok := x.(*ast.NewExpression)
	if !ok {
		return false
	}
	name, ok := made.Callee.(*ast.Identifier)
	return ok && strings.HasSuffix(name.Name.String(), "Error")
}

// stackRead puts %stack before the read of a property named stack: x.stack,
// x?.stack, x["stack"], and const { stack } = x.
func stackRead(n any) {
	switch x := n.(type) {
	case *ast.DotExpression:
		if x.Identifier.Name == "stack" {
			tidied(&x.Left)
		}
	case *ast.BracketExpression:
		if member, ok := x.Member.(*ast.StringLiteral); ok && member.Value == "stack" {
			tidied(&x.Left)
		}
	case *ast.Binding:
		if pattern, ok := x.Target.(*ast.ObjectPattern); ok && x.Initializer != nil && takesStack(pattern) {
			tidied(&x.Initializer)
		}
	}
}

func takesStack(pattern *ast.ObjectPattern) bool {
	for _, property := range pattern.Properties {
		switch p := property.(type) {
		case *ast.PropertyShort:
			if p.Name.Name == "stack" {
				return true
			}
		case *ast.PropertyKeyed:
			if key, ok := p.Key.(*ast.StringLiteral); ok && key.Value == "stack" {
				return true
			}
		}
	}
	return false
}

// tidied passes an expression through %stack. What cannot stand alone stays:
// super, and the middle of an optional chain.
func tidied(x *ast.Expression) {
	switch left := (*x).(type) {
	case *ast.SuperExpression:
	case *ast.Optional:
		tidied(&left.Expression)
	default:
		if !chained(left) {
			*x = helperCall(stackName, left.Idx0(), left)
		}
	}
}

// chained says whether an expression holds the ?. of a chain that goes on.
func chained(x ast.Expression) bool {
	for {
		switch at := x.(type) {
		case *ast.Optional:
			return true
		case *ast.DotExpression:
			x = at.Left
		case *ast.BracketExpression:
			x = at.Left
		case *ast.CallExpression:
			x = at.Callee
		case *ast.PrivateDotExpression:
			x = at.Left
		default:
			return false
		}
	}
}

func helperCall(name unistring.String, at file.Idx, argument ast.Expression) ast.Expression {
	// One piece of memory instead of three: there may be a call for each statement.
	made := &struct {
		call     ast.CallExpression
		callee   ast.Identifier
		argument [1]ast.Expression
	}{}
	made.callee, made.argument[0] = ast.Identifier{Name: name, Idx: at}, argument
	made.call = ast.CallExpression{
		Callee:           &made.callee,
		LeftParenthesis:  at,
		ArgumentList:     made.argument[:],
		RightParenthesis: argument.Idx1(),
	}
	return &made.call
}

// markPlaces puts a place before each statement of a list that needs one.
func markPlaces(list []ast.Statement) []ast.Statement {
	var marked []ast.Statement
	for i, s := range list {
		if at, ok := placeBefore(s); ok {
			if marked == nil {
				marked = append(make([]ast.Statement, 0, len(list)+countPlaces(list[i:])), list[:i]...)
			}
			marked = append(marked, placeMark(at))
		}
		if marked != nil {
			marked = append(marked, s)
		}
	}
	if marked == nil {
		return list
	}
	return marked
}

// countPlaces is how many statements of a list need a place.
func countPlaces(list []ast.Statement) (n int) {
	for _, s := range list {
		if _, ok := placeBefore(s); ok {
			n++
		}
	}
	return n
}

// placeBefore is where a statement begins that needs a place, behind its labels: a
// loop, or what takes a value apart.
func placeBefore(s ast.Statement) (file.Idx, bool) {
	switch s := s.(type) {
	case *ast.LabelledStatement:
		return placeBefore(s.Statement)
	case *ast.WhileStatement:
		return s.While, true
	case *ast.DoWhileStatement:
		return s.Do, true
	case *ast.ForStatement:
		return s.For, true
	case *ast.ForOfStatement:
		return s.For, true
	case *ast.ExpressionStatement:
		if x, ok := s.Expression.(*ast.AssignExpression); ok && isPattern(x.Left) {
			return x.Left.Idx0(), true
		}
	case *ast.LexicalDeclaration:
		return s.Idx, takesApart(s.List)
	case *ast.VariableStatement:
		return s.Var, takesApart(s.List)
	}
	return 0, false
}

// isName says whether an expression is a name or a number: what a template is a tag
// of when a semicolon is missing.
func isName(x ast.Expression) bool {
	switch x.(type) {
	case *ast.Identifier, *ast.NumberLiteral:
		return true
	}
	return false
}

func isPattern(x ast.Expression) bool {
	switch x.(type) {
	case *ast.ArrayPattern, *ast.ObjectPattern:
		return true
	}
	return false
}

// takesApart says whether a declaration has a pattern.
func takesApart(list []*ast.Binding) bool {
	return slices.ContainsFunc(list, func(b *ast.Binding) bool {
		_, plain := b.Target.(*ast.Identifier)
		return !plain
	})
}

// placeMark is a statement that is placeOf.
func placeMark(at file.Idx) ast.Statement {
	made := &struct {
		statement ast.ExpressionStatement
		place     place
	}{}
	made.statement.Expression = made.place.set(at)
	return &made.statement
}

// afterPlace is x, after the engine was given a place.
func afterPlace(x ast.Expression, at file.Idx) ast.Expression {
	made := &struct {
		list  ast.SequenceExpression
		parts [2]ast.Expression
		place place
	}{}
	made.parts = [...]ast.Expression{made.place.set(at), x}
	made.list.Sequence = made.parts[:]
	return &made.list
}

// place is the expression that gives the engine a place, in one piece of memory with
// what stands around it.
type place struct {
	length ast.DotExpression
	object ast.Identifier
}

func (p *place) set(at file.Idx) ast.Expression {
	p.object = ast.Identifier{Name: markName, Idx: at}
	p.length = ast.DotExpression{Left: &p.object, Identifier: ast.Identifier{Name: "length", Idx: at}}
	return &p.length
}

// placeOf is that expression alone.
func placeOf(at file.Idx) ast.Expression { return new(place).set(at) }
