package fstools

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// FuzzWindow compares the streaming window with the plain way: split the whole
// text into lines and take some.
func FuzzWindow(f *testing.F) {
	f.Add("a\nb\nc\n", 2, 1, 100)
	f.Add("a\r\nb", 1, 5, 3)
	f.Add("\n\nxxxxxxxx\ny", 2, 2, 4)
	f.Add("\uFEFFa\n", 1, 1, 10)
	f.Fuzz(func(t *testing.T, text string, first, lines, maxBytes int) {
		if first < 1 || lines < 1 || maxBytes < 1 || maxBytes > 1<<20 {
			return
		}
		w := window{ctx: t.Context(), first: first, lines: lines, maxBytes: maxBytes, maxScan: 1 << 30}
		if err := w.fill(iotest.OneByteReader(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		all := strings.SplitAfter(text, "\n")
		if all[len(all)-1] == "" {
			all = all[:len(all)-1]
		}
		want, kept := "", 0
		for i := first - 1; i >= 0 && i < len(all) && kept < lines && len(want)+len(all[i]) <= maxBytes; i++ {
			want += all[i]
			kept++
		}
		if string(w.content) != want || w.kept != kept {
			t.Errorf("%d lines %q, want %d lines %q", w.kept, w.content, kept, want)
		}
		if !w.tooLong && w.total != len(all) {
			t.Errorf("%d lines in all, want %d", w.total, len(all))
		}
	})
}

// FuzzScan compares the search in blocks with the plain way: split the text into
// lines and match each.
func FuzzScan(f *testing.F) {
	f.Add("one\ntwo\r\nthree", "o", uint8(0), uint8(16))
	f.Add("aa\n\nba\nab", "a$", uint8(1), uint8(8))
	f.Add("x\ny\nx\n\n", "^$", uint8(2), uint8(4))
	f.Fuzz(func(t *testing.T, text, pattern string, context, block uint8) {
		re, err := regexp.Compile(pattern)
		if err != nil || len(pattern) > 100 || strings.ContainsRune(text, 0) || strings.HasPrefix(text, "\uFEFF") {
			return
		}
		lines := strings.Split(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		longest := 0
		for i, line := range lines {
			longest = max(longest, len(line)+1)
			lines[i] = strings.TrimSuffix(line, "\r")
		}
		if longest > foundLine {
			return
		}
		g := &search{ctx: t.Context(), re: re, context: int(context % 4), limit: 1000, left: 1 << 30}
		g.block = make([]byte, max(int(block), longest+1))
		g.literal = []byte(literalOf(re))
		scan := fileScan{search: g}
		if err := scan.run(bytes.NewReader([]byte(text))); err != nil {
			t.Fatal(err)
		}
		var want []grepMatch
		clean := func(lines []string) (texts []string) {
			for _, line := range lines {
				texts = append(texts, strings.ToValidUTF8(line, "\uFFFD"))
			}
			return texts
		}
		for i, line := range lines {
			if re.MatchString(line) && len(want) < g.limit {
				want = append(want, grepMatch{Line: i + 1, Text: clean(lines[i : i+1])[0],
					Before: clean(lines[max(0, i-g.context):i]), After: clean(lines[i+1 : min(len(lines), i+1+g.context)])})
			}
		}
		if diff := cmp.Diff(want, g.matches); diff != "" {
			t.Errorf("%q in %q with blocks of %d (-want +got):\n%s", pattern, text, len(g.block), diff)
		}
	})
}

// FuzzSubject spells paths in every way: a subject lies in the root as text, is
// the same under its own name, and a read of it never shows what lies outside.
func FuzzSubject(f *testing.F) {
	outside := f.TempDir()
	write(f, filepath.Join(outside, "f"), "secret\n")
	set, dir := newSet(f, map[string]string{"a/b/f": "text\n", "f": "text\n"}, nil)
	for name, target := range map[string]string{
		"in": "a/b", "up": "a/../a", "out": outside, "abs": filepath.Join(dir, "a"), "self": "self", "none": "nothing/at/all", "a/b/top": "../..",
	} {
		link(f, target, filepath.Join(dir, name))
	}
	for _, path := range []string{"f", "in/f", "in/top/in/f", "out/f", "abs/b/../../out/f", "self/f", "none", "..", "a/b/top/../..", "\x00", dir, outside} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		found, err := set.readSubjects(readIn{FilePath: path})
		if err != nil {
			if code := tools.InfoOf(err).Code; code != codeSandbox && code != codeNotFound {
				t.Errorf("%q: the failure %v has the code %q", path, err, code)
			}
			return
		}
		if _, inside := below(dir, found[0].Path); !inside || !filepath.IsAbs(found[0].Real) {
			t.Errorf("%q: subject %+v", path, found[0])
		}
		again, err := set.readSubjects(readIn{FilePath: found[0].Path})
		if diff := cmp.Diff(found, again); err != nil || diff != "" {
			t.Errorf("%q: %v, the subject under its own name (-first +second):\n%s", path, err, diff)
		}
		got, err := set.read(t.Context(), noRun, readIn{FilePath: path})
		if err == nil && got.Content != "text\n" {
			t.Errorf("read %q: %+v", path, got)
		}
		if code := tools.InfoOf(err).Code; code == codeChanged {
			t.Errorf("read %q: %v, and nothing was changed", path, err)
		}
	})
}
