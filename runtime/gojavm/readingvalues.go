package gojavm

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
)

// The walk over expressions of a tree that is read directly.

func (r *reader) optional(x *ast.Expression) {
	if *x != nil {
		r.expression(x)
	}
}

func (r *reader) expressions(list []ast.Expression) {
	for i := range list {
		if r.why != "" {
			return
		}
		r.optional(&list[i])
	}
}

func (r *reader) expression(x *ast.Expression) {
	if id, ok := (*x).(*ast.Identifier); ok {
		if r.name(id); id.Name == "undefined" {
			*x = undefinedAt(id.Idx)
		}
		return
	}
	switch x := (*x).(type) {
	case *ast.BooleanLiteral:
		r.place(&x.Idx)
	case *ast.NullLiteral:
		r.place(&x.Idx)
	case *ast.ThisExpression:
		r.place(&x.Idx)
	case *ast.NumberLiteral:
		r.number(x)
	case *ast.StringLiteral:
		r.escapes(x.Literal)
		r.place(&x.Idx)
	case *ast.RegExpLiteral:
		r.pattern(x)
	case *ast.TemplateLiteral:
		r.template(x)
	case *ast.ArrayLiteral:
		r.place(&x.LeftBracket)
		r.expressions(x.Value)
		r.place(&x.RightBracket)
	case *ast.ObjectLiteral:
		r.object(x)
	case *ast.SpreadElement:
		r.spread(x)
	case *ast.SequenceExpression:
		r.expressions(x.Sequence)
	case *ast.FunctionLiteral:
		r.function(x)
	case *ast.ArrowFunctionLiteral:
		r.arrow(x)
	case *ast.AssignExpression:
		r.assigned(&x.Left)
		r.expression(&x.Right)
	case *ast.ConditionalExpression:
		r.conditional(x)
	case *ast.BinaryExpression:
		r.binary(x)
	case *ast.UnaryExpression:
		r.unary(x)
	case *ast.AwaitExpression:
		r.waits(&x.Await, &x.Argument)
	case *ast.YieldExpression:
		if x.Delegate {
			r.refuse("a generator in a generator")
		}
		r.waits(&x.Yield, &x.Argument)
	default:
		r.access(x)
	}
}

func (r *reader) spread(x *ast.SpreadElement) {
	if _, assigns := x.Expression.(*ast.AssignExpression); assigns {
		r.refuse("an assignment that is spread")
	}
	r.expression(&x.Expression)
}

// undefinedAt is what esbuild makes of the name, which the engine looks up each time.
func undefinedAt(at file.Idx) ast.Expression {
	return &ast.UnaryExpression{Operator: token.VOID, Idx: at, Operand: &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}}
}

// access is an expression that goes on from a name.
func (r *reader) access(x ast.Expression) {
	switch x := x.(type) {
	case *ast.DotExpression:
		if constant(x.Left) && x.Identifier.Name == "constructor" {
			r.refuse("a constant's constructor") // whose text esbuild knows
		}
		r.expression(&x.Left)
		r.word(&x.Identifier)
	case *ast.BracketExpression:
		r.expression(&x.Left)
		r.expression(&x.Member)
		x.LeftBracket = r.end(x.Left)
		r.place(&x.RightBracket)
	case *ast.CallExpression:
		r.expression(&x.Callee)
		r.expressions(x.ArgumentList)
		x.LeftParenthesis = r.end(x.Callee)
		r.place(&x.RightParenthesis)
	case *ast.NewExpression:
		r.made(x)
	case *ast.OptionalChain:
		r.expression(&x.Expression)
	case *ast.Optional:
		if _, chain := x.Expression.(*ast.OptionalChain); chain || constant(x.Expression) {
			r.refuse("a chain that goes on from a rare expression")
		}
		r.expression(&x.Expression)
	default:
		r.refuse(fmt.Sprintf("an expression that is not known: %T", x))
	}
}

func (r *reader) made(x *ast.NewExpression) {
	if x.LeftParenthesis == 0 {
		r.refuse("new without parentheses")
	}
	r.place(&x.New)
	r.expression(&x.Callee)
	r.place(&x.LeftParenthesis)
	r.expressions(x.ArgumentList)
	r.place(&x.RightParenthesis)
}

