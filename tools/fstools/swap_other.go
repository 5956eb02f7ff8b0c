//go:build !linux

package fstools

import (
	"errors"
	"os"
)

// swap is not to be had everywhere.
func swap(*os.Root, string, string) error { return errors.ErrUnsupported }
