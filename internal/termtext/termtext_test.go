package termtext

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestEscape(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain text stays", "naïve ✓ 日本 👩🏽", "naïve ✓ 日本 👩🏽"},
		{"lines and tabs stay", "a\n\tb", "a\n\tb"},
		{"colour sequence", "\x1b[31mred", `\x1b[31mred`},
		{"title sequence", "\x1b]0;pwned\x07", `\x1b]0;pwned\x07`},
		{"C1 CSI", "\u009b2J", `\x9b2J`},
		{"carriage return", "safe\rrm -rf", `safe\rrm -rf`},
		{"backspace and delete", "a\b\x7f", `a\x08\x7f`},
		{"right-to-left override", "a\u202Eb", `a\u{202e}b`},
		{"isolates", "\u2066x\u2069", `\u{2066}x\u{2069}`},
		{"zero width", "pass\u200Bword", `pass\u{200b}word`},
		{"byte order mark", "\uFEFFx", `\u{feff}x`},
		{"tag characters", "\U000E0041", `\u{e0041}`},
		{"fillers and joiners", "\u115f\u3164\u17b4\u034fx", `\u{115f}\u{3164}\u{17b4}\u{34f}x`},
		{"reserved for more", "\u2065\ufff0\U000e0100\U000e0fff", `\u{2065}\u{fff0}\u{e0100}\u{e0fff}`},
		{"variation selectors", "a\ufe00\U000e01ef☃\ufe0f", `a\u{fe00}\u{e01ef}☃` + "\ufe0f"},
		{"line separator", "a\u2028b", `a\u{2028}b`},
		{"not UTF-8", "a\xffb", `a\xffb`},
		{"marks a language needs", "e\u0302\u0301\u0323\u0331x", "e\u0302\u0301\u0323\u0331x"},
		{"a pile of marks", "e" + strings.Repeat("\u0301", 6) + "x\u0301", "e" + strings.Repeat("\u0301", 4) + `\u{301}\u{301}x` + "\u0301"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Escape(tc.in); got != tc.want {
				t.Errorf("Escape(%q) = %q, want %q", tc.in, got, tc.want)
			}
			var buf bytes.Buffer
			if _, err := NewWriter(&buf).Write([]byte(tc.in)); err != nil || buf.String() != tc.want {
				t.Errorf("the writer passed on %q (%v), want %q", buf.String(), err, tc.want)
			}
		})
	}
	if got := EscapeLine("a\n\tb"); got != `a\n\tb` {
		t.Errorf(`EscapeLine("a\n\tb") = %q`, got)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add("\x1b[2J")
	f.Add("\u202E\xff")
	f.Fuzz(func(t *testing.T, text string) {
		got := Escape(text)
		for _, r := range got {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.IsSpace(r) && hidden(r) {
				t.Fatalf("Escape(%q) = %q still holds %U", text, got, r)
			}
		}
		if again := Escape(got); again != got {
			t.Fatalf("Escape is not stable: %q then %q", got, again)
		}
	})
}

func TestEscapeJSON(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"harmless text stays", `{"a":"naïve ✓\n"}`, `{"a":"naïve ✓\n"}`},
		{"right-to-left override", "{\"a\":\"\u202E\"}", `{"a":"\u202e"}`},
		{"C1 CSI", "[\"\u009b2J\"]", `["\u009b2J"]`},
		{"delete", "[\"\x7f\"]", `["\u007f"]`},
		{"tag characters", "[\"\U000E0041\"]", `["\udb40\udc41"]`},
		{"a pile of marks", `["` + strings.Repeat("\u0301", 5) + `"]`, `["` + strings.Repeat("\u0301", 4) + `\u0301"]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := EscapeJSON(tc.in)
			if got != tc.want {
				t.Errorf("EscapeJSON(%q) = %q, want %q", tc.in, got, tc.want)
			}
			var before, after any
			if err := errors.Join(json.Unmarshal([]byte(tc.in), &before), json.Unmarshal([]byte(got), &after)); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(before, after) {
				t.Errorf("EscapeJSON(%q) means %v, want %v", tc.in, after, before)
			}
		})
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		line    string
		columns int
		want    string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"abcd", 1, "…"},
		{"abcd", 0, ""},
		{"abcd", -1, ""},
		{"日本", 4, "日本"},
		{"日本語", 4, "日…"},
		{"日本語", 5, "日本…"},
		{"日本語", 2, "…"},
		{"\tab", 9, "\t…"},
	} {
		if got := Cut(tc.line, tc.columns); got != tc.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.line, tc.columns, got, tc.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		columns    int
		want       []string
	}{
		{"nothing", "", 5, []string{""}},
		{"fits", "abcde", 5, []string{"abcde"}},
		{"no space", "abcdefgh", 3, []string{"abc", "def", "gh"}},
		{"after a space", "one two three", 8, []string{"one two ", "three"}},
		{"not after an early space", "a bcdefghi", 8, []string{"a bcdefg", "hi"}},
		{"the rest counts", "aaaa bbbb cccc", 6, []string{"aaaa ", "bbbb ", "cccc"}},
		{"line feeds", "a\n\nbcd\n", 2, []string{"a", "", "bc", "d", ""}},
		{"wide", "日本語", 5, []string{"日本", "語"}},
		{"too narrow", "日a", 0, []string{"日", "a"}},
		{"tab", "abc\td", 10, []string{"abc", "\td"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Wrap(tc.text, tc.columns); !slices.Equal(got, tc.want) {
				t.Errorf("Wrap(%q, %d) = %q, want %q", tc.text, tc.columns, got, tc.want)
			}
		})
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two three", 8)
	f.Add("日本\n語 a", 3)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		lines := Wrap(text, columns)
		if joined := strings.Join(lines, ""); joined != strings.ReplaceAll(text, "\n", "") {
			t.Fatalf("Wrap(%q, %d) = %q, which has lost something", text, columns, lines)
		}
		for _, line := range lines {
			if len([]rune(line)) > 1 && Width(line) > columns {
				t.Fatalf("Wrap(%q, %d) has the line %q of %d columns", text, columns, line, Width(line))
			}
		}
	})
}