// waits is an await or a yield.
func (r *reader) waits(at *file.Idx, argument *ast.Expression) {
	if r.params {
		r.refuse("what waits in parameters")
	}
	r.place(at)
	r.optional(argument)
}

func (r *reader) object(x *ast.ObjectLiteral) {
	r.place(&x.LeftBrace)
	for _, property := range x.Value {
		switch property := property.(type) {
		case *ast.PropertyShort:
			if property.Initializer != nil || property.Name.Name == "undefined" {
				r.refuse("a short property that is none")
			}
			r.name(&property.Name)
		case *ast.PropertyKeyed:
			r.key(&property.Key, property.Computed)
			r.expression(&property.Value)
			atKey(property)
		case *ast.SpreadElement:
			r.spread(property)
		default:
			r.refuse("a property that is not known")
		}
	}
	r.place(&x.RightBrace)
}

// atKey moves the name in { a: a } to its key, where esbuild, which writes { a },
// has its place. Behind a quoted key it stays.
func atKey(property *ast.PropertyKeyed) {
	key, isText := property.Key.(*ast.StringLiteral)
	name, isName := property.Value.(*ast.Identifier)
	if isText && isName && !property.Computed && key.Literal == name.Name.String() {
		name.Idx = key.Idx
	}
}

// key is the name of a property.
func (r *reader) key(x *ast.Expression, computed bool) {
	key, ok := (*x).(*ast.StringLiteral)
	if !ok || computed {
		r.expression(x)
		return
	}
	if key.Value == "__proto__" {
		r.refuse("the property __proto__")
	}
	if quoted := strings.HasPrefix(key.Literal, `"`) || strings.HasPrefix(key.Literal, "'"); !quoted && (key.Literal != key.Value.String() || !plainASCII(key.Literal)) {
		r.refuse("a name with escapes or beyond ASCII")
	}
	r.escapes(key.Literal)
	r.place(&key.Idx)
}

// number takes plain decimal and short hexadecimal numbers.
func (r *reader) number(x *ast.NumberLiteral) {
	text := x.Literal
	if isWord(r.after(x.Idx, len(text))) {
		r.refuse("a number that a word follows at once")
	}
	if r.place(&x.Idx); len(text) == 1 {
		return
	}
	if digits, ok := strings.CutPrefix(text, "0x"); ok {
		if len(digits) > 8 || strings.ContainsAny(digits, "_n") {
			r.refuse("a number that is written in a rare way")
		}
	} else if strings.ContainsAny(text, "_xXoObBN") || len(text) > 1 && text[0] == '0' && isDigit(rune(text[1])) {
		r.refuse("a number that is written in a rare way")
	}
}

// escapes refuses the rare escapes of a literal: octal ones, and those in braces.
func (r *reader) escapes(literal string) {
	for {
		at := strings.IndexByte(literal, '\\')
		if at < 0 || at+1 >= len(literal) {
			return
		}
		next, after := literal[at+1], literal[at+2:]
		switch {
		case next == '0' && (after == "" || !isDigit(rune(after[0]))):
		case isDigit(rune(next)), next == 'u' && strings.HasPrefix(after, "{"), next == '\r', next >= utf8.RuneSelf:
			r.refuse("a rare escape")
			return
		}
		literal = after
	}
}

// pattern takes the flags that the engine has; it checks the pattern later.
func (r *reader) pattern(x *ast.RegExpLiteral) {
	for i, flag := range x.Flags {
		if !strings.ContainsRune("gimsuy", flag) || strings.ContainsRune(x.Flags[:i], flag) {
			r.refuse("flags of a regular expression that are rare")
		}
	}
	if !balanced(x.Pattern) || strings.ContainsAny(x.Pattern, "\r\n") {
		r.refuse("a regular expression that is wrong")
	}
	if written := "/" + x.Pattern + "/" + x.Flags; !strings.HasPrefix(r.textAt(x.Idx), written) || isWord(r.after(x.Idx, len(written))) {
		r.refuse("a regular expression that is read in another way")
	}
	r.place(&x.Idx)
}

