// Package sandbox takes rights away from the calling thread or process on
// Linux: files, the network and foreign processes with Landlock, system calls
// with seccomp. What it takes cannot be had back, and whatever the caller starts
// inherits it. On other systems the package is empty.
package sandbox
