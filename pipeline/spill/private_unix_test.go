//go:build unix

package spill_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/runcode-go/runcode/pipeline/spill"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestModes(t *testing.T) { checkModes(t, t.TempDir()) }

func checkModes(t *testing.T, parent string) {
	t.Helper()
	dir := filepath.Join(parent, "spill")
	path, err := mustOpen(t, dir, nil).Put(context.Background(), "x")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "directory", mode(t, dir), fs.FileMode(0o700))
	check(t, "file", mode(t, path), fs.FileMode(0o600))
}

// TestUmask is in a process of its own, since all of one share a umask.
func TestUmask(t *testing.T) {
	if os.Getenv("SPILL_TEST_UMASK") != "" {
		dir := t.TempDir()
		syscall.Umask(0o777)
		checkModes(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestUmask$")
	cmd.Env = append(os.Environ(), "SPILL_TEST_UMASK=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("with umask 0777: %v\n%s", err, out)
	}
}

func TestOpenRefusesWhatOthersReach(t *testing.T) {
	base := t.TempDir()
	link := filepath.Join(base, "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	wide := filepath.Join(base, "wide")
	if err := os.Mkdir(wide, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(wide, 0o770); err != nil {
		t.Fatal(err)
	}
	foreign := "/"
	want := "belongs to another user"
	if os.Geteuid() == 0 {
		foreign = filepath.Join(base, "foreign")
		if err := os.Mkdir(foreign, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(foreign, 1, 1); err != nil {
			t.Skip(err)
		}
	}
	for _, tt := range []struct{ name, dir, want string }{
		{"a symbolic link", link, "symbolic link"},
		{"a directory others write to", wide, "chmod 700"},
		{"another user's directory", foreign, want},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := spill.Open(tt.dir, nil)
			refused(t, err, tt.want)
		})
	}
}

// The directory that was opened is the one written to, wherever its name leads
// later.
func TestDirectoryIsPinned(t *testing.T) {
	base := t.TempDir()
	dir, moved, other := filepath.Join(base, "spill"), filepath.Join(base, "moved"), t.TempDir()
	s := mustOpen(t, dir, nil)
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(context.Background(), "x"); err != nil {
		t.Fatal(err)
	}
	check(t, "where the link leads", entries(t, other), 0)
	check(t, "the directory", entries(t, moved), 1)
}
