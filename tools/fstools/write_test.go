package fstools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// names lists a directory, temporary files included.
func names(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func writeArgs(path, text string) string {
	return fmt.Sprintf(`{"file_path":%s,"content":%s}`, tools.StringJSON(path), tools.StringJSON(text))
}

func TestWrite(t *testing.T) {
	for _, tt := range []struct {
		name, path, content string
		value               string
	}{
		{"new file", "new", "a\n", `{"path":"new","bytes":2,"created":true}`},
		{"new directories", "x/y/z/new", "a", `{"path":"x/y/z/new","bytes":1,"created":true}`},
		{"existing file", "old", "a\r\nb", `{"path":"old","bytes":4,"created":false}`},
		{"empty", "old", "", `{"path":"old","bytes":0,"created":false}`},
		{"bytes as they are", "new", "\uFEFF\x00\r\u00e9\U0001F600\\\"", `{"path":"new","bytes":13,"created":true}`},
		{"another spelling", "./sub//../sub/new", "a", `{"path":"sub/new","bytes":1,"created":true}`},
		{"name that is not only ASCII", "ünï/ß", "a", `{"path":"ünï/ß","bytes":1,"created":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, dir := newSet(t, map[string]string{"old": "the old text\n", "sub/a": ""}, nil)
			value, _, err := call(t, registry(t, set), "write", writeArgs(tt.path, tt.content))
			if diff := cmp.Diff(tt.value, value); err != nil || diff != "" {
				t.Fatalf("%v, value (-want +got):\n%s", err, diff)
			}
			name := filepath.Join(dir, filepath.FromSlash(tt.path))
			if got := textOf(t, name); got != tt.content {
				t.Errorf("the file holds %q, want %q", got, tt.content)
			}
			for _, n := range names(t, filepath.Dir(name)) {
				if isTemporary(n) {
					t.Errorf("the temporary file %s is left over", n)
				}
			}
		})
	}
}

func TestWriteFails(t *testing.T) {
	outside := t.TempDir()
	set, dir := newSet(t, map[string]string{"file": "text\n", "sub/a": "", "locked": "text\n"}, &Options{WriteBytes: 100})
	if err := os.Chmod(filepath.Join(dir, "locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	link(t, "none", filepath.Join(dir, "dangling"))
	link(t, "nowhere/below", filepath.Join(dir, "deep"))
	link(t, outside, filepath.Join(dir, "out"))
	link(t, "loop", filepath.Join(dir, "loop"))
	for _, tt := range []struct {
		name, args string
		code       string
		parts      []string
	}{
		{"no path", `{"file_path":"","content":""}`, tools.CodeInvalidArgs, []string{`"file_path" is empty`}},
		{"no content", `{"file_path":"x"}`, tools.CodeInvalidArgs, []string{"content"}},
		{"half a character", `{"file_path":"x","content":"a\ud800b"}`, tools.CodeInvalidArgs, []string{`"content" holds half of a character`}},
		{"half a character in the path", `{"file_path":"x\udc00","content":""}`, tools.CodeInvalidArgs, []string{`"file_path" holds half`}},
		{"too large", writeArgs("x", strings.Repeat("x", 101)), codeTooLarge, []string{"101 bytes", "at most 100 bytes"}},
		{"directory", writeArgs("sub", ""), codeNotRegular, []string{`write "sub": it is a directory`}},
		{"root", writeArgs(".", ""), codeNotRegular, []string{"it is a directory"}},
		{"file as a directory", writeArgs("file/x", ""), codeNotDir, []string{`"file" is a file, not a directory`}},
		{"read-only", writeArgs("locked", ""), codePermission, []string{"read-only"}},
		{"outside", writeArgs("../x", ""), codeSandbox, nil},
		{"out by a link", writeArgs("out/x", ""), codeSandbox, []string{`"out/x"`, "symbolic link"}},
		{"dangling link", writeArgs("dangling", ""), codeNotFound, []string{`write "dangling": a symbolic link on the way leads to what does not exist`}},
		{"below a dangling link", writeArgs("deep/x", ""), codeNotFound, []string{"leads to what does not exist"}},
		{"links without an end", writeArgs("loop", ""), codeIO, []string{"loop"}},
		{"long name", writeArgs(strings.Repeat("x", 300), ""), codeNotFound, []string{"too long"}},
		{"NUL", writeArgs("a\x00", ""), codeNotFound, []string{"NUL byte"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := names(t, dir)
			_, _, err := call(t, registry(t, set), "write", tt.args)
			wantFailure(t, err, tt.code, tt.parts...)
			if diff := cmp.Diff(before, names(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
	if got := textOf(t, filepath.Join(dir, "locked")); got != "text\n" {
		t.Errorf("the read-only file holds %q", got)
	}
	if got := names(t, outside); len(got) > 0 {
		t.Errorf("files outside the root: %v", got)
	}
}

// TestEscapedBackslash has a text that looks like an unpaired surrogate and is
// none.
func TestEscapedBackslash(t *testing.T) {
	set, dir := newSet(t, nil, nil)
	if _, _, err := call(t, registry(t, set), "write", `{"file_path":"x","content":"\\ud800 \ud83d\ude00"}`); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, filepath.Join(dir, "x")); got != "\\ud800 \U0001F600" {
		t.Errorf("the file holds %q", got)
	}
}

func TestWriteThroughLink(t *testing.T) {
	set, dir := newSet(t, map[string]string{"real/a": "old\n"}, nil)
	link(t, "real/a", filepath.Join(dir, "file"))
	link(t, filepath.Join(dir, "real"), filepath.Join(dir, "dir"))
	reg := registry(t, set)
	if _, _, err := call(t, reg, "write", writeArgs("file", "new\n")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, reg, "write", writeArgs("dir/b", "b\n")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := call(t, reg, "edit", `{"file_path":"dir/a","old_string":"new","new_string":"newer"}`); err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(filepath.Join(dir, "file")); err != nil || target != "real/a" {
		t.Errorf("the link is now %q, %v", target, err)
	}
	got := []string{textOf(t, filepath.Join(dir, "real/a")), textOf(t, filepath.Join(dir, "real/b"))}
	if diff := cmp.Diff([]string{"newer\n", "b\n"}, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestConcurrentCreates has many writers find no file, and then all make it: one
// does.
func TestConcurrentCreates(t *testing.T) {
	dir := t.TempDir()
	const writers = 16
	var found, wg sync.WaitGroup
	found.Add(writers)
	var mu sync.Mutex
	var won []string
	for i := range writers {
		// Each has a Set of its own, so that nothing but the operating system
		// keeps them apart.
		set, err := New(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		text := fmt.Sprintf("writer %d\n", i)
		c := change{set: set, op: "write", at: place{"new/file", "new/file"}, intent: CreateIfAbsent()}
		c.make = func(old *content) ([]byte, error) {
			found.Done()
			found.Wait()
			return []byte(text), nil
		}
		wg.Go(func() {
			switch _, err := c.apply(t.Context()); {
			case err == nil:
				mu.Lock()
				won = append(won, text)
				mu.Unlock()
			case tools.InfoOf(err).Code != codeNotObserved:
				t.Errorf("a writer that came late fails with %v, want %s", err, codeNotObserved)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d writers created the file, want 1", len(won))
	}
	if got := textOf(t, filepath.Join(dir, "new/file")); got != won[0] {
		t.Errorf("the file holds %q, want the winner's %q", got, won[0])
	}
	if got := names(t, filepath.Join(dir, "new")); len(got) != 1 {
		t.Errorf("left over: %v", got)
	}
}

// TestUnconditionalCreates has many writers without a condition find no file:
// all succeed, one after another.
func TestUnconditionalCreates(t *testing.T) {
	dir := t.TempDir()
	const writers = 3
	var found, wg sync.WaitGroup
	found.Add(writers)
	for range writers {
		set, err := New(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		first := true
		c := change{set: set, op: "write", at: place{"file", "file"}}
		c.make = func(*content) ([]byte, error) {
			if first {
				first = false
				found.Done()
				found.Wait()
			}
			return []byte("text\n"), nil
		}
		wg.Go(func() {
			if _, err := c.apply(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := textOf(t, filepath.Join(dir, "file")); got != "text\n" {
		t.Errorf("the file holds %q", got)
	}
}

// TestReadersSeeWholeFiles reads a file all the time while it is written and
// edited.
func TestReadersSeeWholeFiles(t *testing.T) {
	text := func(letter string) string { return strings.Repeat(letter, 1<<20) }
	set, dir := newSet(t, map[string]string{"f": text("A")}, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 10 {
			letter := string(rune('B' + i))
			if _, err := set.write(t.Context(), noRun, writeIn{FilePath: "f", Content: text(letter)}, false); err != nil {
				t.Error(err)
			}
			if _, err := set.edit(t.Context(), noRun, editIn{FilePath: "f", OldString: letter, NewString: "A", ReplaceAll: true}, false); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		got := textOf(t, filepath.Join(dir, "f"))
		if len(got) != 1<<20 || got != text(got[:1]) {
			<-done
			t.Fatalf("a reader saw a part of the file: %d bytes", len(got))
		}
	}
}

// TestCreateWithoutLinks makes files where the file system has no hard links.
func TestCreateWithoutLinks(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	none := func(_, _ string) error { return errors.ErrUnsupported }
	if err := create(dir, "a", []byte("first"), none); err != nil {
		t.Fatal(err)
	}
	if err := create(dir, "a", []byte("second"), none); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second create gives %v, want %v", err, fs.ErrExist)
	}
	if got := textOf(t, filepath.Join(dir.Name(), "a")); got != "first" {
		t.Errorf("the file holds %q", got)
	}
	if got := names(t, dir.Name()); len(got) != 1 {
		t.Errorf("left over: %v", got)
	}
}

// TestReplaceOnlyWhatWasSeen has a file changed between the look at it and its
// replacement.
func TestReplaceOnlyWhatWasSeen(t *testing.T) {
	root := t.TempDir()
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for name, change := range map[string]func(string) error{
		"longer": func(n string) error { return os.WriteFile(n, []byte("longer"), 0o644) },
		"rewritten": func(n string) error {
			return errors.Join(os.WriteFile(n, []byte("OLD"), 0o644), os.Chtimes(n, time.Time{}, time.Now().Add(time.Hour)))
		},
		"another": func(n string) error {
			return errors.Join(os.WriteFile(n+"2", []byte("old"), 0o644), os.Rename(n+"2", n))
		},
		"removed": os.Remove,
	} {
		write(t, filepath.Join(root, name), "old")
		info, err := dir.Lstat(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
		if err := replace(dir, name, []byte("new"), info); !errors.Is(err, errRaced) {
			t.Errorf("%s: %v, want %v", name, err, errRaced)
		}
	}
	if diff := cmp.Diff([]string{"another", "longer", "rewritten"}, names(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestSwappedTooLate has another program's file in the place at the moment of the
// exchange.
func TestSwappedTooLate(t *testing.T) {
	root := t.TempDir()
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for name, text := range map[string]string{"old": "old", "f": "ours", "temp": "theirs"} {
		write(t, filepath.Join(root, name), text)
	}
	old, err := dir.Lstat("old")
	if err != nil {
		t.Fatal(err)
	}
	switch err := settleSwap(dir, "temp", "f", old); {
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip("files cannot be exchanged here")
	case !errors.Is(err, errRaced):
		t.Errorf("%v, want %v", err, errRaced)
	}
	if got := textOf(t, filepath.Join(root, "f")); got != "theirs" {
		t.Errorf("the file holds %q, want what the other program put there", got)
	}
	if diff := cmp.Diff([]string{"f", "old"}, names(t, root)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestTwoSets has two sets, as of two processes, count in one file. No count that
// was reported done may be lost.
func TestTwoSets(t *testing.T) {
	_, root := newSet(t, map[string]string{"f": "0\n", "a": "", "b": ""}, nil)
	dir, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := swap(dir, "a", "b"); err != nil {
		t.Skipf("files cannot be exchanged here: %v", err)
	}
	const each = 200
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			set, err := New(root, &Options{Gates: NewObservations(nil).Gates()})
			if err != nil {
				t.Error(err)
				return
			}
			defer set.Close()
			read, edit := registry(t, set).Lookup("read"), registry(t, set).Lookup("edit")
			for done := 0; done < each && !t.Failed(); {
				value, err := read.Definition().Handler(t.Context(), runOf(read, "A", tools.MustJSON(`{"file_path":"f"}`)))
				var out readOut
				if tools.InfoOf(err).Code == codeChanged {
					continue // it was exchanged at every look
				}
				if err == nil {
					err = value.Value.Unmarshal(&out)
				}
				if err != nil {
					t.Error(err)
					return
				}
				n, err := strconv.Atoi(strings.TrimSpace(out.Content))
				if err != nil {
					t.Error(err)
					return
				}
				_, err = edit.Definition().Handler(t.Context(), runOf(edit, "A", tools.MustJSON(editArgs("f", out.Content, fmt.Sprintln(n+1), false))))
				switch code := tools.InfoOf(err).Code; {
				case err == nil:
					done++
				case code != codeStale && code != codeChanged && code != codeIO:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := textOf(t, filepath.Join(root, "f")); got != fmt.Sprintln(2*each) {
		t.Errorf("the file holds %q after %d edits", got, 2*each)
	}
}

// TestTemporaryFilesAreHidden has files a killed process would leave behind.
func TestTemporaryFilesAreHidden(t *testing.T) {
	left := temporaryName()
	set, _ := newSet(t, map[string]string{left: "needle\n", "a": "needle\n", ".runcode-notes.tmp": "needle\n"}, nil)
	found, err := set.glob(t.Context(), noRun, globIn{Pattern: "**"})
	if diff := cmp.Diff([]string{".runcode-notes.tmp", "a"}, found.Paths); err != nil || diff != "" {
		t.Errorf("%v, paths (-want +got):\n%s", err, diff)
	}
	if got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "needle"}); err != nil || got.Files != 2 {
		t.Errorf("grep: %+v, %v; want 2 files", got, err)
	}
	_, err = set.read(t.Context(), noRun, readIn{FilePath: left[:len(left)-1]})
	wantFailure(t, err, codeNotFound)
	if strings.Contains(err.Error(), left) {
		t.Errorf("a temporary file is suggested: %v", err)
	}
}

func TestChangesStop(t *testing.T) {
	set, dir := newSet(t, map[string]string{"a": "x\n"}, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user pressed stop")
	cancel(stop)
	_, writeErr := set.write(ctx, noRun, writeIn{FilePath: "a", Content: "new"}, false)
	_, editErr := set.edit(ctx, noRun, editIn{FilePath: "a", OldString: "x", NewString: "y"}, false)
	for _, err := range []error{writeErr, editErr} {
		wantFailure(t, err, codeAborted, "the user pressed stop")
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := set.write(t.Context(), noRun, writeIn{FilePath: "a", Content: "new"}, false)
	wantFailure(t, err, codeIO, "the file tools are closed")
	if got := textOf(t, filepath.Join(dir, "a")); got != "x\n" {
		t.Errorf("the file holds %q", got)
	}
}

// TestPreview has both tools say what they would do, and do nothing.
func TestPreview(t *testing.T) {
	var asked []string
	set, dir := newSet(t, map[string]string{"a": "one\n"}, &Options{Gates: Gates{
		WriteIntent: func(_ context.Context, target Target, _ tools.Call) (Intent, error) {
			asked = append(asked, "write "+target.Path)
			return Intent{}, nil
		},
		EditIntent: func(_ context.Context, target Target, _ tools.Call) (string, error) {
			asked = append(asked, "edit "+target.Path)
			return "", nil
		},
		Observed: func(context.Context, Target, State, tools.Call) error {
			t.Error("a preview observes")
			return nil
		},
	}})
	dry, err := tools.NewRegistry(tools.DryRun(set.Tools()...)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool, args, value string
		diff              tools.Diff
	}{
		{"write", writeArgs("new/b", "b\n"), `{"path":"new/b","bytes":2,"created":true}`, tools.Diff{Path: "new/b", Created: true, New: "b\n"}},
		{"write", writeArgs("a", "two\n"), `{"path":"a","bytes":4,"created":false}`, tools.Diff{Path: "a", Old: "one\n", New: "two\n"}},
		{"edit", `{"file_path":"a","old_string":"one","new_string":"1"}`, `{"path":"a","replacements":1}`, tools.Diff{Path: "a", Old: "one\n", New: "1\n"}},
	} {
		tool := dry.Lookup(tt.tool)
		result, err := tool.Definition().Handler(t.Context(), runOf(tool, nil, tools.MustJSON(tt.args)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.value, result.Value.String()); diff != "" {
			t.Errorf("%s: value (-want +got):\n%s", tt.tool, diff)
		}
		if diff := cmp.Diff(any(tt.diff), result.Detail); diff != "" {
			t.Errorf("%s: detail (-want +got):\n%s", tt.tool, diff)
		}
	}
	_, _, err = call(t, dry, "edit", `{"file_path":"a","old_string":"three","new_string":"3"}`)
	wantFailure(t, err, codeNoMatch)
	if diff := cmp.Diff([]string{"write new/b", "write a", "edit a", "edit a"}, asked); diff != "" {
		t.Errorf("gates asked (-want +got):\n%s", diff)
	}
	if got := textOf(t, filepath.Join(dir, "a")); got != "one\n" {
		t.Errorf("the file holds %q", got)
	}
	if diff := cmp.Diff([]string{"a"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
