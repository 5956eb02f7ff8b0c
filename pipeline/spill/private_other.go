//go:build !unix

package spill

import "io/fs"

// private cannot tell here: the system has no owner and mode for it.
func private(fs.FileInfo) error { return nil }
