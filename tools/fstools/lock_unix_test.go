//go:build unix

package fstools

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"
)

// TestDirectoryLock shows that what replaces a file keeps others out meanwhile, and
// that who holds the lock for ever does not hold it up for ever.
func TestDirectoryLock(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	other, err := dir.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	try := func() error { return unix.Flock(int(other.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
	unlock := lockDir(dir)
	if err := try(); err != unix.EWOULDBLOCK {
		t.Errorf("while the directory is locked another lock gives %v, want %v", err, unix.EWOULDBLOCK)
	}
	unlock()
	if err := try(); err != nil {
		t.Errorf("afterwards another lock gives %v, want none", err)
	}
	lockDir(dir)() // returns, though the other keeps its lock
}

// TestReplacementWaitsForItsTurn has a replacement come while another set holds the
// directory and replaces the file: it waits, and then finds that it came too late.
func TestReplacementWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		if err := dir.WriteFile("f", []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		old, err := dir.Lstat("f")
		if err != nil {
			t.Fatal(err)
		}
		unlock := lockDir(dir)
		replaced := make(chan error, 1)
		go func() { replaced <- replace(dir, "f", []byte("late"), old) }()
		synctest.Wait() // until it can do nothing but wait
		select {
		case err := <-replaced:
			t.Fatalf("the replacement returns %v while another set has the directory", err)
		default:
		}
		if err := errors.Join(dir.WriteFile("g", []byte("other"), 0o600), dir.Rename("g", "f")); err != nil {
			t.Fatal(err)
		}
		unlock()
		if err := <-replaced; !errors.Is(err, errRaced) {
			t.Errorf("the replacement returns %v, want %v", err, errRaced)
		}
		if text, err := dir.ReadFile("f"); string(text) != "other" {
			t.Errorf("the file holds %q, %v, want what the other set put there", text, err)
		}
	})
}
