//go:build !race

// The race detector makes allocations of its own.

package gojavm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// TestAllocations holds the paths that every run takes to the allocations that
// they make now, in either direction: who changes one says so here.
func TestAllocations(t *testing.T) {
	vm := goja.New()
	rows := "[" + strings.Repeat(`{"id":1234,"name":"a row","tags":["a","b"],"ok":true},`, 99) + `{"id":1,"name":"a row","tags":["a","b"],"ok":true}]`
	args, err := jsvalue.Decode(vm, `{"path":"src/main.go","limit":20}`, jsvalue.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	prototypes := jsvalue.PrototypesOf(vm)
	for _, tt := range []struct {
		path string
		want float64
		got  float64
	}{
		// Most are functions of the library, each an object with a map, a name and a
		// length; the engine makes its own when they are read.
		{"an engine is equipped for any program", 4891, testing.AllocsPerRun(20, func() {
			if err := (&run{vm: goja.New()}).equip(nil); err != nil {
				t.Fatal(err)
			}
		})},
		// Tools become functions when they are read.
		{"a namespace is bound", 38, boundAllocations(t, 0, nil)},
		{"a namespace that the program does not name", 1, boundAllocations(t, 50, &reach{})},
		{"50 tools are bound", 0, boundAllocations(t, 50, nil) - boundAllocations(t, 0, nil)},
		// A third are the promise and its functions; then come the await, the context,
		// the arguments (17, see below) and the result.
		{"a call is made and answered", 74, callAllocations(t)},
		// Objects and arrays keep their names in maps, and each value is an object.
		{"100 rows become values", 2118, testing.AllocsPerRun(20, func() {
			if _, err := jsvalue.Decode(vm, rows, jsvalue.DecodeOptions{}); err != nil {
				t.Fatal(err)
			}
		})},
		// Half are the engine's list of the names.
		{"arguments become text", 17, testing.AllocsPerRun(20, func() {
			if _, err := jsvalue.Encode(vm, args, jsvalue.EncodeOptions{Prototypes: prototypes}); err != nil {
				t.Fatal(err)
			}
		})},
		// The function that is told the nodes.
		{"a tree is walked", 1, walkAllocations(t)},
		// Beside the engine's parser and compiler: the reading, the names and the marks.
		{"a short program is read", 17, testing.AllocsPerRun(20, func() {
			if _, failure := transpile("", "return 1", "tools", "console"); failure != nil {
				t.Fatal(failure)
			}
		}) - testing.AllocsPerRun(20, func() {
			if _, err := goja.Compile(defaultName, wrapPrefix+"return 1"+wrapSuffix, false); err != nil {
				t.Fatal(err)
			}
		})},
		{"places wait to be asked for", 4, placesAllocations(t, false)},
		// Most are the decoder's, and none of them a line's.
		{"places of 200 lines", 29, placesAllocations(t, true)},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %v allocations, want %v", tt.path, tt.got, tt.want)
		}
	}
}

// walkAllocations are those of a walk over a program.
func walkAllocations(t *testing.T) float64 {
	tree, err := parseProgram("for (const a of b) { if (c) d({ e: f[0] }, `${g}`, (h) => h?.i) }")
	if err != nil {
		t.Fatal(err)
	}
	nodes := 0
	return testing.AllocsPerRun(20, func() {
		eachNode(tree.Body[0], func(any) bool {
			nodes++
			return true
		})
	})
}

// placesAllocations are those of the places of a program, with or without a
// question.
func placesAllocations(t *testing.T, asked bool) float64 {
	source := lines(200)
	p := &program{name: defaultName, source: source, text: source, lines: runtime.SourceLines(source)}
	js, sourceMap, failure := p.lower()
	if failure != nil {
		t.Fatal(failure)
	}
	return testing.AllocsPerRun(20, func() {
		made, err := newPlaces(p.name, p.lines, js, sourceMap)
		if err != nil {
			t.Fatal(err)
		}
		if asked {
			made.at(1, 1)
		}
	})
}

// boundAllocations are those of binding so many tools to an engine, for a program
// of that reach.
func boundAllocations(t *testing.T, n int, reach *reach) float64 {
	var members []runtime.Member
	for i := range n {
		members = append(members, runtime.Member{Name: fmt.Sprint("server__tool", i), Path: []string{"server", fmt.Sprint("tool", i)}})
	}
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{}, members)
	if err != nil {
		t.Fatal(err)
	}
	const runs = 20
	var ready []*run
	for range runs + 1 { // one to warm up
		r := &run{vm: goja.New(), reach: reach, req: runtime.Request{Bindings: []runtime.Binding{{Namespace: namespace, Call: serve}}}}
		if err := r.equip(nil); err != nil {
			t.Fatal(err)
		}
		ready = append(ready, r)
	}
	return testing.AllocsPerRun(runs, func() {
		if err := ready[0].installBindings(); err != nil {
			t.Fatal(err)
		}
		ready = ready[1:]
	})
}

// callAllocations are those of one call among many.
func callAllocations(t *testing.T) float64 {
	rt := newRuntime(t, nil)
	tools := toolset(t)
	of := func(calls int) float64 {
		program := fmt.Sprintf("for (let i = 0; i < %d; i++) await tools.ping({ i })", calls)
		return testing.AllocsPerRun(5, func() {
			execute(t, rt, runtime.Request{Program: program, Bindings: []runtime.Binding{{Namespace: tools, Call: serve}}})
		})
	}
	return math.Round((of(3_000) - of(1_000)) / 2_000) // other goroutines make a few
}
