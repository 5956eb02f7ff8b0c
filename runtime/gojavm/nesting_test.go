package gojavm

import (
	"regexp"
	"testing"
)

// delegation is what mayDelegate looks for.
var delegation = regexp.MustCompile(`yield\s*(\*|/)|eval|Function|constructor`)

func FuzzMayDelegate(f *testing.F) {
	for _, text := range []string{
		"", "yield", "yield*", "yield \t\r\n\f*", "yield\v*", "yield/**/*", "yield a; yield *b", "yield\u00a0*", "yiel", "yieldyield*", "yield yield *", "eval", "Function", "function", "constructor", "evaL",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := mayDelegate(text), delegation.MatchString(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}
