package openapitools

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// synth makes values that fit a schema, for requests and answers nobody wrote.
type synth struct{ root *node }

// synthesise makes one value of a schema.
func synthesise(schema tools.JSON) tools.JSON {
	if schema.IsZero() {
		return tools.MustJSON(`{"anything":[1,"two",null]}`)
	}
	root := parse(schema)
	return tools.MustJSON(synth{root}.value(root, 0))
}

// parts are a schema and all that applies to the same value, one branch of each
// choice.
func (s synth) parts(n *node, depth int) []*node {
	if depth > 40 || !n.isObject() {
		return nil
	}
	all := []*node{n}
	if reference := n.str("$ref"); reference != "" {
		target, err := (&document{root: s.root}).target(reference)
		if err != nil {
			panic(err)
		}
		all = append(all, s.parts(target, depth+1)...)
	}
	for _, kid := range n.elements("allOf") {
		all = append(all, s.parts(kid, depth+1)...)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches := n.elements(keyword); len(branches) > 0 {
			all = append(all, s.parts(branches[0], depth+1)...)
		}
	}
	return all
}

func (s synth) value(n *node, depth int) string {
	parts := s.parts(n, 0)
	find := func(keyword string) *node {
		for _, p := range parts {
			if k := p.get(keyword); k != nil {
				return k
			}
		}
		return nil
	}
	if constant := find("const"); constant != nil {
		return constant.text
	}
	if enum := find("enum"); enum != nil {
		return enum.kids[0].text
	}
	kind := find("type").string()
	if list := find("type"); list.is(jsonscan.ArrayStart) {
		kind = list.kids[0].string()
	}
	switch {
	case kind == "object", kind == "" && find("properties") != nil:
		return s.object(parts, depth)
	case kind == "array":
		items := find("items")
		if depth >= 12 || items == nil {
			return "[]"
		}
		count := 1
		if least := find("minItems"); least != nil {
			count, _ = strconv.Atoi(least.text)
		}
		return "[" + strings.Repeat(s.value(items, depth+1)+",", max(count, 1)-1) + s.value(items, depth+1) + "]"
	case kind == "integer", kind == "number":
		if least := find("minimum"); least != nil {
			return least.text
		}
		return "1"
	case kind == "boolean":
		return "true"
	case kind == "null":
		return "null"
	}
	return s.text(find("format").string())
}

func (s synth) text(format string) string {
	texts := map[string]string{
		"date": "2026-01-02", "date-time": "2026-01-02T03:04:05Z", "uuid": "6f1b2a3c-0000-4000-8000-000000000001",
		"uri": "https://a.example/b", "email": "a@example.org",
	}
	if text := texts[format]; text != "" {
		return jsonscan.Quote(text)
	}
	return jsonscan.Quote("ä/ b")
}

// object has every property where the value is not deep yet, and the required
// ones below.
func (s synth) object(parts []*node, depth int) string {
	var required []string
	for _, p := range parts {
		for _, name := range p.elements("required") {
			required = append(required, name.string())
		}
	}
	o, done := objectWriter{}, map[string]bool{}
	for _, p := range parts {
		properties := p.get("properties")
		for i, name := range properties.members() {
			if !done[name] && (depth < 3 || slices.Contains(required, name)) {
				o.add(name, s.value(properties.kids[i], depth+1))
			}
			done[name] = true
		}
	}
	for _, name := range required {
		if !done[name] {
			panic(fmt.Sprintf("nothing says what %q is in %s", name, strings.TrimSpace(parts[0].text)))
		}
	}
	return o.close()
}
