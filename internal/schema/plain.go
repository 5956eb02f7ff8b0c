package schema

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// compilePlain compiles what nearly every schema is: of draft 2020-12 or
// draft-07, with references to its parts by their pointers, without names for
// parts, and without a fault. Of any other it makes nil, and the library has the
// word; odd is what it stopped at, nil if that is no single place. What is made
// here is what lowering makes of the library's result; the library would need ten
// times the time and garbage for it, which tells where hundreds of tools are
// imported.
func compilePlain(doc *value) (s *Schema, odd *value) {
	p := plain{doc: doc, patterns: patternCompiler{left: largestSum / 2}, rules: map[*value]*rule{}}
	if named := doc.get("$schema"); named != nil {
		switch strings.TrimSuffix(named.text, "#") {
		case "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft-07/schema":
			p.draft7 = true
		case "https://json-schema.org/draft/2020-12/schema":
		default:
			return nil, named
		}
	}
	root := p.rule(doc)
	p.resolve()
	if p.odd || loops(p.all) {
		return nil, p.at
	}
	return &Schema{root: root, tracks: p.tracks}, nil
}

// plain reads a schema's text. Once something is odd, nothing else counts.
type plain struct {
	doc      *value
	draft7   bool
	patterns patternCompiler
	rules    map[*value]*rule
	all      []*rule
	refs     []reference
	tracks   bool
	odd      bool
	at       *value // what is odd
}

// reference is a $ref of a rule that has yet to be followed.
type reference struct {
	of *rule
	to string
}

// newer are the keywords that mean nothing in draft-07.
var newer = map[string]bool{
	"$defs": true, "prefixItems": true, "minContains": true, "maxContains": true, "dependentRequired": true,
	"dependentSchemas": true, "unevaluatedItems": true, "unevaluatedProperties": true, "contentSchema": true,
}

func (p *plain) must(holds bool) bool {
	p.odd = p.odd || !holds
	return holds
}

// rule is the rule of a subschema.
func (p *plain) rule(v *value) *rule {
	if r := p.rules[v]; r != nil {
		return r
	}
	r := newRule()
	p.rules[v] = r
	p.all = append(p.all, r)
	switch v.kind {
	case jsonscan.ObjectStart:
		p.fill(r, v)
	case jsonscan.False:
		r.never = true
	case jsonscan.True:
	default:
		p.odd = true
	}
	return r
}

// of is the rule of a subschema that has been read, nil if there is none.
func (p *plain) of(v *value, keyword string) *rule {
	if sub := v.get(keyword); sub != nil {
		return p.rules[sub]
	}
	return nil
}

func (p *plain) fill(r *rule, v *value) {
	p.must(!v.repeats())
	for i, name := range v.names {
		if p.draft7 && newer[name] {
			continue
		}
		sub := &v.items[i]
		if !p.odd && !p.annotates(name, sub) && !p.constrains(r, name, sub) {
			p.applies(r, name, sub)
		}
		if p.odd {
			p.at = cmp.Or(p.at, sub)
			return
		}
	}
	p.finish(r, v)
}

// finish sees to the keywords that depend on others.
func (p *plain) finish(r *rule, v *value) {
	ref := v.get("$ref")
	if ref != nil && p.draft7 {
		*r = *newRule() // it hides its siblings
	}
	if ref != nil && p.must(ref.isString()) {
		p.refs = append(p.refs, reference{r, ref.text})
	}
	if ref != nil && p.draft7 {
		return
	}
	switch condition := v.get("if"); {
	case condition == nil:
		r.then, r.otherwise = nil, nil
	case condition.kind == jsonscan.True:
		r.otherwise = nil
	case condition.kind == jsonscan.False:
		r.then = nil
	}
	if p.draft7 && r.prefix != nil {
		r.rest = p.of(v, "additionalItems")
	}
	if r.contains == nil {
		r.minContains, r.maxContains = -1, -1
	}
	r.containsMarks = !p.draft7 && len(v.names) > 0
	for _, keyword := range []string{"dependencies", "dependentRequired", "dependentSchemas"} {
		if list := v.get(keyword); list != nil && !(p.draft7 && newer[keyword]) {
			p.dependencies(r, list)
		}
	}
}

