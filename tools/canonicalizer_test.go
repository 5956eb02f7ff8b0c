package tools

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parseAnew is ParseJSON with memory of its own.
func parseAnew(text string) (JSON, error) {
	c := new(canonicalizer)
	c.text = text
	c.scanner.Reset(text)
	canonical, err := c.run()
	if err != nil {
		return JSON{}, err
	}
	return JSON{canonical}, nil
}

// sameParse compares ParseJSON with itself in memory of its own.
func sameParse(t *testing.T, text string) {
	t.Helper()
	got, err := ParseJSON(text)
	want, wantErr := parseAnew(text)
	if got != want || !cmp.Equal(fmt.Sprint(err), fmt.Sprint(wantErr)) {
		t.Errorf("%.60q is read as %.60s, %v; in memory of its own as %.60s, %v", text, got, err, want, wantErr)
	}
}

// TestParsesShareNothing: texts that are read in memory which others have used are
// read as in memory of their own, also at once.
func TestParsesShareNothing(t *testing.T) {
	texts := []string{
		``, ` `, `1`, `{"a":1}`, `{"a":1,"a":2}`, `{"a":{"a":1},"b":{"a":2}}`, `{ "a" : [ 1 , 2 ] }`, `{"\u0061":1,"a":2}`, `["\u0061","\ud800","\n"]`,
		`{"a":1`, `[1,`, `{"b":{"c":[{"d":1,}]}}`, `{"b":2} x`, `"` + strings.Repeat("x", mostKept) + `\u0061"`, "\"\xff\"",
		strings.Repeat(`[{"a":`, 40) + `1` + strings.Repeat(`}]`, 40), strings.Repeat("[", 10_001),
	}
	for n := range 70 {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"n%d":%d`, i, i)
		}
		texts = append(texts, `{"first":0`+b.String()+`}`, `{"n3": 0`+b.String()+`}`)
	}
	var all sync.WaitGroup
	for from := range 4 {
		all.Go(func() {
			for i := range 3 * len(texts) {
				sameParse(t, texts[(i*(from+1)+from)%len(texts)])
			}
		})
	}
	all.Wait()
}

// TestParseForgets: no text that was read is held by the memory that is kept, and
// the memory of a large one is not kept.
func TestParseForgets(t *testing.T) {
	large := strings.Repeat(`{"secret":`, 100) + `"\u0073` + strings.Repeat("secret", mostKept) + `"` + strings.Repeat("}", 100)
	for _, text := range []string{`{"secret":{"secret":1,"other":[{"secret":2}]}}`, `{"a":1`, large} {
		c := new(canonicalizer)
		c.text = text
		c.scanner.Reset(text)
		_, _ = c.run()
		c.release()
		for _, name := range c.names[:cap(c.names)] {
			if name != "" {
				t.Errorf("%.20s: the name %q is left", text, name)
			}
		}
		for _, f := range c.stack[:cap(c.stack)] {
			if f.key != "" || f.seen != nil {
				t.Errorf("%.20s: a level is left: %+v", text, f)
			}
		}
		if c.text != "" || c.copied || c.same != 0 || c.scanner.Offset() != 0 || cap(c.out)+cap(c.scratch) > mostKept || cap(c.names) > mostNames || cap(c.stack) > mostFrames {
			t.Errorf("%.20s: %+.200v is left", text, c)
		}
	}
}

// FuzzParseAfter: what was read before does not change what is read now.
func FuzzParseAfter(f *testing.F) {
	f.Add(`{"a":1,"b":[{"c":"\u0061"}]}`, `{"b":1,"a":{"b":2, "b":3}}`)
	f.Add(`{"a":`, "[1, 2")
	f.Fuzz(func(t *testing.T, before, text string) {
		_, _ = ParseJSON(before)
		sameParse(t, text)
	})
}
