package schema

import (
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// rule is one compiled subschema, prepared for checking: in order, with exact
// numbers. A rule graph is immutable and may be cyclic.
type rule struct {
	never bool // the schema false
	types typeSet
	enum  []value // nil: any
	fixed *value  // const

	ref     *rule // $ref and $recursiveRef
	dynamic *dynamicRef
	place   *resource

	not                    *rule
	allOf, anyOf, oneOf    []*rule
	when, then, otherwise  *rule
	required               []string
	names                  []string // declared properties, in order
	props                  map[string]*rule
	folded                 map[string]string // declared names by their case-folded form
	patterns               []patternRule
	additional             *rule
	propertyNames          *rule
	dependent              []dependency
	minProps, maxProps     int // -1: none, as for the other counts
	unevaluatedProps       *rule
	prefix                 []*rule
	rest                   *rule // items after prefix
	contains               *rule
	containsMarks          bool // from 2020-12 on contains evaluates what it matches
	minContains            int
	maxContains            int
	minItems, maxItems     int
	unique                 bool
	unevaluatedItems       *rule
	minLength, maxLength   int
	pattern                *pattern
	minimum, maximum       *decimal
	above, below, multiple *decimal
}

func newRule() *rule {
	return &rule{minProps: -1, maxProps: -1, minContains: -1, maxContains: -1, minItems: -1, maxItems: -1, minLength: -1, maxLength: -1}
}

type patternRule struct {
	pattern *pattern
	rule    *rule
}

// dependency is what must hold if an object has the property name.
type dependency struct {
	name     string
	required []string
	rule     *rule // nil: none
}

// dynamicRef is resolved along the schemas that led to it.
type dynamicRef struct {
	target    *rule
	anchor    string // "" for a plain reference
	recursive bool   // $recursiveRef of draft 2019-09
}

// resource is a schema document or an embedded one with an $id of its own.
type resource struct {
	root      *rule
	anchors   map[string]*rule
	recursive bool
}

// typeSet is a set of JSON Schema types, one bit each, in the order texts list
// them; zero means any.
type typeSet uint8

const (
	typeString typeSet = 1 << iota
	typeNumber
	typeInteger
	typeBoolean
	typeObject
	typeArray
	typeNull
)

var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// lowering turns the library's compiled schemas into rules.
type lowering struct {
	doc       *value // the schema text, for the order of its members
	docURL    string
	rules     map[*jsonschema.Schema]*rule
	queue     []*jsonschema.Schema
	resources map[string]*resource
	sources   map[string]*jsonschema.Schema // by location
	dynamic   bool                          // some rule resolves dynamically
	tracks    bool                          // some rule asks what was evaluated
}

func newLowering(doc *value, docURL string) *lowering {
	return &lowering{
		doc: doc, docURL: docURL,
		rules:     map[*jsonschema.Schema]*rule{},
		resources: map[string]*resource{},
		sources:   map[string]*jsonschema.Schema{},
	}
}

// rule returns the rule of s, to be filled in by finish; nil for nil.
func (l *lowering) rule(s *jsonschema.Schema) *rule {
	if s == nil {
		return nil
	}
	if r := l.rules[s]; r != nil {
		return r
	}
	r := newRule()
	l.rules[s] = r
	l.sources[s.Location] = s
	l.queue = append(l.queue, s)
	return r
}

func (l *lowering) ruleList(list []*jsonschema.Schema) []*rule {
	var rules []*rule
	for _, s := range list {
		rules = append(rules, l.rule(s))
	}
	return rules
}

// finish fills in every rule reached so far.
func (l *lowering) finish() {
	for len(l.queue) > 0 {
		s := l.queue[0]
		l.queue = l.queue[1:]
		l.fill(l.rules[s], s)
	}
	if l.dynamic {
		clear(l.resources)
		for s, r := range l.rules {
			r.place = l.resourceOf(s)
		}
	}
}

func (l *lowering) fill(r *rule, s *jsonschema.Schema) {
	if s.Bool != nil {
		r.never = !*s.Bool
		return
	}
	r.ref = l.rule(s.Ref)
	if s.Ref != nil && s.DraftVersion < 2019 {
		return // before 2019-09 a $ref hides its siblings
	}
	text := l.textOf(s)
	if s.Types != nil {
		for i, name := range typeNames {
			if slices.Contains(s.Types.ToStrings(), name) {
				r.types |= 1 << i
			}
		}
	}
	if s.Enum != nil {
		r.enum = []value{}
		for _, v := range s.Enum.Values {
			r.enum = append(r.enum, fromAny(v))
		}
	}
	if s.Const != nil {
		v := fromAny(*s.Const)
		r.fixed = &v
	}
	if s.DynamicRef != nil {
		l.dynamic = true
		r.dynamic = &dynamicRef{target: l.rule(s.DynamicRef.Ref), anchor: s.DynamicRef.Anchor}
	}
	if s.RecursiveRef != nil {
		l.dynamic = true
		r.dynamic = &dynamicRef{target: l.rule(s.RecursiveRef), recursive: true}
	}
	r.not, r.when, r.then, r.otherwise = l.rule(s.Not), l.rule(s.If), l.rule(s.Then), l.rule(s.Else)
	r.allOf, r.anyOf, r.oneOf = l.ruleList(s.AllOf), l.ruleList(s.AnyOf), l.ruleList(s.OneOf)
	l.fillObject(r, s, text)
	l.fillArray(r, s, text)
	r.minLength, r.maxLength = count(text, "minLength", s.MinLength), count(text, "maxLength", s.MaxLength)
	r.pattern, _ = s.Pattern.(*pattern)
	r.minimum, r.maximum = ratDecimal(s.Minimum), ratDecimal(s.Maximum)
	r.above, r.below = ratDecimal(s.ExclusiveMinimum), ratDecimal(s.ExclusiveMaximum)
	r.multiple = ratDecimal(s.MultipleOf)
}

func (l *lowering) fillObject(r *rule, s *jsonschema.Schema, text *value) {
	r.required = s.Required
	r.minProps, r.maxProps = count(text, "minProperties", s.MinProperties), count(text, "maxProperties", s.MaxProperties)
	r.names = ordered(s.Properties, text, "properties")
	if len(r.names) > 0 {
		r.props = make(map[string]*rule, len(r.names))
		r.folded = make(map[string]string, len(r.names))
		for _, name := range r.names {
			r.props[name] = l.rule(s.Properties[name])
			r.folded[fold(name)] = name
		}
	}
	for re, sub := range s.PatternProperties {
		if p, ok := re.(*pattern); ok {
			r.patterns = append(r.patterns, patternRule{p, l.rule(sub)})
		}
	}
	sortPatterns(r.patterns)
	r.additional = l.boolOrRule(s.AdditionalProperties)
	r.propertyNames = l.rule(s.PropertyNames)
	for _, name := range ordered(s.Dependencies, text, "dependencies") {
		d := dependency{name: name}
		switch dep := s.Dependencies[name].(type) {
		case []string:
			d.required = dep
		case *jsonschema.Schema:
			d.rule = l.rule(dep)
		}
		r.dependent = append(r.dependent, d)
	}
	for _, name := range ordered(s.DependentRequired, text, "dependentRequired") {
		r.dependent = append(r.dependent, dependency{name: name, required: s.DependentRequired[name]})
	}
	for _, name := range ordered(s.DependentSchemas, text, "dependentSchemas") {
		r.dependent = append(r.dependent, dependency{name: name, rule: l.rule(s.DependentSchemas[name])})
	}
	r.unevaluatedProps = l.rule(s.UnevaluatedProperties)
	r.unevaluatedItems = l.rule(s.UnevaluatedItems)
	l.tracks = l.tracks || r.unevaluatedProps != nil || r.unevaluatedItems != nil
}

func sortPatterns(patterns []patternRule) {
	slices.SortFunc(patterns, func(a, b patternRule) int { return strings.Compare(a.pattern.source, b.pattern.source) })
}

func (l *lowering) fillArray(r *rule, s *jsonschema.Schema, text *value) {
	r.minItems, r.maxItems = count(text, "minItems", s.MinItems), count(text, "maxItems", s.MaxItems)
	r.unique = s.UniqueItems
	r.contains = l.rule(s.Contains)
	r.containsMarks = s.DraftVersion >= 2020
	r.minContains, r.maxContains = count(text, "minContains", s.MinContains), count(text, "maxContains", s.MaxContains)
	if s.DraftVersion >= 2020 {
		r.prefix, r.rest = l.ruleList(s.PrefixItems), l.rule(s.Items2020)
		return
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		r.rest = l.rule(items)
	case []*jsonschema.Schema:
		r.prefix, r.rest = l.ruleList(items), l.boolOrRule(s.AdditionalItems)
	}
}

func (l *lowering) boolOrRule(v any) *rule {
	switch v := v.(type) {
	case bool:
		r := newRule()
		r.never = !v
		return r
	case *jsonschema.Schema:
		return l.rule(v)
	}
	return nil
}

// textOf is the source of s, nil if it lies outside the document.
func (l *lowering) textOf(s *jsonschema.Schema) *value {
	document, fragment, _ := strings.Cut(s.Location, "#")
	if document != l.docURL {
		return nil
	}
	at := l.doc
	for _, step := range steps(fragment) {
		switch {
		case at.isObject():
			at = at.get(step)
		case at.isArray():
			at = at.element(step)
		default:
			at = nil
		}
		if at == nil {
			return nil
		}
	}
	return at
}

// element is the element an RFC 6901 token names, nil if there is none.
func (v *value) element(token string) *value {
	i := 0
	for _, c := range token {
		if c < '0' || c > '9' || i > len(v.items) {
			return nil
		}
		i = 10*i + int(c-'0')
	}
	if token == "" || i >= len(v.items) {
		return nil
	}
	return &v.items[i]
}

// steps are the tokens of a pointer in a URL fragment.
func steps(fragment string) []string {
	if fragment == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(fragment, "/"), "/")
	for i, t := range tokens {
		if plain, err := url.PathUnescape(t); err == nil {
			t = plain
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens
}

// ordered lists the names of m as the schema's text does, in alphabetical order
// where there is no text.
func ordered[V any](m map[string]V, text *value, keyword string) []string {
	names := make([]string, 0, len(m))
	if text != nil && text.isObject() {
		if list := text.get(keyword); list != nil {
			for _, name := range list.names {
				if _, ok := m[name]; ok {
					names = append(names, name)
				}
			}
		}
	}
	if len(names) == len(m) {
		return names
	}
	names = names[:0]
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// count reads a keyword that counts, exactly: the library wraps beyond 2^63.
func count(text *value, keyword string, compiled *int) int {
	if compiled == nil {
		return -1
	}
	if text != nil && text.isObject() {
		if v := text.get(keyword); v != nil && v.isNumber() {
			if d := parseDecimal(v.raw); d.exp > 18 {
				return math.MaxInt
			}
		}
	}
	return *compiled
}

// resourceOf finds the resource s belongs to: the nearest schema above it that
// has an $id, or the document.
func (l *lowering) resourceOf(s *jsonschema.Schema) *resource {
	root := s.Location
	for {
		if up := l.sources[root]; up != nil && up.ID != "" && !strings.HasPrefix(up.ID, "#") {
			break
		}
		slash := strings.LastIndexByte(root, '/')
		if slash < strings.IndexByte(root, '#') {
			root = root[:strings.IndexByte(root, '#')+1]
			break
		}
		root = root[:slash]
	}
	res := l.resources[root]
	if res == nil {
		res = &resource{anchors: map[string]*rule{}}
		l.resources[root] = res
	}
	if s.Location == root {
		res.root, res.recursive = l.rules[s], s.RecursiveAnchor
	}
	if s.DynamicAnchor != "" {
		res.anchors[s.DynamicAnchor] = l.rules[s]
	}
	return res
}

// inPlace lists the rules r applies to the very value it is applied to.
func (r *rule) inPlace(yield func(*rule) bool) {
	single := []*rule{r.ref, r.not, r.when, r.then, r.otherwise}
	if r.dynamic != nil {
		single = append(single, r.dynamic.target)
	}
	for _, d := range r.dependent {
		single = append(single, d.rule)
	}
	for _, list := range [][]*rule{single, r.allOf, r.anyOf, r.oneOf} {
		for _, sub := range list {
			if sub != nil && !yield(sub) {
				return
			}
		}
	}
}

// loops reports whether a rule leads back to itself without going into the
// value, which no check could ever finish.
func loops(rules []*rule) bool {
	const (
		entered = 1
		left    = 2
	)
	state := make(map[*rule]int, len(rules))
	var visit func(r *rule) bool
	visit = func(r *rule) bool {
		switch state[r] {
		case entered:
			return true
		case left:
			return false
		}
		state[r] = entered
		for sub := range r.inPlace {
			if visit(sub) {
				return true
			}
		}
		state[r] = left
		return false
	}
	for _, r := range rules {
		if visit(r) {
			return true
		}
	}
	return false
}
