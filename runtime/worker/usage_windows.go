package worker

import (
	"time"

	"golang.org/x/sys/windows"
)

// usageOf is what a process uses.
func usageOf(process windows.Handle) (usage, error) {
	var created, exited, system, user windows.Filetime
	if err := windows.GetProcessTimes(process, &created, &exited, &system, &user); err != nil {
		return usage{}, err
	}
	return usage{cpu: duration(system) + duration(user)}, nil
}

// duration is that of a number of units of 100 ns. Filetime.Nanoseconds would take
// it for a date.
func duration(t windows.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
