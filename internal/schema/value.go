package schema

import (
	"hash/maphash"
	"slices"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// value is a parsed JSON value that keeps the order of members and the text of
// numbers. It is immutable once parsed.
type value struct {
	kind  jsonscan.Kind // ObjectStart, ArrayStart, String, Number, True, False or Null
	raw   string        // the source text
	text  string        // of a string: its characters in WTF-8
	names []string      // of an object: the members' names, in order
	items []value       // the members' values or the elements
	index map[string]int
}

// manyNames is the number of members from which an object gets an index.
const manyNames = 24

// parse reads one JSON text without recursion, so depth costs no stack.
func parse(text string) (*value, error) {
	var p parser
	return p.parse(text, jsonscan.New(text))
}

func (p *parser) parse(text string, s *jsonscan.Scanner) (*value, error) {
	for {
		tok, err := s.Next()
		if err != nil {
			return nil, err
		}
		switch tok.Kind {
		case jsonscan.EOF:
			return &p.values[0], nil
		case jsonscan.ObjectStart, jsonscan.ArrayStart:
			p.open = append(p.open, opening{tok.Kind, tok.Offset, len(p.values), len(p.names)})
		case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
			p.close(text, s.Offset())
		case jsonscan.Key:
			p.names = append(p.names, jsonscan.Unquote(tok.Raw))
		case jsonscan.String:
			p.values = append(p.values, value{kind: tok.Kind, raw: tok.Raw, text: jsonscan.Unquote(tok.Raw)})
		default:
			p.values = append(p.values, value{kind: tok.Kind, raw: tok.Raw})
		}
	}
}

// parser holds what belongs to the open containers, inner after outer.
type parser struct {
	open   []opening
	values []value
	names  []string
	closed *arena  // nil: each container has memory of its own
	before []shape // by depth, the object closed last
}

// shape is what objects of the same names share.
type shape struct {
	names []string
	index map[string]int
}

// opening is one open container and where its content begins.
type opening struct {
	kind                  jsonscan.Kind
	offset, values, names int
}

// close makes one value of what the innermost container holds.
func (p *parser) close(text string, end int) {
	o := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	v := value{kind: o.kind, raw: text[o.offset:end]}
	if items := p.values[o.values:]; len(items) > 0 {
		v.items = p.closed.keepItems(items)
	}
	p.name(&v, p.names[o.names:])
	p.values, p.names = append(p.values[:o.values], v), p.names[:o.names]
}

// name gives an object its names. Rows have the same: in a large value it shares
// what the one before it at the same depth has.
func (p *parser) name(v *value, names []string) {
	switch {
	case len(names) == 0:
		return
	case p.closed != nil:
		v.names = p.closed.keepNames(names)
		v.buildIndex()
		return
	case p.before == nil:
		p.before = make([]shape, 8)
	}
	before := &p.before[min(len(p.open), len(p.before)-1)]
	if !slices.Equal(names, before.names) {
		v.names = p.closed.keepNames(names)
		v.buildIndex()
		before.names, before.index = v.names, v.index
	}
	v.names, v.index = before.names, before.index
}

func (v *value) buildIndex() {
	if len(v.names) < manyNames {
		return
	}
	v.index = make(map[string]int, len(v.names))
	for i, name := range v.names {
		v.index[name] = i
	}
}

// find is the position of the member of that name, -1 if there is none.
func (v *value) find(name string) int {
	if v.index != nil {
		if i, ok := v.index[name]; ok {
			return i
		}
		return -1
	}
	for i, n := range v.names {
		if n == name {
			return i
		}
	}
	return -1
}

// get is the member of that name, nil if there is none.
func (v *value) get(name string) *value {
	if i := v.find(name); i >= 0 {
		return &v.items[i]
	}
	return nil
}

func (v *value) isObject() bool { return v.kind == jsonscan.ObjectStart }
func (v *value) isArray() bool  { return v.kind == jsonscan.ArrayStart }
func (v *value) isString() bool { return v.kind == jsonscan.String }
func (v *value) isNumber() bool { return v.kind == jsonscan.Number }

// equal compares by JSON Schema's rule: numbers by what they are worth, objects
// without regard to order. It spends one step a comparison.
func (c *checking) equal(a, b *value) bool {
	if !c.spend(1 + min(len(a.raw), len(b.raw))/256) {
		return false
	}
	if a.kind != b.kind {
		return false
	}
	switch {
	case a.isString():
		return a.text == b.text
	case a.isNumber():
		return a.raw == b.raw || parseDecimal(a.raw).compare(parseDecimal(b.raw)) == 0
	case a.isArray():
		if len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			if !c.equal(&a.items[i], &b.items[i]) {
				return false
			}
		}
	case a.isObject():
		if len(a.items) != len(b.items) {
			return false
		}
		for i := range a.items {
			other := b.get(a.names[i])
			if other == nil || !c.equal(&a.items[i], other) {
				return false
			}
		}
	}
	return true
}

// hash agrees with equal: equal values have equal hashes.
func (c *checking) hash(seed maphash.Seed, v *value) uint64 {
	c.spend(1 + len(v.raw)/1024)
	switch {
	case v.isString():
		return maphash.String(seed, v.text)
	case v.isNumber():
		return maphash.Comparable(seed, parseDecimal(v.raw))
	case v.isArray():
		sum := uint64(len(v.items))
		for i := range v.items {
			sum = sum*31 + c.hash(seed, &v.items[i])
		}
		return sum
	case v.isObject():
		sum := uint64(len(v.items)) + 7
		for i := range v.items {
			sum += maphash.String(seed, v.names[i]) * (c.hash(seed, &v.items[i]) | 1)
		}
		return sum
	default:
		return uint64(v.kind)
	}
}

// duplicates finds the first two equal elements.
func (c *checking) duplicates(v *value) (i, j int, found bool) {
	if len(v.items) < 2 {
		return 0, 0, false
	}
	seed := maphash.MakeSeed()
	seen := make(map[uint64][]int, len(v.items))
	for j := range v.items {
		h := c.hash(seed, &v.items[j])
		for _, i := range seen[h] {
			if c.equal(&v.items[i], &v.items[j]) {
				return i, j, true
			}
		}
		if c.stopped() {
			return 0, 0, false
		}
		seen[h] = append(seen[h], j)
	}
	return 0, 0, false
}
