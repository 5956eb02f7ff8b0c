package gojavm

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// Most comparators compute a number of what two elements hold, and do nothing else:
//
//	(a, b) => b.size - a.size || a.name.localeCompare(b.name)
//
// Those of which every word is known, and whose elements hold data alone, are
// computed here. The sort is the same, with the same answers; only nobody is called.

const (
	// worthReading is the length of a list from which a comparator is read: that takes
	// as long as some calls.
	worthReading = 8
	// maxComparator is the longest text of a comparator that is read, and
	// maxComparators how many are remembered.
	maxComparator, maxComparators = 400, 100
)

// comparator is a function of two parameters that only computes its result.
type comparator struct {
	first, second unistring.String
	result        ast.Expression
}

// readComparator reads the text of a function; nil: it may do something else.
func readComparator(source string) *comparator {
	switch f := parseFunction(source).(type) {
	case *ast.ArrowFunctionLiteral:
		if body, ok := f.Body.(*ast.ExpressionBody); ok && !f.Async {
			return comparatorOf(f.ParameterList, body.Expression)
		}
		if body, ok := f.Body.(*ast.BlockStatement); ok && !f.Async {
			return comparatorOf(f.ParameterList, resultOf(body.List))
		}
	case *ast.FunctionLiteral:
		if !f.Async && !f.Generator {
			return comparatorOf(f.ParameterList, resultOf(f.Body.List))
		}
	}
	return nil
}