// balanced says whether the brackets of a pattern close, and it ends outside them.
func balanced(pattern string) bool {
	depth, class := 0, false
	for i := 0; i < len(pattern); i++ {
		switch b := pattern[i]; {
		case b == '\\':
			i++
			if i == len(pattern) {
				return false
			}
		case class:
			class = b != ']'
		case b == '[':
			class = true
		case b == '(':
			depth++
		case b == ')':
			depth--
		case b == '/':
			return false
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0 && !class
}

// after is the byte that far behind a place.
func (r *reader) after(idx file.Idx, n int) byte {
	if text := r.textAt(idx); n < len(text) {
		return text[n]
	}
	return 0
}

func (r *reader) template(x *ast.TemplateLiteral) {
	for _, e := range x.Elements {
		if !e.Valid {
			r.refuse("a template with wrong escapes")
		}
		r.escapes(e.Literal)
		r.place(&e.Idx)
	}
	r.expressions(x.Expressions)
	r.place(&x.CloseQuote)
	if x.Tag == nil {
		r.place(&x.OpenQuote)
		return
	}
	r.expression(&x.Tag)
	x.OpenQuote = r.end(x.Tag)
}

// conditional refuses what TypeScript may read as an arrow with a type:
//
//	a ? (b) : c => d
func (r *reader) conditional(x *ast.ConditionalExpression) {
	if _, ok := x.Alternate.(*ast.ArrowFunctionLiteral); ok {
		r.refuse("an arrow that a type may stand before")
	}
	r.condition(&x.Test)
	r.expression(&x.Consequent)
	r.expression(&x.Alternate)
}

func (r *reader) unary(x *ast.UnaryExpression) {
	switch x.Operator {
	case token.DELETE:
		switch x.Operand.(type) {
		case *ast.DotExpression, *ast.BracketExpression:
		default:
			r.refuse("delete of what is no property")
		}
		r.expression(&x.Operand)
		r.place(&x.Idx)
	case token.INCREMENT, token.DECREMENT:
		if next := strings.TrimLeft(r.textAt(x.Idx+2), " \t\r\n"); x.Postfix && next != "" && strings.IndexByte("([`/", next[0]) >= 0 {
			r.refuse("a line after an increment that esbuild reads on")
		}
		r.assigned(&x.Operand)
		if x.Postfix {
			x.Idx = r.end(x.Operand)
		} else {
			r.place(&x.Idx)
		}
	default:
		if _, number := x.Operand.(*ast.NumberLiteral); constant(x.Operand) && !number && x.Operator != token.VOID && x.Operator != token.TYPEOF {
			r.refuse("an operator of a constant")
		}
		r.place(&x.Idx)
		r.expression(&x.Operand)
	}
}

func (r *reader) binary(x *ast.BinaryExpression) {
	switch x.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		if mixes(x, x.Left) || mixes(x, x.Right) {
			r.refuse("?? beside && or ||")
		}
		if constant(x.Left) || x.Operator == token.COALESCE && !mayBeMissing(x.Left) {
			r.refuse("a condition that is a constant")
		}
	case token.LESS, token.SHIFT_LEFT:
		if r.mayBeTypes(x) {
			r.refuse("what may be type arguments")
		}
	}
	if constant(x.Left) && constant(x.Right) && !(computes(x.Left) && computes(x.Right)) {
		r.refuse("an operator of constants")
	}
	if inner, ok := x.Right.(*ast.BinaryExpression); ok && x.Operator == token.PLUS && inner.Operator == token.PLUS && (isText(inner.Left) || isText(inner.Right)) {
		r.refuse("an addition of a text that was put together") // it is put together from the left
	}
	if _, waits := x.Left.(*ast.AwaitExpression); waits && x.Operator == token.EXPONENT {
		r.refuse("a power of what is waited for")
	}
	if isRelational(x) && (isRelational(x.Left) || isRelational(x.Right)) {
		r.refuse("a comparison of a comparison")
	}
	r.expression(&x.Left)
	r.expression(&x.Right)
}

func isText(x ast.Expression) bool {
	switch x.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral:
		return true
	}
	return false
}

