package worker

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/runcode-go/runcode/internal/sandbox"
	"github.com/runcode-go/runcode/runtime"
)

// inheritedVar is the variable that workers get from the host, if it has it: parts
// of the system look there for other parts.
const inheritedVar = "SystemRoot"

// shortages are the errors of a system that is short of something, beside those
// that all systems know.
var shortages = []error{
	windows.ERROR_TOO_MANY_OPEN_FILES, windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_OUTOFMEMORY, windows.ERROR_NO_SYSTEM_RESOURCES,
	windows.ERROR_WORKING_SET_QUOTA, windows.ERROR_PAGEFILE_QUOTA, windows.ERROR_COMMITMENT_LIMIT, windows.ERROR_NOT_ENOUGH_QUOTA,
}

// spawner starts processes from a file that nobody can change meanwhile.
type spawner struct {
	pinned windows.Handle // of the binary: while it is open, others may only read it
	dir    string         // the working directory of workers, which theirs keeps in being

	// Guarded by the starter's mu.
	token      windows.Token // of workers; 0: that of the host
	privileges Layer         // on until the first start shows that there is no such token
	job        []Layer       // what the last worker's job holds
}

// ownBinary is the running file's path.
func ownBinary() (string, error) { return os.Executable() }

func checkExecutable(file string) error {
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || !strings.EqualFold(filepath.Ext(file), ".exe")) {
		return &startError{problem: fmt.Sprintf("%s is not an executable file (.exe)", file)}
	}
	return err
}

// open pins the binary and makes the token.
func (s *starter) open() (err error) {
	if s.dir, err = windows.GetSystemDirectory(); err != nil {
		return err
	}
	name, err := windows.UTF16PtrFromString(s.binary)
	if err != nil {
		return err
	}
	s.pinned, err = windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return fmt.Errorf("open %s, so that nobody replaces it: %w", s.binary, err)
	}
	if resolved, ok := finalPath(s.pinned); ok {
		s.binary = resolved
	}
	s.privileges = Layer{Name: LayerPrivileges, State: LayerOn}
	if s.token, err = workerToken(s.without); err != nil {
		s.privileges = Layer{Name: LayerPrivileges, State: LayerMissing, Note: err.Error()}
	}
	return nil
}

// finalPath is the path of an open file without links, which could come to lead
// elsewhere. Some file systems have none.
func finalPath(file windows.Handle) (string, bool) {
	path := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetFinalPathNameByHandle(file, &path[0], uint32(len(path)), 0)
	if err != nil || n == 0 || n >= uint32(len(path)) {
		return "", false
	}
	return windows.UTF16ToString(path[:n]), true
}

// workerToken has no privileges and, from before the first instruction on, a low
// integrity.
func workerToken(without []string) (windows.Token, error) {
	token, err := sandbox.RestrictedToken()
	if err != nil || slices.Contains(without, LayerFiles) {
		return token, err
	}
	if err := sandbox.LowerIntegrity(token, sandbox.Low); err != nil {
		token.Close()
		return 0, err
	}
	return token, nil
}

// close gives back what open took. Every worker must have exited.
func (s *starter) close() {
	windows.CloseHandle(s.pinned)
	if s.token != 0 {
		s.token.Close()
	}
}

// around is what protects around every worker of this starter.
func (s *starter) around() []Layer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(slices.Clone(s.job), s.privileges)
}

