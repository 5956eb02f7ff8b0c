package gojavm

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/runtime"
)

// TestNaughtyStrings sends texts that break naive code the way of every text: in
// an argument, a result, the name of a tool, the text of an error, a line of the
// console, and the completion.
func TestNaughtyStrings(t *testing.T) {
	var all []string
	if err := json.Unmarshal(corpus.ReadFile(t, "json-edge-cases", "naughty-strings.json"), &all); err != nil {
		t.Fatal(err)
	}
	var members []runtime.Member
	seen := map[string]bool{"": true, "tell": true}
	for _, text := range all {
		if !seen[text] {
			seen[text] = true
			members = append(members, runtime.Member{Name: text})
		}
	}
	if len(members) < 100 {
		t.Fatalf("%d texts, want at least 100", len(members))
	}
	namespace, err := runtime.NewNamespace("tools", runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"}, append(members, runtime.Member{Name: "tell"}))
	if err != nil {
		t.Fatal(err)
	}
	var names, texts []string
	call := func(_ context.Context, c runtime.Invocation) (runtime.Reply, error) {
		var args struct{ Text string }
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil {
			return runtime.Reply{}, err
		}
		if c.Member == "tell" {
			return runtime.Reply{}, &runtime.CallError{Message: args.Text, Code: "TOLD"}
		}
		names, texts = append(names, c.Member), append(texts, args.Text)
		return runtime.Reply{Value: c.Args}, nil
	}
	var want []string
	for _, m := range members {
		want = append(want, m.Name)
	}
	input, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	res := execute(t, newRuntime(t, nil), runtime.Request{
		Input:    string(input),
		Bindings: []runtime.Binding{{Namespace: namespace, Call: call}},
		Program: `const harmed = []
for (const text of input) {
  const back = (await tools[text]({ text })).text
  if (back !== text) harmed.push(['result', text, back])
  try { await tools.tell({ text }) } catch (e) {
    if (e.message !== text || e.code !== 'TOLD') harmed.push(['error', text, e.message])
  }
  try { throw new Error(text) } catch (e) {
    if (e.message !== text) harmed.push(['own error', text, e.message])
  }
  if (!(text in tools) || tools[text].name !== text) harmed.push(['name', text])
  console.log(text)
}
if (harmed.length) throw new Error(JSON.stringify(harmed))
return input`,
	})
	if res.Failure != nil {
		t.Fatal(res.Failure.Message)
	}
	var got []string
	if err := json.Unmarshal([]byte(res.Value), &got); err != nil {
		t.Fatal(err)
	}
	for what, list := range map[string][]string{"completion": got, "names": names, "arguments": texts, "console": res.Logs} {
		if diff := cmp.Diff(want, list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for _, text := range want[:min(len(want), 60)] {
		f := execute(t, newRuntime(t, nil), runtime.Request{Program: "throw new Error(" + quoted(text) + ")"}).Failure
		if f == nil || f.Message != joinError("Error", text) {
			t.Errorf("a failure says %+v, want %q", f, text)
		}
	}
}
