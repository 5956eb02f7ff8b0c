package fstools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSpellings reads one file by every spelling a model might use; the value
// names it the same way each time.
func TestSpellings(t *testing.T) {
	set, dir := newSet(t, map[string]string{"src/lib/a.txt": "the file\n", "src/b/x": ""}, nil)
	for _, spelling := range []string{
		"src/lib/a.txt",
		"./src/lib/a.txt",
		".//src/lib/a.txt",
		"src//lib///a.txt",
		"src/./lib/./a.txt",
		"src/../src/lib/a.txt",
		"src/b/../lib/a.txt",
		"src/none/../lib/a.txt",
		"none/../src/lib/a.txt",
		"src/lib/a.txt/",
		"src/lib/a.txt/.",
		filepath.Join(dir, "src/lib/a.txt"),
		dir + "//src/./lib/a.txt",
		dir + "/none/../src/lib/a.txt",
		dir + "/../" + filepath.Base(dir) + "/src/lib/a.txt",
	} {
		got, err := set.read(t.Context(), noRun, readIn{FilePath: spelling})
		if err != nil {
			t.Errorf("read %q: %v", spelling, err)
			continue
		}
		if got.Path != "src/lib/a.txt" || got.Content != "the file\n" {
			t.Errorf("read %q: path %q, content %q", spelling, got.Path, got.Content)
		}
	}
}

// TestOddNames reads files whose names mean something elsewhere.
func TestOddNames(t *testing.T) {
	for _, name := range []string{" ", "~", "-rf", "a b", "...", "..a", "a..", "*", "[id]", "{x}", "%2e%2e", "a:b", "$HOME", "\u200b", "é", "e\u0301", "a\nb"} {
		set, dir := newSet(t, nil, nil)
		if err := os.WriteFile(filepath.Join(dir, name), []byte("ok"), 0o644); err != nil {
			t.Logf("%q cannot be a file's name here: %v", name, err)
			continue
		}
		if got, err := set.read(t.Context(), noRun, readIn{FilePath: name}); err != nil || got.Path != name {
			t.Errorf("read %q: path %q, %v", name, got.Path, err)
		}
	}
}

func TestLinks(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	set, dir := newSet(t, map[string]string{"real/a.txt": "a\n", "real/sub/b.txt": "b\n"}, nil)
	for name, target := range map[string]string{
		"file":         "real/a.txt",
		"dir":          "real",
		"chain":        "dir/sub/../a.txt",
		"absolute":     filepath.Join(dir, "real/a.txt"),
		"absolutedir":  filepath.Join(dir, "real"),
		"out":          filepath.Join(outside, "secret"),
		"outdir":       outside,
		"relativeout":  "../" + filepath.Base(outside) + "/secret",
		"outandback":   "../" + filepath.Base(dir) + "/real/a.txt",
		"loop":         "loop",
		"dangling":     "none",
		"real/sibling": "../real/a.txt",
		"indirect":     "outdir/secret",
	} {
		link(t, target, filepath.Join(dir, name))
	}
	for _, tt := range []struct{ path, code, content string }{
		{path: "file", content: "a\n"},
		{path: "dir/a.txt", content: "a\n"},
		{path: "chain", content: "a\n"},
		{path: "real/sibling", content: "a\n"},
		{path: "absolute", content: "a\n"},
		{path: "absolutedir/a.txt", content: "a\n"},
		{path: "outandback", content: "a\n"},
		{path: "out", code: codeSandbox},
		{path: "outdir/secret", code: codeSandbox},
		{path: "outdir", code: codeSandbox},
		{path: "outdir/none", code: codeSandbox},
		{path: "relativeout", code: codeSandbox},
		{path: "indirect", code: codeSandbox},
		{path: "loop", code: codeIO},
		{path: "dangling", code: codeNotFound},
		{path: "file/x", code: codeNotDir},
	} {
		got, err := set.read(t.Context(), noRun, readIn{FilePath: tt.path})
		if tt.code != "" {
			wantFailure(t, err, tt.code, tt.path)
			if err != nil && strings.Contains(err.Error(), outside) {
				t.Errorf("read %q tells where the link leads: %v", tt.path, err)
			}
		} else if err != nil || got.Content != tt.content || got.Path != tt.path {
			t.Errorf("read %q: %+v, %v", tt.path, got, err)
		}
	}
	t.Run("the walk follows no link to a directory and lists links to files inside", func(t *testing.T) {
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
		want := []string{"absolute", "chain", "file", "outandback", "real/a.txt", "real/sibling", "real/sub/b.txt"}
		if diff := cmp.Diff(want, got.Paths); err != nil || diff != "" {
			t.Errorf("%v, paths (-want +got):\n%s", err, diff)
		}
	})
	t.Run("grep finds each file once", func(t *testing.T) {
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "a|secret"})
		want := []grepMatch{{Path: "real/a.txt", Line: 1, Text: "a"}}
		if diff := cmp.Diff(want, got.Matches); err != nil || diff != "" {
			t.Errorf("%v, matches (-want +got):\n%s", err, diff)
		}
	})
	t.Run("a link that is named is searched", func(t *testing.T) {
		for _, p := range []string{"file", "dir", "absolute", "absolutedir"} {
			got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "a", Path: p})
			if err != nil || got.Total != 1 {
				t.Errorf("grep in %q: %+v, %v", p, got, err)
			}
		}
	})
	t.Run("glob and grep do not follow a named link out", func(t *testing.T) {
		_, err := set.glob(t.Context(), noRun, globIn{Pattern: "**", Path: "outdir"})
		wantFailure(t, err, codeSandbox)
		_, err = set.grep(t.Context(), noRun, grepIn{Pattern: "secret", Path: "outdir"})
		wantFailure(t, err, codeSandbox)
		_, err = set.grep(t.Context(), noRun, grepIn{Pattern: "secret", Path: "out"})
		wantFailure(t, err, codeSandbox)
	})
}

