package runtime

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLedgerValue(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit int
		logs  []string
		value string // JSON text
		fits  bool
	}{
		{"empty log and no value", 4, nil, "", true},
		{"the euro sign at the limit", 7, nil, `"€"`, true},
		{"the euro sign over it", 6, nil, `"€"`, false},
		{"a log and a value at the limit", 11, []string{"abc"}, `"xy"`, true},
		{"a log and a value over it", 10, []string{"abc"}, `"xy"`, false},
		{"the comma between logs counts", 10, []string{"a", "b"}, `1`, true},
		{"the comma between logs is over", 9, []string{"a", "b"}, `1`, false},
		{"the default limit", DefaultOutput, nil, `"` + strings.Repeat("x", DefaultOutput-4) + `"`, true},
		{"the default limit and one more", DefaultOutput, nil, `"` + strings.Repeat("x", DefaultOutput-3) + `"`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := NewLedger(tc.limit)
			for _, line := range tc.logs {
				if !l.Log(line) {
					t.Fatalf("the log %q did not fit", line)
				}
			}
			_, f := l.Value(tc.value)
			if fits := f == nil; fits != tc.fits {
				t.Fatalf("fits: %v (%+v), want %v", fits, f, tc.fits)
			}
			if f != nil && f.Kind != OutputLimit {
				t.Errorf("kind %s, want %s", f.Kind, OutputLimit)
			}
		})
	}
}

func TestLedgerFailure(t *testing.T) {
	failure := func(message string) Failure { return Failure{Kind: Abort, Message: message} }
	for _, tc := range []struct {
		name  string
		limit int
		logs  []string
		in    Failure
		kind  Kind
		text  string
		kept  []string
	}{
		{"thrown text at the limit", 11, []string{"abc"}, failure("xy"), Abort, "xy", []string{"abc"}},
		{"thrown text over it", 10, []string{"abc"}, failure("xy"), OutputLimit, "outer ", []string{}},
		{"a long reason", 64, nil, failure(strings.Repeat("r", 1000)), OutputLimit, "outer output exceeded 64 bytes", []string{}},
		{"the smallest limit", 4, nil, failure("SyntaxError: x"), OutputLimit, "", []string{}},
		{"a megabyte carries no text", 64, nil, failure(strings.Repeat("x", 1<<20)), OutputLimit, "outer output exceeded 64 bytes", []string{}},
		{"logs that fit beside the diagnostic stay", 64, []string{"one", "two"}, failure(strings.Repeat("x", 1<<20)), OutputLimit, "outer output exceeded 64 bytes", []string{"one", "two"}},
		{"asked for by the runtime", 64, []string{"one"}, Failure{Kind: OutputLimit}, OutputLimit, "outer output exceeded 64 bytes", []string{"one"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := NewLedger(tc.limit)
			for _, line := range tc.logs {
				l.Log(line)
			}
			logs, f := l.Failure(tc.in)
			if f == nil || f.Kind != tc.kind || f.Message != tc.text {
				t.Errorf("failure %+v, want %s %q", f, tc.kind, tc.text)
			}
			if logs == nil {
				logs = []string{}
			}
			if diff := cmp.Diff(tc.kept, logs); diff != "" {
				t.Errorf("logs (-want +got):\n%s", diff)
			}
			if n := outputSize(t, logs, f.Message); n > tc.limit {
				t.Errorf("the outcome takes %d bytes, the limit is %d", n, tc.limit)
			}
		})
	}
}

