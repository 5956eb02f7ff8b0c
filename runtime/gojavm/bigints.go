package gojavm

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// maxBigInt is the most bits that a power or a shift may give. The engine has no
// bound: one such operator can take all memory, or hours, and cannot be stopped.
// V8's bound is 2^30 bits.
const maxBigInt = 1 << 26

// bigIntText is what programs that compute with BigInts hold. Others have no
// operators guarded, for a guard costs each shift a call.
var bigIntText = regexp.MustCompile(`\b(?:[0-9][0-9_]*|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)n\b|BigInt`)

// guardOperator puts a guard before an operator that can make a BigInt of any
// size: x ** y becomes %power(x, y), and x << y becomes x << %shift(y). Code that
// eval compiles has no guards.
func guardOperator(x ast.Expression) ast.Expression {
	switch x := x.(type) {
	case *ast.BinaryExpression:
		switch x.Operator {
		case token.EXPONENT:
			return power(x.Left, x.Right)
		case token.SHIFT_LEFT, token.SHIFT_RIGHT:
			x.Right = helperCall(shiftName, x.Right.Idx0(), x.Right)
		}
	case *ast.AssignExpression:
		switch x.Operator {
		case token.EXPONENT:
			if name, ok := x.Left.(*ast.Identifier); ok {
				again := *name
				x.Operator, x.Right = token.ASSIGN, power(&again, x.Right)
				return x
			}
			x.Right = helperCall(shiftName, x.Right.Idx0(), x.Right)
		case token.SHIFT_LEFT, token.SHIFT_RIGHT:
			x.Right = helperCall(shiftName, x.Right.Idx0(), x.Right)
		}
	}
	return x
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

// shift is the function that the right side of << and >> passes through.
func (r *run) shift(c goja.FunctionCall) goja.Value {
	if by := bigOf(c.Argument(0)); by != nil {
		if v := r.boundBits("the shift", magnitude(by)); v != nil {
			return v
		}
	}
	return c.Argument(0)
}

// boundBits ends the run before a BigInt that no heap holds, as the other guards
// do, and throws what V8 throws for one that is merely too large.
func (r *run) boundBits(what string, bits float64) goja.Value {
	if bits <= maxBigInt {
		return nil
	}
	if bits/8 > float64(r.lim.Heap) {
		return r.exhausted(what, bits/8)
	}
	e, err := r.vm.New(r.real.rangeError, r.vm.ToValue(fmt.Sprintf("Maximum BigInt size exceeded (%d bits)", maxBigInt)))
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
	if !bigIntText.MatchString(r.prog.source) {
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
