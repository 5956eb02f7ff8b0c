package gitignore

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// git answers which of the paths git itself ignores in a tree that has the
// given .gitignore files and, as empty files, the paths.
func git(t *testing.T, dir string, ignores map[string]string, paths []string) map[string]bool {
	t.Helper()
	for at, text := range ignores {
		write(t, filepath.Join(dir, at, ".gitignore"), text)
	}
	for _, p := range paths {
		write(t, filepath.Join(dir, p), "")
	}
	cmd := exec.Command("git", "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false", "check-ignore", "-z", "--stdin", "--no-index")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("git check-ignore: %v\n%s", err, out)
	}
	ignored := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" {
			ignored[p] = true
		}
	}
	return ignored
}

// repository makes an empty repository, or skips.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("git", "init", "-q", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("git is not usable here, so there is nothing to compare with: %v %s", err, out)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ours answers the same as git, walking down to each path.
func ours(ignores map[string]string, paths []string) map[string]bool {
	ignored := map[string]bool{}
	for _, p := range paths {
		if leftOut(ignores, p) {
			ignored[p] = true
		}
	}
	return ignored
}

func leftOut(ignores map[string]string, p string) bool {
	var chain *Chain
	if text, ok := ignores[""]; ok {
		chain = chain.With("", Parse(text))
	}
	for i, c := range p {
		if c != '/' {
			continue
		}
		if chain.Ignores(p[:i], true) {
			return true
		}
		if text, ok := ignores[p[:i]]; ok {
			chain = chain.With(p[:i], Parse(text))
		}
	}
	return chain.Ignores(p, false)
}

// tree is a set of paths on which the rules of the tables differ.
var tree = strings.Fields(`
	a b.txt B.txt foo foobar fo.o foo.log foo.txt .env .env.local build.log
	build/out.txt build/sub/out.txt src/build/out.txt src/foo src/foo.log
	src/a/b/c.txt src/a/c.txt src/c.txt doc/frotz/x doc/x a/doc/frotz/x
	deep/a/b/c/d/e.txt deep/keep.txt deep/a/keep.txt x/foo/bar x/foo/y/bar
	foo!x #hash !bang [x] x] a-b a^b a1 aZ tab	x ünï.txt caf\x c:d
	node_modules/p/index.js src/node_modules/p/index.js logs/debug.log
	logs/monday/debug.log logs/important/debug.log *star q?x vendor/vendor/x
	abc/def/ghi.c abc/ghi.c abc/x/def.c xabc/ghi.c
`)

