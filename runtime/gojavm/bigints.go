package gojavm

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// maxBigInt is the most bits that a power or a shift may give. The engine has no
// bound: one such operator can take all memory, or hours, and cannot be stopped.
// V8's bound is 2^30 bits.
const maxBigInt = 1 << 26

// mayHoldBigInts says whether a program computes with BigInts: it has one that is
// written out, or the word. Others meet those of results and of JSON.parse.
func mayHoldBigInts(source string) bool {
	return strings.Contains(source, "BigInt") || writesBigInt(source)
}

// writesBigInt looks at the words of a text that end in n, from their ends: nearly
// all have a letter before it that no number has.
func writesBigInt(source string) bool {
	for at := 0; ; at++ {
		next := strings.IndexByte(source[at:], 'n')
		if next < 0 {
			return false
		}
		at += next
		if at+1 < len(source) && isASCIIWord(source[at+1]) {
			continue
		}
		start := at
		for start > 0 && isASCIIWord(source[start-1]) {
			start--
		}
		if isInteger(source[start:at]) {
			return true
		}
	}
}

// isInteger says whether a word is a whole number, as programs write them.
func isInteger(word string) bool {
	if word == "" || word[0] < '0' || word[0] > '9' {
		return false
	}
	digits := "0123456789_"
	if len(word) > 2 && word[0] == '0' {
		switch word[1] {
		case 'x', 'X':
			word, digits = word[2:], "0123456789abcdefABCDEF_"
		case 'o', 'O':
			word, digits = word[2:], "01234567_"
		case 'b', 'B':
			word, digits = word[2:], "01_"
		}
	}
	return strings.Trim(word, digits) == ""
}

func isASCIIWord(b byte) bool { return isWord(b) && b != '$' && b < utf8.RuneSelf }

// guardOperator puts a guard before an operator that can make a BigInt of any
// size: x ** y becomes %power(x, y), and x << y becomes x << %shift(y). A number
// on one side keeps BigInts from the other, and so most operators free of a
// guard. Code that eval compiles has none.
func guardOperator(x ast.Expression) (guarded ast.Expression, ok bool) {
	switch x := x.(type) {
	case *ast.BinaryExpression:
		if isNumber(x.Left) || isNumber(x.Right) {
			return x, false
		}
		switch x.Operator {
		case token.EXPONENT:
			return power(x.Left, x.Right), true
		case token.SHIFT_LEFT:
			x.Right = helperCall(shiftName, x.Right.Idx0(), x.Right)
			return x, true
		case token.SHIFT_RIGHT:
			x.Right = helperCall(shiftBackName, x.Right.Idx0(), x.Right)
			return x, true
		}
	case *ast.AssignExpression:
		if isNumber(x.Right) {
			return x, false
		}
		switch x.Operator {
		case token.EXPONENT:
			if name, ok := x.Left.(*ast.Identifier); ok {
				again := *name
				x.Operator, x.Right = token.ASSIGN, power(&again, x.Right)
				return x, true
			}
			x.Right = helperCall(shiftName, x.Right.Idx0(), x.Right)
			return x, true
		case token.SHIFT_LEFT:
			x.Right = helperCall(shiftName, x.Right.Idx0(), x.Right)
			return x, true
		case token.SHIFT_RIGHT:
			x.Right = helperCall(shiftBackName, x.Right.Idx0(), x.Right)
			return x, true
		}
	}
	return x, false
}

// isNumber says whether an expression is a number that is written out and no
// BigInt.
func isNumber(x ast.Expression) bool {
	if minus, ok := x.(*ast.UnaryExpression); ok && minus.Operator == token.MINUS {
		x = minus.Operand
	}
	n, ok := x.(*ast.NumberLiteral)
	if !ok {
		return false
	}
	_, big := n.Value.(*big.Int)
	return !big
}

func power(base, exponent ast.Expression) ast.Expression {
	return &ast.CallExpression{
		Callee:           &ast.Identifier{Name: powerName, Idx: base.Idx0()},
		LeftParenthesis:  base.Idx0(),
		ArgumentList:     []ast.Expression{base, exponent},
		RightParenthesis: exponent.Idx1(),
	}
}

// powerProgram is the operator itself.
var powerProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile(compiledName, `(a, b) => a ** b`, true)
})

// power is ** on what is not too large.
func (r *run) power(c goja.FunctionCall) goja.Value {
	base, exponent := bigOf(c.Argument(0)), bigOf(c.Argument(1))
	if base != nil && exponent != nil && base.BitLen() > 1 {
		if v := r.boundBits("**", float64(base.BitLen()-1)*magnitude(exponent)); v != nil {
			return v
		}
	}
	if r.operator == nil {
		made, err := r.vm.RunProgram(powerProgram())
		if err != nil {
			panic(err)
		}
		r.operator, _ = goja.AssertFunction(made)
	}
	return must(r.operator(goja.Undefined(), c.Arguments...))
}

// shift is the function that the right side of << passes through.
func (r *run) shift(c goja.FunctionCall) goja.Value { return r.shiftBy(c.Argument(0), 1) }

// shiftBack is shift for >>.
func (r *run) shiftBack(c goja.FunctionCall) goja.Value { return r.shiftBy(c.Argument(0), -1) }

// shiftBy is by, or what does the same: the engine reads 64 bits of it alone. A
// positive direction makes a BigInt larger.
func (r *run) shiftBy(v goja.Value, direction int) goja.Value {
	by := bigOf(v)
	if by == nil || by.IsInt64() && max(by.Int64(), -by.Int64()) <= maxBigInt {
		return v
	}
	if by.Sign() == direction {
		if v := r.boundBits("the shift", magnitude(by)); v != nil {
			return v
		}
	}
	return r.vm.ToValue(big.NewInt(int64(by.Sign()) * beyondBits))
}

// beyondBits is more than any BigInt has.
const beyondBits = 1 << 40

// boundBits ends the run before a BigInt that no heap holds, as the other guards
// do, and throws what V8 throws for one that is merely too large.
func (r *run) boundBits(what string, bits float64) goja.Value {
	if bits <= maxBigInt {
		return nil
	}
	if bits/8 > float64(r.lim.Heap) {
		return r.exhausted(what, bits/8)
	}
	e, err := r.vm.New(r.real.get("RangeError", ""), r.vm.ToValue(fmt.Sprintf("Maximum BigInt size exceeded (%d bits)", maxBigInt)))
	if err != nil {
		panic(err)
	}
	panic(e)
}

// bigOf is a BigInt's value, or nil.
func bigOf(v goja.Value) *big.Int {
	if _, ok := v.(*goja.Object); ok || v == nil {
		return nil
	}
	n, _ := v.Export().(*big.Int)
	return n
}

func magnitude(n *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n).Float64()
	return math.Abs(f)
}

// guardBigInts bounds the widths of BigInt.asIntN and asUintN.
func (r *run) guardBigInts() error {
	if !r.reach.hasAny("asIntN", "asUintN") {
		return nil
	}
	constructor := r.vm.Get("BigInt").ToObject(r.vm)
	for _, name := range []string{"asIntN", "asUintN"} {
		if err := r.guard(constructor, "BigInt.", name, func(c goja.FunctionCall) float64 {
			if bits := toNumber(c.Argument(0)); bits > maxBigInt {
				return math.Max(bits/8, float64(r.lim.Heap)+1)
			}
			return 0
		}); err != nil {
			return err
		}
	}
	return nil
}
