package termtext

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
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
		{"line separator", "a\u2028b", `a\u{2028}b`},
		{"not UTF-8", "a\xffb", `a\xffb`},
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
	} {
		if got := Cut(tc.line, tc.columns); got != tc.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.line, tc.columns, got, tc.want)
		}
	}
}
