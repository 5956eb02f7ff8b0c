package schema

import (
	"unicode"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// fold maps names that differ only in case to one text: every character becomes
// the least of those Unicode simple case folding makes equal.
func fold(name string) string {
	ascii := true
	for i := range len(name) {
		if name[i] >= 0x80 {
			ascii = false
			break
		}
	}
	out := make([]byte, 0, len(name))
	if ascii {
		for i := range len(name) {
			c := name[i]
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			out = append(out, c)
		}
		return string(out)
	}
	for i := 0; i < len(name); {
		r, n := jsonscan.DecodeRune(name[i:])
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		out = jsonscan.AppendRune(out, least)
		i += n
	}
	return string(out)
}

// clash is a name some reader could take for another.
type clash struct {
	of   *value
	i    int
	at   *path
	name string // the declared name or the other sent one
	both bool   // that one was sent as well
	sent bool   // name is no declared one
}

// clashes finds, in every object for which the schema declares properties and
// in the root, names that equal a declared name or each other but for case.
func (c *checking) clashes(r *rule, v *value) []clash {
	f := folding{c: c}
	c.one[0] = r
	f.value(c.one[:], v, nil)
	return f.found
}

type folding struct {
	c     *checking
	found []clash
	whole map[*rule][]*rule // what a single rule applies, once found
}

// value looks at v, to which the rules apply.
func (f *folding) value(rules []*rule, v *value, at *path) {
	if !f.c.spend(1+len(rules)) || len(f.found) >= mostProblems {
		return
	}
	if !v.isObject() && !v.isArray() {
		return
	}
	all := f.applied(rules)
	if v.isArray() {
		for i := range v.items {
			if inner := elementRules(all, i); len(inner) > 0 {
				f.value(inner, &v.items[i], at.child(v, i))
			}
		}
		return
	}
	f.names(all, v, at)
	for i, name := range v.names {
		if k := v.items[i].kind; k != jsonscan.ObjectStart && k != jsonscan.ArrayStart {
			continue
		}
		if inner := f.c.memberRules(all, name); len(inner) > 0 {
			f.value(inner, &v.items[i], at.child(v, i))
		}
	}
}

func (f *folding) applied(rules []*rule) []*rule {
	if len(rules) != 1 {
		return f.c.applied(rules)
	}
	if rules[0].alone() {
		return rules
	}
	all := f.whole[rules[0]]
	if all == nil {
		all = f.c.applied(rules)
		if f.whole == nil {
			f.whole = map[*rule][]*rule{}
		}
		f.whole[rules[0]] = all
	}
	return all
}

// alone reports whether a rule applies nothing else to the same value.
func (r *rule) alone() bool {
	for sub := range r.inPlace {
		if sub != r.not {
			return false
		}
	}
	return true
}

// names compares the names of one object.
func (f *folding) names(rules []*rule, v *value, at *path) {
	declares := false
	exact := func(name string) bool {
		for _, r := range rules {
			if r.props[name] != nil {
				return true
			}
		}
		return false
	}
	for _, r := range rules {
		declares = declares || len(r.names) > 0
	}
	if !declares && at != nil {
		return
	}
	if !f.c.spend(len(v.names) * (1 + len(rules))) {
		return
	}
	undeclared := false
	for _, name := range v.names {
		undeclared = undeclared || !exact(name)
	}
	if !undeclared {
		return
	}
	first := make(map[string]int, len(v.names))
	for i, name := range v.names {
		folded := fold(name)
		if exact(name) {
			first[folded] = i
			continue
		}
		declared := ""
		for _, r := range rules {
			if d := r.folded[folded]; d != "" {
				declared = d
				break
			}
		}
		j, twice := first[folded]
		switch {
		case declared != "":
			f.found = append(f.found, clash{v, i, at, declared, v.find(declared) >= 0, false})
		case twice:
			f.found = append(f.found, clash{v, i, at, v.names[j], true, true})
		default:
			first[folded] = i
		}
	}
}

// applied are the rules and all they apply to the same value, whether or not
// the value satisfies them.
func (c *checking) applied(rules []*rule) []*rule {
	var all []*rule
	seen := map[*rule]bool{}
	var visit func(r *rule)
	visit = func(r *rule) {
		if seen[r] || !c.spend(1) {
			return
		}
		seen[r] = true
		all = append(all, r)
		for sub := range r.inPlace {
			if sub != r.not {
				visit(sub)
			}
		}
	}
	for _, r := range rules {
		visit(r)
	}
	return all
}

// memberRules are the rules that apply to the member of that name.
func (c *checking) memberRules(rules []*rule, name string) []*rule {
	var inner []*rule
	for _, r := range rules {
		known := false
		if sub := r.props[name]; sub != nil {
			inner, known = append(inner, sub), true
		}
		for _, p := range r.patterns {
			if c.match(p.pattern, name) {
				inner, known = append(inner, p.rule), true
			}
		}
		if r.additional != nil && !known {
			inner = append(inner, r.additional)
		}
		if r.unevaluatedProps != nil {
			inner = append(inner, r.unevaluatedProps)
		}
	}
	return inner
}

// elementRules are the rules that apply to the i-th element.
func elementRules(rules []*rule, i int) []*rule {
	var inner []*rule
	for _, r := range rules {
		if i < len(r.prefix) {
			inner = append(inner, r.prefix[i])
		} else if r.rest != nil {
			inner = append(inner, r.rest)
		}
		if r.contains != nil {
			inner = append(inner, r.contains)
		}
		if r.unevaluatedItems != nil {
			inner = append(inner, r.unevaluatedItems)
		}
	}
	return inner
}

// declared are the names r and what it applies in place declare for v.
func (c *checking) declared(r *rule, v *value) ([]string, map[string]string) {
	var names []string
	folded := map[string]string{}
	for _, sub := range c.applied([]*rule{r}) {
		for _, name := range sub.names {
			if f := fold(name); folded[f] == "" {
				names = append(names, name)
				folded[f] = name
			}
		}
	}
	return names, folded
}

// clashProblems states clashes, but for names that are dealt with already.
func clashProblems(clashes []clash, explained map[member]bool) []Problem {
	var problems []Problem
	for _, x := range clashes {
		if explained[member{x.of, x.i}] {
			continue
		}
		place := x.at.child(x.of, x.i)
		sent, meant := place.dotted(), x.at.missing(x.name).dotted()
		var text string
		switch {
		case x.sent:
			text = `properties "` + meant + `" and "` + sent + `" differ only in case; send one of them`
		case x.both:
			text = `property "` + sent + `" differs only in case from "` + meant + `", which was sent too; send only "` + meant + `"`
		default:
			text = `property "` + sent + `" differs only in case from the declared "` + meant + `"; names are case-sensitive, send "` + meant + `"`
		}
		problems = append(problems, Problem{place.pointer(), text})
	}
	return problems
}
