package schema

import (
	"github.com/runcode-go/runcode/internal/jsonscan"
)

// Bounds of one check.
const (
	// budget is how many steps a check of a small value may take, and share
	// what each byte of the value adds; a step is some 50 to 100 ns.
	budget = 2_000_000
	share  = 2
	// deepest is how many rules may be open at once, which bounds the stack.
	deepest = 40_000
	// hints is how many bytes of names are compared with wrong ones.
	hints = 2 << 20
	// mostProblems is how many problems a check lists.
	mostProblems = 25
)

// Root says how a value is called in problems and what it must be.
type Root struct {
	Name string
	// Arguments marks the arguments of a call: the value must be an object, and
	// names that differ from a declared name, or from each other, only in case
	// are refused, since a reader that ignores case would see another value
	// than the policy that judged it.
	Arguments bool
}

// Problem is one fault of a value, in words a model can act on.
type Problem struct {
	Pointer string // RFC 6901 pointer into the value, "" for the root
	Text    string
}

// Check validates one JSON text, in which no object names a property twice (as
// canonical text guarantees), and lists all problems, or none: missing
// properties first, then declared ones in the order of the schema, then
// undeclared ones. A check that would take too long fails with the one problem
// "schema too complex". It never panics.
func (s *Schema) Check(text string, root Root) (problems []Problem) {
	defer func() {
		if recover() != nil { // a fault of an expression engine, say
			problems = []Problem{{"", `"` + root.Name + `" could not be checked: the check itself failed on this schema`}}
		}
	}()
	w := takeWork(text)
	v, err := w.parse(text)
	if err != nil {
		return []Problem{{"", `"` + root.Name + `" is no JSON value: ` + err.Error()}}
	}
	problems = s.check(v, root, &w.quick)
	w.release()
	return problems
}

func (s *Schema) check(v *value, root Root, quick *checking) []Problem {
	if root.Arguments && !v.isObject() {
		return []Problem{{"", `"` + root.Name + `" must be an object, got ` + describe(v) + advice(v, typeObject)}}
	}
	if s == nil {
		s = &Schema{root: newRule()}
	}
	s.start(quick, root, v)
	ok := quick.eval(s.root, v, nil, nil, nil)
	var clashes []clash
	if root.Arguments && !quick.stopped() {
		clashes = quick.clashes(s.root, v)
	}
	switch {
	case quick.stopped():
		return []Problem{{"", quick.reason}}
	case ok && len(clashes) == 0:
		return nil
	case ok:
		return clashProblems(clashes, nil)
	}
	full := &checking{}
	s.start(full, root, v)
	rep := &report{c: full, root: root.Name}
	full.eval(s.root, v, nil, rep, nil)
	if full.stopped() {
		return []Problem{{"", full.reason}}
	}
	problems := rep.finish(clashProblems(clashes, rep.explained))
	if len(problems) == 0 {
		// The two passes must agree; a value is never let through on the word
		// of one.
		problems = []Problem{{"", `"` + root.Name + `" does not fit the schema`}}
	}
	return problems
}

func (s *Schema) start(c *checking, root Root, v *value) {
	*c = checking{left: budget + share*len(v.raw), hints: hints, root: root.Name}
	c.tracks = s.tracks
	c.dynamic = s.dynamic
}

// checking is one pass over a value.
type checking struct {
	root    string
	left    int
	hints   int
	depth   int
	tracks  bool
	dynamic bool
	reason  string // why the pass was stopped
	scope   *scope
	one     [1]*rule // what clashes begins with
}

// scope is the chain of resources that led to the current rule.
type scope struct {
	place  *resource
	parent *scope
}

// spend takes steps from the budget and reports whether there were enough.
func (c *checking) spend(steps int) bool {
	c.left -= steps
	if c.left < 0 {
		c.stop(`schema too complex: checking "` + c.root + `" takes too many steps; send a smaller value`)
		return false
	}
	return true
}

func (c *checking) stop(reason string) {
	c.left = -1
	if c.reason == "" {
		c.reason = reason
	}
}

func (c *checking) stopped() bool { return c.reason != "" }

// marks records which members or elements of a value some rule has evaluated.
// A nil *marks records nothing.
type marks struct {
	all  bool
	bits map[int]bool
}

func (m *marks) add(i int) {
	if m == nil || m.all {
		return
	}
	if m.bits == nil {
		m.bits = map[int]bool{}
	}
	m.bits[i] = true
}

func (m *marks) addAll() {
	if m != nil {
		m.all = true
	}
}

func (m *marks) has(i int) bool { return m.all || m.bits[i] }

func (m *marks) merge(o *marks) {
	if m == nil || o == nil {
		return
	}
	m.all = m.all || o.all
	for i := range o.bits {
		m.add(i)
	}
}

