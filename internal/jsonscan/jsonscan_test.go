package jsonscan_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// TestPlain: of every byte, alone and among others at every place of eight, it is
// known whether it stands for itself.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, around := range []string{"", "a", "abcdefg", "abcdefgh", " ~~~~~~~~~~~~~~~~", "~ ! # [ ] ^ _ \x7f"} {
		for at := range len(around) + 1 {
			for c := range 256 {
				text := `"` + around[:at] + string([]byte{byte(c)}) + around[at:] + `"`
				tok, err := jsonscan.New(text).Next()
				want := c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf
				if c == '"' && at == len(around) {
					continue // closes the string, and the next byte is another matter
				}
				if got := err == nil && tok.Plain && tok.Raw == text; got != want {
					t.Fatalf("%q: plain is %t, want %t (%v)", text, got, want, err)
				}
			}
		}
	}
	for text, want := range map[string]bool{`"a\n"`: false, `"\u0041"`: false, `"é"`: false, `"abcdefghé"`: false, `"abcdefgh\t"`: false, `""`: true,
		`0`: true, `-12`: true, `1.0`: false, `1e3`: false, `-0`: true, `true`: false, `[`: false} {
		if tok, err := jsonscan.New(text).Next(); err != nil || tok.Plain != want {
			t.Errorf("%s: plain is %t (%v), want %t", text, tok.Plain, err, want)
		}
	}
}

