package jslib_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

func TestZZProbe(t *testing.T) {
	path := os.Getenv("PROBE")
	if path == "" {
		t.Skip()
	}
	data, _ := os.ReadFile(path)
	var rows []struct{ X, W string }
	_ = json.Unmarshal(data, &rows)
	e := newEngine(t, jslib.Host{})
	e.show(t)
	e.run(t, `var check = (x, w) => { let g; try { g = show((0, eval)("(" + x + ")")) } catch (e) { g = "throws " + e?.name + ": " + e?.message } return g }`)
	bad := 0
	for _, r := range rows {
		func() {
			defer func() {
				if x := recover(); x != nil {
					fmt.Printf("PANIC %s: %v\n", r.X, x)
				}
			}()
			_ = e.vm.Set("px", r.X)
			v, err := e.vm.RunString("check(px)")
			if err != nil {
				fmt.Printf("ERR %s: %v\n", r.X, err)
				return
			}
			if v.String() != r.W {
				bad++
				fmt.Printf("%s\n    got  %s\n    node %s\n", r.X, v, r.W)
			}
		}()
	}
	fmt.Println("bad", bad, "of", len(rows))
}