// TestNothingOutsideIsLookedAt has links lead out of the root, to where more
// links are: that those are not followed shows that nobody looked at them.
func TestNothingOutsideIsLookedAt(t *testing.T) {
	outside := realDir(t, t.TempDir())
	_, dir := newSet(t, map[string]string{"a/f": "x\n"}, nil)
	root := realDir(t, dir)
	aliases := realDir(t, t.TempDir())
	alias := filepath.Join(aliases, "alias")
	link(t, filepath.Join(root, "a"), filepath.Join(outside, "back"))
	link(t, "elsewhere", filepath.Join(outside, "hop"))
	link(t, root, filepath.Join(aliases, "first"))
	link(t, "first", alias)
	for name, target := range map[string]string{
		"out": outside + "/hop/x", "hop": outside + "/hop", "back": outside + "/back",
		"turn": outside + "/hop/../back", "lexical": outside + "/../" + filepath.Base(root) + "/a", "top": "/", "up": "..",
		"absolute": root + "/a", "alias": alias + "/a", "doubled": aliases + "/.//alias//a", "round": "../" + filepath.Base(root) + "/alias/../a", "other": aliases + "/first/a",
	} {
		link(t, target, filepath.Join(dir, name))
	}
	set, err := New(alias, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for path, want := range map[string]string{
		"out/y":      outside + "/hop/x/y",
		"hop/y":      outside + "/hop/y",
		"back/f":     outside + "/back/f",
		"turn/f":     outside + "/hop",
		"lexical/f":  outside,
		"top":        filepath.VolumeName(root) + "/",
		"up":         filepath.Dir(root),
		"other/f":    aliases + "/first/a/f",
		"absolute/f": root + "/a/f",
		"alias/f":    root + "/a/f",
		"doubled/f":  root + "/a/f",
		"round/f":    root + "/a/f",
	} {
		if got := set.resolve(path).real; got != filepath.FromSlash(want) {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
		_, err := set.read(t.Context(), noRun, readIn{FilePath: path})
		if strings.HasPrefix(want, root+"/") {
			if err != nil {
				t.Errorf("read %s: %v", path, err)
			}
			continue
		}
		wantFailure(t, err, codeSandbox)
	}
}

// TestRootBehindLink opens a tree by a link to it and names files by both
// spellings of the root.
func TestRootBehindLink(t *testing.T) {
	_, dir := newSet(t, map[string]string{"a": "x\n"}, nil)
	alias := filepath.Join(t.TempDir(), "alias")
	link(t, dir, alias)
	set, err := New(alias, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, spelling := range []string{"a", filepath.Join(alias, "a"), filepath.Join(real, "a")} {
		if got, err := set.read(t.Context(), noRun, readIn{FilePath: spelling}); err != nil || got.Path != "a" {
			t.Errorf("read %q: path %q, %v", spelling, got.Path, err)
		}
	}
}

func TestHide(t *testing.T) {
	var root string
	hide := func(base, path string, dir bool) bool {
		rel, inside := below(root, path)
		if _, ok := below(root, base); !ok || !inside {
			t.Errorf("hide was asked about %q from %q, want absolute paths below %q", path, base, root)
		}
		return rel == "secrets" && dir || rel == "half/open/hidden.txt" || strings.HasSuffix(rel, ".key")
	}
	set, dir := newSet(t, map[string]string{
		"a.txt": "token\n", "a.key": "token\n", "secrets/plain.txt": "token\n", "sub/b.key": "token\n", "sub/b.txt": "token\n",
		"half/open/hidden.txt": "token\n", "half/open/shown.txt": "token\n",
	}, nil)
	root = dir
	set.SetHide(hide)
	link(t, "secrets", filepath.Join(dir, "open"))
	link(t, "half", filepath.Join(dir, "door"))
	link(t, "secrets/plain.txt", filepath.Join(dir, "sub/shortcut"))
	t.Run("glob", func(t *testing.T) {
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
		if diff := cmp.Diff([]string{"a.txt", "half/open/shown.txt", "sub/b.txt"}, got.Paths); err != nil || diff != "" {
			t.Errorf("%v, paths (-want +got):\n%s", err, diff)
		}
		if got.Note != "paths that policy denies are left out" {
			t.Errorf("note %q, want it to say that something was left out", got.Note)
		}
	})
	t.Run("grep", func(t *testing.T) {
		got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "token"})
		if err != nil || got.Files != 3 {
			t.Errorf("%+v, %v; want matches in 3 files", got, err)
		}
	})
	t.Run("named directly or through a link", func(t *testing.T) {
		for _, p := range []string{"secrets", "open"} {
			_, err := set.glob(t.Context(), noRun, globIn{Pattern: "**", Path: p})
			wantFailure(t, err, codeNotFound)
			_, err = set.grep(t.Context(), noRun, grepIn{Pattern: "token", Path: p})
			wantFailure(t, err, codeNotFound)
		}
		for _, p := range []string{"a.key", "secrets/plain.txt", "open/plain.txt", "sub/shortcut"} {
			_, err := set.grep(t.Context(), noRun, grepIn{Pattern: "token", Path: p})
			wantFailure(t, err, codeNotFound)
		}
	})
	t.Run("below a link to a directory", func(t *testing.T) {
		for _, p := range []string{"door", "door/open"} {
			got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**", Path: p})
			if diff := cmp.Diff([]string{"door/open/shown.txt"}, got.Paths); err != nil || diff != "" {
				t.Errorf("%v, paths (-want +got):\n%s", err, diff)
			}
		}
	})
	t.Run("no suggestion", func(t *testing.T) {
		_, err := set.read(t.Context(), noRun, readIn{FilePath: "b.kez"})
		wantFailure(t, err, codeNotFound)
		_, err = set.read(t.Context(), noRun, readIn{FilePath: "sub/b.kex"})
		wantFailure(t, err, codeNotFound)
		if strings.Contains(err.Error(), `"sub/b.key"`) {
			t.Errorf("a hidden name is suggested: %v", err)
		}
	})
}

// TestHideLink has a link to a hidden file hidden too, under a rule that sees
// only what a policy's rule would: one path, and where the search begins.
func TestHideLink(t *testing.T) {
	set, dir := newSet(t, map[string]string{"secrets/key": "token\n", "docs/a": "token\n"}, nil)
	link(t, "../secrets/key", filepath.Join(dir, "docs/key"))
	link(t, "secrets", filepath.Join(dir, "door"))
	secret := filepath.Join(realDir(t, dir), "secrets")
	set.SetHide(func(base, path string, _ bool) bool {
		_, from := below(secret, base)
		_, to := below(secret, path)
		return to && !from
	})
	for _, tt := range []struct {
		path  string
		paths []string
		note  string
	}{
		{".", []string{"docs/a"}, "paths that policy denies are left out"},
		{"docs", []string{"docs/a"}, "paths that policy denies are left out"},
		// A search that was allowed to begin there shows what is there.
		{"secrets", []string{"secrets/key"}, ""},
		{"door", []string{"door/key"}, ""},
	} {
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**", Path: tt.path})
		if diff := cmp.Diff(tt.paths, got.Paths); err != nil || diff != "" || got.Note != tt.note {
			t.Errorf("glob in %s: %v, note %q, want %q, paths (-want +got):\n%s", tt.path, err, got.Note, tt.note, diff)
		}
		found, err := set.grep(t.Context(), noRun, grepIn{Pattern: "token", Path: tt.path})
		if err != nil || found.Files != 1 || found.Note != tt.note {
			t.Errorf("grep in %s: %+v, %v; want one file and the note %q", tt.path, found, err, tt.note)
		}
	}
	t.Run("no suggestion", func(t *testing.T) {
		for _, p := range []string{"docs/kee", "docs/keys", "secret/key"} {
			_, err := set.read(t.Context(), noRun, readIn{FilePath: p})
			wantFailure(t, err, codeNotFound)
			if _, suggested, _ := strings.Cut(err.Error(), "did you mean"); strings.Contains(suggested, "key") {
				t.Errorf("a hidden name is suggested: %v", err)
			}
		}
	})
	t.Run("nothing hidden any more", func(t *testing.T) {
		set.SetHide(nil)
		got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
		if diff := cmp.Diff([]string{"docs/a", "docs/key", "secrets/key"}, got.Paths); err != nil || diff != "" {
			t.Errorf("%v, paths (-want +got):\n%s", err, diff)
		}
	})
}

// TestHiddenNamesCannotBeGuessed has no pattern tell whether it matches what is
// hidden, or else one after another would spell the name out.
func TestHiddenNamesCannotBeGuessed(t *testing.T) {
	set, dir := newSet(t, map[string]string{
		"abc.pem": "", "key.pem": "", "secrets/x": "", "docs/a": "token\n", "docs/deep/b": "token\n", "docs/deep/c.pem": "", "only/secrets/x": "", "empty/x": "",
	}, nil)
	link(t, "../key.pem", filepath.Join(dir, "docs/link"))
	link(t, "../secrets/none", filepath.Join(dir, "docs/dangling"))
	hidden := func(_, path string, dir bool) bool {
		name := filepath.Base(path)
		return strings.HasSuffix(name, ".pem") || name == "secrets" && dir
	}
	const note = "paths that policy denies are left out"
	for _, tt := range []struct {
		path  string
		globs []string
		note  string
	}{
		{".", []string{"a*.pem", "b*.pem", "*.pem", "abc.pem", "abd.pem", "none", "secrets/x", "secretz/x", "secrets/**", "secretz/**", "*/none"}, note},
		{"docs", []string{"li*", "lo*", "link", "dang*", "none", "**/none", "**/c.pem", "**/d.pem", "none/**"}, note},
		{"docs/deep", []string{"c*", "none"}, note},
		{"only", []string{"none", "secrets/x", "secretz/x", "*/none"}, note},
		{"empty", []string{"c*.pem", "none", "**/*.pem"}, ""},
	} {
		for _, glob := range tt.globs {
			set.SetHide(nil)
			open, err := set.glob(t.Context(), noRun, globIn{Pattern: glob, Path: tt.path})
			if err != nil || strings.Contains(open.Note, note) {
				t.Errorf("glob %s in %s with nothing hidden: note %q, %v", glob, tt.path, open.Note, err)
			}
			set.SetHide(hidden)
			got, err := set.glob(t.Context(), noRun, globIn{Pattern: glob, Path: tt.path})
			if err != nil || got.Total != 0 || strings.Contains(got.Note, note) != (tt.note != "") {
				t.Errorf("glob %s in %s: %v, %d paths, note %q, want none and %q", glob, tt.path, err, got.Total, got.Note, tt.note)
			}
			for _, filter := range []string{glob, "!" + glob} {
				found, err := set.grep(t.Context(), noRun, grepIn{Pattern: "none", Path: tt.path, Glob: filter})
				if err != nil || strings.Contains(found.Note, note) != (tt.note != "") {
					t.Errorf("grep with %s in %s: %v, note %q, want %q", filter, tt.path, err, found.Note, tt.note)
				}
			}
		}
	}
}

// TestChangedWhileWalking has directories and files replaced after the walk saw
// them and before it opens them: by links that lead out, or to what is hidden.
func TestChangedWhileWalking(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "file"), "secret\n")
	for _, tt := range []struct{ name, target string }{
		{"dir", outside},
		{"file", filepath.Join(outside, "file")},
		{"dir", "hidden"},
		{"file", "hidden/file"},
	} {
		t.Run(tt.name+" to "+filepath.Base(tt.target), func(t *testing.T) {
			set, dir := newSet(t, map[string]string{"dir/file": "harmless\n", "file": "harmless\n", "hidden/file": "secret\n"}, nil)
			link(t, outside, filepath.Join(dir, "can-link"))
			set.SetHide(func(_, path string, _ bool) bool {
				rel, _ := below(dir, path)
				if rel == tt.name {
					if err := os.RemoveAll(path); err != nil {
						t.Error(err)
					}
					if err := os.Symlink(tt.target, path); err != nil {
						t.Error(err)
					}
				}
				return rel == "hidden"
			})
			got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "secret|harmless"})
			if err != nil {
				t.Fatal(err)
			}
			if got.Total != 1 || got.Matches[0].Text != "harmless" || !strings.Contains(got.Note, "could not be read") {
				t.Errorf("value %+v, want the one file that stayed and a note", got)
			}
		})
	}
}
