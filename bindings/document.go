package bindings

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// document is one schema document and what its references can reach. Nothing is
// ever loaded: a reference that leads out of the document has no target.
type document struct {
	root      *node
	resources map[string]*node   // by absolute URI, without fragment; "" is the root
	anchors   map[string]*node   // by URI + "#" + anchor
	bases     map[*node]*url.URL // of every schema; nil when there are no references
}

// The keywords that hold schemas, by the shape they hold them in. "items" and
// "dependencies" come in two shapes and are asked by kind.
var (
	schemaKeywords = []string{"additionalProperties", "items", "additionalItems", "contains", "propertyNames",
		"not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "contentSchema"}
	schemaListKeywords = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaMapKeywords  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	referenceKeywords  = []string{"$ref", "$dynamicRef", "$recursiveRef"}
)

func newDocument(source tools.JSON) *document {
	d := &document{root: parse(source)}
	if mayRefer(source.String()) {
		d.index()
	}
	return d
}

// mayRefer reports whether a schema's text looks as if it had references.
func mayRefer(text string) bool {
	return slices.ContainsFunc(referenceKeywords, func(keyword string) bool {
		return strings.Contains(text, `"`+keyword+`"`)
	})
}

// index records the base URI, the identifier and the anchors of every schema.
func (d *document) index() {
	d.resources = map[string]*node{"": d.root}
	d.anchors = map[string]*node{}
	d.bases = map[*node]*url.URL{}
	type place struct {
		schema *node
		base   *url.URL
	}
	todo := []place{{d.root, &url.URL{}}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		base := d.identify(p.schema, p.base)
		d.bases[p.schema] = base
		for _, keyword := range schemaKeywords {
			if sub := p.schema.get(keyword); sub.is(jsonscan.ObjectStart) {
				todo = append(todo, place{sub, base})
			}
		}
		for _, keyword := range schemaListKeywords {
			for _, sub := range p.schema.elements(keyword) {
				todo = append(todo, place{sub, base})
			}
		}
		for _, keyword := range schemaMapKeywords {
			if group := p.schema.object(keyword); group != nil {
				for _, sub := range group.kids {
					todo = append(todo, place{sub, base})
				}
			}
		}
	}
}

// identify records what names schema and returns the base URI inside it.
func (d *document) identify(schema *node, base *url.URL) *url.URL {
	if id := schema.str("$id"); id != "" {
		if uri, err := base.Parse(id); err == nil {
			if uri.Fragment != "" { // draft-07 wrote anchors this way
				d.anchors[withoutFragment(uri)+"#"+uri.Fragment] = schema
			} else {
				base = uri
				d.resources[withoutFragment(uri)] = schema
			}
		}
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if anchor := schema.str(keyword); anchor != "" {
			d.anchors[withoutFragment(base)+"#"+anchor] = schema
		}
	}
	if schema.get("$recursiveAnchor").is(jsonscan.True) {
		d.anchors[withoutFragment(base)+"#"] = schema
	}
	return base
}

func withoutFragment(uri *url.URL) string {
	bare := *uri
	bare.Fragment, bare.RawFragment = "", ""
	return bare.String()
}

// resolve finds what a reference inside schema means, nil if that is not in
// this document.
func (d *document) resolve(schema *node, reference string) *node {
	base := d.bases[schema]
	if base == nil {
		base = &url.URL{} // a schema in a place no keyword names
	}
	uri, err := base.Parse(reference)
	if err != nil {
		return nil
	}
	resource := d.resources[withoutFragment(uri)]
	switch {
	case uri.Fragment == "":
		return resource
	case strings.HasPrefix(uri.Fragment, "/"):
		return resource.at(uri.Fragment)
	default:
		return d.anchors[withoutFragment(uri)+"#"+uri.Fragment]
	}
}

// at follows an RFC 6901 pointer; nil if it leads nowhere.
func (n *node) at(pointer string) *node {
	for _, step := range strings.Split(pointer, "/")[1:] {
		if n.is(jsonscan.ArrayStart) {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.kids) {
				return nil
			}
			n = n.kids[i]
			continue
		}
		n = n.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		if n == nil {
			return nil
		}
	}
	return n
}

// targets are the schemas that schema's references mean, with the text of each
// reference. Targets are nil where the document has none.
func (d *document) targets(schema *node) (targets []*node, references []string) {
	if d.bases == nil {
		return nil, nil
	}
	for _, keyword := range referenceKeywords {
		if r := schema.get(keyword); r.is(jsonscan.String) {
			targets = append(targets, d.resolve(schema, r.unquote()))
			references = append(references, r.unquote())
		}
	}
	return targets, references
}