// eval applies r to v. With a report it goes on after a problem and tells it;
// without one it stops at the first. at is nil without a report. On success m
// gets what was evaluated.
func (c *checking) eval(r *rule, v *value, at *path, rep *report, m *marks) bool {
	if !c.spend(1) {
		return false
	}
	if r.never {
		return rep.never(v, at)
	}
	if c.depth++; c.depth > deepest {
		c.stop("schema too complex: its references and the value are nested too deeply; send a flatter value")
	}
	defer func() { c.depth-- }()
	if c.stopped() {
		return false
	}
	if c.dynamic && (c.scope == nil || c.scope.place != r.place) {
		outer := c.scope
		c.scope = &scope{r.place, outer}
		defer func() { c.scope = outer }()
	}
	if r.types != 0 && !r.types.allow(v) {
		return rep.wrongType(r.types, v, at)
	}
	own := m
	if c.tracks && (m != nil || r.unevaluatedProps != nil || r.unevaluatedItems != nil) {
		own = &marks{}
	}
	ok := c.evalValue(r, v, at, rep)
	goOn := func() bool { return (ok || rep.wantsMore()) && !c.stopped() }
	if goOn() {
		switch v.kind {
		case jsonscan.ObjectStart:
			ok = c.evalObject(r, v, at, rep, own) && ok
		case jsonscan.ArrayStart:
			ok = c.evalArray(r, v, at, rep, own) && ok
		case jsonscan.String:
			ok = c.evalString(r, v, at, rep) && ok
		case jsonscan.Number:
			ok = c.evalNumber(r, v, at, rep) && ok
		}
	}
	if goOn() {
		ok = c.evalInPlace(r, v, at, rep, own) && ok
	}
	if goOn() {
		ok = c.evalRemaining(r, v, at, rep, own) && ok
	}
	ok = ok && !c.stopped()
	if ok && own != m {
		m.merge(own)
	}
	return ok
}

func (t typeSet) allow(v *value) bool {
	return t&typeOf(v) != 0 || t&typeInteger != 0 && t&typeNumber == 0 && v.isNumber() && parseDecimal(v.raw).isInteger()
}

func typeOf(v *value) typeSet {
	switch v.kind {
	case jsonscan.ObjectStart:
		return typeObject
	case jsonscan.ArrayStart:
		return typeArray
	case jsonscan.String:
		return typeString
	case jsonscan.Number:
		return typeNumber
	case jsonscan.Null:
		return typeNull
	default:
		return typeBoolean
	}
}

// evalValue applies const and enum.
func (c *checking) evalValue(r *rule, v *value, at *path, rep *report) bool {
	if r.fixed != nil && !c.equal(v, r.fixed) {
		return rep.notFixed(r.fixed, v, at)
	}
	if r.enum == nil {
		return true
	}
	for i := range r.enum {
		if c.equal(v, &r.enum[i]) {
			return true
		}
	}
	return rep.notEnum(r.enum, v, at)
}

func (c *checking) evalString(r *rule, v *value, at *path, rep *report) bool {
	ok := true
	if r.minLength >= 0 || r.maxLength >= 0 {
		n := length(v.text)
		if r.minLength > n || r.maxLength >= 0 && n > r.maxLength {
			ok = rep.count("character", n, r.minLength, r.maxLength, at)
		}
	}
	if r.pattern != nil && (ok || rep.wantsMore()) && !c.match(r.pattern, v.text) {
		ok = rep.noMatch(r.pattern, v, at)
	}
	return ok
}

// length counts characters; an unpaired surrogate is one.
func length(text string) int {
	n := 0
	for i := 0; i < len(text); {
		_, size := jsonscan.DecodeRune(text[i:])
		i += size
		n++
	}
	return n
}

func (c *checking) evalNumber(r *rule, v *value, at *path, rep *report) bool {
	if r.minimum == nil && r.maximum == nil && r.above == nil && r.below == nil && r.multiple == nil {
		return true
	}
	c.spend(len(v.raw) / 16)
	n := parseDecimal(v.raw)
	switch {
	case r.minimum != nil && n.compare(*r.minimum) < 0:
		return rep.bound("at least", *r.minimum, v, at)
	case r.above != nil && n.compare(*r.above) <= 0:
		return rep.bound("greater than", *r.above, v, at)
	case r.maximum != nil && n.compare(*r.maximum) > 0:
		return rep.bound("at most", *r.maximum, v, at)
	case r.below != nil && n.compare(*r.below) >= 0:
		return rep.bound("less than", *r.below, v, at)
	case r.multiple != nil && !n.isMultipleOf(*r.multiple):
		return rep.bound("a multiple of", *r.multiple, v, at)
	}
	return true
}

// evalRemaining applies what concerns members and elements no other rule saw.
func (c *checking) evalRemaining(r *rule, v *value, at *path, rep *report, m *marks) bool {
	rest := r.unevaluatedProps
	if !v.isObject() {
		rest = r.unevaluatedItems
	}
	if rest == nil || !v.isObject() && !v.isArray() {
		return true
	}
	ok := true
	for i := range v.items {
		if m.has(i) {
			continue
		}
		holds := false
		switch {
		case rest.never && v.isObject() && rep != nil:
			names, folded := c.declared(r, v)
			holds = rep.unknown(i, names, folded, v, at)
		case rep != nil:
			holds = c.eval(rest, &v.items[i], at.child(v, i), rep, nil)
		default:
			holds = c.eval(rest, &v.items[i], nil, nil, nil)
		}
		if ok = ok && holds; !ok && !rep.wantsMore() || c.stopped() {
			return false
		}
	}
	m.addAll()
	return ok
}
