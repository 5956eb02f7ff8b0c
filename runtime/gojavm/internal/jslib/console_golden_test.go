package jslib_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/dop251/goja"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// entry is one console call.
type entry struct{ level, text string }

// engine is an engine with the library installed and what its console said.
type engine struct {
	vm      *goja.Runtime
	entries []entry
}

func newEngine(t testing.TB, h jslib.Host) *engine {
	t.Helper()
	e := &engine{vm: goja.New()}
	h.Console = func(level, text string) { e.entries = append(e.entries, entry{level, text}) }
	if err := jslib.Install(e.vm, h); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *engine) run(t testing.TB, program string) goja.Value {
	t.Helper()
	v, err := e.vm.RunString(program)
	if err != nil {
		t.Fatalf("program %s\n%v", program, err)
	}
	return v
}

func TestConsoleIsNodes(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "console.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct{ Args, Want string }
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) < 100 {
		t.Fatalf("only %d cases; see testdata/console.mjs", len(golden.Cases))
	}
	for _, tt := range golden.Cases {
		t.Run(tt.Args, func(t *testing.T) {
			e := newEngine(t, jslib.Host{})
			e.run(t, "console.log("+tt.Args+")")
			if len(e.entries) != 1 || e.entries[0].level != "log" {
				t.Fatalf("got %v, want one entry at level log", e.entries)
			}
			if diff := cmp.Diff(tt.Want, e.entries[0].text); diff != "" {
				t.Errorf("console.log(%s) (-node +ours):\n%s\ngot\n%s", tt.Args, diff, e.entries[0].text)
			}
		})
	}
}
