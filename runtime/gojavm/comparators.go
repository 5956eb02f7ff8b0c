package gojavm

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja/unistring"
)

const (
	// worthReading is the length of a list from which the comparator's text is read:
	// that takes as long as a few calls.
	worthReading = 8
	// maxComparator is the longest text of a comparator that is read.
	maxComparator = 200
)

// difference is a comparator that subtracts what is found on a path of one element
// from the same of the other, such as (a, b) => b.size - a.size, and does nothing
// else.
type difference struct {
	path  []step
	falls bool // the first from the second
}

// readDifference reads the text of a function. Where it does not know every word it is
// not ok: the function has to be called.
func readDifference(source string) (d difference, ok bool) {
	c := comparatorText{rest: source}
	if len(source) > maxComparator {
		return d, false
	}
	isFunction := c.take("function")
	if isFunction && c.next() != "(" {
		c.name()
	}
	c.need("(")
	first := c.name()
	c.need(",")
	second := c.name()
	c.need(")")
	if !isFunction {
		c.need("=>")
	}
	inBlock := c.take("{")
	if inBlock {
		c.need("return")
		c.sameLine()
	}
	left, from := c.operand()
	c.need("-")
	right, subtracted := c.operand()
	if inBlock {
		c.take(";")
		c.need("}")
	}
	d = difference{path: from, falls: left == second}
	known := first != second && slices.Contains([]string{first, second}, left) && slices.Contains([]string{first, second}, right)
	return d, !c.failed && c.next() == "" && known && left != right && slices.EqualFunc(from, subtracted, sameStep)
}

func sameStep(a, b step) bool { return a.name == b.name && a.index == b.index }

// comparatorText reads words in ASCII. After what it does not expect it has failed for
// good.
type comparatorText struct {
	rest   string
	failed bool
}

// next is the word that comes next. The space before it is taken.
func (c *comparatorText) next() string {
	for c.rest != "" && isSpace(c.rest[0]) {
		c.rest = c.rest[1:]
	}
	n := 0
	for n < len(c.rest) && isNameByte(c.rest[n]) {
		n++
	}
	if n == 0 && len(c.rest) > 0 {
		n = 1
	}
	if n == 1 && len(c.rest) > 1 && c.rest[:2] == "=>" {
		n = 2
	}
	return c.rest[:n]
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func isNameByte(b byte) bool {
	return b == '_' || b == '$' || isDigit(rune(b)) || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// take takes a word if it comes next.
func (c *comparatorText) take(word string) bool {
	if c.next() != word {
		return false
	}
	c.rest = c.rest[len(word):]
	return true
}

func (c *comparatorText) need(word string) {
	c.failed = !c.take(word) || c.failed
}

// name takes a name, any that could be one of a property.
func (c *comparatorText) name() string {
	word := c.next()
	if word == "" || !isNameByte(word[0]) || isDigit(rune(word[0])) {
		c.failed = true
		return ""
	}
	c.rest = c.rest[len(word):]
	return word
}

// sameLine fails before the end of a line, where return ends too.
func (c *comparatorText) sameLine() {
	before := c.rest
	c.next()
	c.failed = c.failed || strings.ContainsAny(before[:len(before)-len(c.rest)], "\r\n")
}

// operand takes a name and the path behind it.
func (c *comparatorText) operand() (root string, path []step) {
	root = c.name()
	for !c.failed {
		switch {
		case c.take("."):
			name := c.name()
			path = append(path, step{name: name, key: reflect.ValueOf(unistring.String(name))})
		case c.take("["):
			path = append(path, step{index: c.index()})
			c.need("]")
		default:
			return root, path
		}
	}
	return root, path
}

// index takes an index as it is written in decimal digits.
func (c *comparatorText) index() int {
	word := c.next()
	n, err := strconv.Atoi(word)
	c.failed = c.failed || err != nil || n < 0 || strconv.Itoa(n) != word
	c.rest = c.rest[len(word):]
	return n
}
