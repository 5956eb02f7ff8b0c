package gojavm

import (
	"reflect"
	"slices"
	"strings"

	"github.com/dlclark/regexp2/v2/syntax"
	"github.com/dop251/goja"
)

// The engine has two matchers, and what the author wrote goes now to the one, now
// to the other, as the text and the method have it. Each is wrong in its own way:
// the linear one drops an empty match right behind another, the backtracking one
// takes every letter for a part of a word to \b. Its short ways around exec,
// which make many matches in one step, are wrong about empty matches of a sticky
// pattern and when they split, and forget that they were to replace one match
// alone. Where that would show, a stand-in is run in place of the pattern.

// maxForms is how many patterns are remembered.
const maxForms = 1000

// standIns finds a stand-in for a pattern.
type standIns struct {
	constructor *goja.Object // the engine's own
	proto       *goja.Object
	forms       map[string]*form // flags/source -> what is known of the pattern
}

// form is what is known of a pattern.
type form struct {
	source, flags string
	narrow        string // source with boundaries as the ASCII ones
	linear        bool
	takesNothing  bool            // at one place, and something at another
	made          [4]*goja.Object // its stand-ins, by narrow and stepwise
}

// standIn is the pattern to run in place of this, or nil.
func (m *matching) standIn(f matcher, this goja.Value, text goja.String) *goja.Object {
	if !f.all && !wide(text) {
		return nil
	}
	object, ok := this.(*goja.Object)
	if !ok || object.ClassName() != "RegExp" || f.symbol != nil && !m.plain(object) {
		return nil
	}
	x := m.formOf(object)
	if x == nil {
		return nil
	}
	has := func(flag string) bool { return strings.Contains(x.flags, flag) }
	narrow := x.narrow != x.source && wide(text) && (f.all || !x.linear || has("g") || has("y"))
	backtracks := !x.linear || narrow
	var forced, stepwise bool
	switch f.symbol {
	case goja.SymMatch:
		forced = x.takesNothing && has("g")
		stepwise = forced && has("y")
	case goja.SymReplace:
		forced = x.takesNothing && has("g")
		stepwise = forced && has("y") || !has("g") && has("u") && backtracks && wide(text)
	case goja.SymSplit:
		stepwise = x.takesNothing && (backtracks || wide(text))
	}
	if !narrow && !stepwise && (!forced || !x.linear) {
		return nil
	}
	return m.make(x, narrow, stepwise)
}

// plain says whether a pattern behaves as the engine's own: not as one of a class
// derived from RegExp, nor with an exec of its own.
func (m *matching) plain(object *goja.Object) bool {
	return object.Prototype() == m.proto && m.proto.Get("exec").SameAs(object.Get("exec"))
}

// formOf is what is known of a pattern, or nil.
func (m *matching) formOf(object *goja.Object) *form {
	source, err := m.source(object)
	if err != nil {
		return nil
	}
	flags, err := m.flags(object)
	if err != nil {
		return nil
	}
	key := flags.String() + "/" + source.String()
	x := m.forms[key]
	if x == nil {
		if len(m.forms) >= maxForms {
			clear(m.forms)
		}
		x = &form{source: source.String(), flags: flags.String()}
		x.narrow, x.linear, x.takesNothing = boundaries(x.source), linear(x.source, x.flags), mayTakeNothing(x.source, x.flags)
		m.forms[key] = x
	}
	return x
}

// make is a stand-in: a pattern that only the backtracking matcher takes, stepwise
// one that the engine runs with exec alone.
func (m *matching) make(x *form, narrow, stepwise bool) *goja.Object {
	source, i := x.source, 0
	if narrow {
		source, i = x.narrow, 1
	}
	if stepwise {
		i += 2
	}
	if x.made[i] == nil {
		x.made[i] = m.construct(stepwise, m.run.vm.ToValue(forceBacktracking+source), m.run.vm.ToValue(x.flags))
	}
	return x.made[i]
}

// construct makes a pattern of which the engine makes copies of the same kind.
func (m *matching) construct(stepwise bool, arguments ...goja.Value) *goja.Object {
	made, err := m.run.vm.New(m.constructor, arguments...)
	if err != nil {
		panic(err)
	}
	var copies goja.Value = m.constructor
	if stepwise {
		// A property that has been defined takes the engine off its short ways.
		err = made.DefineDataProperty("lastIndex", m.run.vm.ToValue(0), goja.FLAG_TRUE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		if err != nil {
			panic(err)
		}
		maker := m.run.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
			return m.construct(true, c.Arguments...)
		}).(*goja.Object)
		if err := maker.SetSymbol(goja.SymSpecies, maker); err != nil {
			panic(err)
		}
		copies = maker
	}
	if err := made.Set("constructor", copies); err != nil {
		panic(err)
	}
	return made
}

// moveLastIndex gives a stand-in the place of a pattern. What it returns brings
// the place back.
func moveLastIndex(object, standIn *goja.Object) func() {
	before := object.Get("lastIndex")
	if err := standIn.Set("lastIndex", before); err != nil {
		panic(err)
	}
	return func() {
		after := standIn.Get("lastIndex")
		if after.SameAs(before) {
			return
		}
		if err := object.Set("lastIndex", after); err != nil {
			panic(err)
		}
	}
}

// wide says whether a text has characters beyond ASCII. It does not look at all of
// them, for it is asked at each step through a text.
func wide(text goja.String) bool {
	switch reflect.TypeOf(text).Kind() {
	case reflect.String:
		return false
	case reflect.Slice:
		return true
	}
	return unitBytes(text) > 1
}

// The boundaries of words as ECMA-262 has them, to a matcher whose own are others.
const (
	wordBoundary = `(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))`
	noBoundary   = `(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))`
)

// boundaries writes \b and \B of a pattern in that way.
func boundaries(pattern string) string {
	if !strings.Contains(pattern, `\b`) && !strings.Contains(pattern, `\B`) {
		return pattern
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			switch {
			case pattern[i] == 'b' && !class:
				b.WriteString(wordBoundary)
			case pattern[i] == 'B' && !class:
				b.WriteString(noBoundary)
			default:
				b.WriteString(pattern[i-1 : i+1])
			}
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// mayTakeNothing says whether a pattern may match the empty text at one place and
// more at another.
func mayTakeNothing(pattern, flags string) bool {
	tree, err := syntax.Parse(pattern, syntax.ParseOptions{RegexOptions: syntax.RegexOptions(matcherOptions(flags))})
	return err == nil && tree.Root.ComputeMinLength() == 0 && takes(tree.Root)
}

// takes says whether a part of a pattern may match more than the empty text.
func takes(n *syntax.RegexNode) bool {
	switch n.T {
	case syntax.NtPosLook, syntax.NtNegLook:
		return false
	case syntax.NtOne, syntax.NtNotone, syntax.NtSet, syntax.NtMulti, syntax.NtRef,
		syntax.NtOneloop, syntax.NtNotoneloop, syntax.NtSetloop,
		syntax.NtOnelazy, syntax.NtNotonelazy, syntax.NtSetlazy,
		syntax.NtOneloopatomic, syntax.NtNotoneloopatomic, syntax.NtSetloopatomic:
		return true
	}
	return slices.ContainsFunc(n.Children, takes)
}
