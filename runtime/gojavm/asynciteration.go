package gojavm

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/evanw/esbuild/pkg/api"
)

//go:embed js/asynciteration.js
var asyncIterationSource string

// asyncIteration is that text on one line, an expression.
var asyncIteration = sync.OnceValue(func() string {
	res := api.Transform(asyncIterationSource, api.TransformOptions{MinifyWhitespace: true, Target: api.ESNext})
	return strings.TrimRight(string(res.Code), ";\n")
})

// asyncHelper finds the beginnings of esbuild's helpers for async iteration and
// the class of their awaits. A digit follows where the author's text has the name.
var asyncHelper = regexp.MustCompile(`(?m)^var (__(?:asyncGenerator|yieldStar|forAwait|await)\d*) = `)

// These begin the names of esbuild's helpers.
const (
	generatorHelper = "__asyncGenerator"
	yieldStarHelper = "__yieldStar"
	forAwaitHelper  = "__forAwait"
	awaitHelper     = "__await"
)

// replaceAsyncHelpers puts our helpers for async iteration in the place of
// esbuild's. They come before the program, on as many lines, so that no place
// moves.
func replaceAsyncHelpers(js string) string {
	end := strings.Index(js, "\n"+wrapPrefixPrinted)
	if end < 0 {
		return js
	}
	names := asyncHelper.FindAllStringSubmatchIndex(js[:end], -1)
	if names == nil {
		return js
	}
	await := "null"
	for _, at := range names {
		if name := js[at[2]:at[3]]; strings.HasPrefix(name, awaitHelper) {
			await = name
		}
	}
	var b strings.Builder
	copied := 0
	shared := "__asyncIteration = " + asyncIteration() + ", "
	for _, at := range names {
		name := js[at[2]:at[3]]
		if name == await {
			continue
		}
		b.WriteString(js[copied:at[0]])
		copied = at[0] + statementLength(js[at[0]:end])
		b.WriteString("var " + shared + name + " = ")
		switch {
		case strings.HasPrefix(name, generatorHelper):
			b.WriteString("(self, args, body) => __asyncIteration.generator(self, args, body, " + await + ");")
		case strings.HasPrefix(name, yieldStarHelper):
			b.WriteString("(iterable) => __asyncIteration.delegation(iterable, " + await + ");")
		default:
			b.WriteString("(iterable) => __asyncIteration.iteration(iterable);")
		}
		b.WriteString(strings.Repeat("\n", strings.Count(js[at[0]:copied], "\n")))
		shared = ""
	}
	b.WriteString(js[copied:])
	return b.String()
}

// statementLength is how much of text its first statement takes, as esbuild
// prints a helper: one line, or up to a brace at the beginning of a line.
func statementLength(text string) int {
	line, _, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(line, "{") {
		return len(line)
	}
	if at := strings.Index(text, "\n};"); at >= 0 {
		return at + len("\n};")
	}
	return len(text)
}

// checkForAwait makes the loop that a for await becomes test that next gave an
// object: esbuild's takes anything, and a number for a result without an end. And
// its variables are cleared: with error left from an earlier round of a loop
// around it, a loop that comes to its end would throw what was caught long ago.
//
//	for (var iter = __forAwait(x), more, temp, error; more = !(temp = await iter.next()).done; …)
func (m *marker) checkForAwait(loop *ast.ForStatement) {
	list, ok := loop.Initializer.(*ast.ForLoopInitializerVarDeclList)
	if !ok || len(list.List) == 0 {
		return
	}
	call, ok := list.List[0].Initializer.(*ast.CallExpression)
	if !ok {
		return
	}
	if !calls(call, forAwaitHelper) {
		return
	}
	for _, b := range list.List[1:] {
		if b.Initializer == nil {
			b.Initializer = &ast.UnaryExpression{Operator: token.VOID, Idx: loop.For, Operand: &ast.NumberLiteral{Idx: loop.For, Literal: "0", Value: int64(0)}}
		}
	}
	test, ok := loop.Test.(*ast.AssignExpression)
	if !ok {
		return
	}
	if not, ok := test.Right.(*ast.UnaryExpression); ok {
		if done, ok := not.Operand.(*ast.DotExpression); ok {
			m.results = true
			done.Left = helperCall(resultName, loop.For, done.Left)
		}
	}
}

// calls says whether a call is one of a helper of esbuild's.
func calls(call *ast.CallExpression, helper string) bool {
	callee, ok := call.Callee.(*ast.Identifier)
	return ok && strings.HasPrefix(callee.Name.String(), helper)
}

// enter comes before the parts of a node are walked. It repairs chains of
// comparisons, and notes what belongs to an async generator:
//
//	__asyncGenerator(this, arguments, function* () { … })
func (m *marker) enter(n any) {
	switch x := n.(type) {
	case *ast.CallExpression:
		if calls(x, generatorHelper) && len(x.ArgumentList) == 3 {
			m.asyncBody, _ = x.ArgumentList[2].(*ast.FunctionLiteral)
		}
	case *ast.BinaryExpression:
		associate(x, m.places)
	case *ast.FunctionLiteral:
		m.async = m.asyncBody == x
	}
}

// syncDelegation takes esbuild's helper out of a yield* in a plain generator,
// where it would take the async iterator of what has both.
func syncDelegation(yield *ast.YieldExpression) {
	if call, ok := yield.Argument.(*ast.CallExpression); ok && calls(call, yieldStarHelper) && len(call.ArgumentList) == 1 {
		yield.Argument = call.ArgumentList[0]
	}
}

// iteratorResult is the function that what next gave passes through.
func (r *run) iteratorResult(c goja.FunctionCall) goja.Value {
	v := c.Argument(0)
	if _, ok := v.(*goja.Object); !ok {
		panic(r.vm.NewTypeError("Iterator result %s is not an object", primitiveText(v)))
	}
	return v
}
