//go:build !linux && !windows

package worker

import "time"

// cpuTime is not known here.
func cpuTime(int) (time.Duration, bool) { return 0, false }
