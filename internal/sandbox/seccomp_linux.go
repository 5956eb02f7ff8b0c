package sandbox

import (
	"fmt"
	"os"
	goruntime "runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Seccomp leaves every thread of this process the system calls of a Go program
// that computes and speaks over descriptors it has: memory that is private and
// not executable, threads, their signals, clocks, reading and writing. Anything
// else is refused with EPERM, and what only an intruder would ask for ends the
// process with SIGSYS: to start a program, to look into another process, to
// mount, to load code into the kernel.
//
// The error wraps ErrUnsupported if the kernel or the architecture has no such
// filter.
func Seccomp() error {
	program, err := seccompProgram(arch, os.Getpid())
	if err != nil {
		return err
	}
	// The thread that calls needs no_new_privs; the kernel gives it to the rest.
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := NoNewPrivileges(); err != nil {
		return err
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	tid, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case errno == unix.ENOSYS || errno == unix.EINVAL || errno == unix.EPERM:
		return fmt.Errorf("seccomp: %w: %w", ErrUnsupported, errno)
	case errno != 0:
		return fmt.Errorf("seccomp: %w", errno)
	case tid != 0:
		return fmt.Errorf("seccomp: thread %d has another filter", tid)
	}
	return nil
}

// architecture is what the filter must know of a processor.
type architecture struct {
	audit   uint32 // AUDIT_ARCH of its calls; 0: no filter was made for it
	ceiling uint32 // numbers from here on belong to another calling convention; 0: there is none

	mmap, mprotect, clone, clone3, tgkill, kill, prctl uint32

	allow []uint32 // whatever their arguments
	fatal []uint32
}

// Offsets in struct seccomp_data. The arguments are 64 bits wide; the kernel
// looks only at the lower half of those that are checked here.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// Flags of mmap that get memory past RLIMIT_DATA.
const uncounted = unix.MAP_SHARED | unix.MAP_GROWSDOWN

// newNamespaces are the flags of clone that make namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// seccompProgram is the filter for the process pid.
func seccompProgram(a architecture, pid int) ([]unix.SockFilter, error) {
	if a.audit == 0 {
		return nil, fmt.Errorf("seccomp: %w on %s", ErrUnsupported, goruntime.GOARCH)
	}
	var f filter
	f.load(offArch)
	f.jump(unix.BPF_JEQ, a.audit, 1, 0)
	f.ret(unix.SECCOMP_RET_KILL_PROCESS)
	f.load(offNumber)
	if a.ceiling != 0 {
		f.jump(unix.BPF_JGE, a.ceiling, 0, 1)
		f.ret(unix.SECCOMP_RET_KILL_PROCESS)
	}
	// Memory is private, or RLIMIT_DATA would not count it, and no code.
	f.args(a.mmap, check{arg: 2, mask: unix.PROT_EXEC}, check{arg: 3, mask: uncounted})
	f.args(a.mprotect, check{arg: 2, mask: unix.PROT_EXEC | unix.PROT_GROWSDOWN | unix.PROT_GROWSUP})
	f.args(a.clone, check{arg: 0, mask: unix.CLONE_THREAD | newNamespaces, want: unix.CLONE_THREAD})
	f.args(a.tgkill, check{arg: 0, mask: ^uint32(0), want: uint32(pid)})
	f.args(a.kill, check{arg: 0, mask: ^uint32(0), want: uint32(pid)})
	f.args(a.prctl, check{arg: 0, mask: ^uint32(0), want: unix.PR_SET_VMA}) // Go names its mappings
	for _, number := range a.allow {
		f.only(number, unix.SECCOMP_RET_ALLOW)
	}
	// Its flags stand in memory, where a filter cannot read: the C library then
	// takes clone.
	f.only(a.clone3, refuse|uint32(unix.ENOSYS))
	for _, number := range a.fatal {
		f.only(number, unix.SECCOMP_RET_KILL_PROCESS)
	}
	f.ret(refuse | uint32(unix.EPERM))
	return f, nil
}

const refuse = unix.SECCOMP_RET_ERRNO

// filter is a BPF program under construction.
type filter []unix.SockFilter

func (f *filter) add(code uint16, k uint32, jt, jf uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf})
}

func (f *filter) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

// jump compares the loaded word and passes over yes or no instructions.
func (f *filter) jump(how uint16, k uint32, yes, no uint8) {
	f.add(unix.BPF_JMP|how|unix.BPF_K, k, yes, no)
}

func (f *filter) ret(action uint32) { f.add(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

// only answers one system call.
func (f *filter) only(number, action uint32) {
	f.jump(unix.BPF_JEQ, number, 0, 1)
	f.ret(action)
}

// check holds if an argument's bits under mask are want.
type check struct {
	arg        uint32
	mask, want uint32
}

// args allows a system call if all checks hold and refuses it otherwise.
func (f *filter) args(number uint32, checks ...check) {
	const each = 4 // instructions of a check
	f.jump(unix.BPF_JEQ, number, 0, uint8(each*len(checks)+1))
	for _, c := range checks {
		f.load(offArgs + 8*c.arg)
		f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, c.mask, 0, 0)
		f.jump(unix.BPF_JEQ, c.want, 1, 0)
		f.ret(refuse | uint32(unix.EPERM))
	}
	f.ret(unix.SECCOMP_RET_ALLOW)
}

// computing is what a Go program needs while it computes, on every architecture,
// with the C library's threads or without.
var computing = []uint32{
	unix.SYS_FUTEX, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE,
	unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT,
	unix.SYS_MADVISE, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETRANDOM,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_RESTART_SYSCALL,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// hostile is what nothing in such a program asks for by accident.
var hostile = []uint32{
	unix.SYS_EXECVE, unix.SYS_EXECVEAT,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
}