// spawn starts the process.
func (s *starter) spawn(nonce string) (_ *process, err error) {
	var kept, passed handles
	defer func() {
		passed.close() // the child has its own by now
		if err != nil {
			kept.close()
		}
	}()
	conn, theirs, err := newPipe(windows.PIPE_ACCESS_DUPLEX, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_FLAG_OVERLAPPED)
	if err != nil {
		return nil, err
	}
	kept, passed = append(kept, conn), append(passed, theirs)
	said, saying, err := newPipe(windows.PIPE_ACCESS_INBOUND, windows.GENERIC_WRITE, 0)
	if err != nil {
		return nil, err
	}
	kept, passed = append(kept, said), append(passed, saying)
	null, err := windows.CreateFile(windows.StringToUTF16Ptr(os.DevNull), windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, inheritableHandle(), windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return nil, err
	}
	passed = append(passed, null)
	job, err := s.newJob()
	if err != nil {
		return nil, err
	}
	argv := []string{marker, nonce, strconv.FormatUint(uint64(theirs), 10), strings.Join(s.without, ",")}
	started, err := s.launch(argv, child{job: job.Handle(), inherits: passed, in: null, out: saying, env: envBlock(s.env), dir: s.dir})
	if err != nil {
		job.Close()
		return nil, err
	}
	windows.CloseHandle(started.Thread)
	return watch(started, job, newPipeConn(conn, "worker"), os.NewFile(uintptr(said), "diagnostics")), nil
}

// handles are closed together.
type handles []windows.Handle

func (h handles) close() {
	for _, handle := range h {
		windows.CloseHandle(handle)
	}
}

// newJob makes the job of one worker and finds out what it holds.
func (s *starter) newJob() (*sandbox.Job, error) {
	job, err := sandbox.NewJob()
	if err != nil {
		return nil, err
	}
	layers, err := jobLayers(job, s.without)
	if err != nil {
		job.Close()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.job = layers
	return job, nil
}

// jobLayers sets what a job is to limit, as far as it can be before a run, and says
// what the system keeps of it.
func jobLayers(job *sandbox.Job, without []string) ([]Layer, error) {
	alone := Layer{Name: LayerPrivileges, State: LayerOn}
	if err := job.RestrictUI(); err != nil {
		alone.Note = err.Error()
	}
	// More than there is: every run has limits of its own.
	if err := job.LimitMemory(1 << 40); err != nil {
		return nil, err
	}
	if err := job.LimitCPU(math.MaxInt64); err != nil {
		return nil, err
	}
	one, memory, cpu, err := job.Holds()
	if err != nil {
		return nil, err
	}
	if !one {
		alone.State, alone.Note = LayerMissing, notKept
	}
	memoryLayer, cpuLayer := limitLayer(LayerMemory, memory, without), limitLayer(LayerCPU, cpu, without)
	if raceEnabled {
		memoryLayer = Layer{Name: LayerMemory, State: LayerOff, Note: "the race detector's shadow memory does not fit under it"}
	}
	return []Layer{alone, memoryLayer, cpuLayer}, nil
}

const notKept = "the system accepts the limits of a job and does not keep them"

func limitLayer(name string, kept bool, without []string) Layer {
	switch {
	case slices.Contains(without, name):
		return leftOut(name)
	case !kept:
		return Layer{Name: name, State: LayerMissing, Note: notKept}
	}
	return Layer{Name: name, State: LayerOn}
}

// child is a process to start.
type child struct {
	job      windows.Handle
	inherits []windows.Handle // and nothing else
	in, out  windows.Handle
	env      []uint16
	dir      string
}

// launch starts the process with the restricted token. If the first start shows
// that this cannot be, none is started with it.
func (s *starter) launch(argv []string, c child) (windows.ProcessInformation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	started, err := c.start(s.token, s.binary, argv)
	if err == nil || s.token == 0 || s.first != nil {
		return started, err
	}
	started, plain := c.start(0, s.binary, argv)
	if plain == nil {
		s.token.Close()
		s.token = 0
		s.privileges = Layer{Name: LayerPrivileges, State: LayerMissing, Note: err.Error()}
	}
	return started, plain
}

// procThreadAttributeJobList names the jobs that a process is in from its start.
const procThreadAttributeJobList = 0x0002000d

// start starts the process: in its job from the first instant, without a console,
// with the handles on its list and no other.
func (c child) start(token windows.Token, binary string, argv []string) (started windows.ProcessInformation, err error) {
	attributes, err := windows.NewProcThreadAttributeList(2)
	if err != nil {
		return started, err
	}
	defer attributes.Delete()
	if err := attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&c.inherits[0]), uintptr(len(c.inherits))*unsafe.Sizeof(c.inherits[0])); err != nil {
		return started, os.NewSyscallError("UpdateProcThreadAttribute", err)
	}
	if err := attributes.Update(procThreadAttributeJobList, unsafe.Pointer(&c.job), unsafe.Sizeof(c.job)); err != nil {
		return started, os.NewSyscallError("UpdateProcThreadAttribute", err)
	}
	info := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	info.Cb = uint32(unsafe.Sizeof(info))
	info.Flags = windows.STARTF_USESTDHANDLES
	info.StdInput, info.StdOutput, info.StdErr = c.in, c.out, c.out
	file, err1 := windows.UTF16PtrFromString(binary)
	line, err2 := windows.UTF16PtrFromString(windows.ComposeCommandLine(argv))
	dir, err3 := windows.UTF16PtrFromString(c.dir)
	if err := firstError(err1, err2, err3); err != nil {
		return started, err
	}
	const flags = windows.CREATE_UNICODE_ENVIRONMENT | windows.EXTENDED_STARTUPINFO_PRESENT | windows.DETACHED_PROCESS
	if token == 0 {
		err = windows.CreateProcess(file, line, nil, nil, true, flags, &c.env[0], dir, &info.StartupInfo, &started)
	} else {
		err = windows.CreateProcessAsUser(token, file, line, nil, nil, true, flags, &c.env[0], dir, &info.StartupInfo, &started)
	}
	return started, os.NewSyscallError("CreateProcess", err)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// envBlock is an environment in the form that the system wants. No entry has a zero.
