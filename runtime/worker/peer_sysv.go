//go:build aix || solaris

package worker

import "os"

func privileged() bool { return os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() }
