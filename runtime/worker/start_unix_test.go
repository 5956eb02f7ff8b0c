//go:build unix

package worker

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

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
	if _, err := newStarter(&Options{}, helloWait, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "starting it again would not end") {
		t.Errorf("%v, want a refusal", err)
	}
}

// A layer that was there at the start is not given up later.
func TestLostLayerIsRefused(t *testing.T) {
	full := []Layer{{Name: LayerSeccomp, State: LayerOn}, {Name: LayerLandlock, State: LayerOn}}
	s := &starter{logger: slog.New(slog.DiscardHandler)}
	for _, tt := range []struct {
		name string
		now  []Layer
		want string
	}{
		{"the first", mergeLayers(full), ""},
		{"another like it", mergeLayers(full), ""},
		{"one that has more", mergeLayers(append(full, Layer{Name: LayerNamespaces, State: LayerOn})), ""},
		{"one that has less", mergeLayers([]Layer{full[0], {Name: LayerLandlock, State: LayerMissing, Note: "gone"}}), "its layer landlock is missing (gone), which earlier workers had"},
	} {
		got := ""
		if err := s.note(tt.now); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A required layer must be on; one that is off by choice or build is not.
func TestRequiredLayers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first Layer
		want  string
	}{
		{"on", Layer{LayerSeccomp, LayerOn, ""}, ""},
		{"on with a note", Layer{LayerSeccomp, LayerOn, "in part"}, ""},
		{"missing", Layer{LayerSeccomp, LayerMissing, "no kernel"}, "the layer seccomp is required and missing: no kernel"},
		{"off", Layer{LayerSeccomp, LayerOff, "race"}, "the layer seccomp is required and off: race"},
		{"another is missing", Layer{LayerLandlock, LayerMissing, "no kernel"}, "the layer seccomp is required and missing: needs Linux"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &starter{require: []string{LayerSeccomp}, logger: slog.New(slog.DiscardHandler)}
			got := ""
			if err := s.note(mergeLayers([]Layer{tt.first})); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestMergeLayers(t *testing.T) {
	const note = "a note"
	for _, tt := range []struct {
		name  string
		known []Layer
		want  Layer
	}{
		{"nobody knows", nil, Layer{LayerMemory, LayerMissing, "needs Linux"}},
		{"one says on", []Layer{{LayerMemory, LayerOn, ""}}, Layer{LayerMemory, LayerOn, ""}},
		{"both say on, the second with a note", []Layer{{LayerMemory, LayerOn, ""}, {LayerMemory, LayerOn, note}}, Layer{LayerMemory, LayerOn, note}},
		{"the second says off", []Layer{{LayerMemory, LayerOn, ""}, {LayerMemory, LayerOff, note}}, Layer{LayerMemory, LayerOff, note}},
		{"the first says off", []Layer{{LayerMemory, LayerOff, note}, {LayerMemory, LayerOn, ""}}, Layer{LayerMemory, LayerOff, note}},
		{"another layer", []Layer{{LayerCPU, LayerOn, ""}}, Layer{LayerMemory, LayerMissing, "needs Linux"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := mergeLayers(tt.known)
			if len(all) != len(LayerNames()) {
				t.Fatalf("%d layers, want %d", len(all), len(LayerNames()))
			}
			for i, name := range LayerNames() {
				if all[i].Name != name {
					t.Errorf("layer %d is %s, want %s", i, all[i].Name, name)
				}
				if name == LayerMemory && all[i] != tt.want {
					t.Errorf("%+v, want %+v", all[i], tt.want)
				}
			}
		})
	}
}

func TestLayerOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts Options
		want string
	}{
		{"unknown, required", Options{Require: []string{"selinux"}}, `Require names the layer "selinux"; there are no-new-privileges, landlock, `},
		{"unknown, left out", Options{Without: []string{""}}, `Without names the layer ""; there are `},
		{"both", Options{Require: []string{LayerSeccomp}, Without: []string{LayerSeccomp}}, "the layer seccomp is both required and left out"},
		{"the ground of others", Options{Without: []string{LayerPrivileges}}, "the layer no-new-privileges cannot be left out"},
		{"a finding", Options{Without: []string{LayerDescriptors}}, "the layer descriptors cannot be left out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := newStarter(&tt.opts, helloWait, slog.New(slog.DiscardHandler))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestExitFailures(t *testing.T) {
	limits := runtime.Limits{Heap: 64 << 20, Compute: 5 * time.Second}
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
		{"the processor limit", exitStatus{Code: -1, Signal: "24 (CPU time limit exceeded)", OutOfCPU: true}, "", runtime.Timeout, "compute budget exhausted (5000ms busy)"},
		{"the system call filter", exitStatus{Code: -1, Signal: "31 (bad system call)", Intruder: true}, "", runtime.WorkerExit, "worker was ended by signal 31 (bad system call) before completing"},
		{"first line alone", exitStatus{Code: 3}, "\n\nfirst\nsecond", runtime.WorkerExit, "worker exited with code 3 before completing: first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := &diagnostics{}
			d.Write([]byte(tt.said))
			wantFailure(t, runtime.Result{Failure: exitFailure(&process{status: tt.status, diag: d, layers: []Layer{{Name: LayerMemory, State: LayerOn}}}, limits)}, tt.kind, tt.message)
		})
	}
}

// The hint tells a worker that attacked from one that had no memory.
func TestExitHints(t *testing.T) {
	for want, status := range map[string]exitStatus{
		"it asked the system for what no program may have, and was ended for it": {Code: -1, Signal: "31 (bad system call)", Intruder: true},
		"a worker that the system ends is often one for which it had no memory":  {Code: -1, Signal: "9 (killed)"},
		"": {Code: 7},
	} {
		if f := exitFailure(&process{status: status, diag: &diagnostics{}}, runtime.Limits{}); f.Hint != want {
			t.Errorf("%v: hint %q, want %q", status, f.Hint, want)
		}
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
