package gojavm

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dlclark/regexp2/v2"

	"github.com/runcode-go/runcode/runtime"
)

// In a process of its own a pattern goes back as far as the heap allows. In one of
// the host's it is refused where the engine would find nothing.
func TestPatternsThatGoBackFar(t *testing.T) {
	const refused = " has too much to go back to on a text of "
	bound := &regexp2.DefaultOptimizationOptions.MaxBacktrackingStackSize
	before := *bound
	t.Cleanup(func() { *bound = before })
	own, shared := newRuntime(t, &Options{OwnProcess: true}), newRuntime(t, nil)
	unbounded := *bound
	for _, tc := range []struct{ name, program, value string }{
		{"replace", "return ('<b>' + 'x'.repeat(40000) + '</b>').replace(/(?<=<b>)(x|z)*(?=<)/, '').length", "7"},
		{"match", "return ('x'.repeat(40000) + '<').match(/(x|z)*(?=<)/)[0].length", "40000"},
		{"test", "return /^(x|z)*(?=<)/.test('x'.repeat(40000) + '<')", "true"},
		{"exec", "return /(x|z)*(?=<)/.exec('x'.repeat(40000) + '<')[0].length", "40000"},
		{"exec again", "const r = /(x|z)*;/g, t = 'x;' + 'x'.repeat(40000) + ';'; r.exec(t); return r.exec(t)[0].length", "40001"},
		{"search", "return ('y' + 'x'.repeat(40000) + '<').search(/(x|z)+(?=<)/)", "1"},
		{"split", "return ('a' + 'x'.repeat(40000) + '<b').split(/(x|z)+(?=<)/)", `["a","x","<b"]`},
		{"matchAll", "return [...('x'.repeat(40000) + '<').matchAll(/(x|z)+(?=<)/g)].length", "1"},
		{"with the flag u", "return ('é'.repeat(40000) + '<').match(/(\\p{L}|z)*(?=<)/u)[0].length", "40000"},
		{"a pattern made of a text", "return ('x'.repeat(40000) + '<').match(new RegExp('(x|z)*(?=<)'))[0].length", "40000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			*bound = 100_000 // the library's own
			f := execute(t, shared, runtime.Request{Program: "const a = 1\n" + tc.program}).Failure
			if f == nil || f.Name != "RangeError" || !strings.Contains(f.Message, refused) || f.Site.Line != 2 {
				t.Errorf("in the host's process: %+v, want a RangeError on line 2", f)
			}
			*bound = unbounded
			if res := execute(t, own, runtime.Request{Program: tc.program}); res.Value != tc.value {
				t.Errorf("in a process of its own: %s (%+v), want %s", res.Value, res.Failure, tc.value)
			}
		})
	}
	*bound = 100_000
	for _, fine := range []string{
		"return ('x'.repeat(40000) + '<').match(/(?:x|z)*</)[0].length === 40001",
		"return ('x '.repeat(4000)).match(/x(?= )/g).length === 4000",
		"const r = /x/g, t = 'x '.repeat(4000); let n = 0; while (r.exec(t)) n++; return n === 4000",
		"return /(?<=a)b/.test('ab') && 'aXb'.replace(/(?<=a)x/i, '') === 'ab' && [...'a1a2'.matchAll(/a(?=\\d)/g)].length === 2",
		"class P extends RegExp { exec(s) { return super.exec(s) } } return new P('a(?=b)').test('ab')",
		"return RegExp.prototype.exec.name === 'exec' && RegExp.prototype[Symbol.replace].length === 2",
	} {
		if res := execute(t, shared, runtime.Request{Program: fine}); res.Value != "true" {
			t.Errorf("%s: %s (%+v)", fine, res.Value, res.Failure)
		}
	}
}

// A run that could not be stopped in a pattern names its line.
func TestPlaceOfAPatternThatDoesNotStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(nil)
		if err != nil {
			t.Fatal(err)
		}
		release := make(chan struct{})
		res, err := rt.Run(t.Context(), runtime.Request{
			Program: "const out = ['a']\nreturn out.map(s => s.replace(/a(?!b)/, () => console.log('in')))",
			Log:     func(runtime.Line) { <-release }, // as long as a match may take
			Limits:  runtime.Limits{Wall: time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		f := res.Failure
		if f == nil || f.Kind != runtime.Timeout || f.Site != (runtime.Site{Line: 2, Column: 23}) || !strings.Contains(f.Frame, "> 2 | return") {
			t.Errorf("%+v, want a timeout on line 2", f)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
		close(release)
		synctest.Wait()
	})
}
