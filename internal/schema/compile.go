// Package schema checks JSON values against JSON Schemas and says what is wrong
// in words a model can act on.
//
// Schemas come from servers and documents nobody here vouches for, and values
// from programs a model wrote, so everything is bounded: nothing is loaded, no
// number is expanded, no check recurses or runs without limit. The grammar of
// schemas, their references and drafts are the work of a library
// (santhosh-tekuri/jsonschema), but for the plain schemas that nearly all are,
// which are read here since the library is slow; the check itself is done here
// for all, since the library's own can neither be bounded nor ordered.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// Limits of a schema's text. The largest among those of a dozen public tool
// servers has some 120 objects and arrays.
const (
	maxText       = 2 << 20
	maxDepth      = 200
	maxContainers = 10_000
	maxForeign    = 2_000    // of those for the library, whose time grows with the square
	maxPointers   = 16 << 20 // characters of all pointers together
	maxExponent   = 400      // of a number, where float64 ends
	maxDigits     = 1_000
)

// longestShown is how much of a pointer or an address of a schema errors show.
const longestShown = 200

// docURL is the address a schema is given; nothing is ever fetched from it.
const docURL = "schema:///schema"

// Schema is a compiled JSON Schema, safe for concurrent use. A nil *Schema
// allows every value.
type Schema struct {
	root    *rule
	dynamic bool
	tracks  bool
}

// Error says why a schema is not accepted.
type Error struct {
	Pointer string // RFC 6901 pointer into the schema, "" for the root or unknown
	Problem string
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return e.Problem
	}
	return "at " + short(e.Pointer, longestShown) + ": " + e.Problem
}

// compile is Compile without the memory of earlier ones.
func compile(text string) (s *Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, &Error{Problem: "the schema could not be compiled; simplify it"}
		}
	}()
	doc, size, err := parseSchema(text)
	if err != nil {
		return nil, err
	}
	s, odd := compilePlain(doc)
	if s != nil {
		return s, nil
	}
	if size.containers > maxForeign {
		return nil, &Error{doc.pointerTo(odd, nil), fmt.Sprintf("the schema has more than %d objects and arrays; one as large must be of draft 2020-12 or draft-07, without $id, anchors and dynamic references, and without a fault", maxForeign)}
	}
	return compileAny(doc)
}

// compileAny has the library compile a schema.
func compileAny(doc *value) (*Schema, error) {
	patterns := &patternCompiler{left: largestSum}
	compiler := newCompiler(patterns)
	if err := compiler.AddResource(docURL, doc.toAny()); err != nil {
		return nil, &Error{Problem: "the schema could not be read"}
	}
	compiled, err := compiler.Compile(docURL)
	if patterns.refused != nil {
		return nil, &Error{Problem: patterns.refused.problem}
	}
	if err != nil {
		return nil, explain(err, doc, compiler)
	}
	l := newLowering(doc, docURL)
	root := l.rule(compiled)
	l.finish()
	if l.dynamic {
		l.addAnchors(compiler)
	}
	if loops(slices.Collect(maps.Values(l.rules))) {
		return nil, &Error{Problem: "the schema refers to itself without going into the value; a reference loop needs properties or items in between"}
	}
	return &Schema{root: root, dynamic: l.dynamic, tracks: l.tracks}, nil
}

func newCompiler(patterns *patternCompiler) *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(patterns.compile)
	return c
}

// noLoader refuses every address.
type noLoader struct{}

var errNotLoaded = errors.New("nothing is loaded")

func (noLoader) Load(string) (any, error) { return nil, errNotLoaded }

// addAnchors compiles the dynamic anchors and the embedded resources nothing
// refers to statically.
func (l *lowering) addAnchors(c *jsonschema.Compiler) {
	var walk func(v *value, pointer string)
	walk = func(v *value, pointer string) {
		if v.isObject() && (v.get("$dynamicAnchor") != nil || v.get("$id") != nil) {
			if s, err := c.Compile(docURL + "#" + pointer); err == nil {
				l.rule(s)
			}
		}
		for i := range v.items {
			walk(&v.items[i], pointer+"/"+tokenOf(v, i))
		}
	}
	walk(l.doc, "")
	l.finish()
}

