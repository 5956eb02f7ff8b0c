package bindings

import (
	"slices"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// node is one value of a JSON document, with what a map[string]any would lose:
// the order of members and the text of literals.
type node struct {
	kind  jsonscan.Kind // ObjectStart, ArrayStart, String, Number, True, False, Null
	text  string        // the canonical JSON text of the whole value
	names []string      // of members, unescaped
	kids  []*node       // members or elements
	index map[string]int
}

// indexFrom is the number of members from which look-ups use a map.
const indexFrom = 12

// parse builds the tree of a JSON text; nil for no value. It does not recurse.
func parse(source tools.JSON) *node {
	text := source.String()
	scan := jsonscan.New(text)
	type open struct {
		node  *node
		start int
	}
	var stack []open
	for {
		tok, err := scan.Next()
		if err != nil || tok.Kind == jsonscan.EOF {
			return nil // only the zero JSON is no JSON text
		}
		var done *node
		switch tok.Kind {
		case jsonscan.Key:
			top := stack[len(stack)-1].node
			top.names = append(top.names, jsonscan.Unquote(tok.Raw))
			continue
		case jsonscan.ObjectStart, jsonscan.ArrayStart:
			stack = append(stack, open{&node{kind: tok.Kind}, tok.Offset})
			continue
		case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			done = top.node
			done.text = text[top.start : tok.Offset+1]
			done.buildIndex()
		default:
			done = &node{kind: tok.Kind, text: tok.Raw}
		}
		if len(stack) == 0 {
			return done
		}
		top := stack[len(stack)-1].node
		top.kids = append(top.kids, done)
	}
}

func (n *node) buildIndex() {
	if len(n.names) < indexFrom {
		return
	}
	n.index = make(map[string]int, len(n.names))
	for i, name := range n.names {
		n.index[name] = i
	}
}

// get is the member of that name, nil if n is no object or has none.
func (n *node) get(name string) *node {
	if n == nil || n.kind != jsonscan.ObjectStart {
		return nil
	}
	i := -1
	if n.index != nil {
		if found, ok := n.index[name]; ok {
			i = found
		}
	} else {
		i = slices.Index(n.names, name)
	}
	if i < 0 {
		return nil
	}
	return n.kids[i]
}

func (n *node) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return n.get(name) != nil })
}

// is reports whether n is a value of that kind; false for nil.
func (n *node) is(kind jsonscan.Kind) bool { return n != nil && n.kind == kind }

// object is the member of that name if it is an object, else nil.
func (n *node) object(name string) *node {
	if m := n.get(name); m.is(jsonscan.ObjectStart) {
		return m
	}
	return nil
}

// elements are the elements of the member of that name if it is an array.
func (n *node) elements(name string) []*node {
	if m := n.get(name); m.is(jsonscan.ArrayStart) {
		return m.kids
	}
	return nil
}

// str is the text of the member of that name, "" unless it is a string.
func (n *node) str(name string) string { return n.get(name).unquote() }

// unquote is the text of a string, "" for anything else.
func (n *node) unquote() string {
	if !n.is(jsonscan.String) {
		return ""
	}
	return jsonscan.Unquote(n.text)
}

// size is a non-negative whole number below a million, or false: sizes beyond
// that are printed as written and never computed with.
func (n *node) size() (int, bool) {
	if !n.is(jsonscan.Number) || len(n.text) > 6 {
		return 0, false
	}
	value := 0
	for i := range len(n.text) {
		c := n.text[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		value = value*10 + int(c-'0')
	}
	return value, true
}

// isWithin reports whether n is nested at most that deep.
func (n *node) isWithin(levels int) bool {
	if levels == 0 {
		return len(n.kids) == 0
	}
	for _, kid := range n.kids {
		if !kid.isWithin(levels - 1) {
			return false
		}
	}
	return true
}
