package worker

import (
	"time"

	"golang.org/x/sys/windows"
)

// cpuTime is the processor time a process has used, user and system.
func cpuTime(pid int) (time.Duration, bool) {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0, false
	}
	defer windows.CloseHandle(handle)
	return timesOf(handle)
}

func timesOf(handle windows.Handle) (time.Duration, bool) {
	var created, exited, system, user windows.Filetime
	if err := windows.GetProcessTimes(handle, &created, &exited, &system, &user); err != nil {
		return 0, false
	}
	return duration(system) + duration(user), true
}

// duration is that of a number of units of 100 ns. Filetime.Nanoseconds would take
// it for a date.
func duration(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
