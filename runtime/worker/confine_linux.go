package worker

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/internal/sandbox"
	"github.com/runcode-go/runcode/runtime"
)

// onMainThread says whether the calling thread stands for the whole process in
// the eyes of others.
func onMainThread() bool { return unix.Gettid() == os.Getpid() }

// confineThread takes from the calling thread, and so from the workers it will
// start, what they must not have: package initialisation runs under it too. The
// thread must be locked, not the main one, and never unlocked.
func confineThread(binary string, env, without []string) []Layer {
	if err := sandbox.NoNewPrivileges(); err != nil {
		return []Layer{{Name: LayerPrivileges, State: LayerMissing, Note: err.Error()}, {Name: LayerLandlock, State: LayerMissing, Note: err.Error()}}
	}
	return []Layer{{Name: LayerPrivileges, State: LayerOn}, landlockThread(binary, env, without)}
}

func landlockThread(binary string, env, without []string) Layer {
	if slices.Contains(without, LayerLandlock) {
		return leftOut(LayerLandlock)
	}
	rules := &sandbox.Ruleset{Paths: startFiles(binary, env)}
	if err := rules.RestrictThread(); err != nil {
		return Layer{Name: LayerLandlock, State: LayerMissing, Note: err.Error()}
	}
	layer := Layer{Name: LayerLandlock, State: LayerOn}
	switch abi, _ := sandbox.LandlockABI(); {
	case abi < landlockNet:
		layer.Note = fmt.Sprintf("version %d of the kernel knows files alone", abi)
	case abi < landlockScopes:
		layer.Note = fmt.Sprintf("version %d of the kernel knows files and TCP alone", abi)
	}
	return layer
}

// Versions of Landlock that brought more than files.
const (
	landlockNet    = 4
	landlockScopes = 6
)

// startFiles is what a process must read between its start and its init: the
// binary, what the C library's loader needs if it is linked with C, and the local
// time zone.
func startFiles(binary string, env []string) []sandbox.Path {
	paths := []sandbox.Path{{Name: binary, Exec: true}}
	read := []string{
		"/etc/localtime", "/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo",
		"/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
	}
	for _, entry := range env {
		if zone, ok := strings.CutPrefix(entry, "TZ="); ok {
			if file := strings.TrimPrefix(zone, ":"); filepath.IsAbs(file) {
				read = append(read, file)
			}
		}
	}
	if loader, static := interpreter(binary); !static {
		paths = append(paths, sandbox.Path{Name: loader, Exec: true})
		read = append(read, "/etc/ld.so.cache", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
		read = append(read, mappedCode()...)
	}
	for _, name := range read {
		paths = append(paths, sandbox.Path{Name: name})
	}
	return paths
}

// interpreter is the loader that a dynamically linked program names.
func interpreter(binary string) (loader string, static bool) {
	file, err := elf.Open(binary)
	if err != nil {
		return "", false // unreadable, or no program: the kernel will say
	}
	defer file.Close()
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			name, _ := io.ReadAll(io.LimitReader(segment.Open(), unix.PathMax))
			return string(bytes.TrimRight(name, "\x00")), false
		}
	}
	return "", true
}

// mappedCode lists the files whose code this process has loaded: where the
// libraries lie that a copy of it needs.
func mappedCode() []string {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		// address perms offset device inode path
		fields := strings.Fields(line)
		if len(fields) == 6 && strings.Contains(fields[1], "x") && filepath.IsAbs(fields[5]) {
			names = append(names, fields[5])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namespaceFlags give a worker a user that owns nothing, without mapping any, and
// a network without devices.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET

// namespacesRefused says whether a start may have failed for the namespaces: they
// are not permitted, used up, unknown, the file cannot be executed inside, or
// there is no memory for the copy of the host that such a start makes.
func namespacesRefused(err error) bool {
	return slices.ContainsFunc([]error{unix.EPERM, unix.ENOSPC, unix.EUSERS, unix.EINVAL, unix.ENOSYS, unix.EACCES, unix.ENOMEM}, func(errno error) bool {
		return errors.Is(err, errno)
	})
}

func sysProcAttr(namespaces bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if namespaces {
		attr.Cloneflags = namespaceFlags
	}
	return attr
}

// limitFromOutside finds which limits of a run can be set on the worker from
// here, where nothing inside can lift them, and makes it so. A host that is short of
// something has not found out.
func limitFromOutside(w *process, without []string) ([]Layer, error) {
	base, err := dataSize(w.pid)
	if transient(err) {
		return nil, err
	}
	try := func(name string, resource int) Layer {
		if slices.Contains(without, name) {
			return leftOut(name)
		}
		if err == nil {
			err = softLimit(w.pid, resource, unix.RLIM_INFINITY)
		}
		if err != nil {
			return Layer{Name: name, State: LayerMissing, Note: err.Error()}
		}
		return Layer{Name: name, State: LayerOn}
	}
	layers := []Layer{try(LayerMemory, unix.RLIMIT_DATA), try(LayerCPU, unix.RLIMIT_CPU)}
	w.arm = func(limits runtime.Limits) error {
		return errors.Join(w.armMemory(base, limits), w.armCPU(limits))
	}
	return layers, nil
}

// armMemory has the kernel refuse data beyond the heap limit.
func (w *process) armMemory(base int64, limits runtime.Limits) error {
	if !w.has(LayerMemory) {
		return nil
	}
	return softLimit(w.pid, unix.RLIMIT_DATA, uint64(base+limits.Heap+slack))
}

// armCPU has the kernel end the worker should the meter not. It counts whole
// seconds of the process's life, and the meter is to come first. Where it is not
// known what has been used, the limit of an earlier run must not end this one.
func (w *process) armCPU(limits runtime.Limits) error {
	if !w.has(LayerCPU) {
		return nil
	}
	most := uint64(unix.RLIM_INFINITY)
	if now, err := w.look(); err == nil {
		most = uint64((now.cpu+limits.Compute+computeSlack)/time.Second) + 2
	}
	return softLimit(w.pid, unix.RLIMIT_CPU, most)
}

// softLimit sets a limit of another process. Only the soft one: the next run may
// have more.
func softLimit(pid, resource int, limit uint64) error {
	var now unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &now); err != nil {
		return os.NewSyscallError("prlimit", err)
	}
	return os.NewSyscallError("prlimit", unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(limit, now.Max), Max: now.Max}, nil))
}

