package bindings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// form is what a shape is built like.
type form uint8

const (
	wordForm   form = iota // one token of text: string, unknown, "a", null
	nameForm               // a named type
	unionForm              // parts joined by |
	bothForm               // parts joined by &
	listForm               // parts[0][]
	tupleForm              // [parts..., ...rest[]]
	objectForm             // fields and what other properties are
)

// shape is a TypeScript type. Shapes are shared between places and never
// changed once made.
type shape struct {
	form    form
	text    string        // word
	prim    jsonscan.Kind // word: the kind of the values; 0 if it has several
	implied bool          // word: what no schema says, as unknown for other properties
	named   *namedType    // name

	parts    []*shape // union, both, list (one), tuple
	optional int      // tuple: from which part on elements may be missing
	rest     *shape   // tuple: further elements; nil: none are said

	fields []field // object
	extra  *shape  // object: the type of other properties; nil: there are none
}

// field is a declared property.
type field struct {
	key      string
	required bool
	typ      *shape
	doc      doc
}

// namedType is a type printed once and referred to by name.
type namedType struct {
	name    string
	shape   *shape
	doc     doc
	visited visit
	piece   piece
}

// newWords makes the words that most shapes are made of.
func newWords() *words {
	return &words{
		any:     &shape{text: "unknown"},
		open:    &shape{text: "unknown", implied: true},
		tooDeep: &shape{text: fmt.Sprintf("unknown /* nested deeper than %d levels */", maxNesting)},
		never:   &shape{text: "never"},
		string:  &shape{text: "string", prim: jsonscan.String},
		number:  &shape{text: "number", prim: jsonscan.Number},
		boolean: &shape{text: "boolean", prim: jsonscan.True},
		null:    &shape{text: "null", prim: jsonscan.Null},
	}
}

// words are the shapes of one token. Open is any as the extra of objects whose
// schemas say nothing about other properties, and tooDeep any in place of a type
// that is not printed.
type words struct{ any, open, tooDeep, never, string, number, boolean, null *shape }

func (s *shape) isAny() bool   { return s.form == wordForm && strings.HasPrefix(s.text, "unknown") }
func (s *shape) isNever() bool { return s.form == wordForm && s.text == "never" }

// isBroad reports whether s is a basic type, as opposed to one literal of it.
func (s *shape) isBroad() bool {
	switch s.text {
	case "string", "number", "boolean", "null":
		return s.form == wordForm
	}
	return false
}

// literal is the type of exactly the value n.
func (w *words) literal(n *node) *shape {
	if !n.isWithin(maxNesting) {
		return w.tooDeep
	}
	s := &shape{text: lineSeparators.Replace(n.text), prim: n.kind}
	switch n.kind {
	case jsonscan.False:
		s.prim = jsonscan.True // one kind for both booleans
	case jsonscan.ObjectStart, jsonscan.ArrayStart:
		s.prim = 0
	}
	return s
}

// join makes the union of parts, flat and without repeated words. Unknown
// swallows basic types, but an object or a name beside it stays: it says what a
// value is likely to be.
func (w *words) join(parts ...*shape) *shape {
	var flat []*shape
	seen := map[string]bool{}
	seenName := map[*namedType]bool{}
	var anything *shape
	for _, part := range parts {
		members := []*shape{part}
		if part.form == unionForm {
			members = part.parts
		}
		for _, m := range members {
			switch {
			case m.isNever():
			case m.isAny():
				anything = noted(anything, m)
			case m.form == wordForm && seen[m.text], m.form == nameForm && seenName[m.named]:
			default:
				seen[m.text] = m.form == wordForm
				if m.form == nameForm {
					seenName[m.named] = true
				}
				flat = append(flat, m)
			}
		}
	}
	if anything != nil {
		flat = slices.DeleteFunc(flat, func(s *shape) bool { return s.form == wordForm })
		flat = append(flat, anything)
	}
	switch len(flat) {
	case 0:
		return w.never
	case 1:
		return flat[0]
	}
	return &shape{form: unionForm, parts: flat}
}

// noted is b, unless a says why it is unknown.
func noted(a, b *shape) *shape {
	if a == nil || a.text == "unknown" {
		return b
	}
	return a
}

// meet makes the type of values that fit all parts. Objects become one object;
// basic types and literals are compared here rather than printed with &.
func (w *words) meet(parts ...*shape) *shape {
	var flat []*shape
	anything := w.any
	for _, part := range parts {
		switch {
		case part.isNever():
			return w.never
		case part.isAny():
			anything = noted(anything, part)
		case part.form == bothForm:
			flat = append(flat, part.parts...)
		default:
			flat = append(flat, part)
		}
	}
	if i := slices.IndexFunc(flat, (*shape).onlyWords); i >= 0 {
		first := flat[i]
		return w.meetWords(first.options(), slices.Delete(flat, i, i+1))
	}
	flat = w.meetLists(w.meetObjects(flat))
	switch len(flat) {
	case 0:
		return anything
	case 1:
		return flat[0]
	}
	return &shape{form: bothForm, parts: flat}
}

