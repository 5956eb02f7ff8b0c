package runtimetest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// breach is a program that ends, and that one limit alone ends sooner.
type breach struct {
	limit string // the field of runtime.Limits
	tight runtime.Limits
	code  string
	fails *failure // under the tight limit
	value string   // under the default one
	kills bool     // needs Kills and Bounded
	grows bool     // as that of attacks
}

func breaches() []breach {
	type l = runtime.Limits
	return []breach{
		{limit: "Wall", tight: l{Wall: 3 * time.Second}, code: "await tools.wait({ ms: 4500 }); return 1", value: "1", fails: ends(runtime.Timeout, "wall-clock ceiling reached (3000ms)")},
		{limit: "Compute", tight: l{Compute: 10 * time.Millisecond}, code: "let n = 0; while (n < 1e6) n++; return n", value: "1000000", fails: ends(runtime.Timeout, "compute budget exhausted (10ms busy)")},
		{limit: "Heap", tight: l{Heap: 64 << 20}, code: "return 'x'.repeat(1e8).length", value: "100000000", fails: ends(runtime.MemoryLimit, "the heap limit is 67108864 bytes")},
		{limit: "Heap", tight: l{Heap: 64 << 20}, code: "const a = []; while (a.length < 2000) a.push('x'.repeat(1e5) + a.length); return a.length", value: "2000", fails: ends(runtime.MemoryLimit, "heap limit reached (67108864 bytes)"), grows: true},
		{limit: "Heap", tight: l{Heap: 64 << 20}, code: "return Array(100).fill('x'.repeat(1e6)).join('').length", value: "100000000", fails: ends(runtime.MemoryLimit, "heap limit reached (67108864 bytes)"), kills: true},
		{limit: "Source", tight: l{Source: 20}, code: "return 1 // and a remark", value: "1", fails: ends(runtime.InvalidInput, "source limit is 20 bytes")},
		{limit: "Nesting", tight: l{Nesting: 5}, code: "return ((((((1))))))", value: "1", fails: ends(runtime.InvalidInput, "more than 5 brackets")},
		{limit: "Chain", tight: l{Chain: 5}, code: "return 1+1+1+1+1+1+1", value: "7", fails: ends(runtime.InvalidInput, "more than 5 operators")},
		{limit: "Output", tight: l{Output: 100}, code: "return 'x'.repeat(100).length + 'x'.repeat(100)", value: `"100` + strings.Repeat("x", 100) + `"`, fails: ends(runtime.OutputLimit, "outer output exceeded 100 bytes")},
		{limit: "Calls", tight: l{Calls: 3}, code: "for (let i = 0; i < 4; i++) await tools.echo({}); return 1", value: "1", fails: ends(runtime.CallLimit, "call limit reached (3 calls)")},
		{limit: "Argument", tight: l{Argument: 50}, code: "return (await tools.echo({ s: 'x'.repeat(50) })).s.length", value: "50", fails: ends(runtime.Exception, "ToolCallError", "larger than 50 bytes")},
		{limit: "Result", tight: l{Result: 50}, code: "return (await tools.big({ n: 50 })).length", value: "50", fails: ends(runtime.Exception, "ToolCallError", "50 bytes")},
		{limit: "ResultNodes", tight: l{ResultNodes: 5}, code: "return (await tools.raw({ json: '[1,2,3,4,5]' })).length", value: "5", fails: ends(runtime.Exception, "ToolCallError", "more than 5 values")},
		{limit: "Bytes", tight: l{Bytes: 100}, code: "await Promise.all([1, 2, 3].map(() => tools.echo({ s: 'x'.repeat(50) }))); return 1", value: "1", fails: ends(runtime.BytesLimit, "exceed 100 bytes")},
		{limit: "Depth", tight: l{Depth: 50}, code: "const f = n => n ? f(n - 1) : 'end'; return f(100)", value: `"end"`, fails: ends(runtime.Exception, "call depth exceeded (50 nested calls)")},
	}
}

// eachLimit shows of every limit that it is the one that stops: the program ends
// by its name under the limit, and by itself without.
func (s Suite) eachLimit(t *testing.T) {
	rt := s.open(t)
	var limits []string
	for _, b := range breaches() {
		limits = append(limits, b.limit)
		t.Run(b.limit, func(t *testing.T) {
			if b.kills && !(s.Kills && s.Bounded) || b.grows && s.Kills && !s.Bounded {
				t.Skip("the system bounds no memory here")
			}
			if s.Kills || !b.grows {
				t.Parallel()
			}
			row{code: b.code, limits: b.tight, fails: b.fails}.check(t, rt)
			row{code: b.code, value: b.value}.check(t, rt)
		})
	}
	for field := range reflect.TypeFor[runtime.Limits]().Fields() {
		if !slices.Contains(limits, field.Name) {
			t.Errorf("the limit %s has no program that breaks it", field.Name)
		}
	}
}
