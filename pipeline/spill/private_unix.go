//go:build unix

package spill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// private refuses a directory in which somebody else could put or replace files.
func private(dir fs.FileInfo) error {
	if stat, ok := dir.Sys().(*syscall.Stat_t); ok && int64(stat.Uid) != int64(os.Geteuid()) {
		return errors.New("it belongs to another user; name one of your own")
	}
	if perm := dir.Mode().Perm(); perm&0o022 != 0 {
		return fmt.Errorf("others may write to it (mode %#o); make it yours alone with chmod 700", perm)
	}
	return nil
}
