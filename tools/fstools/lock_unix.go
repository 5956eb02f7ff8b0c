//go:build unix

package fstools

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockWait is how long another set is waited for. It holds the lock for
// microseconds; a program that holds it for longer is not one of them.
const lockWait = time.Second

// lockDir keeps other sets, also of other processes, from replacing a file of the
// directory until unlock is called. The lock is advice that ends with its process;
// where it is not to be had, the check after the exchange is all there is.
func lockDir(dir *os.Root) (unlock func()) {
	f, err := dir.Open(".")
	if err != nil {
		return func() {}
	}
	unlock = func() { f.Close() } // which ends the lock too
	conn, err := f.SyscallConn()
	if err != nil {
		return unlock
	}
	for begun, pause := time.Now(), 50*time.Microsecond; ; pause = min(2*pause, 5*time.Millisecond) {
		var locked error
		if conn.Control(func(fd uintptr) { locked = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) }) != nil {
			return unlock
		}
		if locked != unix.EWOULDBLOCK && locked != unix.EINTR || time.Since(begun) > lockWait {
			return unlock
		}
		time.Sleep(pause)
	}
}
