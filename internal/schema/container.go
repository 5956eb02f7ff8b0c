package schema

import (
	"slices"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// walk applies a rule to an object's members or an array's elements. Its steps
// report whether to go on: after a fault only if a report wants more.
type walk struct {
	c   *checking
	r   *rule
	v   *value
	at  *path
	rep *report
	m   *marks
	ok  bool
}

// and notes whether something holds and reports whether to go on.
func (w *walk) and(holds bool) bool {
	w.ok = w.ok && holds
	return (w.ok || w.rep.wantsMore()) && !w.c.stopped()
}

// child applies sub to the i-th member or element.
func (w *walk) child(sub *rule, i int) bool {
	var place *path
	if w.rep != nil {
		place = w.at.child(w.v, i)
	}
	return w.c.eval(sub, &w.v.items[i], place, w.rep, nil)
}

func (c *checking) evalObject(r *rule, v *value, at *path, rep *report, m *marks) bool {
	w := walk{c: c, r: r, v: v, at: at, rep: rep, m: m, ok: true}
	_ = w.required() && w.size("propert", r.minProps, r.maxProps) && w.declared() && w.undeclared()
	return w.ok
}

func (c *checking) evalArray(r *rule, v *value, at *path, rep *report, m *marks) bool {
	w := walk{c: c, r: r, v: v, at: at, rep: rep, m: m, ok: true}
	_ = w.size("item", r.minItems, r.maxItems) && w.elements() && w.unique() && w.contained()
	return w.ok
}

// required looks for the members that must be there, always or beside others.
func (w *walk) required() bool {
	for _, name := range w.r.required {
		if w.v.find(name) < 0 && !w.and(w.rep.missing(name, "", w.r, w.v, w.at)) {
			return false
		}
	}
	for _, d := range w.r.dependent {
		if w.v.find(d.name) < 0 {
			continue
		}
		for _, name := range d.required {
			if w.v.find(name) < 0 && !w.and(w.rep.missing(name, d.name, w.r, w.v, w.at)) {
				return false
			}
		}
	}
	return true
}

func (w *walk) size(noun string, least, most int) bool {
	n := len(w.v.items)
	if n >= least && (most < 0 || n <= most) {
		return true
	}
	return w.and(w.rep.count(noun, n, least, most, w.at))
}

// declared applies the rules of declared properties, in the schema's order.
func (w *walk) declared() bool {
	if !w.c.spend(len(w.r.names)) {
		return false
	}
	for _, name := range w.r.names {
		i := w.v.find(name)
		if i < 0 {
			continue
		}
		w.m.add(i)
		before := w.rep.size()
		holds := w.child(w.r.props[name], i)
		if !holds && w.v.items[i].kind == jsonscan.Null && !slices.Contains(w.r.required, name) {
			w.rep.adviseLeavingOut(before)
		}
		if !w.and(holds) {
			return false
		}
	}
	return true
}

// undeclared applies what concerns members by their names' form, in the order
// they were sent.
func (w *walk) undeclared() bool {
	r := w.r
	if len(r.patterns) == 0 && r.additional == nil && r.propertyNames == nil {
		return true
	}
	for i, name := range w.v.names {
		if r.propertyNames != nil && !w.and(w.name(i)) {
			return false
		}
		_, known := r.props[name]
		for _, p := range r.patterns {
			if !w.c.match(p.pattern, name) {
				continue
			}
			known = true
			w.m.add(i)
			if !w.and(w.child(p.rule, i)) {
				return false
			}
		}
		if known || r.additional == nil {
			continue
		}
		w.m.add(i)
		if !w.and(w.additional(i)) {
			return false
		}
	}
	return true
}

// name applies propertyNames to the i-th name.
func (w *walk) name(i int) bool {
	key := value{kind: jsonscan.String, text: w.v.names[i]}
	if w.rep == nil {
		return w.c.eval(w.r.propertyNames, &key, nil, nil, nil)
	}
	key.raw = string(jsonscan.AppendQuote(nil, key.text))
	return w.c.eval(w.r.propertyNames, &key, w.at.nameOf(w.v, i), w.rep, nil)
}

func (w *walk) additional(i int) bool {
	if w.r.additional.never {
		return w.rep.unknown(i, w.r.names, w.r.folded, w.v, w.at)
	}
	return w.child(w.r.additional, i)
}

// elements applies the rules of elements by position.
func (w *walk) elements() bool {
	r := w.r
	for i := range w.v.items {
		sub := r.rest
		if i < len(r.prefix) {
			sub = r.prefix[i]
		}
		if sub == nil {
			break
		}
		if sub == r.rest && sub.never {
			return w.and(w.rep.count("item", len(w.v.items), -1, len(r.prefix), w.at))
		}
		w.m.add(i)
		if !w.and(w.child(sub, i)) {
			return false
		}
	}
	if r.rest != nil {
		w.m.addAll()
	}
	return true
}

func (w *walk) unique() bool {
	if !w.r.unique {
		return true
	}
	i, j, found := w.c.duplicates(w.v)
	return !found || w.and(w.rep.duplicate(w.v, i, j, w.at))
}

// contained counts the elements contains asks for.
func (w *walk) contained() bool {
	r := w.r
	if r.contains == nil {
		return true
	}
	matched := 0
	for i := range w.v.items {
		if !w.c.eval(r.contains, &w.v.items[i], nil, nil, nil) {
			continue
		}
		matched++
		if r.containsMarks {
			w.m.add(i)
		}
	}
	least := 1
	if r.minContains >= 0 {
		least = r.minContains
	}
	if matched >= least && (r.maxContains < 0 || matched <= r.maxContains) {
		return true
	}
	return w.and(w.rep.contains(r.contains, matched, least, r.maxContains, w.at))
}
