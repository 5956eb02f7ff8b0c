//go:build unix

package worker

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func TestBuildModes(t *testing.T) {
	for mode, want := range map[string]string{
		"exe": "", "pie": "", "": "",
		"c-shared":  "a program built with -buildmode=c-shared cannot start itself as a worker",
		"c-archive": "a program built with -buildmode=c-archive cannot start itself as a worker",
		"plugin":    "a program built with -buildmode=plugin cannot start itself as a worker",
	} {
		t.Run(mode, func(t *testing.T) {
			var settings []debug.BuildSetting
			if mode != "" {
				settings = []debug.BuildSetting{{Key: "-compiler", Value: "gc"}, {Key: "-buildmode", Value: mode}}
			}
			got := ""
			if err := checkBuildMode(settings); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestWorkerEnv(t *testing.T) {
	t.Setenv("TZ", "Asia/Tokyo")
	got, err := workerEnv([]string{"A=1", "B="})
	if want := "RUNCODE_WORKER_DEPTH=1 GOMAXPROCS=1 GOTRACEBACK=none TZ=Asia/Tokyo A=1 B="; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	os.Unsetenv("TZ")
	if got, _ := workerEnv(nil); len(got) != 3 {
		t.Errorf("%q, want three entries", got)
	}
	for _, bad := range []string{"A", "=1", "", "A=\x00"} {
		if _, err := workerEnv([]string{bad}); err == nil || !strings.Contains(err.Error(), "is not of the form NAME=value") {
			t.Errorf("entry %q: %v", bad, err)
		}
	}
}

func TestDepthGuard(t *testing.T) {
	t.Setenv(depthVar, "1")
	if _, err := newStarter("", nil, helloWait, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "starting it again would not end") {
		t.Errorf("%v, want a refusal", err)
	}
}

// A protection that was there at the start is not given up later.
func TestLostProtectionIsRefused(t *testing.T) {
	s := &starter{logger: slog.New(slog.DiscardHandler)}
	for i, tt := range []struct {
		hello helloMeta
		want  string
	}{
		{helloMeta{DataLimit: true}, ""},
		{helloMeta{DataLimit: true}, ""},
		{helloMeta{}, "it has no hard memory limit, which earlier workers had"},
	} {
		got := ""
		if err := s.note(tt.hello); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("worker %d: %q, want %q", i, got, tt.want)
		}
	}
}

func TestExitFailures(t *testing.T) {
	limits := runtime.Limits{Heap: 64 << 20}
	for _, tt := range []struct {
		name    string
		status  exitStatus
		said    string
		kind    runtime.Kind
		message string
	}{
		{"allocation", exitStatus{Code: 2}, "runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: out of memory", runtime.MemoryLimit, "heap limit reached (67108864 bytes)"},
		{"the collector's own tables", exitStatus{Code: 2}, "SIGSEGV: segmentation violation\nPC=0x4399fd m=3 sigcode=1 addr=0x0", runtime.MemoryLimit, "heap limit reached (67108864 bytes)"},
		{"nil in Go code", exitStatus{Code: 2}, "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation violation]", runtime.WorkerExit, "worker exited with code 2 before completing: panic: runtime error: invalid memory address or nil pointer dereference"},
		{"page", exitStatus{Code: 2}, "fatal error: runtime: cannot allocate memory", runtime.MemoryLimit, "heap limit reached (67108864 bytes)"},
		{"stack", exitStatus{Code: 2}, "runtime: goroutine stack exceeds 67108864-byte limit\nfatal error: stack overflow", runtime.Exception, "call depth exceeded"},
		{"those words and another code", exitStatus{Code: 1}, "out of memory", runtime.WorkerExit, "worker exited with code 1 before completing: out of memory"},
		{"silent", exitStatus{Code: 7}, "", runtime.WorkerExit, "worker exited with code 7 before completing"},
		{"signal", exitStatus{Code: -1, Signal: "9 (killed)"}, "", runtime.WorkerExit, "worker was ended by signal 9 (killed) before completing"},
		{"first line alone", exitStatus{Code: 3}, "\n\nfirst\nsecond", runtime.WorkerExit, "worker exited with code 3 before completing: first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &diagnostics{}
			d.Write([]byte(tt.said))
			wantFailure(t, runtime.Result{Failure: exitFailure(&process{status: tt.status, diag: d, hello: helloMeta{DataLimit: true}}, limits)}, tt.kind, tt.message)
		})
	}
}

func TestDiagnosticsAreBounded(t *testing.T) {
	d := &diagnostics{}
	d.Write([]byte("the start\n"))
	for range 1000 {
		d.Write([]byte(strings.Repeat("x", 1000)))
	}
	d.Write([]byte("\nthe end"))
	got := d.String()
	if !strings.HasPrefix(got, "the start\n") || !strings.HasSuffix(got, "\nthe end") || len(got) > 2*diagnosticsHalf+100 {
		t.Errorf("%d bytes: %.20q … %q", len(got), got, got[len(got)-20:])
	}
	if want := "bytes left out]"; !strings.Contains(got, want) {
		t.Errorf("no %q", want)
	}
}