// parseSchema reads a schema's text and refuses what would be costly.
func parseSchema(text string) (doc *value, size measure, err error) {
	if len(text) > maxText {
		return nil, size, &Error{Problem: fmt.Sprintf("the schema has %d bytes; at most %d are accepted", len(text), maxText)}
	}
	doc, err = parse(text)
	if err != nil {
		return nil, size, &Error{Problem: err.Error()}
	}
	if !doc.isObject() && doc.kind != jsonscan.True && doc.kind != jsonscan.False {
		return nil, size, &Error{Problem: "a schema is an object, true or false, but this is " + describe(doc)}
	}
	if err := size.value(doc, nil, 0); err != nil {
		return nil, size, err
	}
	return doc, size, nil
}

// measure adds up what compiling a schema will cost.
type measure struct{ containers, pointers int }

func (m *measure) value(v *value, at *path, depth int) error {
	switch {
	case v.isNumber():
		d := parseDecimal(v.raw)
		if len(d.digits) > maxDigits || d.exp > maxExponent || d.exp < -maxExponent {
			return &Error{at.pointer(), fmt.Sprintf("the number %s is too long or too large for a schema", short(v.raw, 24))}
		}
		return nil
	case !v.isObject() && !v.isArray():
		return nil
	}
	m.containers++
	m.pointers += depth
	if m.containers > maxContainers || m.pointers > maxPointers {
		return &Error{Problem: fmt.Sprintf("the schema is too large: it has more than %d objects and arrays or very long names", maxContainers)}
	}
	for i := range v.items {
		child := at.child(v, i)
		if child.depth > maxDepth {
			return &Error{Problem: fmt.Sprintf("the schema is nested deeper than %d levels", maxDepth)}
		}
		if err := m.value(&v.items[i], child, depth+1+len(tokenOf(v, i))); err != nil {
			return err
		}
	}
	return nil
}

// explain puts the library's error into words.
func explain(err error, doc *value, compiler *jsonschema.Compiler) error {
	var invalid *jsonschema.SchemaValidationError
	var load *jsonschema.LoadURLError
	var re *jsonschema.InvalidRegexError
	var noPointer *jsonschema.JSONPointerNotFoundError
	var badPointer *jsonschema.InvalidJsonPointerError
	var noAnchor *jsonschema.AnchorNotFoundError
	var draft *jsonschema.UnsupportedDraftError
	var duplicateID *jsonschema.DuplicateIDError
	var duplicateAnchor *jsonschema.DuplicateAnchorError
	switch {
	case errors.As(err, &invalid):
		return explainInvalid(invalid, doc, compiler)
	case errors.As(err, &load) && isDraft(doc, load.URL), errors.As(err, &draft):
		return &Error{"/$schema", "unknown draft; use https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#"}
	case errors.As(err, &load):
		return outside(load.URL)
	case errors.As(err, &noPointer):
		return missing(noPointer.URL)
	case errors.As(err, &badPointer):
		return missing(badPointer.URL)
	case errors.As(err, &noAnchor):
		return missing(noAnchor.Reference)
	case errors.As(err, &re):
		return &Error{inDoc(re.URL), fmt.Sprintf("the pattern %s is not a regular expression", short(re.Regex, 80))}
	case errors.As(err, &duplicateID):
		return &Error{Problem: "two subschemas have the same $id"}
	case errors.As(err, &duplicateAnchor):
		return &Error{Problem: fmt.Sprintf("two subschemas have the same anchor %q", short(duplicateAnchor.Anchor, longestShown))}
	}
	return &Error{Problem: "the schema has a malformed $id, $schema or $ref"}
}

func isDraft(doc *value, url string) bool {
	named := doc.get("$schema")
	return named != nil && named.isString() && strings.TrimSuffix(named.text, "#") == url
}

func outside(url string) error {
	if local, ok := strings.CutPrefix(url, "schema:///"); ok {
		url = local
	}
	return &Error{Problem: fmt.Sprintf("it refers to %q, which lies outside the schema and is not loaded; only references inside the schema work, such as \"#/$defs/name\"", short(url, longestShown))}
}

func missing(url string) error {
	return &Error{Problem: fmt.Sprintf("it refers to %q, which the schema does not have", "#"+short(fragmentOf(url), longestShown))}
}

func fragmentOf(url string) string {
	_, fragment, _ := strings.Cut(url, "#")
	return fragment
}

