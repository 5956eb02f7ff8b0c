package gojavm

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
)

// newTestSorting is the sorting of an engine with the library, without guards.
func newTestSorting(t testing.TB) *sorting {
	t.Helper()
	r := &run{vm: goja.New()}
	r.real.capture(r.vm, nil)
	if err := r.installLibrary(nil); err != nil {
		t.Fatal(err)
	}
	return r.newSorting()
}

// evaluate is the value of an expression.
func evaluate(t testing.TB, s *sorting, expression string) goja.Value {
	t.Helper()
	v, err := s.vm.RunString("(" + expression + ")")
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// listOf are the elements of the array that an expression gives.
func listOf(t testing.TB, s *sorting, expression string) []goja.Value {
	t.Helper()
	list, ok := s.elements(evaluate(t, s, expression).(*goja.Object))
	if !ok {
		t.Fatalf("%s is no plain array", expression)
	}
	return slices.Clone(list)
}

const (
	someNumbers = "[5, 3.5, -1, 8, 0, -0, 3.5, 1e300, 7, 2, 5, 1]"
	oddNumbers  = "[5, NaN, -1, Infinity, 0, -0, -Infinity, NaN, 7, Infinity, 5, 1]"
	someTexts   = "['b', 'a', 'ab', '', 'B', 'é', 'z', '\\u{1f600}', '\\uffee', '\\ud800', 'a', '10', '9']"
	someRows    = "[5, 3, 8, 1, 3, 9, 2, 8, 4, 3].map((n, i) => ({ n, half: n / 2, t: 'name ' + n % 3, in: { n: -n }, list: [i, n], 'odd-name': n }))"
	someEntries = "[5, 3, 8, 1, 3, 9, 2, 8, 4, 3].map((n, i) => ['key' + i, n])"
)

// TestComparators holds comparators that are computed to what calling them gives, and
// says which those are.
func TestComparators(t *testing.T) {
	s := newTestSorting(t)
	for _, tt := range []struct {
		comparator, elements string
		computed             bool
	}{
		{"(a, b) => a - b", someNumbers, true},
		{"(a, b) => b - a", someNumbers, true},
		{"(a, b) => a - b", oddNumbers, true},
		{"(a, b) => b - a", oddNumbers, true},
		{"(x, y) => { return x - y }", someNumbers, true},
		{"(x, y) => { return x - y; }", someNumbers, true},
		{"function (a, b) { return b - a }", someNumbers, true},
		{"function a(a, b) { return b - a; }", someNumbers, true},
		{"(arguments, b) => arguments - b", someNumbers, true},
		{"(a, b) => (a - b) /* rising */", someNumbers, true},
		{"(a, b) => -(a - b)", oddNumbers, true},
		{"(a, b) => 0 - (a - b)", someNumbers, true},
		{"(a, b) => 1", someNumbers, true},
		{"(a, b) => -0.5", someNumbers, true},
		{"(a, b) => a", someNumbers, true},
		{"(a, b) => a - a", someNumbers, true},
		{"(a, b) => a > b", someNumbers, true},
		{"(a, b) => a < b ? -1 : 1", oddNumbers, true},
		{"(a, b) => a < b ? -1 : a > b ? 1 : 0", oddNumbers, true},
		{"(a, b) => a === b ? 0 : a <= b ? -1 : 1", oddNumbers, true},
		{"(a, b) => a == b ? 0 : a >= b ? 1 : -1", oddNumbers, true},
		{"(a, b) => a != b ? a - b : 0", oddNumbers, true},
		{"(a, b) => a - b || b - a || 1", oddNumbers, true},
		{"(a, b) => a - b || -1", oddNumbers, true},
		{"(a, b) => { if (a < b) return -1; if (a > b) { return 1 } return 0 }", oddNumbers, true},
		{"(a, b) => { if (a < b) return -1; else if (a > b) return 1; else return 0 }", someNumbers, true},
		{"(a, b) => { if (a < b) { return 1 } else { return -1 } }", someNumbers, true},

		{"(a, b) => a < b ? -1 : a > b ? 1 : 0", someTexts, true},
		{"(a, b) => a > b ? 1 : -1", someTexts, true},
		{"(a, b) => a === b ? 0 : a < b ? 1 : -1", someTexts, true},
		{"(a, b) => a.localeCompare(b)", someTexts, true},
		{"(a, b) => b.localeCompare(a)", someTexts, true},
		{"(a, b) => -a.localeCompare(b)", someTexts, true},
		{"(a, b) => a.length - b.length", someTexts, true},
		{"(a, b) => b.length - a.length || a.localeCompare(b)", someTexts, true},

		{"(a, b) => a.n - b.n", someRows, true},
		{"(a, b) => b.half - a.half", someRows, true},
		{"(a, b) => a.in.n - b.in.n", someRows, true},
		{"(a, b) => a.list[1] - b.list[1]", someRows, true},
		{"(a, b) => a.list.length - b.list.length", someRows, true},
		{"(a, b) => a['odd-name'] - b['odd-name']", someRows, true},
		{"(a, b) => a.n - b.half", someRows, true},
		{"(a, b) => a.t.length - b.t.length", someRows, true},
		{"(a, b) => a.t.localeCompare(b.t) || b.n - a.n", someRows, true},
		{"(a, b) => a.t < b.t ? -1 : a.t > b.t ? 1 : b.n - a.n", someRows, true},
		{"(a, b) => b.n - a.n || (a.t < b.t ? -1 : (0 - (1)))", someRows, true},
		{"(a, b) => b[1] - a[1]", someEntries, true},
		{"(a, b) => b[1] - a[1] || a[0].localeCompare(b[0])", someEntries, true},
		{"(a, b) => a[0] < b[0] ? 1 : -1", someEntries, true},

		// What is computed may be nothing but numbers and texts.
		{"(a, b) => a - b", "['10', '9', '8', '1', '2', '3', '4', '5']", false},
		{"(a, b) => a - b", "[3, 2, 1, true, 5, 6, 7, 8]", false},
		{"(a, b) => a - b", "[3, 2, 1, null, 5, 6, 7, 8]", false},
		{"(a, b) => a - b", "[3n, 2n, 1n, 5n, 6n, 7n, 8n, 4n].map(Number).concat({ valueOf() { return 4 } })", false},
		{"(a, b) => a < b ? -1 : 1", "[3, 2, '1', 5, 6, '10', 7, 8]", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => ({ n: '' + n }))", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => ({ get n() { return n } }))", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => Object.freeze({ n }))", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => Object.create({ n }))", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => new Proxy({ n }, {}))", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => n > 7 ? {} : { n })", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => Object.assign(() => {}, { n }))", false},
		{"(a, b) => a.n - b.n", "[3, 2, 1, 5, 6, 7, 8, 4]", false},
		{"(a, b) => a.size - b.size", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => new Set([n, 1]))", false},
		{"(a, b) => a[1] - b[1]", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => [n])", false},
		{"(a, b) => a[1] - b[1]", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => ({ 1: n }))", false},
		{"(a, b) => a['1'] - b['1']", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => [0, n])", false},
		{"(a, b) => a[0] - b[0]", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => Object.defineProperty([n], 0, { get() { return n } }))", false},
		{"(a, b) => a.localeCompare(b)", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => ({ localeCompare() { return n } }))", false},
		{"(a, b) => a.localeCompare(b)", "[3, 2, 1, 5, 6, 7, 8, 4].map(n => new String(n))", false},

		// What does something else is called.
		{"(a, b) => a + b", someNumbers, false},
		{"(a, b) => (a - b, 1)", someNumbers, false},
		{"(a, b) => a - b - c", "(globalThis.c = 1, " + someNumbers + ")", false},
		{"(a, b) => a - (globalThis.d = b)", someNumbers, false},
		{"(a, b) => a++ - b", someNumbers, false},
		{"(a, b) => ++a - b", someNumbers, false},
		{"(a, b) => a ? -1 : 1", someNumbers, false},
		{"(a, b) => a - b ? 1 : -1", someNumbers, false},
		{"(a, b) => a && b", someNumbers, false},
		{"(a, b) => !(a < b) ? 1 : -1", someNumbers, false},
		{"(a, b) => (a < b) - (a > b)", someNumbers, false},
		{"(a, b) => a < b < 1 ? 1 : -1", someNumbers, false},
		{"(a, b = 0) => a - b", someNumbers, false},
		{"(a, ...b) => a - b", someNumbers, false},
		{"(a, \u00e9) => a - \u00e9", someNumbers, false},
		{"(a, \\u0062) => a - \\u0062", someNumbers, false},
		{"(a) => a - 1", someNumbers, false},
		{"(a, b, c) => a - b", someNumbers, false},
		{"([a], [b]) => a - b", someEntries, false},
		{"({ n: a }, { n: b }) => a - b", someRows, false},
		{"function (a, a) { return a - a }", someNumbers, false},
		{"function* (a, b) { return a - b }", someNumbers, false},
		{"async (a, b) => a - b", someNumbers, false},
		{"async function (a, b) { return a - b }", someNumbers, false},
		{"({ m(a, b) { return a - b } }).m", someNumbers, false},
		{"(a, b) => { return\na - b }", someNumbers, false},
		{"(a, b) => { a - b }", someNumbers, false},
		{"(a, b) => {}", someNumbers, false},
		{"(a, b) => { if (a < b) return -1 }", someNumbers, false},
		{"(a, b) => { if (a < b) return; return 1 }", someNumbers, false},
		{"(a, b) => { b = a; return a - b }", someNumbers, false},
		{"(a, b) => { let c = a; return c - b }", someNumbers, false},
		{"(a, b) => { 'use strict'; return a - b }", someNumbers, false},
		{"(a, b) => a?.n - b?.n", someRows, false},
		{"(a, b) => a[b] - b[a]", someRows, false},
		{"(a, b) => a.t.localeCompare(b.t, 'en')", someRows, false},
		{"(a, b) => a.t.localeCompare()", someRows, false},
		{"(a, b) => a.t.at(0).localeCompare(b.t)", someRows, false},
		{"Math.max", someNumbers, false},
		{"((a, b) => a - b).bind(null)", someNumbers, false},
		{"new Proxy((a, b) => a - b, {})", someNumbers, false},
		{"(a, b) => a - b" + strings.Repeat(" - 0", maxComparator), someNumbers, false},
		{"(a, b) => a - b", "[3, 2, 1]", false},
	} {
		t.Run(tt.comparator+" of "+tt.elements, func(t *testing.T) {
			list := listOf(t, s, tt.elements)
			checkComputed(t, s, list, evaluate(t, s, tt.comparator).(*goja.Object), tt.computed)
		})
	}
}

