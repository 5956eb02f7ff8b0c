package gojavm

import (
	"math"
	"reflect"
	"unicode/utf16"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// looseEquality repairs a == b and a != b. With a text on the left and an integer
// on the right the engine reads the text as a decimal integer: "6.00" == 6 is
// false. With the number on the left it is right, so a literal goes there, and
// where nothing is known %equal(a, b) looks.
func (m *marker) looseEquality(x *ast.BinaryExpression) ast.Expression {
	if isNumeric(x.Left) || neverANumber(x.Left) || neverANumber(x.Right) {
		return x
	}
	if _, ok := x.Right.(*ast.NumberLiteral); ok {
		x.Left, x.Right = x.Right, x.Left
		return x
	}
	m.equality = true
	equal := &ast.CallExpression{
		Callee:           &ast.Identifier{Name: equalName, Idx: x.Left.Idx0()},
		LeftParenthesis:  x.Left.Idx0(),
		ArgumentList:     []ast.Expression{x.Left, x.Right},
		RightParenthesis: x.Right.Idx1(),
	}
	if x.Operator == token.EQUAL {
		return equal
	}
	return &ast.UnaryExpression{Operator: token.NOT, Idx: x.Left.Idx0(), Operand: equal}
}

// isNumeric says whether an expression gives a number or a BigInt.
func isNumeric(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.NumberLiteral:
		return true
	case *ast.BinaryExpression:
		switch x.Operator {
		case token.MINUS, token.MULTIPLY, token.SLASH, token.REMAINDER, token.AND, token.OR, token.EXCLUSIVE_OR:
			return true
		}
	}
	return false
}

// neverANumber says whether an expression gives what equals no number, whatever
// text it is compared with.
func neverANumber(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.NullLiteral:
		return true
	case *ast.StringLiteral:
		return math.IsNaN(goja.StringFromUTF16(utf16.Encode([]rune(x.Value.String()))).ToFloat())
	case *ast.UnaryExpression:
		return x.Operator == token.TYPEOF || x.Operator == token.VOID
	}
	return false
}

var (
	boolType  = reflect.TypeFor[bool]()
	intType   = reflect.TypeFor[int64]()
	floatType = reflect.TypeFor[float64]()
)

// looselyEqual is == of two values.
func (r *run) looselyEqual(c goja.FunctionCall) goja.Value {
	a, b := unboxed(c.Argument(0)), unboxed(c.Argument(1))
	if _, ok := b.(*goja.Object); ok {
		a, b = b, a // what the object gives may be a number
	} else if t := b.ExportType(); t == intType || t == floatType {
		a, b = b, a
	}
	return r.vm.ToValue(a.Equals(b))
}

// unboxed is v, or its number for a boolean.
func unboxed(v goja.Value) goja.Value {
	if _, ok := v.(*goja.Object); !ok && v.ExportType() == boolType {
		return v.ToNumber()
	}
	return v
}
