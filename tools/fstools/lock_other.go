//go:build !unix

package fstools

import "os"

// lockDir does nothing here.
func lockDir(*os.Root) (unlock func()) { return func() {} }