// checkComputed compares the list that a computed comparator sorts with what calling
// it gives.
func checkComputed(t *testing.T, s *sorting, list []goja.Value, compare *goja.Object, want bool) {
	t.Helper()
	computed, called := slices.Clone(list), slices.Clone(list)
	if got := s.byComparator(computed, compare); got != want {
		t.Fatalf("computed: %v, want %v", got, want)
	}
	if !want {
		if !slices.EqualFunc(computed, list, same) {
			t.Error("the list was changed all the same")
		}
		return
	}
	sortStable(called, before(compare), func() {})
	if !slices.EqualFunc(computed, called, same) {
		t.Errorf("computed %v, called %v", computed, called)
	}
}

// same is SameValue, which tells zeros and objects apart.
func same(a, b goja.Value) bool { return a.SameAs(b) }

// FuzzComparators sorts lists of any values by comparators that are computed where the
// list allows it, and by calling them.
func FuzzComparators(f *testing.F) {
	comparators := []string{
		"(a, b) => a - b", "(a, b) => b - a", "(a, b) => a < b ? -1 : a > b ? 1 : 0", "(a, b) => a >= b", "(a, b) => a === b ? 0 : -1",
		"(a, b) => a.n - b.n", "(a, b) => b.n - a.n || a.t.localeCompare(b.t)", "(a, b) => a.t < b.t ? -1 : 1",
		"(a, b) => a[0] - b[0]", "(a, b) => a.length - b.length", "(a, b) => a.localeCompare(b)", "(a, b) => a.t.length - b.n || b.t > a.t",
	}
	f.Add(uint8(0), uint8(0), []byte{3, 1, 2, 5, 4, 9, 8, 7, 6, 0, 255, 254})
	f.Add(uint8(2), uint8(1), []byte("sorting some letters"))
	f.Add(uint8(6), uint8(2), []byte("sorting some objects"))
	f.Add(uint8(8), uint8(3), []byte("sorting some arrays"))
	f.Add(uint8(10), uint8(4), []byte("sorting anything"))
	s := newTestSorting(f)
	f.Fuzz(func(t *testing.T, which, kind uint8, data []byte) {
		if len(data) > 300 {
			return
		}
		list := make([]goja.Value, len(data))
		for i, b := range data {
			list[i] = anyValue(s, kind, b)
		}
		compare := evaluate(t, s, comparators[int(which)%len(comparators)]).(*goja.Object)
		computed, called := slices.Clone(list), slices.Clone(list)
		if !s.byComparator(computed, compare) {
			return
		}
		if ex := s.vm.Try(func() { sortStable(called, before(compare), func() {}) }); ex != nil {
			t.Fatalf("calling throws: %v", ex)
		}
		if !slices.EqualFunc(computed, called, same) {
			t.Errorf("computed %v, called %v", computed, called)
		}
	})
}

