package gojavm

import (
	"reflect"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// Names of functions that the wrapper takes as parameters, in this order. No
// source text can spell them; they are put into the syntax tree. See mark.
const (
	markName  unistring.String = "%await"
	throwName unistring.String = "%throw"
	catchName unistring.String = "%catch"
	stackName unistring.String = "%stack"
	powerName unistring.String = "%power"
	shiftName unistring.String = "%shift"
)

// helpers are those functions, in the order of the parameters. The last are made
// for the programs that mark puts them into alone.
func (r *run) helpers() []goja.Value {
	made := []goja.Value{
		r.native("await", 1, r.waiting.mark),
		r.native("throw", 1, r.throwing),
		r.native("catch", 1, r.catching),
		goja.Undefined(), goja.Undefined(), goja.Undefined(),
	}
	m := newMarker(r.prog.source)
	if m.stacks {
		made[3] = r.native("stack", 1, r.tidyStack)
	}
	if m.bigInts {
		made[4], made[5] = r.native("power", 2, r.power), r.native("shift", 1, r.shift)
	}
	return made
}

var helperNames = []unistring.String{markName, throwName, catchName, stackName, powerName, shiftName}

// mark adds to a wrapper's body what the engine does not tell: where a program
// waits, and where it loops.
//
// Every await x becomes await %await(x), so that the function can note the
// place. Before every loop that tests a condition stands %await.length: the
// engine keeps no place for a loop without calls, and takes the one of what it
// did before, which is now the loop's. throw x becomes throw %throw(x) unless it
// makes a new object there: what is no error has no place of its own. The
// block of catch (e) begins with %catch(e). Where a program reads the property
// stack, %stack(x) takes the place of x and writes the property as scripts expect
// it. Operators of BigInts are guarded (guardOperator). Positions of other code
// stay. Helpers outside the wrapper are left alone.
//
// The answer is a regular expression of the wrapper's that must be refused, or
// nil.
func mark(wrapper *ast.ArrowFunctionLiteral, source string) (refused *ast.RegExpLiteral) {
	m := newMarker(source)
	m.tree(reflect.ValueOf(wrapper.Body))
	for _, name := range helperNames {
		wrapper.ParameterList.List = append(wrapper.ParameterList.List, &ast.Binding{
			Target: &ast.Identifier{Name: name, Idx: wrapper.Start},
		})
	}
	return m.refused
}

func newMarker(source string) *marker {
	return &marker{stacks: readsStacks(source), bigInts: bigIntText.MatchString(source)}
}

// readsStacks says whether a program may read the stack of an error; others have
// a data structure of that name at most.
func readsStacks(source string) bool {
	return strings.Contains(source, "stack") &&
		(strings.Contains(source, "catch") || strings.Contains(source, "Error") || strings.Contains(source, "reject"))
}

// marker walks a syntax tree.
type marker struct {
	stacks  bool // the property stack needs care
	bigInts bool // operators may meet large BigInts
	refused *ast.RegExpLiteral
}

var (
	awaitType      = reflect.TypeFor[*ast.AwaitExpression]()
	patternType    = reflect.TypeFor[*ast.RegExpLiteral]()
	catchType      = reflect.TypeFor[*ast.CatchStatement]()
	throwType      = reflect.TypeFor[*ast.ThrowStatement]()
	dotType        = reflect.TypeFor[*ast.DotExpression]()
	bracketType    = reflect.TypeFor[*ast.BracketExpression]()
	bindingType    = reflect.TypeFor[*ast.Binding]()
	fileType       = reflect.TypeFor[*file.File]()
	expressionType = reflect.TypeFor[ast.Expression]()
	statementType  = reflect.TypeFor[ast.Statement]()
	listType       = reflect.TypeFor[[]ast.Statement]()
	labelledType   = reflect.TypeFor[ast.LabelledStatement]()
)

// tree walks any part of a syntax tree. Declaration lists are left out: they
// repeat nodes of the body.
func (m *marker) tree(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		m.tree(v.Elem())
		if m.bigInts && v.Type() == expressionType {
			x := v.Interface().(ast.Expression)
			if guarded := guardOperator(x); guarded != x {
				v.Set(reflect.ValueOf(guarded))
			}
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == fileType {
			return
		}
		m.tree(v.Elem())
		m.node(v)
	case reflect.Slice:
		if !mayHoldNodes(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			m.tree(v.Index(i))
		}
		if v.Type() == listType && v.CanSet() {
			v.Set(reflect.ValueOf(markLoops(v.Interface().([]ast.Statement))))
		}
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Name == "DeclarationList" || !f.IsExported() || !mayHoldNodes(f.Type) {
				continue
			}
			m.tree(v.Field(i))
			if f.Type == statementType && t != labelledType {
				markBody(v.Field(i))
			}
		}
	}
}

