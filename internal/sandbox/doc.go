// Package sandbox takes rights away. On Linux, from the calling thread or process:
// files, the network and foreign processes with Landlock, system calls with seccomp.
// What it takes cannot be had back, and whatever the caller starts inherits it. On
// Windows, from a process that is about to start or has just started: a job limits
// it and ends it, its token has no privileges and a low integrity. On other systems
// the package is empty.
package sandbox
