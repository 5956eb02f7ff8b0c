package gojavm

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// markName is the name of a function that the wrapper takes as a parameter. No
// source text can spell it; it is put into the syntax tree. See mark.
const markName unistring.String = "%await"

// mark adds to a wrapper's body what the engine does not tell: where a program
// waits, and where it loops.
//
// Every await x becomes await %await(x), so that the function can note the
// place. Before every loop that tests a condition stands %await.length: the
// engine keeps no place for a loop without calls, and takes the one of what it
// did before, which is now the loop's. Positions of other code stay. Helpers
// outside the wrapper are left alone.
func mark(wrapper *ast.ArrowFunctionLiteral) {
	markTree(reflect.ValueOf(wrapper.Body))
	wrapper.ParameterList.List = append(wrapper.ParameterList.List, &ast.Binding{
		Target: &ast.Identifier{Name: markName, Idx: wrapper.Start},
	})
}

var (
	awaitType     = reflect.TypeFor[*ast.AwaitExpression]()
	fileType      = reflect.TypeFor[*file.File]()
	statementType = reflect.TypeFor[ast.Statement]()
	listType      = reflect.TypeFor[[]ast.Statement]()
	labelledType  = reflect.TypeFor[ast.LabelledStatement]()
)

// markTree walks any part of a syntax tree. Declaration lists are left out: they
// repeat nodes of the body.
func markTree(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			markTree(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == fileType {
			return
		}
		markTree(v.Elem())
		if v.Type() == awaitType {
			markAwait(v.Interface().(*ast.AwaitExpression))
		}
	case reflect.Slice:
		if !mayHoldNodes(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			markTree(v.Index(i))
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
			markTree(v.Field(i))
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

func markAwait(await *ast.AwaitExpression) {
	await.Argument = &ast.CallExpression{
		Callee:           &ast.Identifier{Name: markName, Idx: await.Await},
		LeftParenthesis:  await.Await,
		ArgumentList:     []ast.Expression{await.Argument},
		RightParenthesis: await.Argument.Idx1(),
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
