package sandbox

import "golang.org/x/sys/unix"

var arch = architecture{
	audit: unix.AUDIT_ARCH_X86_64, ceiling: 0x40000000, // the calls of x32
	mmap: unix.SYS_MMAP, mprotect: unix.SYS_MPROTECT, clone: unix.SYS_CLONE, clone3: unix.SYS_CLONE3,
	tgkill: unix.SYS_TGKILL, kill: unix.SYS_KILL, prctl: unix.SYS_PRCTL,
	allow: computing, fatal: hostile,
}
