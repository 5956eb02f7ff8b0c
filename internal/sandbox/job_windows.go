package sandbox

import (
	"errors"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Job holds one process and its limits. The process ends with the job, and the job
// with the process that made it. A Job is not safe for concurrent use.
type Job struct {
	handle windows.Handle
	limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
}

// What every job has: the process ends with the last handle of the job and at an
// exception nobody handles, without a window about it, and starts no other.
const jobFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS

// NewJob makes a job for one process that nothing starts from, without any other
// limit yet.
func NewJob() (*Job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateJobObject", err)
	}
	j := &Job{handle: handle}
	j.limits.BasicLimitInformation.LimitFlags = jobFlags
	j.limits.BasicLimitInformation.ActiveProcessLimit = 1
	if err := j.set(); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// Handle is what a process is started in.
func (j *Job) Handle() windows.Handle { return j.handle }

// Close ends the process, if it lives, and frees the job.
func (j *Job) Close() { windows.CloseHandle(j.handle) }

// Kill ends the process with an exit code.
func (j *Job) Kill(code uint32) { windows.TerminateJobObject(j.handle, code) }

// LimitMemory has the system refuse the process memory beyond so many bytes that
// it commits, from now on. It may be called again.
func (j *Job) LimitMemory(bytes int64) error {
	j.limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
	j.limits.ProcessMemoryLimit = uintptr(min(bytes, maxMemory))
	return j.set()
}

// maxMemory is the largest limit there is, a number of whole pages.
const maxMemory = int64(^uintptr(0)>>1) &^ 0xffff

// LimitCPU has the system end the process, with ExitOutOfCPU, some time after it
// has run this long in all, not counting what the system does for it. It may be
// called again.
func (j *Job) LimitCPU(limit time.Duration) error {
	j.limits.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_TIME
	j.limits.BasicLimitInformation.PerProcessUserTimeLimit = limit.Nanoseconds() / 100
	return j.set()
}

// ExitOutOfCPU is the exit code of a process that LimitCPU has ended.
const ExitOutOfCPU = uint32(windows.ERROR_NOT_ENOUGH_QUOTA)

func (j *Job) set() error {
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&j.limits)), uint32(unsafe.Sizeof(j.limits)))
	return os.NewSyscallError("SetInformationJobObject", err)
}

// Holds reports which limits the system says it keeps: of processes, of memory
// and of processor time. Some that stand in for Windows accept all and keep none.
func (j *Job) Holds() (one, memory, cpu bool, err error) {
	kept, err := j.read()
	flags := kept.BasicLimitInformation.LimitFlags & j.limits.BasicLimitInformation.LimitFlags
	one = flags&windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS != 0 && kept.BasicLimitInformation.ActiveProcessLimit == 1
	memory = flags&windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY != 0 && kept.ProcessMemoryLimit != 0
	cpu = flags&windows.JOB_OBJECT_LIMIT_PROCESS_TIME != 0 && kept.BasicLimitInformation.PerProcessUserTimeLimit != 0
	return one, memory, cpu, err
}

// PeakMemory is the most that the process has committed so far, in bytes.
func (j *Job) PeakMemory() (int64, error) {
	kept, err := j.read()
	return int64(kept.PeakProcessMemoryUsed), err
}

func (j *Job) read() (kept windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION, err error) {
	err = windows.QueryInformationJobObject(j.handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&kept)), uint32(unsafe.Sizeof(kept)), nil)
	return kept, os.NewSyscallError("QueryInformationJobObject", err)
}

var isProcessInJob = windows.NewLazySystemDLL("kernel32.dll").NewProc("IsProcessInJob")

// RestrictUI takes the clipboard, the desktop and the like from the process. It
// must precede the start. It is an error if this process is in a job itself: such
// restrictions do not nest, and the start would fail.
func (j *Job) RestrictUI() error {
	var nested int32
	if ok, _, err := isProcessInJob.Call(uintptr(windows.CurrentProcess()), 0, uintptr(unsafe.Pointer(&nested))); ok == 0 {
		return os.NewSyscallError("IsProcessInJob", err)
	}
	if nested != 0 {
		return errors.New("the clipboard and the desktop cannot be taken from a process: this one is in a job itself")
	}
	all := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: windows.JOB_OBJECT_UILIMIT_DESKTOP | windows.JOB_OBJECT_UILIMIT_DISPLAYSETTINGS |
		windows.JOB_OBJECT_UILIMIT_EXITWINDOWS | windows.JOB_OBJECT_UILIMIT_GLOBALATOMS | windows.JOB_OBJECT_UILIMIT_HANDLES |
		windows.JOB_OBJECT_UILIMIT_READCLIPBOARD | windows.JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS | windows.JOB_OBJECT_UILIMIT_WRITECLIPBOARD}
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectBasicUIRestrictions, uintptr(unsafe.Pointer(&all)), uint32(unsafe.Sizeof(all)))
	return os.NewSyscallError("SetInformationJobObject", err)
}