func isRelational(x ast.Expression) bool {
	binary, ok := x.(*ast.BinaryExpression)
	return ok && slices.Contains(relational, binary.Operator)
}

// mixes says whether one of an operator and its side is ?? and the other && or ||:
// that needs parentheses, which the parser does not ask for everywhere.
func mixes(x *ast.BinaryExpression, side ast.Expression) bool {
	inner, ok := side.(*ast.BinaryExpression)
	if !ok {
		return false
	}
	logical := func(t token.Token) bool { return t == token.LOGICAL_AND || t == token.LOGICAL_OR }
	return x.Operator == token.COALESCE && logical(inner.Operator) || logical(x.Operator) && inner.Operator == token.COALESCE
}

// constant says whether an expression holds no name, so that esbuild may know what
// it gives.
func constant(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral, *ast.RegExpLiteral,
		*ast.ArrayLiteral, *ast.ObjectLiteral, *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.TemplateLiteral:
		return true
	case *ast.Identifier:
		return x.Name == "undefined" || x.Name == "NaN" || x.Name == "Infinity"
	case *ast.UnaryExpression:
		return x.Operator == token.VOID || x.Operator == token.TYPEOF || constant(x.Operand)
	case *ast.BinaryExpression:
		if x.Operator == token.LOGICAL_AND || x.Operator == token.LOGICAL_OR {
			return constant(x.Right)
		}
		return constant(x.Left) && constant(x.Right)
	case *ast.SequenceExpression:
		return constant(x.Sequence[len(x.Sequence)-1])
	case *ast.ConditionalExpression:
		return constant(x.Test)
	case *ast.AssignExpression:
		return constant(x.Right)
	}
	return false
}

// computes says whether an expression is of numbers and strings alone, which esbuild
// computes as the engine does.
func computes(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	case *ast.UnaryExpression:
		return computes(x.Operand)
	case *ast.BinaryExpression:
		return computes(x.Left) && computes(x.Right)
	}
	return false
}

// mayBeMissing says whether an expression is one of those that stand before ?? with
// sense: after others esbuild leaves the rest out.
func mayBeMissing(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.BracketExpression, *ast.CallExpression, *ast.OptionalChain, *ast.AwaitExpression:
		return true
	case *ast.BinaryExpression:
		return x.Operator == token.COALESCE
	}
	return false
}

// end is the last place that esbuild's map has in what it prints of an expression
// whose parts were walked.
func (r *reader) end(x ast.Expression) file.Idx {
	switch x := x.(type) {
	case *ast.Identifier:
		return x.Idx
	case *ast.ThisExpression:
		return x.Idx
	case *ast.StringLiteral:
		return x.Idx
	case *ast.RegExpLiteral:
		return x.Idx
	case *ast.DotExpression:
		return x.Identifier.Idx
	case *ast.BracketExpression:
		return x.RightBracket
	case *ast.CallExpression:
		return x.RightParenthesis
	case *ast.NewExpression:
		return x.RightParenthesis
	case *ast.ArrayLiteral:
		return x.RightBracket
	case *ast.ObjectLiteral:
		return x.RightBrace
	case *ast.FunctionLiteral:
		return x.Body.RightBrace
	case *ast.Optional:
		return r.end(x.Expression)
	case *ast.OptionalChain:
		return r.end(x.Expression)
	case *ast.AwaitExpression:
		return r.end(x.Argument)
	case *ast.AssignExpression:
		return r.end(x.Right)
	case *ast.ConditionalExpression:
		return r.end(x.Alternate)
	case *ast.BinaryExpression:
		return r.end(x.Right)
	case *ast.SequenceExpression:
		return r.end(x.Sequence[len(x.Sequence)-1])
	case *ast.ArrowFunctionLiteral:
		switch body := x.Body.(type) {
		case *ast.BlockStatement:
			return body.RightBrace
		case *ast.ExpressionBody:
			return r.end(body.Expression)
		}
	case *ast.TemplateLiteral:
		if x.Tag == nil && len(x.Expressions) == 0 {
			return x.OpenQuote
		}
	}
	r.refuse(fmt.Sprintf("a call or a member of a rare expression: %T", x))
	return 0
}
