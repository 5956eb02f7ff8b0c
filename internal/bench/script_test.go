package bench

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// TestRunScript: a person's program against its calls made directly; the tools
// work once.
func TestRunScript(t *testing.T) {
	for _, tt := range []struct {
		name, code      string
		want            string // of an error or a refusal
		effects         int
		direct, batched int // requests
	}{
		{"a chain", `const {id} = await tools.find({}); await tools.add({id}); return await tools.add({id});`, "", 2, 4, 3},
		{"a literal", `await tools.find({}); return await tools.add({id: "thing-7"});`, "", 1, 3, 2},
		{"a caught failure", `await tools.fail({}).catch(() => null); return 1;`, "", 0, 2, 2},
		{"random", `return await tools.add({id: String(Math.random())});`, "recorded is add", 1, 0, 0},
		{"it fails", `await tools.add({id: "thing-7"}); throw new Error("oh");`, "the program fails, so there is nothing to compare: ", 1, 0, 0},
		{"it calls nothing", `return 1;`, "the program calls no tool, so there is nothing to compare", 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			effects := 0
			reg, err := tools.NewRegistry(
				typed("find", "Find.", func(struct{}) (tools.Result, error) {
					return tools.Result{Value: tools.MustJSON(`{"id":"thing-7"}`), Content: []tools.Content{tools.TextContent(strings.Repeat("found ", 500))}}, nil
				}),
				typed("fail", "Fail.", func(struct{}) (int, error) { return 0, &tools.Error{Message: "it always fails"} }),
				typed("add", "Add.", func(struct {
					ID string `json:"id"`
				}) (int, error) {
					effects++
					return effects, nil
				}))
			if err != nil {
				t.Fatal(err)
			}
			p := pipeline.New(reg, nil)
			cm, err := codemode.New(p, &codemode.Options{Isolation: codemode.IsolationInProcess})
			if err != nil {
				t.Fatal(err)
			}
			defer cm.Close()
			r, err := RunScript(t.Context(), Script{Name: "mine.ts", Code: tt.code, Pipeline: p, CodeMode: cm, Tools: reg.All()}, &Options{Isolation: codemode.IsolationInProcess})
			if effects != tt.effects {
				t.Errorf("%d effects, want %d: the comparison must not call the tools again", effects, tt.effects)
			}
			if tt.direct == 0 {
				if err == nil && !strings.Contains(r.Comparisons[0].Refused, tt.want) || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c := r.Comparisons[0]
			if c.Refused != "" || c.Workload != "mine.ts" {
				t.Fatalf("%s is refused: %s", c.Workload, c.Refused)
			}
			if found := strings.Contains(tt.code, "find"); found != (c.Arm(Batched).Context.Bytes > 3_000) || c.Arm(Code).Context.Bytes > 6_000 {
				t.Errorf("contexts of %d and %d bytes; what a tool says to models is read by those that call it directly, and by them alone", c.Arm(Batched).Context.Bytes, c.Arm(Code).Context.Bytes)
			}
			if a, b, p := c.Arm(Sequential).Requests, c.Arm(Batched).Requests, c.Arm(Code).Requests; a != tt.direct || b != tt.batched || p != 2 {
				t.Errorf("%d, %d and %d requests, want %d, %d and 2", a, b, p, tt.direct, tt.batched)
			}
		})
	}
}