// parseFunction is the tree of a function's text, as the engine gives it; nil: it is not
// known whether that is all of it. Of an arrow's it leaves off the parentheses at the
// end, and in other alphabets it ends anywhere.
func parseFunction(source string) ast.Expression {
	if len(source) > maxComparator || !plainASCII(source) || strings.Contains(source, `\`) {
		return nil
	}
	const mostMissing = 3
	for missing := range mostMissing + 1 {
		text := "(" + source + strings.Repeat(")", missing) + ")"
		tree, err := parser.ParseFile(nil, compiledName, text, 0, parser.WithDisableSourceMaps)
		if err != nil || len(tree.Body) != 1 {
			continue
		}
		if statement, ok := tree.Body[0].(*ast.ExpressionStatement); ok {
			return bare(statement.Expression)
		}
	}
	return nil
}

func comparatorOf(parameters *ast.ParameterList, result ast.Expression) *comparator {
	if result == nil || parameters.Rest != nil || len(parameters.List) != 2 {
		return nil
	}
	var names [2]unistring.String
	for i, p := range parameters.List {
		name, ok := p.Target.(*ast.Identifier)
		if !ok || p.Initializer != nil {
			return nil
		}
		names[i] = name.Name
	}
	if names[0] == names[1] {
		return nil
	}
	return &comparator{first: names[0], second: names[1], result: result}
}

// resultOf is what statements return that are one return, or ifs that return and then
// one return; nil for others.
func resultOf(list []ast.Statement) ast.Expression {
	if len(list) == 0 {
		return nil
	}
	switch s := list[0].(type) {
	case *ast.ReturnStatement:
		if len(list) == 1 {
			return s.Argument
		}
	case *ast.BlockStatement:
		if len(list) == 1 {
			return resultOf(s.List)
		}
	case *ast.IfStatement:
		rest := list[1:]
		if s.Alternate != nil {
			rest = append([]ast.Statement{s.Alternate}, rest...)
		}
		then, otherwise := resultOf([]ast.Statement{s.Consequent}), resultOf(rest)
		if then != nil && otherwise != nil {
			return &ast.ConditionalExpression{Test: s.Test, Consequent: then, Alternate: otherwise}
		}
	}
	return nil
}

// bare is an expression without parentheses, which the engine's parser may leave as a
// sequence of one.
func bare(x ast.Expression) ast.Expression {
	for {
		sequence, ok := x.(*ast.SequenceExpression)
		if !ok || len(sequence.Sequence) != 1 {
			return x
		}
		x = sequence.Sequence[0]
	}
}

// operand is an expression that reads a part of a parameter.
func (c *comparator) operand(x ast.Expression) (second bool, path []step, ok bool) {
	switch x := bare(x).(type) {
	case *ast.Identifier:
		return x.Name == c.second, nil, x.Name == c.first || x.Name == c.second
	case *ast.DotExpression:
		second, path, ok = c.operand(x.Left)
		return second, append(path, stepTo(x.Identifier.Name)), ok && x.Identifier.Name.AsUtf16() == nil
	case *ast.BracketExpression:
		second, path, ok = c.operand(x.Left)
		switch member := x.Member.(type) {
		case *ast.StringLiteral:
			return second, append(path, stepTo(member.Value)), ok && member.Value.AsUtf16() == nil
		case *ast.NumberLiteral:
			index, isInteger := member.Value.(int64)
			return second, append(path, step{name: strconv.FormatInt(index, 10), index: int(index)}), ok && isInteger && index >= 0
		}
	}
	return false, nil, false
}

func stepTo(name unistring.String) step {
	return step{name: name.String(), key: reflect.ValueOf(name), index: -1}
}

// byComparator sorts by a comparator that is known, of elements that hold data, and
// says whether it did.
func (s *sorting) byComparator(list []goja.Value, compare *goja.Object) bool {
	if len(list) < worthReading || !engineLayout().known {
		return false
	}
	c := s.known(compare)
	if c == nil {
		return false
	}
	t := &table{sorting: s, comparator: c, list: list}
	if numbers, falls := t.difference(); numbers != nil {
		before := func(x, y float64) bool { return x-y < 0 }
		if falls {
			before = func(x, y float64) bool { return y-x < 0 }
		}
		sortKeyed(s, list, numbers, before)
		return true
	}
	result := t.result()
	if result == nil {
		return false
	}
	rows := make([]int, len(list))
	for i := range rows {
		rows[i] = i
	}
	sortKeyed(s, list, rows, func(x, y int) bool { return result(x, y) < 0 })
	return true
}

// known reads a comparator once.
func (s *sorting) known(compare *goja.Object) *comparator {
	text, err := s.source(compare)
	if err != nil {
		panic(err)
	}
	source := text.String()
	c, ok := s.comparators[source]
	if !ok {
		c = readComparator(source)
		if len(s.comparators) < maxComparators && len(source) <= maxComparator {
			s.comparators[source] = c
		}
	}
	return c
}

// table is a list with what a comparator reads of its elements.
type table struct {
	*sorting
	*comparator
	list    []goja.Value
	columns []*column
}

// column is what stands at the end of a path in each element: numbers, texts, or
// something else in one of them.
type column struct {
	path    []step
	numbers []float64
	texts   []goja.String
}

// computed is an expression for the elements with these indices.
type computed[T any] func(x, y int) T

// difference is the numbers of the elements where the comparator subtracts them and
// no more: falls, the first from the second.
func (t *table) difference() (numbers []float64, falls bool) {
	x, ok := bare(t.comparator.result).(*ast.BinaryExpression)
	if !ok || x.Operator != token.MINUS {
		return nil, false
	}
	left, falls := t.column(x.Left)
	right, risen := t.column(x.Right)
	if left == nil || left != right || falls == risen || left.numbers == nil {
		return nil, false
	}
	return left.numbers, falls
}

// result is the comparator's; nil: it is not known for these elements.
func (t *table) result() computed[float64] {
	if result := t.number(t.comparator.result); result != nil {
		return result
	}
	truth := t.truth(t.comparator.result)
	if truth == nil {
		return nil
	}
	return func(x, y int) float64 {
		if truth(x, y) {
			return 1
		}
		return 0
	}
}

// number is an expression that gives a number.
func (t *table) number(x ast.Expression) computed[float64] {
	switch x := bare(x).(type) {
	case *ast.NumberLiteral:
		return literal(x)
	case *ast.UnaryExpression:
		if operand := t.number(x.Operand); operand != nil && x.Operator == token.MINUS {
			return func(x, y int) float64 { return -operand(x, y) }
		}
		return nil
	case *ast.BinaryExpression:
		return t.binary(x)
	case *ast.ConditionalExpression:
		test, then, otherwise := t.truth(x.Test), t.number(x.Consequent), t.number(x.Alternate)
		if test == nil || then == nil || otherwise == nil {
			return nil
		}
		return func(x, y int) float64 {
			if test(x, y) {
				return then(x, y)
			}
			return otherwise(x, y)
		}
	case *ast.CallExpression:
		return t.locale(x)
	}
	if c, second := t.column(x); c != nil && c.numbers != nil {
		return of(c.numbers, second)
	}
	return nil
}

// of is an element's part: that of the first or the second.
func of[T any](column []T, second bool) computed[T] {
	if second {
		return func(_, y int) T { return column[y] }
	}
	return func(x, _ int) T { return column[x] }
}

func literal(x *ast.NumberLiteral) computed[float64] {
	switch n := x.Value.(type) {
	case int64:
		return func(int, int) float64 { return float64(n) }
	case float64:
		return func(int, int) float64 { return n }
	}
	return nil
}

// binary is x - y and x || y of numbers.
func (t *table) binary(x *ast.BinaryExpression) computed[float64] {
	if x.Operator != token.MINUS && x.Operator != token.LOGICAL_OR {
		return nil
	}
	left, right := t.number(x.Left), t.number(x.Right)
	switch {
	case left == nil || right == nil:
		return nil
	case x.Operator == token.MINUS:
		return func(x, y int) float64 { return left(x, y) - right(x, y) }
	}
	return func(x, y int) float64 {
		if n := left(x, y); n < 0 || n > 0 {
			return n
		}
		return right(x, y)
	}
}

// locale is x.localeCompare(y) of texts, as long as that is the library's.
func (t *table) locale(x *ast.CallExpression) computed[float64] {
	callee, ok := x.Callee.(*ast.DotExpression)
	if !ok || callee.Identifier.Name != "localeCompare" || len(x.ArgumentList) != 1 {
		return nil
	}
	left, right := t.text(callee.Left), t.text(x.ArgumentList[0])
	if left == nil || right == nil || !t.localeCompareStands() {
		return nil
	}
	args := make([]goja.Value, 1)
	return func(x, y int) float64 {
		args[0] = right(x, y)
		return t.localeCompare(goja.FunctionCall{This: left(x, y), Arguments: args}).ToFloat()
	}
}

// text is an expression that gives a text.
func (t *table) text(x ast.Expression) computed[goja.String] {
	if c, second := t.column(x); c != nil && c.texts != nil {
		return of(c.texts, second)
	}
	return nil
}

// truth is a comparison of two numbers or of two texts.
func (t *table) truth(x ast.Expression) computed[bool] {
	binary, ok := bare(x).(*ast.BinaryExpression)
	if !ok {
		return nil
	}
	if left, right := t.number(binary.Left), t.number(binary.Right); left != nil && right != nil {
		return comparison(binary.Operator, left, right)
	}
	left, right := t.text(binary.Left), t.text(binary.Right)
	if left == nil || right == nil {
		return nil
	}
	order := func(x, y int) float64 { return float64(left(x, y).CompareTo(right(x, y))) }
	return comparison(binary.Operator, order, func(int, int) float64 { return 0 })
}

func comparison(operator token.Token, left, right computed[float64]) computed[bool] {
	switch operator {
	case token.LESS:
		return func(x, y int) bool { return left(x, y) < right(x, y) }
	case token.GREATER:
		return func(x, y int) bool { return left(x, y) > right(x, y) }
	case token.LESS_OR_EQUAL:
		return func(x, y int) bool { return left(x, y) <= right(x, y) }
	case token.GREATER_OR_EQUAL:
		return func(x, y int) bool { return left(x, y) >= right(x, y) }
	case token.EQUAL, token.STRICT_EQUAL:
		return func(x, y int) bool { return left(x, y) == right(x, y) }
	case token.NOT_EQUAL, token.STRICT_NOT_EQUAL:
		return func(x, y int) bool { return left(x, y) != right(x, y) }
	}
	return nil
}

// column is what an expression reads of each element; nil: it is something else.
func (t *table) column(x ast.Expression) (c *column, second bool) {
	second, path, ok := t.operand(x)
	if !ok {
		return nil, false
	}
	for _, c := range t.columns {
		if samePath(c.path, path) {
			return c, second
		}
	}
	c = t.read(path)
	t.columns = append(t.columns, c)
	return c, second
}

func samePath(a, b []step) bool {
	return slices.EqualFunc(a, b, func(x, y step) bool { return x.name == y.name && x.index == y.index })
}

// read makes the column of a path. It has neither numbers nor texts where the elements
// differ or hold something else.
func (t *table) read(path []step) *column {
	numbers, texts := make([]float64, 0, len(t.list)), []goja.String(nil)
	for i, v := range t.list {
		t.askNow(i)
		v, ok := t.follow(v, path)
		if !ok {
			return &column{path: path}
		}
		text, isText := v.(goja.String)
		switch {
		case isText && len(texts) == i:
			texts = append(texts, text)
		case len(numbers) == i && engineLayout().isNumber(v):
			numbers = append(numbers, v.ToFloat())
		default:
			return &column{path: path}
		}
	}
	if texts != nil {
		return &column{path: path, texts: texts}
	}
	return &column{path: path, numbers: numbers}
}

// follow is what stands at the end of a path of own properties that hold data. It is
// not ok where a step leads to anything else.
func (t *table) follow(v goja.Value, path []step) (end goja.Value, ok bool) {
	for _, s := range path {
		if text, isText := v.(goja.String); isText && s.name == "length" {
			v = t.vm.ToValue(text.Length())
			continue
		}
		object, isObject := v.(*goja.Object)
		if !isObject || !engineLayout().holdsData(object, s) {
			return nil, false
		}
		v = object.Get(s.name)
	}
	return v, true
}
