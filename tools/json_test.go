package tools_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/tools"
)

func TestParseJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"white space", " { \"b\" : [ 1 ,\t2 ] ,\n\"a\" : { } } ", `{"b":[1,2],"a":{}}`},
		{"leading space only", ` {"a":1}`, `{"a":1}`},
		{"trailing space only", "{\"a\":1}\n", `{"a":1}`},
		{"space before a comma", `[1 ,2]`, `[1,2]`},
		{"space after a comma", `[1, 2]`, `[1,2]`},
		{"space before a colon", `{"a" :1}`, `{"a":1}`},
		{"space after a colon", `{"a": 1}`, `{"a":1}`},
		{"space before the end", `{"a":1 }`, `{"a":1}`},
		{"number tokens", `[-0,1.0,1E+5,9007199254740993,1e999999999]`, `[-0,1.0,1E+5,9007199254740993,1e999999999]`},
		{"letter as an escape", `{"\u0061":"\u0041\/"}`, `{"a":"A/"}`},
		{"escapes that stay", `"\"\\\n\u0000\ud800"`, `"\"\\\n\u0000\ud800"`},
		{"upper case digits", `"\uD800\u001F"`, `"\ud800\u001f"`},
		{"pair", `"\ud83d\ude00"`, `"😀"`},
		{"html stays", `"<&>\u2028"`, "\"<&>\u2028\""},
		{"names that differ in case", `{"a":1,"A":2}`, `{"a":1,"A":2}`},
		{"the same name in two objects", `{"a":{"a":1},"b":{"a":2}}`, `{"a":{"a":1},"b":{"a":2}}`},
		{"proto", `{"__proto__":1}`, `{"__proto__":1}`},
		{"empty name", `{"":1}`, `{"":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tools.ParseJSON(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("ParseJSON(%s) = %s, want %s", tt.text, got, tt.want)
			}
			if again, err := tools.ParseJSON(got.String()); err != nil || again != got {
				t.Errorf("parsed again: %v, %v", again, err)
			}
		})
	}
}

func TestParseJSONErrors(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"n%d":0,`, i)
		}
		return "{" + b.String() + `"n3":0}`
	}
	for _, tt := range []struct {
		name, text string
		want       tools.JSONError
	}{
		{"duplicate", `{"a":1,"b":2,"a":3}`, tools.JSONError{Offset: 13, Pointer: "/a", Problem: "the property name is given twice; send it once"}},
		{"duplicate after unescaping", `{"x":[0,{"a/":1,"\u0061\/":2}]}`, tools.JSONError{Offset: 16, Pointer: "/x/1/a~1", Problem: "the property name is given twice; send it once"}},
		{"duplicate of lone surrogates", `{"\ud800":1,"\uD800":2}`, tools.JSONError{Offset: 12, Pointer: "/\uFFFD", Problem: "the property name is given twice; send it once"}},
		{"duplicate after an object", `{"a":{"b":1},"a":2}`, tools.JSONError{Offset: 13, Pointer: "/a", Problem: "the property name is given twice; send it once"}},
		{"duplicate in a large object", many(40), tools.JSONError{Offset: len(many(40)) - 7, Pointer: "/n3", Problem: "the property name is given twice; send it once"}},
		{"text after the value", `{} {}`, tools.JSONError{Offset: 3, Problem: "unexpected character '{' after the value"}},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", tools.JSONError{Offset: 6, Pointer: "/a", Problem: "invalid UTF-8 in a string"}},
		{"place in an array", `{"a":[1,2,x]}`, tools.JSONError{Offset: 10, Pointer: "/a/2", Problem: "unexpected character 'x', expected a value"}},
		{"place after a comma of an object", `{"a":{"b":1,}}`, tools.JSONError{Offset: 12, Pointer: "/a", Problem: "unexpected character '}', expected a property name in double quotes"}},
		{"place of a missing comma", `[1,2 3]`, tools.JSONError{Offset: 5, Pointer: "/1", Problem: "unexpected character '3', expected ',' or ']'"}},
		{"a comma in a string", `["a,`, tools.JSONError{Offset: 1, Pointer: "/0", Problem: "string is not closed"}},
		{"empty", "", tools.JSONError{Problem: "unexpected end of text, expected a value"}},
		{"too deep", strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), tools.JSONError{Offset: 10_000, Pointer: strings.Repeat("/0", 10_000), Problem: "nested deeper than 10000 levels"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tools.ParseJSON(tt.text)
			var got *tools.JSONError
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want a *JSONError", err)
			}
			if d := cmp.Diff(tt.want, *got); d != "" && len(d) < 2000 {
				t.Errorf("ParseJSON(%.80s) (-want +got):\n%s", tt.text, d)
			} else if d != "" {
				t.Errorf("ParseJSON(%.80s): %.200v", tt.text, err)
			}
		})
	}
	deepest := strings.Repeat(`{"a":`, 9_999) + "[]" + strings.Repeat("}", 9_999)
	if j, err := tools.ParseJSON(deepest); err != nil || j.String() != deepest {
		t.Errorf("10,000 levels: %v", err)
	}
}

