package gojavm

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func TestCauses(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ name, code, want string }{
		{"one", "throw new Error('outer', { cause: new TypeError('inner') })", "Error: outer\n  [cause] TypeError: inner"},
		{"a chain that ends in a text", "throw new Error('a', { cause: new Error('b', { cause: 'c' }) })", "Error: a\n  [cause] Error: b\n  [cause] c"},
		{"a failed call", "try { await tools.fail({}) } catch (e) { throw new Error('no luck', { cause: e }) }", "Error: no luck\n  [cause] ToolCallError: it broke"},
		{"undefined", "throw new Error('a', { cause: undefined })", "Error: a"},
		{"itself", "const e = new Error('a'); e.cause = e; throw e", "Error: a\n  [cause] [Circular]"},
		{"a getter that throws", "const e = new Error('a'); Object.defineProperty(e, 'cause', { get() { throw 1 } }); throw e", "Error: a"},
		{"many", "let e; for (const n of 'gfedcba') e = new Error(n, { cause: e }); throw e", "Error: a\n  [cause] Error: b\n  [cause] Error: c\n  [cause] Error: d\n  [cause] Error: e\n  [cause] Error: f\n  and further causes"},
		{"a long one", "throw new Error('a', { cause: 'x'.repeat(1e5) })", "Error: a\n  [cause] " + strings.Repeat("x", shownReason) + "…"},
		{"an AggregateError", "throw new AggregateError([new Error('a'), 2], 'both')", "AggregateError: both\n  [error 1] Error: a\n  [error 2] 2"},
		{"many errors", "throw new AggregateError([1, 2, 3, 4, 5, 6, 7], 'm')", "AggregateError: m\n  [error 1] 1\n  [error 2] 2\n  [error 3] 3\n  [error 4] 4\n  [error 5] 5\n  and 2 more errors"},
		{"errors that are no list", "const e = new Error('a'); e.errors = { length: 1e9 }; throw e", "Error: a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := execute(t, rt, runtime.Request{Program: tc.code}).Failure
			if f == nil || f.Kind != runtime.Exception || f.Message != tc.want {
				t.Errorf("%+v, want %q", f, tc.want)
			}
		})
	}
}