// anyValue is a value of a kind, made from a byte.
func anyValue(s *sorting, kind, b byte) goja.Value {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1 << 53, -1 << 53, 5e-324}
	switch kind % 5 {
	case 0:
		if int(b) >= 256-len(odd) {
			return s.vm.ToValue(odd[255-int(b)])
		}
		return s.vm.ToValue(float64(b)/2 - 20)
	case 1:
		return goja.StringFromUTF16([]uint16{uint16(b), 0xd7f0 + uint16(b)*0x41}[:b%3%2+1])
	case 2:
		object := s.vm.NewObject()
		_ = object.Set("n", anyValue(s, 0, b))
		_ = object.Set("t", anyValue(s, 1, b/3))
		return object
	case 3:
		return s.vm.NewArray(slices.Repeat([]any{anyValue(s, 0, b)}, int(b%4)+1)...)
	}
	return anyValue(s, b, b/5)
}

// TestComputedMeansUncalled says that what a program could see of a computed comparator
// is not there, and that what it can see makes it be called.
func TestComputedMeansUncalled(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tt := range []struct{ name, program, want string }{
		{"the text is the engine's", `const f = (a, b) => b - a; f.toString = () => '(a, b) => a - b'; const real = Function.prototype.toString
			Function.prototype.toString = () => '(a, b) => a - b'; const list = [1, 2, 3, 4, 5, 6, 7, 8, 9].sort(f); Function.prototype.toString = real; return list.join('')`, `"987654321"`},
		{"apply is the engine's", `Function.prototype.apply = () => { throw 1 }; Reflect.has = () => { throw 2 }; return [3, 1, 2].sort().join('')`, `"123"`},
		{"localeCompare with a getter", `let n = 0; const real = String.prototype.localeCompare
			Object.defineProperty(String.prototype, 'localeCompare', { get() { n++; return real } }); const list = [...'hgfedcba'].sort((a, b) => a.localeCompare(b)).join(''); return [n > 6, list]`, `[true,"abcdefgh"]`},
		{"localeCompare is gone", `delete String.prototype.localeCompare; try { [...'hgfedcba'].sort((a, b) => a.localeCompare(b)); return 'sorted' } catch (e) { return e.name }`, `"TypeError"`},
		{"one comparator for lists of several kinds", `const f = (a, b) => a - b; return [[9, 8, 7, 6, 5, 4, 3, 2, 1].sort(f), ['9', '8', '7', '6', '5', '4', '3', '10'].sort(f), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].toSorted(f)].join(' ')`,
			`"1,2,3,4,5,6,7,8,9 3,4,5,6,7,8,9,10 0,1,2,3,4,5,6,7,8,9"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: tt.program})
			if res.Failure != nil || res.Value != tt.want {
				t.Errorf("value %s (%+v), want %s", res.Value, res.Failure, tt.want)
			}
		})
	}
}

// TestSortingStops holds every way to sort to ending when the run was stopped, also
// where none of the program runs.
func TestSortingStops(t *testing.T) {
	for _, tt := range []struct{ name, this, comparator string }{
		{"numbers", "Array.from({ length: 3000 }, (_, i) => i % 7)", "(a, b) => a - b"},
		{"texts", "Array.from({ length: 3000 }, (_, i) => 'x' + i % 7)", "undefined"},
		{"a function of the engine's", "Array.from({ length: 3000 }, (_, i) => i % 7)", "Math.min"},
		{"holes", "Array(3000)", "undefined"},
		{"what looks like an array", "({ length: 2 ** 40 })", "undefined"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestSorting(t)
			this, compare := evaluate(t, s, tt.this), evaluate(t, s, tt.comparator)
			s.settled = true
			if ex := s.vm.Try(func() { s.sort(goja.FunctionCall{This: this, Arguments: []goja.Value{compare}}) }); ex == nil {
				t.Error("the sort came to its end")
			}
		})
	}
}

// TestEngineLayout fails where the engine holds values otherwise than it did: then
// sorting takes the long way, and layout.go needs a look.
func TestEngineLayout(t *testing.T) {
	if !engineLayout().known {
		t.Error("the engine's fields are not known")
	}
}
