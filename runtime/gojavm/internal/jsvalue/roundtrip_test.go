package jsvalue_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
	"github.com/runcode-go/runcode/tools"
)

// FuzzRoundTrip checks that a canonical text comes back from the engine as it
// went in, save that a number with a fraction or an exponent is printed the way
// the language prints doubles.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`null`, `[1,-0,1.0,1e400,9007199254740993]`, `{"a":{"__proto__":[1]},"":"é"}`,
		`["\ud800","\ude00\ud83d"]`, `{"\udfff":1,"x":2}`, `"` + strings.Repeat("a", 40) + `é"`, `[[[[{}]]]]`, `{"0":1,"a":2}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, err := tools.ParseJSON(text)
		if err != nil {
			return
		}
		want, ok := printed(t, canonical.String())
		if !ok {
			return
		}
		vm := goja.New()
		v, err := jsvalue.Decode(vm, canonical.String(), jsvalue.DecodeOptions{})
		if err != nil {
			t.Fatalf("Decode(%q): %v", canonical, err)
		}
		got, err := jsvalue.Encode(vm, v, jsvalue.EncodeOptions{})
		if err != nil {
			t.Fatalf("Encode of %q: %v", canonical, err)
		}
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

// printed rewrites the numbers of a canonical text as the engine prints them.
// It reports false for texts that cannot come back: a name that is an array
// index moves to the front, a number beyond the doubles is refused.
func printed(t *testing.T, text string) (string, bool) {
	var out strings.Builder
	last := 0
	scan := jsonscan.New(text)
	vm := goja.New()
	for {
		tok, err := scan.Next()
		if err != nil {
			t.Fatalf("canonical text %q: %v", text, err)
		}
		switch tok.Kind {
		case jsonscan.EOF:
			out.WriteString(text[last:])
			return out.String(), true
		case jsonscan.Key:
			if n, err := strconv.ParseUint(jsonscan.Unquote(tok.Raw), 10, 64); err == nil && n < 1<<53 {
				return "", false
			}
		case jsonscan.Number:
			if len(tok.Raw) > 10_000 {
				return "", false
			}
			if !strings.ContainsAny(tok.Raw, ".eE") {
				continue
			}
			number, err := strconv.ParseFloat(tok.Raw, 64)
			if err != nil {
				return "", false
			}
			out.WriteString(text[last:tok.Offset])
			last = tok.Offset + len(tok.Raw)
			if number == 0 && strings.HasPrefix(tok.Raw, "-") {
				out.WriteString("-0")
				continue
			}
			out.WriteString(vm.ToValue(number).String())
		}
	}
}