func envBlock(env []string) []uint16 {
	var block []uint16
	for _, entry := range env {
		block = append(block, windows.StringToUTF16(entry)...)
	}
	return append(block, 0)
}

// killCode is the exit code of a worker that this process has ended.
const killCode = 137

// watch makes a process of a child and reaps it when it ends.
func watch(started windows.ProcessInformation, job *sandbox.Job, conn io.ReadWriteCloser, said *os.File) *process {
	p := newProcess(int(started.ProcessId), conn, said, func(p *process) {
		windows.WaitForSingleObject(started.Process, windows.INFINITE)
		p.reap.Lock()
		defer p.reap.Unlock()
		p.status = statusOf(started.Process)
		now, _ := usageOf(started.Process)
		p.used = now.cpu
		p.reaped = true
		windows.CloseHandle(started.Process) // from here on its number may be another process's
		job.Close()
	})
	p.kill = func() {
		p.reap.Lock()
		defer p.reap.Unlock()
		if !p.reaped {
			job.Kill(killCode)
		}
	}
	p.look = func() (usage, error) { return usageOf(started.Process) }
	p.arm = armJob(p, job)
	return p
}

// armJob sets the limits of a run on the job of a worker. The first run decides
// what a worker needs without one.
func armJob(p *process, job *sandbox.Job) func(runtime.Limits) error {
	var base int64
	return func(limits runtime.Limits) (err error) {
		if p.has(LayerMemory) {
			if base == 0 {
				if base, err = job.PeakMemory(); err != nil {
					return err
				}
			}
			if err := job.LimitMemory(base + limits.Heap + slack); err != nil {
				return err
			}
		}
		if p.has(LayerCPU) {
			now, err := p.look()
			if err != nil {
				return err
			}
			// The meter is to come first.
			return job.LimitCPU(now.cpu + limits.Compute + computeSlack + 2*time.Second)
		}
		return nil
	}
}

func statusOf(process windows.Handle) exitStatus {
	var code uint32
	if err := windows.GetExitCodeProcess(process, &code); err != nil {
		return exitStatus{Code: -1}
	}
	return exitStatus{Code: int(code), OutOfCPU: code == sandbox.ExitOutOfCPU}
}
