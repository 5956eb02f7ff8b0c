package openapitools

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// direction is who sends the values of a schema.
type direction bool

const (
	request  direction = true
	response direction = false
)

// maxSchemaDepth is how deep a schema may be nested; the checker has a limit of
// its own.
const maxSchemaDepth = 150

// schemaWriter writes schemas of a document as parts of one JSON Schema of draft
// 2020-12. What they refer to becomes a member of its $defs.
type schemaWriter struct {
	doc   *document
	dir   direction
	names map[*node]string // of definitions
	taken map[string]bool
	queue []*node // definitions that are not written yet
	left  *int    // bytes that all writers may still write, roughly
	own   int     // and this one
	cut   bool    // what a response refers to was left out, since it is too large
}

func newSchemaWriter(doc *document, dir direction, left *int) *schemaWriter {
	w := &schemaWriter{doc: doc, dir: dir, names: map[*node]string{}, taken: map[string]bool{}, left: left, own: maxOutput}
	if dir == request {
		w.own = maxInput
	}
	return w
}

// How the members of a schema are written. What is in no list is left out: it
// constrains nothing.
var (
	// plainKeywords are kept as they are.
	plainKeywords = set("type", "enum", "const", "title", "description", "default", "example", "examples", "deprecated", "format",
		"pattern", "minLength", "maxLength", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
		"minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties", "dependentRequired",
		"readOnly", "writeOnly", "contentEncoding", "contentMediaType")
	// schemaKeywords hold a schema.
	schemaKeywords = set("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties", "contentSchema")
	listKeywords = set("allOf", "anyOf", "oneOf", "prefixItems")
	mapKeywords  = set("properties", "patternProperties", "dependentSchemas")
	// foreignKeywords change what the rest of a schema means, and cannot be
	// taken out of the document they stand in.
	foreignKeywords = set("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor")
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// schema is the text of one schema; description is what is said of the value in
// the place where the schema stands.
func (w *schemaWriter) schema(n *node, description string) (string, error) {
	return w.write(n, description, 0)
}

func (w *schemaWriter) write(n *node, description string, depth int) (string, error) {
	switch {
	case depth > maxSchemaDepth:
		return "", fmt.Errorf("a schema is nested deeper than %d levels", maxSchemaDepth)
	case n == nil, n.is(jsonscan.True):
		n = &node{kind: jsonscan.ObjectStart}
	case n.is(jsonscan.False):
		return "false", nil
	case !n.isObject():
		return "", fmt.Errorf("a schema is %.40s and no object", n.text)
	}
	o := objectWriter{}
	if text := joinTexts(description, n.str("description")); text != "" {
		o.add("description", jsonscan.Quote(text))
	}
	reference := n.get("$ref")
	if reference != nil {
		name, err := w.define(reference)
		if err != nil {
			return "", err
		}
		o.add("$ref", jsonscan.Quote("#/$defs/"+escapeFragment(name)))
	}
	if err := w.spend(schemaCost + len(o.text)); err != nil {
		return "", err
	}
	if reference == nil || !w.doc.old {
		if err := w.members(&o, n, depth); err != nil {
			return "", err
		}
	}
	text := o.close()
	if n.isTrue("nullable") && (reference == nil || !w.doc.old) {
		text = `{"anyOf":[` + text + `,{"type":"null"}]}`
	}
	return text, nil
}

// schemaCost is what a schema costs beside its texts, in bytes.
const schemaCost = 16

// spend takes from the budgets. What schemas refer to is written for each tool
// that needs it, so a small document can ask for much.
func (w *schemaWriter) spend(bytes int) error {
	w.own -= bytes
	*w.left -= bytes
	switch {
	case w.own < 0:
		return errSchemaSize
	case *w.left < 0:
		return errSchemasSize
	}
	return nil
}

var (
	errSchemaSize  = fmt.Errorf("its schema is larger than %d KiB", maxInput>>10)
	errSchemasSize = fmt.Errorf("the schemas of all tools together are larger than %d MiB", maxSchemas>>20)
)

func isTooLarge(err error) bool {
	return errors.Is(err, errSchemaSize) || errors.Is(err, errSchemasSize)
}

// joinTexts is what is said in one place and what is said where it refers to.
func joinTexts(a, b string) string {
	if a == "" || b == "" || a == b {
		return a + strings.TrimPrefix(b, a)
	}
	return a + " " + b
}

// members writes what stands in a schema beside $ref and description.
func (w *schemaWriter) members(o *objectWriter, n *node, depth int) error {
	for i, keyword := range n.names {
		kid := n.kids[i]
		var text string
		var err error
		switch {
		case keyword == "description", keyword == "$ref":
			continue
		case keyword == "required":
			text = w.required(n, kid)
			err = w.spend(len(text))
		case keyword == "minimum", keyword == "maximum", keyword == "exclusiveMinimum", keyword == "exclusiveMaximum":
			text = bound(n, keyword, kid)
			err = w.spend(len(text))
		case keyword == "$schema" && !knownDialect(kid.string()):
			return fmt.Errorf("a schema is of the dialect %.100s; that of OpenAPI 3.1 and JSON Schema 2020-12 are read", kid.text)
		case foreignKeywords[keyword]:
			return fmt.Errorf("a schema has the keyword %s, which is not supported", keyword)
		case plainKeywords[keyword]:
			text, err = kid.text, w.spend(len(kid.text))
		case schemaKeywords[keyword]:
			text, err = w.write(kid, "", depth+1)
		case listKeywords[keyword]:
			text, err = w.list(keyword, kid, depth)
		case mapKeywords[keyword]:
			text, err = w.group(keyword, kid, depth)
		}
		if err != nil {
			return err
		}
		if text != "" {
			o.add(keyword, text)
		}
	}
	return nil
}

// bound writes a limit. In 3.0 the exclusive ones are booleans that say what the
// others mean.
func bound(n *node, keyword string, limit *node) string {
	exclusive := map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
	inclusive := map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
	switch {
	case n.isTrue(exclusive[keyword]), limit.is(jsonscan.False):
		return ""
	case limit.is(jsonscan.True):
		if other := n.get(inclusive[keyword]); other != nil {
			return other.text
		}
		return ""
	}
	return limit.text
}

func (w *schemaWriter) list(keyword string, n *node, depth int) (string, error) {
	if !n.is(jsonscan.ArrayStart) {
		return "", fmt.Errorf("the keyword %s of a schema is no list", keyword)
	}
	parts := make([]string, len(n.kids))
	for i, kid := range n.kids {
		var err error
		if parts[i], err = w.write(kid, "", depth+1); err != nil {
			return "", err
		}
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

// group writes schemas by name. A request has no properties that only a response
// may have.
func (w *schemaWriter) group(keyword string, n *node, depth int) (string, error) {
	if !n.isObject() {
		return "", fmt.Errorf("the keyword %s of a schema is no object", keyword)
	}
	o := objectWriter{}
	for i, name := range n.names {
		if keyword == "properties" && w.dir == request && w.oneWay(n.kids[i]) {
			continue
		}
		text, err := w.write(n.kids[i], "", depth+1)
		if err == nil {
			err = w.spend(len(name))
		}
		if err != nil {
			return "", err
		}
		o.add(name, text)
	}
	return o.close(), nil
}

// required leaves out the properties that only the other side sends.
func (w *schemaWriter) required(schema, names *node) string {
	if !names.is(jsonscan.ArrayStart) { // a boolean, as of old: it says nothing here
		return ""
	}
	var kept []string
	for _, name := range names.kids {
		if !w.oneWay(schema.get("properties").get(jsonscan.Unquote(name.text))) {
			kept = append(kept, name.text)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return "[" + strings.Join(kept, ",") + "]"
}

// oneWay reports whether a property is sent by the other side only.
func (w *schemaWriter) oneWay(property *node) bool {
	keyword := "writeOnly"
	if w.dir == request {
		keyword = "readOnly"
	}
	if property.isTrue(keyword) {
		return true
	}
	meant, err := w.doc.follow(property)
	return err == nil && meant.isTrue(keyword)
}

// define is the name of the definition a reference means.
func (w *schemaWriter) define(reference *node) (string, error) {
	if !reference.is(jsonscan.String) {
		return "", errors.New("a $ref is no text")
	}
	target, err := w.doc.target(reference.string())
	if err != nil {
		return "", err
	}
	if name, ok := w.names[target]; ok {
		return name, nil
	}
	steps := strings.Split(reference.string(), "/")
	base := unescapeStep.Replace(steps[len(steps)-1])
	name := base
	for i := 2; w.taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	w.taken[name] = true
	w.names[target] = name
	w.queue = append(w.queue, target)
	return name, nil
}

// definitions writes what is referred to, "" if nothing is. Of a response that is
// too large, what is referred to last may be anything.
func (w *schemaWriter) definitions() (string, error) {
	o := objectWriter{}
	for len(w.queue) > 0 {
		n := w.queue[0]
		w.queue = w.queue[1:]
		text, err := "true", error(nil)
		if !w.cut {
			text, err = w.schema(n, "")
		}
		if w.dir == response && isTooLarge(err) {
			w.cut, text, err = true, "true", nil
		}
		if err != nil {
			return "", fmt.Errorf("in %q: %w", w.names[n], err)
		}
		o.add(w.names[n], text)
	}
	if o.text == nil {
		return "", nil
	}
	return o.close(), nil
}

// whole is a schema with its definitions.
func (w *schemaWriter) whole(text string) (string, error) {
	defs, err := w.definitions()
	if err != nil || defs == "" {
		return text, err
	}
	if text[0] != '{' {
		return text, nil // false refers to nothing
	}
	return `{"$defs":` + defs + "," + strings.TrimPrefix(text, "{"), nil
}

// escapeFragment writes a name as a step of a pointer in a URL.
func escapeFragment(name string) string {
	return escape(escapeStep.Replace(name), "")
}

// objectWriter writes the members of a JSON object.
type objectWriter struct{ text []byte }

func (o *objectWriter) add(name, value string) {
	if o.text == nil {
		o.text = append(o.text, '{')
	} else {
		o.text = append(o.text, ',')
	}
	o.text = append(jsonscan.AppendQuote(o.text, name), ':')
	o.text = append(o.text, value...)
}

func (o *objectWriter) close() string {
	if o.text == nil {
		return "{}"
	}
	return string(append(o.text, '}'))
}

// union is a schema of the values any of several accepts.
func union(schemas []string) string {
	var distinct []string
	for _, s := range schemas {
		if !slices.Contains(distinct, s) {
			distinct = append(distinct, s)
		}
	}
	if len(distinct) == 1 {
		return distinct[0]
	}
	return `{"anyOf":[` + strings.Join(distinct, ",") + `]}`
}
