package gojavm

import (
	"reflect"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// Names of functions that the wrapper takes as parameters, in this order. No
// source text can spell them; they are put into the syntax tree. See mark.
const (
	markName  unistring.String = "%await"
	throwName unistring.String = "%throw"
	stackName unistring.String = "%stack"
)

var helperNames = []unistring.String{markName, throwName, stackName}

// mark adds to a wrapper's body what the engine does not tell: where a program
// waits, and where it loops.
//
// Every await x becomes await %await(x), so that the function can note the
// place. Before every loop that tests a condition stands %await.length: the
// engine keeps no place for a loop without calls, and takes the one of what it
// did before, which is now the loop's. throw x becomes throw %throw(x) unless it
// makes a new object there: what is no error has no place of its own. And where
// a program reads the property stack, %stack(x) takes the place of x and writes
// the property as scripts expect it. Positions of other code stay. Helpers
// outside the wrapper are left alone.
func mark(wrapper *ast.ArrowFunctionLiteral, source string) {
	m := &marker{stacks: readsStacks(source)}
	m.tree(reflect.ValueOf(wrapper.Body))
	for _, name := range helperNames {
		wrapper.ParameterList.List = append(wrapper.ParameterList.List, &ast.Binding{
			Target: &ast.Identifier{Name: name, Idx: wrapper.Start},
		})
	}
}

// readsStacks says whether a program may read the stack of an error; others have
// a data structure of that name at most.
func readsStacks(source string) bool {
	return strings.Contains(source, "stack") &&
		(strings.Contains(source, "catch") || strings.Contains(source, "Error") || strings.Contains(source, "reject"))
}

// marker walks a syntax tree.
type marker struct {
	stacks bool // the property stack needs care
}

var (
	awaitType     = reflect.TypeFor[*ast.AwaitExpression]()
	throwType     = reflect.TypeFor[*ast.ThrowStatement]()
	dotType       = reflect.TypeFor[*ast.DotExpression]()
	bracketType   = reflect.TypeFor[*ast.BracketExpression]()
	bindingType   = reflect.TypeFor[*ast.Binding]()
	fileType      = reflect.TypeFor[*file.File]()
	statementType = reflect.TypeFor[ast.Statement]()
	listType      = reflect.TypeFor[[]ast.Statement]()
	labelledType  = reflect.TypeFor[ast.LabelledStatement]()
)

// tree walks any part of a syntax tree. Declaration lists are left out: they
// repeat nodes of the body.
func (m *marker) tree(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			m.tree(v.Elem())
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