// dependencies adds what of list has been read.
func (p *plain) dependencies(r *rule, list *value) {
	for i, name := range list.names {
		dep := &list.items[i]
		if dep.isArray() {
			r.dependent = append(r.dependent, dependency{name: name, required: p.strings(dep)})
		} else {
			r.dependent = append(r.dependent, dependency{name: name, rule: p.rules[dep]})
		}
	}
}

// annotates reads a keyword that says nothing of values, and reports whether it
// is one.
func (p *plain) annotates(name string, v *value) bool {
	switch name {
	case "$comment", "title", "description", "format", "contentEncoding", "contentMediaType":
		p.must(v.isString())
	case "readOnly", "writeOnly", "deprecated":
		p.boolean(v)
	case "examples":
		p.must(v.isArray())
	case "$schema":
		p.must(v == p.doc.get("$schema"))
	case "default", "$ref": // the latter is read at the end
	case "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary":
		p.odd = true
	default:
		return false
	}
	return true
}

// constrains reads a keyword without subschemas and reports whether it is one.
func (p *plain) constrains(r *rule, name string, v *value) bool {
	switch name {
	case "type":
		r.types = p.types(v)
	case "enum":
		r.enum = p.enum(v)
	case "const":
		fixed := canonical(v)
		r.fixed = &fixed
	case "multipleOf":
		r.multiple = p.number(v)
		p.must(r.multiple.digits != "" && !r.multiple.neg)
	case "minimum":
		r.minimum = p.number(v)
	case "maximum":
		r.maximum = p.number(v)
	case "exclusiveMinimum":
		r.above = p.number(v)
	case "exclusiveMaximum":
		r.below = p.number(v)
	case "minLength":
		r.minLength = p.count(v)
	case "maxLength":
		r.maxLength = p.count(v)
	case "minItems":
		r.minItems = p.count(v)
	case "maxItems":
		r.maxItems = p.count(v)
	case "minProperties":
		r.minProps = p.count(v)
	case "maxProperties":
		r.maxProps = p.count(v)
	case "minContains":
		r.minContains = p.count(v)
	case "maxContains":
		r.maxContains = p.count(v)
	case "uniqueItems":
		r.unique = p.boolean(v)
	case "pattern":
		p.must(v.isString())
		r.pattern = p.pattern(v.text)
	case "required":
		r.required = p.strings(v)
	default:
		return false
	}
	return true
}

// applies reads a keyword with subschemas. A keyword nobody knows says nothing.
func (p *plain) applies(r *rule, name string, v *value) {
	switch name {
	case "properties":
		p.properties(r, v)
	case "patternProperties":
		p.patternProperties(r, v)
	case "additionalProperties":
		r.additional = p.rule(v)
	case "propertyNames":
		r.propertyNames = p.rule(v)
	case "unevaluatedProperties":
		r.unevaluatedProps, p.tracks = p.rule(v), true
	case "unevaluatedItems":
		r.unevaluatedItems, p.tracks = p.rule(v), true
	case "prefixItems":
		r.prefix = p.list(v)
	case "items":
		if p.draft7 && v.isArray() {
			r.prefix = p.list(v)
		} else {
			r.rest = p.rule(v)
		}
	case "additionalItems":
		p.must(p.draft7)
		p.rule(v)
	case "contains":
		r.contains = p.rule(v)
	case "not":
		r.not = p.rule(v)
	case "if":
		r.when = p.rule(v)
	case "then":
		r.then = p.rule(v)
	case "else":
		r.otherwise = p.rule(v)
	case "allOf":
		r.allOf = p.list(v)
	case "anyOf":
		r.anyOf = p.list(v)
	case "oneOf":
		r.oneOf = p.list(v)
	case "$defs", "definitions", "dependentSchemas":
		p.members(v, func(_ string, sub *value) { p.rule(sub) })
	case "contentSchema":
		p.rule(v)
	case "dependentRequired":
		p.members(v, func(_ string, sub *value) { p.strings(sub) })
	case "dependencies":
		p.members(v, func(_ string, sub *value) {
			if sub.isArray() {
				p.strings(sub)
			} else {
				p.rule(sub)
			}
		})
	}
}

// members calls do for each member of an object.
func (p *plain) members(v *value, do func(name string, sub *value)) {
	if !p.must(v.isObject() && !v.repeats()) {
		return
	}
	for i, name := range v.names {
		do(name, &v.items[i])
	}
}

