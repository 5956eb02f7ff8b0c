package codemode

import (
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