// dataSize is how much RLIMIT_DATA counts of a process now.
func dataSize(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text)
	if len(fields) < 6 {
		return 0, &startError{problem: "/proc/<pid>/statm has an unknown form"}
	}
	pages, err := strconv.ParseInt(string(fields[5]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// confineProcess takes from this process, a worker, what only package
// initialisation may have needed. No byte of a program has come yet.
func confineProcess(without []string) ([]Layer, error) {
	time.Now().Zone() // reads the time zone's file while it can
	var layers []Layer
	if raceEnabled {
		layers = append(layers, Layer{Name: LayerMemory, State: LayerOff, Note: "the race detector's shadow memory does not fit under it"})
	}
	for _, layer := range []struct {
		name  string
		apply func() (note string, err error)
	}{
		{LayerFiles, limitFiles},
		{LayerCPU, defaultXCPU},
		{LayerLandlock, landlockRest},
		{LayerSeccomp, func() (string, error) { return "", sandbox.Seccomp() }},
	} {
		if slices.Contains(without, layer.name) {
			layers = append(layers, leftOut(layer.name))
			continue
		}
		note, err := layer.apply()
		switch {
		case errors.Is(err, sandbox.ErrUnsupported):
			layers = append(layers, Layer{Name: layer.name, State: LayerMissing, Note: err.Error()})
		case err != nil:
			return nil, err
		default:
			layers = append(layers, Layer{Name: layer.name, State: LayerOn, Note: note})
		}
	}
	return layers, nil
}

// defaultXCPU has the signal of RLIMIT_CPU end the process. Go ignores it.
func defaultXCPU() (string, error) {
	var byDefault [64]byte // a struct sigaction of any architecture: SIG_DFL is zero
	const setSize = 8
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGXCPU), uintptr(unsafe.Pointer(&byDefault)), 0, setSize, 0, 0); errno != 0 {
		return "", os.NewSyscallError("rt_sigaction", errno)
	}
	return "", nil
}

// landlockRest takes what the start still needed, and puts the worker below the
// thread that started it: until then both are alike to Landlock.
func landlockRest() (string, error) {
	err := (&sandbox.Ruleset{}).RestrictProcess()
	if errors.Is(err, sandbox.ErrUnsupported) {
		return "what a start reads stays readable: " + err.Error(), nil
	}
	return "", err
}

// openedByInit says whether package initialisation left descriptors open.
func openedByInit() []Layer {
	layer := Layer{Name: LayerDescriptors, State: LayerOn}
	if n := extraDescriptors(); n > 0 {
		layer.State, layer.Note = LayerMissing, fmt.Sprintf("package initialisation leaves %d descriptors open in worker processes; name a slim Worker.Binary to keep them out", n)
	}
	return []Layer{layer}
}

// extraDescriptors counts the open descriptors that no worker needs: package
// initialisation opened them, or the parent let them through. New ones get the
// lowest numbers, so none is overlooked unless there are many.
func extraDescriptors() int {
	const most = 1024
	extra := 0
	for fd := lastDescriptor + 1; fd < most; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && !internalDescriptor(fd) {
			extra++
		}
	}
	return extra
}

// internalDescriptor says whether Go itself holds the descriptor: its poller, and
// its reading of the processor quota.
func internalDescriptor(fd int) bool {
	target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return false
	}
	switch path.Base(target) {
	case "anon_inode:[eventpoll]", "anon_inode:[eventfd]", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us":
		return true
	}
	return false
}
