//go:build unix

package fstools

import (
	"os"
	"testing"

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
