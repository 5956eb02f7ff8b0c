//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// data is a struct seccomp_data.
type data struct {
	number uint32
	arch   uint32
	args   [6]uint64
}

// interpret runs the instructions that the filters of this package consist of.
func interpret(t *testing.T, program []unix.SockFilter, d data) uint32 {
	t.Helper()
	var text [64]byte
	binary.LittleEndian.PutUint32(text[offNumber:], d.number)
	binary.LittleEndian.PutUint32(text[offArch:], d.arch)
	for i, arg := range d.args {
		binary.LittleEndian.PutUint64(text[offArgs+8*i:], arg)
	}
	var a uint32
	for pc := 0; pc < len(program); pc++ {
		in := program[pc]
		branch := func(yes bool) {
			if yes {
				pc += int(in.Jt)
			} else {
				pc += int(in.Jf)
			}
		}
		switch in.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = binary.LittleEndian.Uint32(text[in.K:])
		case unix.BPF_ALU | unix.BPF_AND | unix.BPF_K:
			a &= in.K
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			branch(a == in.K)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			branch(a >= in.K)
		case unix.BPF_RET | unix.BPF_K:
			return in.K
		default:
			t.Fatalf("instruction %d: unknown code %#x", pc, in.Code)
		}
	}
	t.Fatal("the program ends without an answer")
	return 0
}

func TestSeccompProgram(t *testing.T) {
	const (
		pid   = 4711
		allow = uint32(unix.SECCOMP_RET_ALLOW)
		kill  = uint32(unix.SECCOMP_RET_KILL_PROCESS)
		perm  = uint32(unix.SECCOMP_RET_ERRNO | unix.EPERM)
		nosys = uint32(unix.SECCOMP_RET_ERRNO | unix.ENOSYS)

		goThread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD
		rw       = unix.PROT_READ | unix.PROT_WRITE
		private  = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS
	)
	program, err := seccompProgram(arch, pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		number uint32
		args   [6]uint64
		want   uint32
	}{
		{"read", unix.SYS_READ, [6]uint64{3}, allow},
		{"the last that is allowed", computing[len(computing)-1], [6]uint64{}, allow},
		{"open", unix.SYS_OPENAT, [6]uint64{}, perm},
		{"open anew", unix.SYS_OPENAT2, [6]uint64{}, perm},
		{"socket", unix.SYS_SOCKET, [6]uint64{}, perm},
		{"descriptors of others", unix.SYS_RECVMSG, [6]uint64{}, perm},
		{"limits", unix.SYS_PRLIMIT64, [6]uint64{}, perm},
		{"a file in memory", unix.SYS_MEMFD_CREATE, [6]uint64{}, perm},
		{"a number nobody has given yet", 9999, [6]uint64{}, perm},
		{"exec", unix.SYS_EXECVE, [6]uint64{}, kill},
		{"the last that kills", hostile[len(hostile)-1], [6]uint64{}, kill},
		{"memory", unix.SYS_MMAP, [6]uint64{0, 4096, rw, private}, allow},
		{"reserved memory", unix.SYS_MMAP, [6]uint64{0, 4096, unix.PROT_NONE, private}, allow},
		{"code", unix.SYS_MMAP, [6]uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC, private}, perm},
		{"shared memory", unix.SYS_MMAP, [6]uint64{0, 4096, rw, unix.MAP_SHARED | unix.MAP_ANONYMOUS}, perm},
		{"validated shared memory", unix.SYS_MMAP, [6]uint64{0, 4096, rw, unix.MAP_SHARED_VALIDATE | unix.MAP_ANONYMOUS}, perm},
		{"a stack that grows", unix.SYS_MMAP, [6]uint64{0, 4096, rw, private | unix.MAP_GROWSDOWN}, perm},
		{"memory made code", unix.SYS_MPROTECT, [6]uint64{0, 4096, unix.PROT_EXEC}, perm},
		{"memory made writable", unix.SYS_MPROTECT, [6]uint64{0, 4096, rw}, allow},
		{"a thread", unix.SYS_CLONE, [6]uint64{goThread}, allow},
		{"a process", unix.SYS_CLONE, [6]uint64{uint64(unix.SIGCHLD)}, perm},
		{"a thread in another user namespace", unix.SYS_CLONE, [6]uint64{goThread | unix.CLONE_NEWUSER}, perm},
		{"a thread as flags in memory say", unix.SYS_CLONE3, [6]uint64{}, nosys},
		{"a signal to a thread of its own", unix.SYS_TGKILL, [6]uint64{pid, 1, 1}, allow},
		{"the same with noise above 32 bits", unix.SYS_TGKILL, [6]uint64{1<<32 | pid, 1, 1}, allow},
		{"a signal to a thread of another", unix.SYS_TGKILL, [6]uint64{1, pid, pid}, perm},
		{"a signal to itself", unix.SYS_KILL, [6]uint64{pid, 6}, allow},
		{"a signal to its group", unix.SYS_KILL, [6]uint64{0, 9}, perm},
		{"a signal to all", unix.SYS_KILL, [6]uint64{^uint64(0), 9}, perm},
		{"a signal to a group of its number", unix.SYS_KILL, [6]uint64{uint64(uint32(-pid & 0xffffffff)), 9}, perm},
		{"the name of a mapping", unix.SYS_PRCTL, [6]uint64{unix.PR_SET_VMA}, allow},
		{"another prctl", unix.SYS_PRCTL, [6]uint64{unix.PR_SET_PDEATHSIG, 0}, perm},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := interpret(t, program, data{tt.number, arch.audit, tt.args}); got != tt.want {
				t.Errorf("%#x, want %#x", got, tt.want)
			}
		})
	}
	for _, foreign := range []data{{arch: arch.audit + 1}, {arch: unix.AUDIT_ARCH_I386, number: unix.SYS_READ}} {
		if got := interpret(t, program, foreign); got != kill {
			t.Errorf("a call of architecture %#x: %#x, want %#x", foreign.arch, got, kill)
		}
	}
	if arch.ceiling != 0 {
		if got := interpret(t, program, data{number: arch.ceiling + unix.SYS_READ, arch: arch.audit}); got != kill {
			t.Errorf("a call of x32: %#x, want %#x", got, kill)
		}
	}
}

func TestSeccompOfUnknownArchitecture(t *testing.T) {
	if _, err := seccompProgram(architecture{}, 1); !errors.Is(err, ErrUnsupported) {
		t.Errorf("error %v, want that there is no filter", err)
	}
}
