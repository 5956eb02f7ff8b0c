package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nearest"
)

// report collects problems. Its methods state one each and return false, the
// outcome of the rule that failed; a nil *report states nothing.
type report struct {
	c         *checking // pays for the texts
	root      string
	nested    int // how many choices between forms this is inside of
	problems  []fault
	explained map[member]bool // names some problem has dealt with
	listed    map[*value]bool // objects whose allowed names were told
}

// mostNested is how deep choices between forms are explained; below it a text
// only says that no form fits, since explaining doubles with each.
const mostNested = 3

// fault is a problem with what ranks it.
type fault struct {
	at   *path
	text string
	sort sort
}

// sort says what a fault tells about a value's resemblance to a form.
type sort byte

const (
	other     sort = iota
	otherKind      // the value is of another type
	otherCase      // a const or enum, which often tells forms apart
)

// member is the i-th name of an object.
type member struct {
	of *value
	i  int
}

func (rep *report) wantsMore() bool { return rep != nil && len(rep.problems) < mostProblems }

func (rep *report) add(at *path, s sort, format string, args ...any) bool {
	if rep.wantsMore() {
		rep.problems = append(rep.problems, fault{at, fmt.Sprintf(format, args...), s})
	}
	return false
}

func (rep *report) size() int {
	if rep == nil {
		return 0
	}
	return len(rep.problems)
}

// adviseLeavingOut completes the problem of an optional property that was sent
// as null, if the type is all that is wrong with it.
func (rep *report) adviseLeavingOut(before int) {
	if rep != nil && len(rep.problems) == before+1 && rep.problems[before].sort == otherKind {
		rep.problems[before].text += "; leave it out"
	}
}

func (rep *report) explain(of *value, i int) {
	if rep.explained == nil {
		rep.explained = map[member]bool{}
	}
	rep.explained[member{of, i}] = true
}

