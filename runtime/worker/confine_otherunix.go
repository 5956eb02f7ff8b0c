//go:build unix && !linux

package worker

import "syscall"

func onMainThread() bool { return false }

func confineThread(string, []string, []string) []Layer { return nil }

func namespacesRefused(error) bool { return false }

func sysProcAttr(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func limitFromOutside(*process, []string) []Layer { return nil }

// confineProcess refuses core files. There is no hard limit of memory here: what
// the collector can keep within the heap limit it does.
func confineProcess([]string) ([]Layer, error) {
	var none syscall.Rlimit
	return nil, syscall.Setrlimit(syscall.RLIMIT_CORE, &none)
}

func extraDescriptors() int { return 0 }