var rules = []struct{ name, text string }{
	{"name at any depth", "foo"},
	{"suffix", "*.log"},
	{"star alone", "*"},
	{"star alone, one kept", "*\n!foo\n!src/\n!src/foo"},
	{"prefix", "foo*"},
	{"middle star", "f*.log"},
	{"question mark", "fo?o"},
	{"question mark does not match a slash", "src?foo"},
	{"question mark is one byte", "?n?.txt\ncaf?x"},
	{"class", "a[0-9]"},
	{"class negated with a bang", "a[!0-9]"},
	{"class negated with a caret", "a[^0-9]"},
	{"class with a bracket first", "[]x]]"},
	{"class with a dash at the end", "a[1-]b"},
	{"class never matches a slash", "src[/]foo\nsrc[!x]foo"},
	{"named class", "a[[:digit:]]\na[[:upper:]]"},
	{"unknown named class", "a[[:nope:]]"},
	{"named class not closed", "a[[:digit]]"},
	{"class not closed", "a[0-9"},
	{"reversed range", "a[9-0]"},
	{"escaped range end", `a[0-\9]`},
	{"directory only", "build/"},
	{"directory only, a file of that name", "foo/"},
	{"anchored", "/foo"},
	{"anchored by a middle slash", "src/foo"},
	{"anchored directory", "/build/"},
	{"leading double star", "**/foo"},
	{"leading double star with path", "**/foo/bar"},
	{"trailing double star", "abc/**"},
	{"middle double star", "src/**/c.txt"},
	{"middle double star twice", "deep/**/c/**/e.txt"},
	{"double star and slash", "**/"},
	{"double star in an element", "fo**o\nsrc**/c.txt"},
	{"double star right after a literal beginning", "x/foo**/bar"},
	{"double star beside a name", "a**/c.txt"},
	{"three stars", "src/***/c.txt"},
	{"star between slashes", "src/*/c.txt"},
	{"star never matches a slash", "src/*c.txt"},
	{"negation", "*.log\n!foo.log"},
	{"negation, last one wins", "!foo.log\n*.log"},
	{"negation cannot open a directory", "build/\n!build/out.txt"},
	{"negation inside an open directory", "build/*\n!build/out.txt"},
	{"negated directory", "logs/*\n!logs/important/"},
	{"comment", "#hash\nfoo"},
	{"escaped comment", `\#hash`},
	{"escaped bang", `\!bang`},
	{"bang twice", "!!bang"},
	{"blank lines", "\n\n  \nfoo\n\n"},
	{"trailing spaces", "foo   "},
	{"escaped trailing space", `foo\ `},
	{"trailing tab is kept", "foo\t"},
	{"tab", "tab"},
	{"CRLF", "foo\r\n*.log\r\n"},
	{"byte order mark", "\uFEFFfoo"},
	{"no final line break", "a\nfoo"},
	{"slash alone", "/"},
	{"slashes", "//"},
	{"bang alone", "!"},
	{"double slash", "src//foo"},
	{"trailing slashes", "build//"},
	{"escaped star", `\*star`},
	{"escaped question mark", `q\?x`},
	{"escaped bracket", `\[x]`},
	{"escaped ordinary letter", `f\oo`},
	{"backslash at the end", `foo\`},
	{"escaped backslash", `caf\\x`},
	{"leading dot slash", "./foo"},
	{"hidden", ".env*\n!.env.local"},
	{"case", "b.TXT\nB.txt"},
	{"non-ASCII", "ünï.txt"},
	{"vendored", "vendor/vendor"},
	{"literal directory and rest", "abc/*.c"},
}

func TestSameAsGit(t *testing.T) {
	dir := repository(t)
	for _, tt := range rules {
		t.Run(tt.name, func(t *testing.T) {
			ignores := map[string]string{"": tt.text}
			want := git(t, dir, ignores, paths())
			if diff := cmp.Diff(want, ours(ignores, paths())); diff != "" {
				t.Errorf("%q: ignored paths (-git +ours):\n%s", tt.text, diff)
			}
		})
	}
}

// paths are those of tree that can stand beside each other in one directory.
func paths() []string {
	isDir := map[string]bool{}
	for _, p := range tree {
		for d := path.Dir(p); d != "."; d = path.Dir(d) {
			isDir[d] = true
		}
	}
	var files []string
	for _, p := range tree {
		if !isDir[p] {
			files = append(files, p)
		}
	}
	return files
}

func TestNestedSameAsGit(t *testing.T) {
	dir := repository(t)
	for i, tt := range []struct {
		name    string
		ignores map[string]string
	}{
		{"deeper file adds", map[string]string{"": "foo", "src": "*.txt"}},
		{"deeper file keeps", map[string]string{"": "*.txt", "src": "!*.txt", "src/a/b": "c.txt"}},
		{"anchored to its own directory", map[string]string{"src": "/foo\n/a/c.txt"}},
		{"path from its own directory", map[string]string{"src": "src/foo\na/**/c.txt"}},
		{"inside an ignored directory it counts for nothing", map[string]string{"": "logs/", "logs": "!*"}},
		{"kept here, ignored there", map[string]string{"": "*\n!*/", "src": "!foo", "deep": "!**/keep.txt"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sub := filepath.Join(dir, string(rune('a'+i)))
			if out, err := exec.Command("git", "init", "-q", sub).CombinedOutput(); err != nil {
				t.Fatalf("git init: %v %s", err, out)
			}
			want := git(t, sub, tt.ignores, paths())
			if diff := cmp.Diff(want, ours(tt.ignores, paths())); diff != "" {
				t.Errorf("ignored paths (-git +ours):\n%s", diff)
			}
		})
	}
}

// TestRandomSameAsGit compares many machine-made rule files on a small alphabet,
// where stars, slashes and classes meet in ways nobody would write.
func TestRandomSameAsGit(t *testing.T) {
	dir := repository(t)
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "ab", "*", "**", "***", "/", "/", "?", "[ab]", "[!a]", "[]a]", `\a`, `\*`, "!", "**/", "/**", "/**/", " ", "#", "[", "]", "-", "[a-", `\`}
	var files []string
	for _, p := range strings.Fields("a b ab aa/a aa/b aa/ab bb/aa/b bb/aa/aa/a bb/b abb/ab/a abb/b/a abb/b/ba *x/a x*/b [/a ]/b -") {
		files = append(files, p)
	}
	for range 60 {
		var text strings.Builder
		for range 1 + random.IntN(3) {
			for range 1 + random.IntN(6) {
				text.WriteString(pieces[random.IntN(len(pieces))])
			}
			text.WriteByte('\n')
		}
		ignores := map[string]string{"": text.String()}
		want := git(t, dir, ignores, files)
		if diff := cmp.Diff(want, ours(ignores, files)); diff != "" {
			t.Errorf("%q: ignored paths (-git +ours):\n%s", text.String(), diff)
		}
	}
}