func (p *plain) properties(r *rule, v *value) {
	if len(v.names) > 0 {
		r.props = make(map[string]*rule, len(v.names))
		r.folded = make(map[string]string, len(v.names))
	}
	r.names = v.names
	p.members(v, func(name string, sub *value) {
		r.props[name] = p.rule(sub)
		r.folded[fold(name)] = name
	})
}

func (p *plain) patternProperties(r *rule, v *value) {
	p.members(v, func(name string, sub *value) {
		r.patterns = append(r.patterns, patternRule{p.pattern(name), p.rule(sub)})
	})
	sortPatterns(r.patterns)
}

func (p *plain) list(v *value) []*rule {
	p.must(v.isArray() && len(v.items) > 0)
	rules := make([]*rule, len(v.items))
	for i := range v.items {
		rules[i] = p.rule(&v.items[i])
	}
	return rules
}

func (p *plain) types(v *value) typeSet {
	one := func(v *value) typeSet {
		for i, name := range typeNames {
			if v.isString() && v.text == name {
				return 1 << i
			}
		}
		p.odd = true
		return 0
	}
	if !v.isArray() {
		return one(v)
	}
	set := typeSet(0)
	for i := range v.items {
		t := one(&v.items[i])
		p.must(set&t == 0)
		set |= t
	}
	p.must(set != 0)
	return set
}

func (p *plain) enum(v *value) []value {
	p.must(v.isArray())
	if p.draft7 && p.must(len(v.items) > 0) {
		c := checking{left: budget}
		_, _, twice := c.duplicates(v)
		p.must(!twice && !c.stopped())
	}
	values := make([]value, len(v.items))
	for i := range v.items {
		values[i] = canonical(&v.items[i])
	}
	return values
}

// strings reads a list in which no text stands twice.
func (p *plain) strings(v *value) []string {
	if !p.must(v.isArray()) || len(v.items) == 0 {
		return nil
	}
	list := make([]string, len(v.items))
	seen := make(map[string]bool, len(v.items))
	for i := range v.items {
		text := v.items[i].text
		p.must(v.items[i].isString() && !seen[text])
		list[i], seen[text] = text, true
	}
	return list
}

func (p *plain) boolean(v *value) bool {
	p.must(v.kind == jsonscan.True || v.kind == jsonscan.False)
	return v.kind == jsonscan.True
}

func (p *plain) number(v *value) *decimal {
	if !p.must(v.isNumber()) {
		return &decimal{}
	}
	d := parseDecimal(v.raw)
	return &d
}

func (p *plain) count(v *value) int {
	d := p.number(v)
	switch {
	case !p.must(d.isInteger() && !d.neg), d.digits == "":
		return 0
	case d.exp > 18:
		return math.MaxInt
	}
	n, err := strconv.Atoi(d.digits + strings.Repeat("0", int(d.exp)-len(d.digits)))
	p.must(err == nil)
	return n
}

func (p *plain) pattern(source string) *pattern {
	re, err := p.patterns.compile(source)
	made, _ := re.(*pattern)
	p.must(err == nil)
	return made
}

// resolve follows the references, which are made of characters that mean the
// same in a pointer and in a URL. What they lead to is a schema, if it was not
// read as one already.
func (p *plain) resolve() {
	for ; len(p.refs) > 0 && !p.odd; p.refs = p.refs[1:] {
		ref := p.refs[0]
		pointer, local := strings.CutPrefix(ref.to, "#")
		if !p.must(local && (pointer == "" || pointer[0] == '/') && strings.IndexFunc(pointer, special) < 0) {
			return
		}
		at := p.doc
		for _, step := range steps(pointer) {
			if at = at.member(step); !p.must(at != nil) {
				return
			}
		}
		ref.of.ref = p.rule(at)
	}
}

func special(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.$/", r))
}

// repeats reports whether an object names a member twice.
func (v *value) repeats() bool {
	if v.index != nil {
		return len(v.index) != len(v.names)
	}
	for i, name := range v.names {
		for _, other := range v.names[:i] {
			if name == other {
				return true
			}
		}
	}
	return false
}

// canonical is a constant as lowering makes it of the library's form.
func canonical(v *value) value {
	switch {
	case v.isObject() || v.isArray():
		return fromAny(v.toAny())
	case v.isString():
		return value{kind: v.kind, raw: string(jsonscan.AppendQuote(nil, v.text)), text: v.text}
	}
	return *v
}