func mayHoldNodes(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface, reflect.Pointer, reflect.Slice, reflect.Struct:
		return true
	}
	return false
}

// node changes one node whose parts have been walked.
func (m *marker) node(v reflect.Value) {
	switch v.Type() {
	case awaitType:
		await := v.Interface().(*ast.AwaitExpression)
		await.Argument = helperCall(markName, await.Await, await.Argument)
	case throwType:
		throw := v.Interface().(*ast.ThrowStatement)
		if _, makes := throw.Argument.(*ast.NewExpression); !makes {
			throw.Argument = helperCall(throwName, throw.Throw, throw.Argument)
		}
	case catchType:
		clause := v.Interface().(*ast.CatchStatement)
		if name, ok := clause.Parameter.(*ast.Identifier); ok {
			first := &ast.ExpressionStatement{Expression: helperCall(catchName, clause.Catch, &ast.Identifier{Name: name.Name, Idx: name.Idx})}
			clause.Body.List = append([]ast.Statement{first}, clause.Body.List...)
		}
	case patternType:
		if literal := v.Interface().(*ast.RegExpLiteral); m.refused == nil && repeatsGroupName(literal.Pattern) {
			m.refused = literal
		}
	}
	if m.stacks {
		stackRead(v)
	}
}

// stackRead puts %stack before the read of a property named stack: x.stack,
// x?.stack, x["stack"], and const { stack } = x.
func stackRead(v reflect.Value) {
	switch v.Type() {
	case dotType:
		if dot := v.Interface().(*ast.DotExpression); dot.Identifier.Name == "stack" {
			tidied(&dot.Left)
		}
	case bracketType:
		bracket := v.Interface().(*ast.BracketExpression)
		if member, ok := bracket.Member.(*ast.StringLiteral); ok && member.Value == "stack" {
			tidied(&bracket.Left)
		}
	case bindingType:
		binding := v.Interface().(*ast.Binding)
		if pattern, ok := binding.Target.(*ast.ObjectPattern); ok && binding.Initializer != nil && takesStack(pattern) {
			tidied(&binding.Initializer)
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
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: name, Idx: at},
		LeftParenthesis:  at,
		ArgumentList:     []ast.Expression{argument},
		RightParenthesis: argument.Idx1(),
	}
}

// markLoops puts a place before each loop of a list.
func markLoops(list []ast.Statement) []ast.Statement {
	var marked []ast.Statement
	for i, s := range list {
		if at, ok := loopAt(s); ok {
			if marked == nil {
				marked = append(make([]ast.Statement, 0, len(list)+1), list[:i]...)
			}
			marked = append(marked, loopPlace(at))
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

// markBody does the same for a loop that is the only statement of another.
func markBody(field reflect.Value) {
	s, ok := field.Interface().(ast.Statement)
	if !ok {
		return
	}
	if at, ok := loopAt(s); ok {
		field.Set(reflect.ValueOf(ast.Statement(&ast.BlockStatement{
			LeftBrace: s.Idx0(), List: []ast.Statement{loopPlace(at), s}, RightBrace: s.Idx1(),
		})))
	}
}

// loopAt is where a loop begins that tests a condition, behind its labels.
func loopAt(s ast.Statement) (file.Idx, bool) {
	switch s := s.(type) {
	case *ast.LabelledStatement:
		return loopAt(s.Statement)
	case *ast.WhileStatement:
		return s.While, true
	case *ast.DoWhileStatement:
		return s.Do, true
	case *ast.ForStatement:
		return s.For, true
	}
	return 0, false
}

func loopPlace(at file.Idx) ast.Statement {
	return &ast.ExpressionStatement{Expression: &ast.DotExpression{
		Left:       &ast.Identifier{Name: markName, Idx: at},
		Identifier: ast.Identifier{Name: "length", Idx: at},
	}}
}
