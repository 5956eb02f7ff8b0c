package codemode

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	t.Run("a text that fits is untouched", func(t *testing.T) {
		text := strings.Repeat("x", 100)
		if got := clip(text, 100, unstored); got != text {
			t.Errorf("clip changed a text of exactly the budget to %q", got)
		}
	})
	t.Run("sizes first, then head and tail", func(t *testing.T) {
		text := "HEAD" + strings.Repeat("m", 10_000) + "TAIL"
		got := clip(text, 1000, unstored)
		if len(got) > 1000 {
			t.Errorf("clip(…, 1000) is %d bytes", len(got))
		}
		if !strings.HasPrefix(got, "(the output is 10008 bytes; shown are the first ") || !strings.HasSuffix(got, "TAIL") || !strings.Contains(got, "\nHEADmm") {
			t.Errorf("clip lacks the size, the head or the tail:\n%s", got)
		}
	})
	for _, max := range []int{0, 1, 2, 3, 50, 200, 201, 202, 203} {
		got := clip(strings.Repeat("€", 500), max, unstored)
		if len(got) > max || !utf8.ValidString(got) {
			t.Errorf("clip to %d gives %d bytes, valid UTF-8 %v", max, len(got), utf8.ValidString(got))
		}
	}
}

// What is cut is cut between words, so that no part of a secret is left for a
// redactor that would not know it.
func TestFirstLine(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"it fits", "one two", "one two"},
		{"one line of several", "one\ntwo", "one"},
		{"cut within a word", "one two-three", "one ..."},
		{"cut after a word", "one two three", "one two ..."},
		{"one long word", "postgres://u:secret@db", "..."},
		{"cut within a character", "one éééé", "one ..."},
	} {
		if got := firstLine(tc.text, 8); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// What a store says reaches the model, so it is redacted too, and before it is cut.
func TestStoreTellsNoSecrets(t *testing.T) {
	const secret = "hunter2hunter2"
	c := &CodeMode{opts: Options{Redact: func(s string) string { return strings.ReplaceAll(s, secret, "*") }}}
	for _, tc := range []struct {
		name, locator string
		err           error
		want          string
	}{
		{"a place", "s3://u:" + secret + "@host/1", nil, "The whole text is at s3://u:*@host/1."},
		{"an error", "", errors.New("put s3://u:" + secret + "@host/1"), "The whole text could not be stored: put s3://u:*@host/1. " + unstored},
		{"an error that is cut", "", errors.New(strings.Repeat("x", 190) + " " + secret + " y"), "The whole text could not be stored: " + strings.Repeat("x", 190) + " * y. " + unstored},
	} {
		c.opts.Store = func(context.Context, string, string) (string, error) { return tc.locator, tc.err }
		if got := c.keep(t.Context(), "c1", "text"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
