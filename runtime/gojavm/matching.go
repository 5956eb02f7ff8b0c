package gojavm

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// longText is how many code units a text must have for a pattern to run out of
// slots to go back to, in a process whose settings are not ours.
const longText = 4 << 10

// callers is how many frames lie at most between a function of RegExp.prototype
// and the author's code, itself and a method of a text among them.
const callers = 4

// matcher is a function of RegExp.prototype that runs a pattern, by its name or
// symbol.
type matcher struct {
	name   string
	symbol *goja.Symbol
	all    bool // one call may match many times
}

var matchers = []matcher{
	{name: "exec"}, {name: "test"},
	{"[Symbol.match]", goja.SymMatch, true}, {"[Symbol.matchAll]", goja.SymMatchAll, true},
	{"[Symbol.replace]", goja.SymReplace, true}, {"[Symbol.search]", goja.SymSearch, false},
	{"[Symbol.split]", goja.SymSplit, true},
}

// guardMatching watches patterns that may backtrack. While one runs it cannot be
// stopped, so that the place is noted before. And when it has used up its slots
// to go back to, the engine takes that for no match; in a process of our own
// there is no such bound (tuneProcess), in another the text is tried first. A
// pattern that the engine would match wrong has a stand-in.
func (r *run) guardMatching() error {
	if r.regExp == nil || !r.prog.mayBacktrack() {
		return nil
	}
	proto := r.regExp.proto
	m := &matching{run: r, texts: map[string]*regexp2.Regexp{}, standIns: standIns{constructor: r.regExp.constructor, proto: proto, forms: map[string]*form{}}}
	m.source, m.flags = r.regExp.source, r.regExp.flags
	for _, f := range matchers {
		if f.name == "exec" && !strings.Contains(r.prog.source, "exec") {
			continue // another exec takes the engine off its short ways
		}
		v := proto.Get(f.name)
		if f.symbol != nil {
			v = proto.GetSymbol(f.symbol)
		}
		original, ok := goja.AssertFunction(v)
		if !ok {
			return fmt.Errorf("the engine's RegExp has no %s", f.name)
		}
		var err error
		guarded := r.native(f.name, int(v.ToObject(r.vm).Get("length").ToInteger()), m.watch(original, f))
		if f.symbol != nil {
			err = proto.DefineDataPropertySymbol(f.symbol, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		} else {
			err = proto.DefineDataProperty(f.name, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// patternMakers are in the text of a program whose tree does not show all patterns
// as literals, or that runs them itself.
var patternMakers = []string{"RegExp", "exec", "eval", "Function", `\p{`, `\P{`}

// mayBacktrack says whether a program may have a pattern that the engine's linear
// matcher does not take, or takes wrong. That one also never starts in the middle
// of a text, as exec does with a global pattern.
func (p *program) mayBacktrack() bool {
	return p.marks.backtracks || slices.ContainsFunc(patternMakers, func(name string) bool { return strings.Contains(p.source, name) })
}

// backtracking says whether a literal is such a pattern, or a call may make one of
// a text.
func backtracking(node any) bool {
	switch x := node.(type) {
	case *ast.RegExpLiteral:
		return !linear(x.Pattern, x.Flags) || boundaries(x.Pattern) != x.Pattern || mayTakeNothing(x.Pattern, x.Flags)
	case *ast.CallExpression:
		dot, ok := x.Callee.(*ast.DotExpression)
		if !ok || len(x.ArgumentList) == 0 || !slices.Contains(patternMethods, dot.Identifier.Name.String()) {
			return false
		}
		_, literal := x.ArgumentList[0].(*ast.RegExpLiteral)
		return !literal
	}
	return false
}

// linear says whether the engine runs a pattern in linear time from the start of
// a text.
func linear(pattern, flags string) bool {
	_, err := parser.TransformRegExp(pattern, strings.Contains(flags, "s"), strings.Contains(flags, "u"))
	return err == nil
}

// matching is what guardMatching needs in one run.
type matching struct {
	run           *run
	source, flags goja.Callable // the engine's own getters
	texts         map[string]*regexp2.Regexp
	stack         [callers]goja.StackFrame
	last          goja.String // the text that units belong to
	units         []rune
	standIns
}

// watch is original with the place noted, long texts tried, and a stand-in where
// one is needed.
func (m *matching) watch(original goja.Callable, f matcher) func(goja.FunctionCall) goja.Value {
	return func(c goja.FunctionCall) goja.Value {
		if text, ok := c.Argument(0).(goja.String); ok {
			written := c.This
			if standIn := m.standIn(f, c.This, text); standIn != nil {
				defer moveLastIndex(c.This.(*goja.Object), standIn)()
				c.This = standIn
			}
			if !m.run.rt.opts.OwnProcess && text.Length() >= longText {
				m.try(c.This, written, text, f.all)
			}
		}
		site := m.run.siteOf(m.run.vm.CaptureCallStack(callers, m.stack[:0]))
		m.run.matching.Store(&site)
		defer m.run.matching.Store(nil)
		return must(original(c.This, c.Arguments...))
	}
}

// placeMatch gives a run that a regular expression did not let stop its place.
func (r *run) placeMatch() {
	site := r.matching.Load()
	if site == nil || site.Line == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure != nil && r.failure.Site.Line == 0 {
		f := r.placed(*r.failure, *site)
		r.failure = &f
	}
}

// try runs a backtracking pattern as the engine is about to, and throws if that
// would end for want of slots. written is the pattern that the author knows.
func (m *matching) try(this, written goja.Value, text goja.String, all bool) {
	object, ok := this.(*goja.Object)
	if !ok || object.ClassName() != "RegExp" {
		return
	}
	source, err := m.source(object)
	if jsvalue.Uncatchable(err) {
		panic(err)
	}
	flags, ferr := m.flags(object)
	if err != nil || ferr != nil {
		return
	}
	start := 0
	if at := object.Get("lastIndex"); !all && at != nil && strings.ContainsAny(flags.String(), "gy") {
		start = int(min(max(at.ToInteger(), 0), int64(text.Length())))
	}
	if start == 0 && linear(source.String(), flags.String()) && !(all && unitBytes(text) > 1) {
		return
	}
	rx := m.compiled(source.String(), flags.String())
	if rx == nil {
		return
	}
	units := m.unitsOf(text)
	if strings.Contains(flags.String(), "u") {
		start = utf8.RuneCountInString(text.Substring(0, start).String())
		units = []rune(text.String())
	}
	match, err := rx.FindRunesMatchStartingAt(units, start)
	for all && err == nil && match != nil {
		match, err = rx.FindNextMatch(match)
	}
	if err != nil {
		e, failed := m.run.vm.New(m.run.real.get("RangeError", ""), m.run.vm.ToValue(fmt.Sprintf(
			"/%s/%s has too much to go back to on a text of %d characters for a program in this process; split the text, or write the pattern without nested repetition",
			written.ToObject(m.run.vm).Get("source"), flags, text.Length())))
		if failed != nil {
			panic(failed)
		}
		panic(e)
	}
}

// compiled is the engine's backtracking form of a pattern, or nil.
func (m *matching) compiled(source, flags string) *regexp2.Regexp {
	key := flags + "/" + source
	if rx, ok := m.texts[key]; ok {
		return rx
	}
	rx, err := regexp2.Compile(source, matcherOptions(flags))
	if err != nil {
		rx = nil
	}
	m.texts[key] = rx
	return rx
}

// matcherOptions are the flags of a pattern as the engine gives them to its
// backtracking matcher.
func matcherOptions(flags string) regexp2.RegexOptions {
	options := regexp2.ECMAScript
	for flag, option := range map[string]regexp2.RegexOptions{"m": regexp2.Multiline, "s": regexp2.Singleline, "i": regexp2.IgnoreCase, "u": regexp2.Unicode} {
		if strings.Contains(flags, flag) {
			options |= option
		}
	}
	return options
}

// unitsOf are the code units of a text, kept for the next match in it.
func (m *matching) unitsOf(text goja.String) []rune {
	if m.last == nil || !m.last.SameAs(text) {
		m.units = m.units[:0]
		for i := range text.Length() {
			m.units = append(m.units, rune(text.CharAt(i)))
		}
		m.last = text
	}
	return m.units
}
