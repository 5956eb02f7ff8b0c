//go:build !unix

package fstools

// openFlags is empty where no file in a directory makes an open wait.
const openFlags = 0
