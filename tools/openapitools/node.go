package openapitools

import (
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// node is one value of a JSON text, with what a map would lose: the order of
// members and the text of numbers. A nil node is a value that is not there.
type node struct {
	kind  jsonscan.Kind
	text  string   // the canonical JSON text
	names []string // of members, unescaped
	kids  []*node  // members or elements
	index map[string]int
}

// indexFrom is the number of members from which look-ups use a map.
const indexFrom = 12

// parse builds the tree of a JSON text; nil for no value.
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

func (n *node) is(kind jsonscan.Kind) bool { return n != nil && n.kind == kind }

func (n *node) isObject() bool { return n.is(jsonscan.ObjectStart) }

// get is a member, nil if there is none.
func (n *node) get(name string) *node {
	if !n.isObject() {
		return nil
	}
	if n.index != nil {
		if i, ok := n.index[name]; ok {
			return n.kids[i]
		}
		return nil
	}
	for i, other := range n.names {
		if other == name {
			return n.kids[i]
		}
	}
	return nil
}

// members are the names of an object's.
func (n *node) members() []string {
	if n == nil {
		return nil
	}
	return n.names
}

// str is a string member, "" if there is none.
func (n *node) str(name string) string { return n.get(name).string() }

// string is the characters of a string, "" of anything else.
func (n *node) string() string {
	if !n.is(jsonscan.String) {
		return ""
	}
	return strings.ToValidUTF8(jsonscan.Unquote(n.text), "\uFFFD")
}

// isTrue reports whether a member is true.
func (n *node) isTrue(name string) bool { return n.get(name).is(jsonscan.True) }

// elements are those of an array member.
func (n *node) elements(name string) []*node {
	if list := n.get(name); list.is(jsonscan.ArrayStart) {
		return list.kids
	}
	return nil
}

// Steps of a pointer are names with these two characters escaped.
var (
	escapeStep   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeStep = strings.NewReplacer("~1", "/", "~0", "~")
)

// at follows an RFC 6901 pointer; nil if it leads nowhere.
func (n *node) at(pointer string) *node {
	if pointer == "" {
		return n
	}
	for _, step := range strings.Split(pointer, "/")[1:] {
		if n.is(jsonscan.ArrayStart) {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.kids) {
				return nil
			}
			n = n.kids[i]
		} else if n = n.get(unescapeStep.Replace(step)); n == nil {
			return nil
		}
	}
	return n
}
