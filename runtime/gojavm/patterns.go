package gojavm

import (
	"errors"
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"

	"github.com/runcode-go/runcode/runtime"
)

// What the engine's parser reads wrong is repaired here: defaults inside an array
// pattern that has a default itself, and comparisons of comparisons.

// badBinding is what the parser says of an element with a default in such a
// pattern, where the pattern declares something:
//
//	const { rows: [first = {}] = [] } = page
const badBinding = "Invalid destructuring binding target"

// parseProgram is the engine's parser with such elements read one by one.
func parseProgram(js string) (*ast.Program, error) { return parsePart(js, nil, js) }

// parsePart parses a part of js, or all, whose places set tells.
func parsePart(js string, set *file.FileSet, part string) (*ast.Program, error) {
	tree, err := parser.ParseFile(set, compiledName, part, 0, parser.WithDisableSourceMaps)
	var list parser.ErrorList
	if !errors.As(err, &list) || tree == nil || slices.ContainsFunc(list, func(e *parser.Error) bool { return e.Message != badBinding }) {
		return tree, err
	}
	whole := true
	eachExpression(tree.Body, func(x ast.Expression) ast.Expression {
		switch x := x.(type) {
		case *ast.BadExpression:
			element := parseElement(js, int(x.From)-1)
			whole = whole && element != nil
			return element
		case *ast.SequenceExpression:
			if len(x.Sequence) == 1 { // so the parser reads (x) after an error
				return x.Sequence[0]
			}
		}
		return x
	})
	if !whole {
		return tree, err
	}
	return tree, nil
}

const (
	elementPrefix = "(async()=>{var["
	elementSuffix = "]=0})"
)

// parseElement is the element of an array pattern that begins at an offset, with
// the places that it has in the text, or nil.
func parseElement(js string, at int) ast.Expression {
	length := elementLength(js[at:])
	before := at - len(elementPrefix) - 1 // a set leaves one place between two files
	if length < 0 || before < 0 {
		return nil
	}
	set := &file.FileSet{}
	set.AddFile(compiledName, js[:before])
	tree, err := parsePart(js, set, elementPrefix+js[at:at+length]+elementSuffix)
	if err != nil {
		return nil
	}
	var element ast.Expression
	eachNodeOf(tree.Body, func(x any) bool {
		if pattern, ok := x.(*ast.ArrayPattern); ok && element == nil && len(pattern.Elements) == 1 {
			element = pattern.Elements[0]
		}
		return element == nil
	})
	return element
}

// elementLength is how much of a text is before the comma or the bracket that ends
// its first element, or negative.
func elementLength(text string) int {
	c := newChecker(text, runtime.Limits{Nesting: len(text), Chain: len(text)})
	for c.pos < len(c.src) {
		if len(c.levels) == 1 && (c.src[c.pos] == ',' || c.src[c.pos] == ']') {
			return c.pos
		}
		if c.token() != "" {
			break
		}
	}
	return -1
}

// relational are the operators that the parser binds to the right: it reads
// a < b > c as a < (b > c).
var relational = []token.Token{token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL, token.IN, token.INSTANCEOF}

// associate binds such a chain to the left.
func associate(x *ast.BinaryExpression, source *file.File) {
	for slices.Contains(relational, x.Operator) {
		right, ok := x.Right.(*ast.BinaryExpression)
		if !ok || !slices.Contains(relational, right.Operator) || parenthesized(right, source) {
			return
		}
		left := &ast.BinaryExpression{Operator: x.Operator, Left: x.Left, Right: right.Left, Comparison: x.Comparison}
		x.Operator, x.Left, x.Right, x.Comparison = right.Operator, left, right.Right, right.Comparison
	}
}

// parenthesized says whether brackets hold both sides of an operator. A tree does
// not tell, and those around its left side alone look alike.
func parenthesized(x *ast.BinaryExpression, source *file.File) bool {
	text := source.Source()
	end := int(x.Right.Idx0()) - source.Base()
	open := int(x.Left.Idx0()) - source.Base()
	if open < 0 {
		return true // nodes such as new.target have no place
	}
	for open = beforeBlank(text, open) - 1; open >= 0 && text[open] == '('; open = beforeBlank(text, open) - 1 {
		c := newChecker(text[open:], runtime.Limits{Nesting: len(text), Chain: len(text)})
		for c.token() == "" && len(c.levels) > 1 && open+c.pos < end {
		}
		if len(c.levels) > 1 {
			return true
		}
	}
	return false
}

// beforeBlank is end without the space before it.
func beforeBlank(text string, end int) int { return len(strings.TrimRight(text[:end], " \t\n")) }