// Short lines are bounded by their number.
func TestLedgerLines(t *testing.T) {
	l := NewLedger(DefaultOutput)
	for range MaxLines {
		if !l.Log("") {
			t.Fatal("a line within the limit did not fit")
		}
	}
	if _, f := l.Value("1"); f != nil {
		t.Fatalf("as many lines as there may be: %+v", f)
	}
	if l.Log("one too many") || l.Log("") || !l.Over() {
		t.Error("a line too many fits")
	}
	for name, settle := range map[string]func() ([]string, *Failure){
		"value":   func() ([]string, *Failure) { return l.Value("1") },
		"failure": func() ([]string, *Failure) { return l.Failure(Failure{Kind: OutputLimit}) },
	} {
		logs, f := settle()
		if f == nil || f.Kind != OutputLimit || f.Message != "outer output exceeded 1000000 lines" {
			t.Errorf("%s: %+v, want output-limit", name, f)
		}
		if len(logs) != MaxLines || logs[MaxLines-1] != "" {
			t.Errorf("%s: %d lines are kept, want %d", name, len(logs), MaxLines)
		}
	}
}

// outputSize is what the limit bounds, measured by serializing it.
func outputSize(t *testing.T, logs []string, message string) int {
	t.Helper()
	size := 0
	for _, v := range []any{logs, message} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		size += b.Len() - 1
	}
	return size
}

func TestLedgerKeepsOnePrefix(t *testing.T) {
	l := NewLedger(96)
	emoji := strings.Repeat("😀\"\n", 40)
	if l.Log(emoji) {
		t.Fatal("the line fitted")
	}
	if l.Log("later") || !l.Over() {
		t.Error("a line after the one that did not fit was taken")
	}
	logs, f := l.Value("1")
	if f == nil || f.Kind != OutputLimit || f.Message != "outer output exceeded 96 bytes" {
		t.Fatalf("failure %+v", f)
	}
	if len(logs) != 1 || !strings.HasPrefix(emoji, logs[0]) || !strings.HasSuffix(logs[0], "😀") && !strings.HasSuffix(logs[0], "\"") && !strings.HasSuffix(logs[0], "\n") {
		t.Fatalf("logs %q, want one prefix of whole characters", logs)
	}
	size := outputSize(t, logs, f.Message)
	if size > 96 || size <= 96-4 {
		t.Errorf("the outcome takes %d bytes of 96; the prefix is not the longest", size)
	}
}

func TestLedgerManyLines(t *testing.T) {
	l := NewLedger(300)
	n := 0
	for range 1000 {
		if l.Log("line of text") {
			n++
		}
	}
	logs, f := l.Value("")
	if f == nil || f.Kind != OutputLimit {
		t.Fatalf("failure %+v", f)
	}
	for i, line := range logs[:len(logs)-1] {
		if line != "line of text" {
			t.Errorf("line %d is %q", i, line)
		}
	}
	if size := outputSize(t, logs, f.Message); size > 300 {
		t.Errorf("the outcome takes %d bytes", size)
	}
}

func TestJSONStringSize(t *testing.T) {
	for _, tc := range []struct {
		text string
		size int
	}{
		{"", 2},
		{"a", 3},
		{`"\` + "\b\t\n\f\r", 16},
		{"\x00\x1f", 14},
		{"\x7f/", 4},
		{"é", 4},
		{"€\u2028", 8},
		{"😀", 6},
		{"\xed\xa0\x80", 8},
		{"\xff", 5},
	} {
		if got := jsonStringSize(tc.text, 1000); got != tc.size {
			t.Errorf("%q: %d, want %d", tc.text, got, tc.size)
		}
	}
	if got := jsonStringSize(strings.Repeat("x", 1<<20), 100); got > 110 {
		t.Errorf("measured %d bytes of a text under a limit of 100", got)
	}
}

func FuzzJSONStringSize(f *testing.F) {
	f.Add("a\"\\\n\x00é€😀\u2028")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Skip()
		}
		// The package escapes the two line separators, JSON.stringify does not.
		want := b.Len() - 1 - 3*strings.Count(text, "\u2028") - 3*strings.Count(text, "\u2029")
		if got := jsonStringSize(text, 1<<30); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
		if prefix := jsonPrefix(text, 20); jsonStringSize(prefix, 1000) > 20 || !strings.HasPrefix(text, prefix) {
			t.Errorf("prefix of %q is %q", text, prefix)
		}
	})
}
