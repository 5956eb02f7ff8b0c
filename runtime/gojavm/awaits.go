package gojavm

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/unistring"
)

// awaitMark is the name of a function that every await passes its operand
// through, for the engine does not say where a program waits. No source text can
// spell it: it is a parameter of the wrapper, added to the syntax tree.
const awaitMark unistring.String = "%await"

// markAwaits rewrites await x to await %await(x) in the wrapper's body, keeping
// positions, and makes the wrapper take the function. Helpers outside keep their
// awaits.
func markAwaits(wrapper *ast.ArrowFunctionLiteral) {
	rewriteAwaits(reflect.ValueOf(wrapper.Body))
	wrapper.ParameterList.List = append(wrapper.ParameterList.List, &ast.Binding{
		Target: &ast.Identifier{Name: awaitMark, Idx: wrapper.Start},
	})
}

var (
	awaitType = reflect.TypeFor[*ast.AwaitExpression]()
	fileType  = reflect.TypeFor[*file.File]()
)

// rewriteAwaits walks any part of a syntax tree. Declaration lists are left out:
// they repeat nodes of the body.
func rewriteAwaits(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			rewriteAwaits(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type() == fileType {
			return
		}
		rewriteAwaits(v.Elem())
		if v.Type() == awaitType {
			await := v.Interface().(*ast.AwaitExpression)
			await.Argument = &ast.CallExpression{
				Callee:           &ast.Identifier{Name: awaitMark, Idx: await.Await},
				LeftParenthesis:  await.Await,
				ArgumentList:     []ast.Expression{await.Argument},
				RightParenthesis: await.Argument.Idx1(),
			}
		}
	case reflect.Slice:
		if !mayHoldNodes(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			rewriteAwaits(v.Index(i))
		}
	case reflect.Struct:
		t := v.Type()
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "DeclarationList" && f.IsExported() && mayHoldNodes(f.Type) {
				rewriteAwaits(v.Field(i))
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