// tokens reads text to its end and writes the tokens as "kind raw@offset".
func tokens(text string) ([]string, error) {
	var list []string
	s := jsonscan.New(text)
	for {
		tok, err := s.Next()
		if err != nil {
			return list, err
		}
		if tok.Kind == jsonscan.EOF {
			return list, nil
		}
		list = append(list, fmt.Sprintf("%c %s@%d", tok.Kind, tok.Raw, tok.Offset))
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"object", ` {"a" : [1, true,null] , "b":"\u0041" }` + "\n", []string{
			`{ {@1`, `k "a"@2`, `[ [@8`, `0 1@9`, `t true@12`, `n null@17`, `] ]@21`, `k "b"@25`, `" "\u0041"@29`, `} }@38`}},
		{"empty containers", `[{},[]]`, []string{"[ [@0", "{ {@1", "} }@2", "[ [@4", "] ]@5", "] ]@6"}},
		{"numbers", `[-0,1.0,1e+5,-2.5E-3,9007199254740993,0]`, []string{
			"[ [@0", "0 -0@1", "0 1.0@4", "0 1e+5@8", "0 -2.5E-3@13", "0 9007199254740993@21", "0 0@38", "] ]@39"}},
		{"scalar", `false`, []string{"f false@0"}},
		{"deepest", strings.Repeat("[", jsonscan.MaxDepth) + strings.Repeat("]", jsonscan.MaxDepth), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tokens(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == nil {
				if len(got) != 2*jsonscan.MaxDepth {
					t.Errorf("%d tokens", len(got))
				}
				return
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("tokens (-want +got):\n%s", d)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "invalid JSON at byte 0: unexpected end of text, expected a value"},
		{"white space only", " \n", "invalid JSON at byte 2: unexpected end of text, expected a value"},
		{"text after the value", `1 2`, "invalid JSON at byte 2: unexpected character '2' after the value"},
		{"missing comma", `[1 2]`, "invalid JSON at byte 3: unexpected character '2', expected ',' or ']'"},
		{"wrong end", `{"a":1]`, "invalid JSON at byte 6: unexpected character ']', expected ',' or '}'"},
		{"trailing comma", `[1,]`, "invalid JSON at byte 3: unexpected character ']', expected a value"},
		{"trailing comma of an object", `{"a":1,}`, "invalid JSON at byte 7: unexpected character '}', expected a property name in double quotes"},
		{"bare key", `{a:1}`, "invalid JSON at byte 1: unexpected character 'a', expected a property name in double quotes"},
		{"single quotes", `{'a':1}`, `invalid JSON at byte 1: unexpected character '\'', expected a property name in double quotes`},
		{"missing colon", `{"a" 1}`, "invalid JSON at byte 5: unexpected character '1', expected ':' after a property name"},
		{"not closed", `[[1`, "invalid JSON at byte 3: unexpected end of text, expected ',' or ']'"},
		{"string not closed", `["abc`, "invalid JSON at byte 1: string is not closed"},
		{"escape at the end", `"\`, "invalid JSON at byte 1: malformed escape in a string"},
		{"unknown escape", `"\x41"`, "invalid JSON at byte 1: malformed escape in a string"},
		{"short escape", `"\u12"`, "invalid JSON at byte 1: malformed escape in a string"},
		{"line break in a string", "\"a\nb\"", "invalid JSON at byte 2: control character U+000A in a string must be escaped"},
		{"invalid UTF-8", "\"a\xffb\"", "invalid JSON at byte 2: invalid UTF-8 in a string"},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", "invalid JSON at byte 1: invalid UTF-8 in a string"},
		{"overlong", "\"\xc0\xaf\"", "invalid JSON at byte 1: invalid UTF-8 in a string"},
		{"leading zero", `01`, `invalid JSON at byte 0: malformed number "01"`},
		{"plus", `+1`, "invalid JSON at byte 0: unexpected character '+', expected a value"},
		{"point first", `.5`, "invalid JSON at byte 0: unexpected character '.', expected a value"},
		{"point last", `[5.]`, "invalid JSON at byte 1: malformed number"},
		{"exponent without digits", `1e`, "invalid JSON at byte 0: malformed number"},
		{"two points", `1.2.3`, `invalid JSON at byte 0: malformed number "1.2.3"`},
		{"hexadecimal", `0x10`, `invalid JSON at byte 0: malformed number "0x10"`},
		{"minus", `-`, "invalid JSON at byte 0: malformed number"},
		{"NaN", `NaN`, "invalid JSON at byte 0: unexpected character 'N', expected a value"},
		{"word", `[nul]`, "invalid JSON at byte 1: unexpected character 'n', expected a value"},
		{"longer word", `[nulll]`, "invalid JSON at byte 5: unexpected character 'l', expected ',' or ']'"},
		{"comment", `[1 /* x */]`, "invalid JSON at byte 3: unexpected character '/', expected ',' or ']'"},
		{"byte order mark", "\ufeff1", `invalid JSON at byte 0: unexpected character '\ufeff', expected a value`},
		{"one level too deep", strings.Repeat("[", jsonscan.MaxDepth+1), "invalid JSON at byte 10000: nested deeper than 10000 levels"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tokens(tt.text)
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v\nwant  %s", err, tt.want)
			}
		})
	}
}

func TestErrorStays(t *testing.T) {
	t.Parallel()
	s := jsonscan.New(`[}`)
	s.Next()
	_, first := s.Next()
	_, second := s.Next()
	if first == nil || first != second {
		t.Errorf("errors %v and %v", first, second)
	}
	s.Reset(`1`)
	if tok, err := s.Next(); err != nil || tok.Raw != "1" {
		t.Errorf("after Reset: %v, %v", tok, err)
	}
}

func TestDepthAndOffset(t *testing.T) {
	t.Parallel()
	s := jsonscan.New(`{"a":[1]}`)
	var depths, offsets []int
	for {
		tok, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if tok.Kind == jsonscan.EOF {
			break
		}
		depths, offsets = append(depths, s.Depth()), append(offsets, s.Offset())
	}
	if d := cmp.Diff([]int{1, 1, 2, 2, 1, 0}, depths); d != "" {
		t.Errorf("depths (-want +got):\n%s", d)
	}
	// After a key the colon is read too.
	if d := cmp.Diff([]int{1, 5, 6, 7, 8, 9}, offsets); d != "" {
		t.Errorf("offsets (-want +got):\n%s", d)
	}
}

func TestStrings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, raw, text, canonical string }{
		{"plain", `"abc"`, "abc", `"abc"`},
		{"short escapes", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", `"\"\\/\b\f\n\r\t"`},
		{"letter as an escape", `"\u0041\u00e9"`, "Aé", `"Aé"`},
		{"control character", `"\u0000\u001F\u007f"`, "\x00\x1f\x7f", "\"\\u0000\\u001f\x7f\""},
		{"pair", `"\ud83d\ude00"`, "😀", `"😀"`},
		{"upper case digits", `"\uD83D\uDE00"`, "😀", `"😀"`},
		{"high alone", `"\ud83dx"`, "\xed\xa0\xbdx", `"\ud83dx"`},
		{"low alone", `"\uDE00"`, "\xed\xb8\x80", `"\ude00"`},
		{"low before high", `"\ude00\ud83d"`, "\xed\xb8\x80\xed\xa0\xbd", `"\ude00\ud83d"`},
		{"high, pair", `"\ud83d\ud83d\ude00"`, "\xed\xa0\xbd😀", `"\ud83d😀"`},
		{"high before another escape", `"\ud83d\n"`, "\xed\xa0\xbd\n", `"\ud83d\n"`},
		{"line separators", `"\u2028"`, "\u2028", "\"\u2028\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := jsonscan.Unquote(tt.raw); got != tt.text {
				t.Errorf("Unquote: %q, want %q", got, tt.text)
			}
			if got := string(jsonscan.AppendQuote(nil, tt.text)); got != tt.canonical {
				t.Errorf("AppendQuote: %s, want %s", got, tt.canonical)
			}
			if got := jsonscan.Quote(tt.text); got != tt.canonical {
				t.Errorf("Quote: %s, want %s", got, tt.canonical)
			}
		})
	}
	if got := string(jsonscan.AppendQuote([]byte("x"), "a\xffb")); got != "x\"a\uFFFDb\"" {
		t.Errorf("bytes that are no text: %s", got)
	}
	if got := string(jsonscan.AppendQuote(nil, "\xed\xa0\xbd\xed\xb8\x80")); got != `"😀"` {
		t.Errorf("two halves side by side: %s", got)
	}
}

func TestDecodeRune(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		r rune
		n int
	}{
		"a": {'a', 1}, "é": {'é', 2}, "😀": {'😀', 4}, "\xed\xa0\x80": {0xD800, 3}, "\xed\xbf\xbf": {0xDFFF, 3},
		"\xed\x9f\xbf": {0xD7FF, 3}, "\xed\xa0": {utf8.RuneError, 1}, "\xed\xa0a": {utf8.RuneError, 1}, "\xff": {utf8.RuneError, 1}, "": {utf8.RuneError, 0},
	} {
		if r, n := jsonscan.DecodeRune(text); r != want.r || n != want.n {
			t.Errorf("DecodeRune(%q) = %U, %d; want %U, %d", text, r, n, want.r, want.n)
		}
	}
	for r := rune(0xD7FE); r <= 0xE001; r++ {
		text := string(jsonscan.AppendRune(nil, r))
		if got, n := jsonscan.DecodeRune(text); got != r || n != len(text) {
			t.Fatalf("%U comes back as %U", r, got)
		}
	}
}

// FuzzShort: a string with short escapes alone is spelled as AppendQuote spells it.
func FuzzShort(f *testing.F) {
	for _, seed := range []string{`"a"`, `"\n\\\""`, `"\/"`, `"\u0041"`, `"\b\f\t\ré😀"`, `"\ud800"`, `"\\u0041"`, `""`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := jsonscan.New(text).Next()
		if err != nil || tok.Kind != jsonscan.String {
			return
		}
		again := string(jsonscan.AppendQuote(nil, jsonscan.Unquote(tok.Raw)))
		if jsonscan.Short(tok.Raw) && again != tok.Raw {
			t.Errorf("%s is short, and written %s", tok.Raw, again)
		}
		if !jsonscan.Short(tok.Raw) && !strings.Contains(tok.Raw, `\u`) && !strings.Contains(tok.Raw, `\/`) {
			t.Errorf("%s is not short", tok.Raw)
		}
	})
}

// FuzzScan compares the grammar with that of the standard library, which
// accepts invalid UTF-8 and, in the same places, the same depth.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e3,true,"\ud800"]}`, `[`, `"\u00"`, "\"\xff\"", ` 1 `, `{"a":1,}`, `[1 2]`, `nul`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := tokens(text)
		want := json.Valid([]byte(text)) && utf8.ValidString(text)
		if (err == nil) != want {
			t.Fatalf("%q: %v, the standard library says valid is %v", text, err, want)
		}
	})
}

func FuzzQuote(f *testing.F) {
	f.Add("a\"\\\n\x00é😀")
	f.Add("\xed\xa0\xbd\xff")
	f.Fuzz(func(t *testing.T, text string) {
		quoted := jsonscan.Quote(text)
		if appended := string(jsonscan.AppendQuote([]byte("x"), text)); appended != "x"+quoted {
			t.Fatalf("%q is quoted as %s and appended as %s", text, quoted, appended)
		}
		if _, err := tokens(quoted); err != nil {
			t.Fatalf("%q: %v", quoted, err)
		}
		back := jsonscan.Unquote(quoted)
		if utf8.ValidString(text) && back != text {
			t.Fatalf("%q comes back as %q", text, back)
		}
		if again := jsonscan.Quote(back); again != quoted {
			t.Fatalf("%s is quoted again as %s", quoted, again)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	text := "[" + strings.TrimSuffix(strings.Repeat(`{"id":12,"name":"a plain row","tags":["a",null]},`, 1000), ",") + "]"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	s := jsonscan.New("")
	for b.Loop() {
		s.Reset(text)
		for {
			tok, err := s.Next()
			if err != nil {
				b.Fatal(err)
			}
			if tok.Kind == jsonscan.EOF {
				break
			}
		}
	}
}

func ExampleScanner() {
	s := jsonscan.New(`{"a": [1]}`)
	for {
		tok, err := s.Next()
		if err != nil || tok.Kind == jsonscan.EOF {
			break
		}
		fmt.Printf("%c %s\n", tok.Kind, tok.Raw)
	}
	// Output:
	// { {
	// k "a"
	// [ [
	// 0 1
	// ] ]
	// } }
}
