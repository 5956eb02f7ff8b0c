//go:build unix || windows

package worker

import (
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	t.Setenv(inheritedVar, "Asia/Tokyo")
	got, err := workerEnv([]string{"A=1", "B="})
	if want := "RUNCODE_WORKER_DEPTH=1 GOMAXPROCS=1 GOTRACEBACK=none " + inheritedVar + "=Asia/Tokyo A=1 B="; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	os.Unsetenv(inheritedVar)
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

// What is missing is logged once; what only another system has, in one line.
func TestMissingLayersAreLogged(t *testing.T) {
	var text strings.Builder
	s := &starter{logger: slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))}
	layers := mergeLayers([]Layer{{LayerPrivileges, LayerOn, ""}, {LayerFiles, LayerOn, "in part"}, {LayerMemory, LayerOff, "race"}, {LayerCPU, LayerMissing, "refused"}, {LayerDescriptors, LayerOn, ""}})
	for range 2 {
		if err := s.note(layers); err != nil {
			t.Fatal(err)
		}
	}
	want := `level=WARN msg="worker processes run without a layer of protection" layer=memory-limit state=off note=race
level=WARN msg="worker processes run without a layer of protection" layer=cpu-limit state=missing note=refused
level=WARN msg="worker processes run without the layers of protection that need Linux" layers="landlock, namespaces, seccomp"
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
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
