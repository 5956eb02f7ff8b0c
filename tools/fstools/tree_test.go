package fstools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

// noRun is the handle of a call that carries nothing.
var noRun = tools.NewRun(tools.Call{}, tools.RunHooks{})

// newSet makes a directory that holds files, by slash-separated name, and the
// tools over it.
func newSet(t testing.TB, files map[string]string, opts *Options) (*Set, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	set, err := New(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set, dir
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// link makes a symbolic link, or skips where the system has none.
func link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skipf("symbolic links cannot be made here: %v", err)
	}
}

// wantFailure checks a failure's code and parts of its text.
func wantFailure(t *testing.T, err error, code string, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no failure, want %s", code)
	}
	want := tools.ErrorInfo{Name: "FSError", Code: code}
	if code == tools.CodeInvalidArgs {
		want.Name = "ToolArgsError"
	}
	if got := tools.InfoOf(err); got != want {
		t.Errorf("failure %v has the identity %v, want %v", err, got, want)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("failure text %q lacks %q", err, part)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "")
	for _, tt := range []struct {
		name, dir string
		opts      *Options
		part      string
	}{
		{"missing directory", filepath.Join(dir, "none"), nil, "must be a directory that exists"},
		{"file", file, nil, "must be a directory that exists"},
		{"negative limit", dir, &Options{ScanBytes: -1}, "Options.ScanBytes is -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := New(tt.dir, tt.opts)
			if err == nil {
				set.Close()
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.part) {
				t.Errorf("error %q lacks %q", err, tt.part)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "x"}, nil)
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := set.read(t.Context(), noRun, readIn{FilePath: "a"})
	wantFailure(t, err, codeIO, "the file tools are closed")
	_, err = set.glob(t.Context(), noRun, globIn{Pattern: "**"})
	wantFailure(t, err, codeIO, "the file tools are closed")
}

func TestCancelled(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": "x"}, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user pressed stop")
	cancel(stop)
	_, readErr := set.read(ctx, noRun, readIn{FilePath: "a"})
	_, globErr := set.glob(ctx, noRun, globIn{Pattern: "**"})
	_, grepErr := set.grep(ctx, noRun, grepIn{Pattern: "x"})
	_, oneErr := set.grep(ctx, noRun, grepIn{Pattern: "x", Path: "a"})
	for _, err := range []error{readErr, globErr, grepErr, oneErr} {
		wantFailure(t, err, codeAborted, "the user pressed stop")
		if !errors.Is(err, stop) {
			t.Errorf("failure %v does not wrap the cause", err)
		}
	}
}

// TestCancelledInLargeDirectory cancels at the first of many entries.
func TestCancelledInLargeDirectory(t *testing.T) {
	files := map[string]string{}
	for i := range 4 * entriesPerLook {
		files[fmt.Sprint(i)] = ""
	}
	set, _ := newSet(t, files, nil)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	set.SetHide(func(string, string, bool) bool {
		asked++
		cancel()
		return false
	})
	_, err := set.glob(ctx, noRun, globIn{Pattern: "**"})
	wantFailure(t, err, codeAborted)
	if asked > entriesPerLook {
		t.Errorf("%d entries were looked at after the call was cancelled, want at most %d", asked, entriesPerLook)
	}
}

// TestCancelledWhileMatching cancels in the middle of one very long line, where
// the regular expression alone would go on for a while.
func TestCancelledWhileMatching(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a": strings.Repeat("a", 1<<20)}, nil)
	ctx := &endsAfter{Context: t.Context(), looks: 8}
	_, err := set.grep(ctx, noRun, grepIn{Pattern: "(a{1,200}){3}b"})
	wantFailure(t, err, codeAborted)
	if ctx.looks > 0 {
		t.Errorf("%d looks at the context were left, so the search was not stopped by it", ctx.looks)
	}
}

// endsAfter is a context that is cancelled once it has been looked at so often.
type endsAfter struct {
	context.Context
	looks int
}

func (c *endsAfter) Err() error {
	if c.looks--; c.looks < 0 {
		return context.Canceled
	}
	return nil
}
