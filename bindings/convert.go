package bindings

import (
	"slices"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// converter turns the schemas of one document into shapes. What it cannot say
// in a type it leaves to the doc line (see notes.go); nothing makes it fail.
type converter struct {
	*survey
	*words
	named map[*node]*namedType
	depth int // of the schema in hand, in the type that is being made
}

// maxNesting is how deep a type may be nested; compilers have bounds of their
// own. What is deeper is unknown, which is said in its place.
const maxNesting = 200

// shapeOf is the type of the values a schema accepts, as it is referred to.
func (c *converter) shapeOf(n *node) *shape {
	if t := c.named[n]; t != nil {
		return &shape{form: nameForm, named: t}
	}
	return c.define(n)
}

// define is the type itself. It recurses as deep as the schema is nested, and as
// references lead on to schemas that stand in one place only.
func (c *converter) define(n *node) *shape {
	if c.depth == maxNesting {
		return c.tooDeep
	}
	c.depth++
	defer func() { c.depth-- }()
	switch {
	case n.is(jsonscan.False):
		return c.never
	case !n.is(jsonscan.ObjectStart):
		return c.any
	}
	var parts []*shape
	for _, l := range c.links[n] {
		if l.target != nil {
			parts = append(parts, c.shapeOf(l.target))
		}
	}
	parts = append(parts, c.base(n))
	for _, sub := range c.flatten(n.elements("allOf"), "allOf") {
		parts = append(parts, c.shapeOf(sub))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if branches := c.flatten(n.elements(keyword), keyword); len(branches) > 0 {
			parts = append(parts, c.join(c.shapesOf(branches)...))
		}
	}
	s := c.meet(parts...)
	if n.get("nullable").is(jsonscan.True) { // OpenAPI 3.0
		s = c.join(s, c.null)
	}
	return s
}

func (c *converter) shapesOf(schemas []*node) []*shape {
	shapes := make([]*shape, len(schemas))
	for i, n := range schemas {
		shapes[i] = c.shapeOf(n)
	}
	return shapes
}

// flatten replaces branches that are nothing but a group of the same keyword by
// their own branches, so that chains of any length cost one pass.
func (c *converter) flatten(branches []*node, keyword string) []*node {
	var flat []*node
	todo := slices.Clone(branches)
	slices.Reverse(todo)
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		inner := n.elements(keyword)
		if len(inner) == 0 || len(n.names) != 1 || c.named[n] != nil {
			flat = append(flat, n)
			continue
		}
		for _, sub := range slices.Backward(inner) {
			todo = append(todo, sub)
		}
	}
	return flat
}

// base is what a schema says without its references and combinations.
func (c *converter) base(n *node) *shape {
	if constant := n.get("const"); constant != nil {
		return c.literal(constant)
	}
	if values := n.get("enum"); values.is(jsonscan.ArrayStart) {
		literals := make([]*shape, len(values.kids))
		for i, value := range values.kids {
			literals[i] = c.literal(value)
		}
		return c.join(literals...)
	}
	types := typeNames(n)
	if len(types) == 0 {
		return c.any
	}
	shapes := make([]*shape, len(types))
	for i, typ := range types {
		shapes[i] = c.typed(n, typ)
	}
	return c.join(shapes...)
}

// The keywords by which a schema without a type shows what it means.
var (
	objectKeywords = []string{"properties", "required", "additionalProperties", "patternProperties", "propertyNames",
		"minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties"}
	arrayKeywords = []string{"items", "prefixItems", "additionalItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"}
)

// typeNames are the types a schema names, or shows by its keywords. None: any.
func typeNames(n *node) []string {
	switch typ := n.get("type"); {
	case typ.is(jsonscan.String):
		return []string{typ.unquote()}
	case typ.is(jsonscan.ArrayStart):
		names := make([]string, len(typ.kids))
		for i, t := range typ.kids {
			names[i] = t.unquote()
		}
		return names
	}
	var names []string
	if n.has(objectKeywords...) {
		names = append(names, "object")
	}
	if n.has(arrayKeywords...) {
		names = append(names, "array")
	}
	return names
}

func (c *converter) typed(n *node, typ string) *shape {
	switch typ {
	case "string":
		return c.string
	case "number", "integer":
		return c.number
	case "boolean":
		return c.boolean
	case "null":
		return c.null
	case "object":
		return c.objectShape(n)
	case "array":
		return c.arrayShape(n)
	default:
		return c.any
	}
}

func (c *converter) objectShape(n *node) *shape {
	s := &shape{form: objectForm, extra: c.others(n)}
	required := map[string]bool{}
	var names []string
	for _, r := range n.elements("required") {
		if key := r.unquote(); r.is(jsonscan.String) && !required[key] {
			required[key] = true
			names = append(names, key)
		}
	}
	properties := n.object("properties")
	if properties != nil {
		for i, key := range properties.names {
			sub := properties.kids[i]
			s.fields = append(s.fields, field{key, required[key], c.shapeOf(sub), c.docAt(key, sub)})
		}
	}
	for _, key := range names { // required, but declared elsewhere or nowhere
		if properties.get(key) == nil {
			s.fields = append(s.fields, field{key: key, required: true, typ: c.any})
		}
	}
	return s
}

// others is the type of the properties that are not declared one by one, nil if
// there can be none.
func (c *converter) others(n *node) *shape {
	var rest *shape
	switch additional := n.get("additionalProperties"); {
	case additional.is(jsonscan.False):
	case additional == nil && n.get("unevaluatedProperties").is(jsonscan.False):
	case additional.is(jsonscan.ObjectStart):
		rest = c.shapeOf(additional)
	case additional != nil:
		rest = c.any
	default:
		rest = c.open
	}
	patterns := n.object("patternProperties")
	if patterns == nil || len(patterns.kids) == 0 {
		return rest
	}
	shapes := c.shapesOf(patterns.kids)
	if rest != nil && !rest.implied {
		shapes = append(shapes, rest)
	}
	return c.join(shapes...)
}

// arrayShape is T[], or a tuple where the elements are declared one by one: by
// prefixItems (2020-12) or by an array of items (draft-07).
func (c *converter) arrayShape(n *node) *shape {
	first, rest := n.elements("prefixItems"), n.get("items")
	if rest.is(jsonscan.ArrayStart) {
		first, rest = rest.kids, n.get("additionalItems")
	}
	if len(first) == 0 {
		switch {
		case rest.is(jsonscan.False):
			return &shape{form: tupleForm}
		case rest.is(jsonscan.ObjectStart):
			return &shape{form: listForm, parts: []*shape{c.shapeOf(rest)}}
		}
		return &shape{form: listForm, parts: []*shape{c.any}}
	}
	s := &shape{form: tupleForm, parts: c.shapesOf(first), optional: len(first)}
	if least, ok := n.get("minItems").size(); ok {
		s.optional = min(least, len(first))
	}
	switch {
	case rest.is(jsonscan.True):
		s.rest = c.any
	case rest.is(jsonscan.ObjectStart):
		s.rest = c.shapeOf(rest)
	}
	return s
}
