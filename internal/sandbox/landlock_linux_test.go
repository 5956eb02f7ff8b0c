package sandbox

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is short of descriptors has not found out which rights there are:
// it must not take fewer in silence.
func TestRightsAreNotForgotten(t *testing.T) {
	if _, err := LandlockABI(); err != nil {
		t.Skip(err)
	}
	attr, err := handled()
	if err != nil || attr.Handled_access_fs == 0 {
		t.Fatalf("%+v %v", attr, err)
	}
	var free unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &free); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: free.Max}); err != nil {
		t.Fatal(err)
	}
	short, err := handled()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &free); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("%+v %v, want that no descriptors are left", short, err)
	}
}
