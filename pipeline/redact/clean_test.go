package redact

import (
	"strings"
	"testing"
)

// FuzzClean: Text leaves out its two passes only over a text they would not change.
func FuzzClean(f *testing.F) {
	r := New(&Options{Secrets: []Secret{{"A", "hunter2hunter2"}, {"B", "p\"a/s\\s<w>&o+r d=\nünïcode😀"}, {"C", "--begin--"}}})
	seeds := []string{
		"", "a", "-", "words and more of them, über alles", "hunter2hunter2", `"p\"a/s\\s`, "--begin--", "x--begin-",
		"-----BEGIN PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA\nabc+/=\n", "https://user:pass" + "word@host/", "a://b:c@d", "://a:b@c",
		"Authorization: " + "Basic dXNlcjpwYXNz", "AUTHORIZATION=abcdefghijklmnop1234", "bEARER " + strings.Repeat("a1", 12), "earer aaaaaaaaaaaaaaaaaaaaaa1",
		"eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "AKIA" + "ABCDEFGHIJKLMNOP", "ASIA" + "ABCDEFGHIJKLMNOP",
	}
	for _, p := range prefixes {
		seeds = append(seeds, p.text+strings.Repeat("aB3", 15), "word "+p.text+strings.Repeat("a1", 40)+" word")
	}
	for _, s := range seeds {
		f.Add(s)
		f.Add(`[{"a":"` + s + `"}]`)
	}
	zero := &Redactor{}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range []*Redactor{r, zero} {
			if slow := r.formats(r.Known(s)); r.Text(s) != slow {
				t.Errorf("Text(%q)\n got %q\nwant %q", s, r.Text(s), slow)
			}
		}
		for i := range len(s) {
			find := finder{r: r, s: s}
			if _, end, kind := find.at(i); end > 0 && (i+1 == len(s) || !formatPairs.has(s[i], s[i+1])) {
				t.Errorf("a %s begins at %d of %q, where nobody looks", kind, i, s)
			}
		}
	})
}