func TestNaughtyStrings(t *testing.T) {
	t.Parallel()
	var list []string
	if err := stdjson.Unmarshal(corpus.ReadFile(t, "json-edge-cases", "naughty-strings.json"), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 200 {
		t.Fatalf("only %d strings", len(list))
	}
	for _, s := range list {
		j := tools.StringJSON(s)
		if text, ok := j.Text(); !ok || text != s {
			t.Errorf("%q comes back as %q", s, text)
		}
		if parsed, err := tools.ParseJSON(j.String()); err != nil || parsed != j {
			t.Errorf("%s is not canonical: %v", j, err)
		}
		asKey, err := tools.ToJSON(map[string]string{s: s})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]string
		if err := asKey.Unmarshal(&back); err != nil || back[s] != s {
			t.Errorf("%s decodes to %q, %v", asKey, back, err)
		}
		// As the source of a text it is JSON for both readers or for none.
		_, err = tools.ParseJSON(s)
		if valid := stdjson.Valid([]byte(s)); valid != (err == nil) {
			t.Errorf("%q: %v, the standard library says valid is %v", s, err, valid)
		}
	}
}

func TestZeroJSON(t *testing.T) {
	t.Parallel()
	var none tools.JSON
	if !none.IsZero() || none.String() != "" || none.Len() != 0 || none.Kind() != 0 || len(none.Bytes()) != 0 {
		t.Errorf("the zero JSON is %q of kind %q", none, none.Kind())
	}
	if _, ok := none.Text(); ok {
		t.Error("no value is no string")
	}
	if err := none.Unmarshal(new(any)); err == nil || err.Error() != "no JSON value to decode" {
		t.Errorf("Unmarshal: %v", err)
	}
	text, err := stdjson.Marshal(struct {
		A tools.JSON
		B tools.JSON `json:",omitzero"`
	}{})
	if err != nil || string(text) != `{"A":null}` {
		t.Errorf("inside a document: %s, %v", text, err)
	}
	if none == tools.MustJSON("null") {
		t.Error("no value equals null")
	}
}

func TestJSONAccessors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]byte{`{}`: '{', `[]`: '[', `"a"`: '"', `-1`: '0', `7`: '0', `true`: 't', `false`: 'f', `null`: 'n'} {
		if got := tools.MustJSON(text).Kind(); got != want {
			t.Errorf("kind of %s is %q, want %q", text, got, want)
		}
	}
	j := tools.MustJSON(`"a\ud800b"`)
	if text, ok := j.Text(); !ok || text != "a\uFFFDb" {
		t.Errorf("Text() = %q, %v", text, ok)
	}
	b := j.Bytes()
	b[0] = 'x'
	if j.String() != `"a\ud800b"` {
		t.Error("Bytes is no copy")
	}
	var s struct{ Path, path string }
	if err := tools.MustJSON(`{"PATH":"x","path":"y","Path":"z"}`).Unmarshal(&s); err != nil || s.Path != "z" {
		t.Errorf("names must match case: %+v, %v", s, err)
	}
	var in struct{ X tools.JSON }
	if err := stdjson.Unmarshal([]byte(`{"X": {"a" : "\u0041"}}`), &in); err != nil || in.X.String() != `{"a":"A"}` {
		t.Errorf("as a field: %s, %v", in.X, err)
	}
	if err := stdjson.Unmarshal([]byte(`{"X": {"a":1,"a":2}}`), &in); err == nil {
		t.Error("a duplicate name inside a field must be refused")
	}
	defer func() {
		if got := fmt.Sprint(recover()); got != "tools.MustJSON: invalid JSON at byte 1 (/0): unexpected end of text, expected a value" {
			t.Errorf("panic %s", got)
		}
	}()
	tools.MustJSON("[")
}

func TestToJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		value any
		want  string
	}{
		{"nil", nil, `null`},
		{"nil slice and map", struct {
			A []int          `json:"a"`
			B map[string]int `json:"b"`
			C []byte         `json:"c"`
			D *int           `json:"d"`
		}{}, `{"a":[],"b":{},"c":"","d":null}`},
		{"sorted map", map[string]int{"b": 1, "a": 2}, `{"a":2,"b":1}`},
		{"large integer", uint64(math.MaxUint64), `18446744073709551615`},
		{"raw", stdjson.RawMessage(`{"a" : 1}`), `{"a":1}`},
		{"JSON", tools.MustJSON(`[1]`), `[1]`},
		{"JSON inside", []tools.JSON{tools.MustJSON(`1`), {}}, `[1,null]`},
		{"lone surrogate inside", map[string]any{"a": tools.MustJSON(`["\ud800"]`), "b": "é"}, `{"a":["\ud800"],"b":"é"}`},
		{"html", "<b>&", `"<b>&"`},
		{"negative zero", math.Copysign(0, -1), `-0`},
		{"duration", time.Second, `1000000000`},
		{"time", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), `"2026-01-02T03:04:05Z"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tools.ToJSON(tt.value)
			if err != nil || got.String() != tt.want {
				t.Errorf("ToJSON = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
	for name, bad := range map[string]any{
		"NaN": math.NaN(), "channel": make(chan int), "duplicate in raw": stdjson.RawMessage(`{"a":1,"a":2}`), "bytes that are no text": "\xff",
		"bytes beside a lone surrogate": []any{tools.MustJSON(`"\ud800"`), "\xff"},
	} {
		if got, err := tools.ToJSON(bad); err == nil {
			t.Errorf("%s: %s, want an error", name, got)
		}
	}
}

// FuzzParseJSON compares with the standard library's grammar and with another
// strict reader's idea of duplicate names.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0,1.0,"\ud800\u0041"],"\u0061b":{}}`, `{"a":1,"\u0061":2}`, "\"\xff\"", ` [ 1 , 2 ] `, `{"a":{"a":1},"a":1}`, `1e999999999`, `"\ud83d\ude00"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j, err := tools.ParseJSON(text)
		strict := jsontext.Value(text)
		// Lone surrogates are ours alone; the other reader calls them invalid.
		wantOK := stdjson.Valid([]byte(text)) && utf8.ValidString(text)
		if err != nil {
			var e *tools.JSONError
			if !errors.As(err, &e) || e.Offset > len(text) {
				t.Fatalf("error %v", err)
			}
			if wantOK && !strings.Contains(e.Problem, "given twice") {
				t.Fatalf("%q is refused: %v", text, err)
			}
			if wantOK && strict.IsValid() {
				t.Fatalf("%q is refused, another strict reader accepts it: %v", text, err)
			}
			return
		}
		if !wantOK {
			t.Fatalf("%q is accepted, the standard library refuses it", text)
		}
		if !strict.IsValid() && !strings.Contains(strings.ToLower(text), `\ud`) {
			t.Fatalf("%q is accepted, another strict reader refuses it", text)
		}
		canonical := j.String()
		again, err := tools.ParseJSON(canonical)
		if err != nil || again.String() != canonical {
			t.Fatalf("canonical %s of %q is parsed as %s, %v", canonical, text, again, err)
		}
		if strict.IsValid() {
			var want bytes.Buffer
			if err := stdjson.Compact(&want, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text, `\`) && want.String() != canonical {
				t.Fatalf("canonical %s of %q, want %s", canonical, text, want.String())
			}
			var a, b any
			if json.Unmarshal([]byte(text), &a) == nil && (json.Unmarshal([]byte(canonical), &b) != nil || !cmp.Equal(a, b)) {
				t.Fatalf("%q means %v, its canonical form %s means %v", text, a, canonical, b)
			}
		}
	})
}

func rows(n int) string {
	row := `{"id":12,"name":"a plain row","tags":["a",null],"nested":{"x":1.5,"y":true}},`
	return "[" + strings.TrimSuffix(strings.Repeat(row, n), ",") + "]"
}

func TestParseJSONAllocations(t *testing.T) {
	text := rows(1000)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := tools.ParseJSON(text); err != nil {
			t.Fatal(err)
		}
	}); n > 20 {
		t.Errorf("a canonical text of 5,000 names costs %v allocations, at most 20 wanted", n)
	}
}

func BenchmarkParseJSON(b *testing.B) {
	for name, text := range map[string]string{
		"canonical": rows(1000),
		"spaced":    strings.ReplaceAll(rows(1000), ",", ", "),
		"small":     `{"path":"a.txt","limit":5}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tools.ParseJSON(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
