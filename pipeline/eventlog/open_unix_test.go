//go:build unix && !solaris && !aix

package eventlog_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/runcode-go/runcode/pipeline/eventlog"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestFileMode(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "log.jsonl")
	mustOpen(t, fresh)
	check(t, "a new file", mode(t, fresh), fs.FileMode(0o600))

	wide := write(t, "")
	if err := os.Chmod(wide, 0o644); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, wide)
	check(t, "an existing file", mode(t, wide), fs.FileMode(0o600))
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	held := filepath.Join(dir, "held")
	mustOpen(t, held)
	for _, tt := range []struct{ name, path, want string }{
		{"a symbolic link", link, "symbolic link"},
		{"a pipe", fifo, "not a regular file"},
		{"a folder", dir, "directory"},
		{"a log another writer holds", held, "another writer has it open"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := eventlog.Open(tt.path, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
		})
	}
	check(t, "the link's target", read(t, target), "secret")
}

// Closing gives the log to the next writer.
func TestLockEndsWithClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	mustClose(t, mustOpen(t, path))
	mustOpen(t, path)
}