// finish lists everything, each text once.
func (rep *report) finish(extra []Problem) []Problem {
	var list []Problem
	seen := map[Problem]bool{}
	addOnce := func(p Problem) {
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	for _, f := range rep.problems {
		addOnce(Problem{f.at.pointer(), f.text})
	}
	for _, p := range extra {
		addOnce(p)
	}
	if len(rep.problems) >= mostProblems {
		list = append(list, Problem{"", "and possibly more; correct these first"})
	}
	return list
}

// badness ranks how far a value is from a form that stands at the place.
func (rep *report) badness(at *path) int {
	sum := 0
	for _, f := range rep.problems {
		sum++
		switch {
		case f.sort == otherKind && f.at.level() == at.level():
			sum += 1000
		case f.sort == otherCase && f.at.level() <= at.level()+1:
			sum += 100
		}
	}
	return sum
}

// subject names the place; every text begins with it, so it is what is paid for.
func (rep *report) subject(at *path) string {
	rep.c.spend(32 + at.level())
	return at.subject(rep.root)
}

func (rep *report) never(v *value, at *path) bool {
	switch {
	case rep == nil:
		return false
	case at == nil:
		return rep.add(at, otherKind, `"%s": the schema allows no value at all`, rep.root)
	case at.name || at.index >= 0:
		return rep.add(at, otherCase, `%s is not allowed`, rep.subject(at))
	default:
		return rep.add(at, otherCase, `property %s is not allowed`, rep.subject(at))
	}
}

func (rep *report) wrongType(want typeSet, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	return rep.add(at, otherKind, `%s must be %s, got %s%s`, rep.subject(at), want, describe(v), advice(v, want))
}

func (rep *report) notFixed(want, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	return rep.add(at, otherCase, `%s must be exactly %s, got %s%s`, rep.subject(at), short(want.raw, 80), describe(v), advice(v, typeOf(want)))
}

func (rep *report) notEnum(want []value, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	return rep.add(at, otherCase, `%s must be %s, got %s%s`, rep.subject(at), oneOfValues(want), describe(v), rep.didYouMean(want, v))
}

func (rep *report) didYouMean(want []value, v *value) string {
	if !v.isString() {
		return ""
	}
	var names []string
	for i := range want {
		if want[i].isString() {
			names = append(names, want[i].text)
		}
	}
	if near := rep.nearest(v.text, names); near != "" {
		return `; did you mean "` + shown(near) + `"?`
	}
	return ""
}

// nearest is the name that looks most like want, "" for none, or if the names are
// so many or so long that the hint is not worth the search.
func (rep *report) nearest(want string, names []string) string {
	for _, name := range names {
		rep.c.hints -= 16 + len(name)
	}
	if rep.c.hints < 0 {
		return ""
	}
	for _, near := range nearest.Names(want, names, 1) {
		return near
	}
	return ""
}

// missing states that a property is required, always or because another was
// sent, and looks for a sent name that was meant to be it.
func (rep *report) missing(name, because string, r *rule, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	rep.c.spend(32 + at.level() + len(v.names))
	text := `missing required property "` + at.missing(name).dotted() + `"`
	if because != "" {
		text += ` (required when "` + at.missing(because).dotted() + `" is sent)`
	}
	if r.props[name] != nil {
		var sent []string
		for i, n := range v.names {
			if r.props[n] == nil && !rep.explained[member{v, i}] {
				sent = append(sent, n)
			}
		}
		if near := rep.nearest(name, sent); near != "" {
			i := v.find(near)
			rep.explain(v, i)
			text += `; you sent "` + shown(near) + `", rename it to "` + shown(name) + `"`
		}
	}
	return rep.add(at.missing(name), other, "%s", text)
}

// unknown states that the i-th member of v is not allowed beside names.
func (rep *report) unknown(i int, names []string, folded map[string]string, v *value, at *path) bool {
	if rep == nil || rep.explained[member{v, i}] {
		return false
	}
	rep.c.spend(32 + at.level() + len(names))
	place := at.child(v, i)
	text := `unknown property "` + place.dotted() + `"`
	if !rep.listed[v] {
		if rep.listed == nil {
			rep.listed = map[*value]bool{}
		}
		rep.listed[v] = true
		text += "; allowed: " + nameList(names)
	}
	meant := folded[fold(v.names[i])]
	if meant == "" {
		var free []string
		for _, n := range names {
			if v.find(n) < 0 {
				free = append(free, n)
			}
		}
		meant = rep.nearest(v.names[i], free)
	}
	switch {
	case meant == "":
	case v.find(meant) >= 0:
		text += `; "` + shown(meant) + `" was sent too, send only that`
	default:
		text += `; did you mean "` + shown(meant) + `"?`
	}
	rep.explain(v, i)
	return rep.add(place, other, "%s", text)
}

// nameList lists declared names.
func nameList(names []string) string {
	const most = 20
	if len(names) == 0 {
		return "no properties at all"
	}
	var list []string
	for _, n := range names[:min(len(names), most)] {
		list = append(list, shown(n))
	}
	text := strings.Join(list, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// count states that there are too few or too many of something.
func (rep *report) count(noun string, got, least, most int, at *path) bool {
	if rep == nil {
		return false
	}
	if got < least {
		return rep.add(at, other, `%s must have at least %s, got %d`, rep.subject(at), plural(least, noun), got)
	}
	return rep.add(at, other, `%s must have at most %s, got %d`, rep.subject(at), plural(most, noun), got)
}

func plural(n int, noun string) string {
	one, many := noun, noun+"s"
	if noun == "propert" {
		one, many = "property", "properties"
	}
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func (rep *report) noMatch(p *pattern, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	return rep.add(at, other, `%s must match the pattern %s, got %s`, rep.subject(at), short(p.source, 120), describe(v))
}

func (rep *report) bound(relation string, limit decimal, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	return rep.add(at, other, `%s must be %s %s, got %s`, rep.subject(at), relation, short(limit.String(), 40), describe(v))
}

func (rep *report) duplicate(v *value, i, j int, at *path) bool {
	if rep == nil {
		return false
	}
	return rep.add(at, other, `%s must not hold the same item twice, but items %d and %d are both %s`, rep.subject(at), i, j, describe(&v.items[i]))
}

func (rep *report) contains(sub *rule, got, least, most int, at *path) bool {
	if rep == nil {
		return false
	}
	form, ok := sub.form()
	if form == "" || !ok {
		form = "of the required form"
	}
	if got < least {
		return rep.add(at, other, `%s must contain at least %s that is %s, got %d`, rep.subject(at), plural(least, "item"), form, got)
	}
	return rep.add(at, other, `%s must contain at most %s that is %s, got %d`, rep.subject(at), plural(most, "item"), form, got)
}

func (rep *report) excluded(not *rule, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	if form, plain := not.form(); plain && form != "" {
		return rep.add(at, otherCase, `%s must not be %s, got %s`, rep.subject(at), form, describe(v))
	}
	if not.onlyRequires() {
		if len(not.required) == 1 {
			return rep.add(at, other, `property "%s" is not allowed here`, at.missing(not.required[0]).dotted())
		}
		return rep.add(at, other, `the properties %s must not be sent together`, nameList(not.required))
	}
	return rep.add(at, other, `%s has a form that the schema excludes, got %s`, rep.subject(at), describe(v))
}

func (rep *report) manyBranches(matched int, v *value, at *path) bool {
	if rep == nil {
		return false
	}
	return rep.add(at, other, `%s must match exactly one oneOf branch (matched %d), got %s`, rep.subject(at), matched, describe(v))
}

// noBranch states that v has none of the allowed forms: which ones there are
// when that is quickly said, else what the closest lacks.
func (rep *report) noBranch(branches []*rule, keyword string, best int, closest *report, v *value, at *path) bool {
	lead := rep.subject(at) + " must match exactly one oneOf branch (matched 0), got " + describe(v) + "; allowed: "
	end := ""
	if keyword == "anyOf" {
		lead, end = rep.subject(at)+" must be ", ", got "+describe(v)
	}
	if forms, ok := plainForms(branches); ok {
		return rep.add(at, otherKind, "%s%s%s", lead, forms, end)
	}
	types := typeSet(0)
	for _, b := range branches {
		t := b.typesOf()
		if t == 0 {
			types = 0
			break
		}
		types |= t
	}
	if types != 0 && !types.allow(v) {
		return rep.add(at, otherKind, "%s%s%s%s", lead, types, end, advice(v, types))
	}
	if closest == nil {
		if keyword == "anyOf" {
			return rep.add(at, other, "%s fits none of its %d allowed forms, got %s", rep.subject(at), len(branches), describe(v))
		}
		return rep.add(at, other, "%s must match exactly one oneOf branch (matched 0), got %s", rep.subject(at), describe(v))
	}
	const told = 3
	var texts []string
	for _, f := range closest.problems[:min(told, len(closest.problems))] {
		texts = append(texts, f.text)
	}
	why := strings.Join(texts, ", and ")
	for m := range closest.explained {
		rep.explain(m.of, m.i)
	}
	if keyword == "anyOf" {
		return rep.add(at, other, "%s fits none of its %d allowed forms; for the closest, number %d: %s", rep.subject(at), len(branches), best+1, why)
	}
	return rep.add(at, other, "%s must match exactly one oneOf branch (matched 0); for the closest, number %d: %s", rep.subject(at), best+1, why)
}

// plainForms describes branches that only name types or values.
func plainForms(branches []*rule) (string, bool) {
	types := typeSet(0)
	var values []value
	for _, b := range branches {
		b = b.follow()
		if _, plain := b.form(); !plain {
			return "", false
		}
		switch {
		case b.fixed != nil:
			values = append(values, *b.fixed)
		case b.enum != nil:
			values = append(values, b.enum...)
		case b.types == 0:
			return "", false
		default:
			types |= b.types
		}
	}
	switch {
	case len(values) == 0:
		return types.String(), true
	case types == 0:
		return oneOfValues(values), true
	default:
		return types.String() + " or " + oneOfValues(values), true
	}
}

// follow skips rules that are nothing but a reference.
func (r *rule) follow() *rule {
	for range 16 {
		if r.ref == nil || !r.bare() || r.types != 0 || r.enum != nil || r.fixed != nil {
			break
		}
		r = r.ref
	}
	return r
}

// bare reports whether r says nothing but types, values and a reference.
func (r *rule) bare() bool {
	return !r.never && r.dynamic == nil && r.not == nil && r.allOf == nil && r.anyOf == nil && r.oneOf == nil && r.when == nil &&
		len(r.required) == 0 && len(r.names) == 0 && r.patterns == nil && r.additional == nil && r.propertyNames == nil &&
		r.dependent == nil && r.minProps < 0 && r.maxProps < 0 && r.unevaluatedProps == nil && r.unevaluatedItems == nil &&
		r.prefix == nil && r.rest == nil && r.contains == nil && r.minItems < 0 && r.maxItems < 0 && !r.unique &&
		r.minLength < 0 && r.maxLength < 0 && r.pattern == nil && r.minimum == nil && r.maximum == nil &&
		r.above == nil && r.below == nil && r.multiple == nil
}

// form describes what r allows and reports whether that says everything.
func (r *rule) form() (text string, plain bool) {
	r = r.follow()
	plain = r.bare() && r.ref == nil
	switch {
	case r.fixed != nil:
		return short(r.fixed.raw, 80), plain
	case r.enum != nil:
		return oneOfValues(r.enum), plain
	case r.types != 0:
		return r.types.String(), plain
	}
	return "", plain
}

func (r *rule) typesOf() typeSet {
	r = r.follow()
	switch {
	case r.fixed != nil:
		return typeOf(r.fixed)
	case r.enum != nil:
		types := typeSet(0)
		for i := range r.enum {
			types |= typeOf(&r.enum[i])
		}
		return types
	}
	return r.types
}

// onlyRequires reports whether r says nothing but required names.
func (r *rule) onlyRequires() bool {
	if len(r.required) == 0 || r.types&^typeObject != 0 || r.enum != nil || r.fixed != nil || r.ref != nil {
		return false
	}
	plain := *r
	plain.required = nil
	return plain.bare()
}

// oneOfValues lists values as JSON.
func oneOfValues(values []value) string {
	const most = 20
	if len(values) == 1 {
		return "exactly " + short(values[0].raw, 80)
	}
	var b strings.Builder
	b.WriteString("one of [")
	for i := range values {
		if i == most {
			fmt.Fprintf(&b, "] and %d more", len(values)-most)
			return b.String()
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(short(values[i].raw, 80))
	}
	b.WriteByte(']')
	return b.String()
}

// String lists the types with their articles: a string, an array or null.
func (t typeSet) String() string {
	var list []string
	for i, name := range typeNames {
		if t&(1<<i) == 0 {
			continue
		}
		switch {
		case t&(1<<i) == typeNull:
		case slices.Contains([]string{"integer", "object", "array"}, name):
			name = "an " + name
		default:
			name = "a " + name
		}
		list = append(list, name)
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// describe says what was sent, shortened.
func describe(v *value) string {
	const most = 40
	switch v.kind {
	case jsonscan.String:
		if n := length(v.text); n > most {
			return fmt.Sprintf(`a string of %d characters, "%s"`, n, shownText(v.text, most))
		}
		return `the string "` + shownText(v.text, 4*most) + `"`
	case jsonscan.Number:
		return "the number " + cut(v.raw, most)
	case jsonscan.ArrayStart:
		if len(v.items) == 0 {
			return "an empty array"
		}
		return "an array of " + plural(len(v.items), "item")
	case jsonscan.ObjectStart:
		const few = 5
		if len(v.items) == 0 {
			return "an empty object"
		}
		var names []string
		for _, n := range v.names[:min(few, len(v.names))] {
			names = append(names, cut(shown(n), 24))
		}
		text := "an object with " + strings.Join(names, ", ")
		if len(v.names) > few {
			text += fmt.Sprintf(" and %d more", len(v.names)-few)
		}
		return text
	default:
		return v.raw
	}
}

func shownText(text string, n int) string {
	quoted := string(jsonscan.AppendQuote(nil, cut(text, n)))
	return visible(quoted[1 : len(quoted)-1])
}

// advice is what to do about a value of another type, for the mistakes models
// make most.
func advice(v *value, want typeSet) string {
	if !v.isString() {
		if want == typeString && (v.isNumber() || typeOf(v) == typeBoolean) {
			return "; put it in quotes"
		}
		return ""
	}
	const longest = 1 << 16
	if want&typeString != 0 || len(v.text) > longest {
		return ""
	}
	inner, err := parse(v.text)
	if err != nil || !want.allow(inner) {
		return ""
	}
	if inner.isObject() || inner.isArray() {
		return "; send the value itself, not a string of JSON"
	}
	return "; send it without quotes"
}