// onlyWords reports whether s is one word or a union of words, so that the
// values beside it can be compared rather than printed with &.
func (s *shape) onlyWords() bool {
	if s.form != unionForm {
		return s.form == wordForm
	}
	return !slices.ContainsFunc(s.parts, func(p *shape) bool { return p.form != wordForm || p.isAny() })
}

// meetWords narrows basic types and literals by the other parts.
func (w *words) meetWords(allowed, others []*shape) *shape {
	for _, other := range others {
		if options := other.options(); len(options) > 0 {
			allowed = narrow(allowed, options)
		}
	}
	return w.join(allowed...)
}

// options are the basic types and literals among the values of s, none where
// that is not known. Objects and lists in it restrict objects and lists only,
// which a value that has a word for its type is not.
func (s *shape) options() []*shape {
	members := []*shape{s}
	if s.form == unionForm {
		members = s.parts
	}
	var options []*shape
	for _, m := range members {
		switch {
		case m.isAny() || m.form == nameForm || m.form == bothForm:
			return nil
		case m.form == wordForm:
			options = append(options, m)
		}
	}
	return options
}

// narrow lists what is in both lists of words, where a basic type stands for all
// its literals.
func narrow(allowed, options []*shape) []*shape {
	broad, same := map[jsonscan.Kind]bool{}, map[string]bool{}
	literals := map[jsonscan.Kind][]*shape{}
	for _, o := range options {
		same[o.text] = true
		if o.isBroad() {
			broad[o.prim] = true
		} else {
			literals[o.prim] = append(literals[o.prim], o)
		}
	}
	var both []*shape
	for _, s := range allowed {
		switch {
		case same[s.text] || broad[s.prim]:
			both = append(both, s)
		case s.isBroad():
			both = append(both, literals[s.prim]...)
		}
	}
	return both
}

// meetObjects merges the objects among parts into the first of them. An object
// that says nothing is dropped where something else is left.
func (w *words) meetObjects(parts []*shape) []*shape {
	first, count := -1, 0
	for i, s := range parts {
		if s.form == objectForm {
			if first < 0 {
				first = i
			}
			count++
		}
	}
	if first < 0 {
		return parts
	}
	var merged []*shape
	group := make([]*shape, 0, count)
	for i, s := range parts {
		if s.form == objectForm {
			group = append(group, s)
		}
		if s.form != objectForm || i == first {
			merged = append(merged, s)
		}
	}
	at := slices.Index(merged, parts[first])
	if count > 1 {
		merged[at] = w.mergeObjects(group)
	}
	if s := merged[at]; len(merged) > 1 && len(s.fields) == 0 && s.extra != nil && s.extra.isAny() {
		merged = slices.Delete(merged, at, at+1)
	}
	return merged
}

// meetLists merges the lists among parts into the first of them. A list of
// anything is dropped where something else is left.
func (w *words) meetLists(parts []*shape) []*shape {
	var elements []*shape
	for _, s := range parts {
		if s.form == listForm {
			elements = append(elements, s.parts[0])
		}
	}
	if len(elements) == 0 || len(parts) == 1 {
		return parts
	}
	merged := &shape{form: listForm, parts: []*shape{w.meet(elements...)}}
	var left []*shape
	for _, s := range parts {
		if s.form != listForm {
			left = append(left, s)
		} else if merged != nil && (!merged.parts[0].isAny() || len(elements) == len(parts)) {
			left = append(left, merged)
			merged = nil
		}
	}
	return left
}

func (w *words) mergeObjects(group []*shape) *shape {
	m := &shape{form: objectForm, extra: w.open}
	index := map[string]int{}
	for _, s := range group {
		for _, f := range s.fields {
			at, known := index[f.key]
			if !known {
				index[f.key] = len(m.fields)
				m.fields = append(m.fields, f)
				continue
			}
			have := &m.fields[at]
			have.required = have.required || f.required
			have.typ = w.meet(have.typ, f.typ)
			have.doc = have.doc.with(f.doc)
		}
		m.extra = w.meetExtras(m.extra, s.extra)
	}
	return m
}

// meetExtras is what other properties are where two objects say so.
func (w *words) meetExtras(a, b *shape) *shape {
	switch {
	case a == nil || b == nil:
		return nil
	case b.implied:
		return a
	}
	return w.meet(a, b)
}
