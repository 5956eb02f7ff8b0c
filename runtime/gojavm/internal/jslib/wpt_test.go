package jslib_test

import (
	"encoding/json"
	"testing"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

func TestURLAgainstWebPlatformTests(t *testing.T) {
	var cases []json.RawMessage
	if err := json.Unmarshal(corpus.ReadFile(t, "wpt-data", "url/urltestdata.json"), &cases); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, jslib.Host{})
	check := `(text) => {
		const want = JSON.parse(text);
		let u;
		try { u = new URL(want.input, want.base ?? undefined) } catch (error) { return want.failure ? "" : "refused " + error }
		if (want.failure) return "accepted as " + u.href;
		for (const k of ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]) {
			if (k in want && u[k] !== want[k]) return k + ": got " + u[k] + " want " + want[k];
		}
		return ""
	}`
	if err := e.vm.Set("check", e.run(t, check)); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, raw := range cases {
		var c struct{ Input *string }
		if json.Unmarshal(raw, &c) != nil || c.Input == nil {
			continue // a comment
		}
		ran++
		_ = e.vm.Set("text", string(raw))
		if got := e.run(t, `check(text)`).String(); got != "" {
			t.Errorf("%s\n%s", raw, got)
		}
	}
	if ran == 0 {
		t.Error("no cases were read")
	}
}

func TestAtobAgainstWebPlatformTests(t *testing.T) {
	var cases [][2]any
	if err := json.Unmarshal(corpus.ReadFile(t, "wpt-data", "base64.json"), &cases); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, jslib.Host{})
	for _, c := range cases {
		_ = e.vm.Set("text", c[0])
		want := "refused"
		if c[1] != nil {
			b, _ := json.Marshal(c[1])
			want = string(b)
		}
		got := e.run(t, `(() => { try { return JSON.stringify([...atob(text)].map(c => c.charCodeAt(0))) } catch (e) { return e.name === "InvalidCharacterError" ? "refused" : String(e) } })()`).String()
		if got != want {
			t.Errorf("atob(%q): got %s, want %s", c[0], got, want)
		}
	}
}
