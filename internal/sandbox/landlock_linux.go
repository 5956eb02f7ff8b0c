package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrUnsupported is wrapped by the errors that mean the kernel, or what confines
// this process already, does not offer a protection.
var ErrUnsupported = errors.New("not available")

// Path is what a Ruleset leaves of the file system: one file, or a directory
// and all below it.
type Path struct {
	Name string
	Exec bool // may be executed, beside being read
}

// Ruleset is a Landlock ruleset: every right the kernel can take is taken, but
// for the reading of some paths. The zero Ruleset leaves nothing.
type Ruleset struct {
	// Paths stay readable. What cannot be opened is passed over: there is
	// nothing to leave.
	Paths []Path
}

// The rights this package knows of. Those the running kernel does not know are
// left out one by one.
const (
	allFiles  = 1<<17 - 1 // from LANDLOCK_ACCESS_FS_EXECUTE to ..._RESOLVE_UNIX
	allNet    = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP | unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
	allScopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// Versions and errata of Landlock that matter here.
const (
	abiTsync       = 8
	errataThreads  = 1 << 1 // signals between threads of one process are not in scope
	readFileOrList = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// LandlockABI is the version of Landlock the kernel offers, at least 1.
func LandlockABI() (int, error) {
	abi, err := createRuleset(nil, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != nil {
		return 0, fmt.Errorf("landlock: %w: %w", ErrUnsupported, err)
	}
	return abi, nil
}

// RestrictThread restricts the calling thread and what it starts. The thread
// must be locked and have no_new_privs.
func (r *Ruleset) RestrictThread() error {
	return r.apply(func(fd uintptr) error {
		if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
			return fmt.Errorf("landlock_restrict_self: %w", errno)
		}
		return nil
	})
}

// RestrictProcess restricts every thread of this process, each of which must
// have no_new_privs. A program that is linked with C needs a kernel that can do
// so itself (Landlock 8); the error wraps ErrUnsupported where there is none.
func (r *Ruleset) RestrictProcess() error {
	abi, err := LandlockABI()
	if err != nil {
		return err
	}
	return r.apply(func(fd uintptr) error {
		var errno syscall.Errno
		if abi >= abiTsync {
			_, _, errno = unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, unix.LANDLOCK_RESTRICT_SELF_TSYNC, 0)
		} else {
			_, _, errno = syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0)
		}
		if errno == syscall.ENOTSUP {
			return fmt.Errorf("landlock for all threads of a program linked with C: %w before Landlock %d (the kernel has %d)", ErrUnsupported, abiTsync, abi)
		}
		if errno != 0 {
			return fmt.Errorf("landlock_restrict_self: %w", errno)
		}
		return nil
	})
}

// apply makes the ruleset and has restrict put it in force.
func (r *Ruleset) apply(restrict func(fd uintptr) error) error {
	if _, err := LandlockABI(); err != nil {
		return err
	}
	attr, err := handled()
	if err != nil {
		return fmt.Errorf("landlock: find out what the kernel can take: %w", err)
	}
	fd, err := createRuleset(&attr, 0)
	if err != nil {
		return fmt.Errorf("landlock_create_ruleset: %w", err)
	}
	defer unix.Close(fd)
	for _, path := range r.Paths {
		if err := allow(fd, path, attr.Handled_access_fs); err != nil {
			return err
		}
	}
	return restrict(uintptr(fd))
}

// handled is every right the kernel can take. One that it does not know is an
// invalid argument, or makes the description longer than one it knows; any other
// error says nothing about the right.
func handled() (_ unix.LandlockRulesetAttr, failed error) {
	known := func(rights uint64, attr func(uint64) unix.LandlockRulesetAttr) (some uint64) {
		for bit := uint64(1); bit <= rights; bit <<= 1 {
			probe := attr(bit)
			fd, err := createRuleset(&probe, 0)
			if err == nil {
				unix.Close(fd)
				some |= bit
			} else if err != unix.EINVAL && err != unix.E2BIG && failed == nil {
				failed = err
			}
		}
		return some
	}
	attr := unix.LandlockRulesetAttr{
		Handled_access_fs:  known(allFiles, func(bit uint64) unix.LandlockRulesetAttr { return unix.LandlockRulesetAttr{Handled_access_fs: bit} }),
		Handled_access_net: known(allNet, func(bit uint64) unix.LandlockRulesetAttr { return unix.LandlockRulesetAttr{Handled_access_net: bit} }),
		Scoped:             known(allScopes, func(bit uint64) unix.LandlockRulesetAttr { return unix.LandlockRulesetAttr{Scoped: bit} }),
	}
	// Threads of one Go process signal each other all the time.
	if errata, err := createRuleset(nil, unix.LANDLOCK_CREATE_RULESET_ERRATA); err != nil || errata&errataThreads == 0 {
		attr.Scoped &^= unix.LANDLOCK_SCOPE_SIGNAL
	}
	return attr, failed
}

// createRuleset returns a descriptor, or for a nil attr what the flags ask for.
func createRuleset(attr *unix.LandlockRulesetAttr, flags uintptr) (int, error) {
	size := uintptr(0)
	if attr != nil {
		size = unsafe.Sizeof(*attr)
	}
	n, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), size, flags)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// allow leaves a path readable.
func allow(ruleset int, path Path, handled uint64) error {
	fd, err := unix.Open(path.Name, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	rights := uint64(unix.LANDLOCK_ACCESS_FS_READ_FILE)
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		rights = readFileOrList
	}
	if path.Exec {
		rights |= unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & handled, Parent_fd: int32(fd)}
	if _, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return fmt.Errorf("landlock_add_rule for %s: %w", path.Name, errno)
	}
	return nil
}

// NoNewPrivileges keeps the calling thread, and what it starts, from getting
// more rights by executing a file. The thread must be locked.
func NoNewPrivileges() error {
	return os.NewSyscallError("prctl(PR_SET_NO_NEW_PRIVS)", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
}