func inDoc(url string) string {
	pointer := ""
	for _, step := range steps(fragmentOf(url)) {
		pointer += "/" + escapeToken(step)
	}
	return pointer
}

// explainInvalid checks the schema against its metaschema once more, here, for
// the sake of the words.
func explainInvalid(invalid *jsonschema.SchemaValidationError, doc *value, compiler *jsonschema.Compiler) error {
	generic := &Error{Problem: "it is not a valid JSON Schema"}
	at := doc
	prefix := inDoc(invalid.URL)
	for _, step := range steps(fragmentOf(invalid.URL)) {
		if at = at.member(step); at == nil {
			return generic
		}
	}
	var bad *jsonschema.ValidationError
	if !errors.As(invalid.Err, &bad) {
		return generic
	}
	meta, err := compiler.Compile(bad.SchemaURL)
	if err != nil {
		return generic
	}
	l := newLowering(doc, docURL)
	root := l.rule(meta)
	l.finish()
	problems := (&Schema{root: root, dynamic: l.dynamic, tracks: l.tracks}).check(at, Root{Name: "schema"}, new(checking))
	if len(problems) > 0 {
		return &Error{prefix + problems[0].Pointer, problems[0].Text}
	}
	// What is left are formats, which are not checked here.
	if place, format := badFormat(bad); format != nil {
		pointer := prefix
		for _, step := range place {
			pointer += "/" + escapeToken(step)
		}
		text := fmt.Sprint(format.Got)
		if format.Want == "regex" {
			return &Error{pointer, fmt.Sprintf("the pattern %s is not a regular expression", short(text, 80))}
		}
		return &Error{pointer, fmt.Sprintf("%q is not a valid %s", short(text, 80), format.Want)}
	}
	return generic
}

// badFormat finds the first failed format below err and where it is.
func badFormat(err *jsonschema.ValidationError) ([]string, *kind.Format) {
	if format, ok := err.ErrorKind.(*kind.Format); ok {
		return err.InstanceLocation, format
	}
	for _, cause := range err.Causes {
		if at, format := badFormat(cause); format != nil {
			return at, format
		}
	}
	return nil, nil
}

// pointerTo is the pointer of a part of v, which stands at the path, "" for what is
// no part.
func (v *value) pointerTo(part *value, at *path) string {
	if v == part {
		return at.pointer()
	}
	for i := range v.items {
		if found := v.items[i].pointerTo(part, at.child(v, i)); found != "" {
			return found
		}
	}
	return ""
}

func (v *value) member(step string) *value {
	if v.isArray() {
		return v.element(step)
	}
	return v.get(step)
}

// toAny is the form the library reads.
func (v *value) toAny() any {
	switch v.kind {
	case jsonscan.ObjectStart:
		m := make(map[string]any, len(v.items))
		for i, name := range v.names {
			m[name] = v.items[i].toAny()
		}
		return m
	case jsonscan.ArrayStart:
		list := make([]any, len(v.items))
		for i := range v.items {
			list[i] = v.items[i].toAny()
		}
		return list
	case jsonscan.String:
		return v.text
	case jsonscan.Number:
		return json.Number(v.raw)
	case jsonscan.True:
		return true
	case jsonscan.False:
		return false
	default:
		return nil
	}
}

// fromAny is the inverse of toAny; members come out in alphabetical order.
func fromAny(x any) value {
	text := string(appendAny(nil, x))
	v, err := parse(text)
	if err != nil {
		return value{kind: jsonscan.Null, raw: "null"}
	}
	return *v
}

func appendAny(dst []byte, x any) []byte {
	switch x := x.(type) {
	case map[string]any:
		dst = append(dst, '{')
		names := make([]string, 0, len(x))
		for name := range x {
			names = append(names, name)
		}
		slices.Sort(names)
		for i, name := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonscan.AppendQuote(dst, name), ':')
			dst = appendAny(dst, x[name])
		}
		return append(dst, '}')
	case []any:
		dst = append(dst, '[')
		for i, item := range x {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendAny(dst, item)
		}
		return append(dst, ']')
	case string:
		return jsonscan.AppendQuote(dst, x)
	case json.Number:
		return append(dst, x...)
	case bool:
		if x {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	default:
		return append(dst, "null"...)
	}
}
