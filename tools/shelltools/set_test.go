package shelltools

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/tools"
)

// needBash skips where nothing here can run.
func needBash(t testing.TB) {
	t.Helper()
	if !proc.Supported {
		t.Skip("processes cannot be started on this system, so there is no shell tool")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed; these tests run commands with it")
	}
}

// newSet is the tool over a directory of its own, closed with the test.
func newSet(t testing.TB, opts *Options) (*Set, string) {
	t.Helper()
	needBash(t)
	dir := t.TempDir()
	set, err := New(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set, dir
}

func toolOf(t testing.TB, set *Set) *tools.Tool {
	t.Helper()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	return reg.Lookup(toolName)
}

func TestDefinition(t *testing.T) {
	set, _ := newSet(t, &Options{Timeout: time.Second, MaxTimeout: time.Minute, OutputBytes: 777})
	tool := toolOf(t, set)
	def := tool.Definition()
	if want := (tools.Annotations{Destructive: true, OpenWorld: true}); def.Annotations != want {
		t.Errorf("annotations %+v, want %+v", def.Annotations, want)
	}
	if def.Timeout != 0 {
		t.Errorf("timeout %v, want none: a command has its own", def.Timeout)
	}
	if tool.Concurrent(tools.MustJSON(`{"command":"true","description":"nothing"}`)) {
		t.Error("a command may overlap with other calls")
	}
	for _, part := range []string{"1000 ms", "up to 60000", "777 bytes", "background job does not outlive", "no terminal and no input"} {
		if !strings.Contains(def.Description, part) {
			t.Errorf("the description lacks %q: %s", part, def.Description)
		}
	}
	if strings.ContainsAny(strings.NewReplacer("{exitCode, stdout, stderr, timedOut, truncated}", "").Replace(def.Description), "{}\n") {
		t.Errorf("the description has a hole or a line break: %s", def.Description)
	}
}

// TestSchemas states the names of parameters and fields, which programs and
// policies rely on.
func TestSchemas(t *testing.T) {
	set, _ := newSet(t, nil)
	def := toolOf(t, set).Definition()
	type schema struct {
		Properties map[string]struct {
			Type        any
			Description string
		}
		Required []string
	}
	read := func(text tools.JSON) (s schema, optional []string) {
		if err := json.Unmarshal(text.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		for name := range s.Properties {
			if !slices.Contains(s.Required, name) {
				optional = append(optional, name)
			}
		}
		slices.Sort(s.Required)
		slices.Sort(optional)
		return s, optional
	}
	in, optional := read(def.Input)
	if diff := cmp.Diff([][]string{{"command", "description"}, {"timeoutMs", "workdir"}}, [][]string{in.Required, optional}); diff != "" {
		t.Errorf("required and optional parameters (-want +got):\n%s", diff)
	}
	for name, property := range in.Properties {
		if property.Description == "" {
			t.Errorf("parameter %q has no description", name)
		}
	}
	out, optional := read(def.Output)
	if diff := cmp.Diff([][]string{{"exitCode", "stderr", "stdout", "timedOut", "truncated"}, {"note", "signal"}}, [][]string{out.Required, optional}); diff != "" {
		t.Errorf("required and optional fields (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"null", "integer"}, out.Properties["exitCode"].Type); diff != "" {
		t.Errorf("type of exitCode (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	needBash(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, dir string
		opts      *Options
		parts     []string
	}{
		{"missing directory", filepath.Join(dir, "none"), nil, []string{"must be a directory that exists"}},
		{"file", file, nil, []string{"must be a directory that exists", file}},
		{"no such shell", dir, &Options{Shell: "no-such-bash"}, []string{`"no-such-bash"`, "not found", "install bash"}},
		{"no such shell file", dir, &Options{Shell: filepath.Join(dir, "bash")}, []string{filepath.Join(dir, "bash"), "install bash"}},
		{"shell that is no program", dir, &Options{Shell: file}, []string{file, "permission denied"}},
		{"negative timeout", dir, &Options{Timeout: -1}, []string{"Options.Timeout is -1ns"}},
		{"part of a millisecond", dir, &Options{MaxTimeout: 1500 * time.Microsecond}, []string{"Options.MaxTimeout is 1.5ms"}},
		{"timeout over the longest", dir, &Options{Timeout: time.Hour}, []string{"1h0m0s", "10m0s", "MaxTimeout"}},
		{"negative output", dir, &Options{OutputBytes: -1}, []string{"Options.OutputBytes is -1"}},
		{"entry without a value", dir, &Options{Env: []string{"A=1", "KEY"}}, []string{`"KEY"`, "NAME=value"}},
		{"entry without a name", dir, &Options{Env: []string{"=1"}}, []string{"NAME=value"}},
		{"entry with NUL", dir, &Options{Env: []string{"A=\x00"}}, []string{`"A"`}},
		{"file to run first", dir, &Options{Env: []string{"BASH_ENV=/x"}}, []string{"BASH_ENV", "/x", "leave it out"}},
		{"file to run first, sh", dir, &Options{Env: []string{"ENV=/x"}}, []string{"ENV", "leave it out"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := New(tt.dir, tt.opts)
			if err == nil {
				set.Close()
				t.Fatal("New = nil, want an error")
			}
			for _, part := range append(tt.parts, "shell tool: ") {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestNoBash(t *testing.T) {
	needBash(t)
	t.Setenv("PATH", t.TempDir())
	_, err := New(t.TempDir(), nil)
	if err == nil || !strings.Contains(err.Error(), "install bash") {
		t.Errorf("New = %v, want an error that says what to install", err)
	}
}

func TestUnsupportedSystem(t *testing.T) {
	if proc.Supported {
		t.Skip("this system can run commands")
	}
	if _, err := New(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "cannot work on") {
		t.Errorf("New = %v, want an error that names the system", err)
	}
}

func TestDefaults(t *testing.T) {
	for _, tt := range []struct {
		name      string
		opts      *Options
		max, wait time.Duration
	}{
		{"none", nil, 10 * time.Minute, 2 * time.Minute},
		{"a shorter longest", &Options{MaxTimeout: time.Minute}, time.Minute, time.Minute},
		{"a longer longest", &Options{MaxTimeout: time.Hour}, time.Hour, 2 * time.Minute},
	} {
		got, err := tt.opts.resolve()
		if err != nil || got.MaxTimeout != tt.max || got.Timeout != tt.wait || got.OutputBytes != 256<<10 || got.Shell != "bash" {
			t.Errorf("%s: %+v, %v, want timeouts of %v and %v", tt.name, got, err, tt.wait, tt.max)
		}
	}
}

// TestDryRunRefuses is about there being no preview of a command.
func TestDryRunRefuses(t *testing.T) {
	set, _ := newSet(t, nil)
	dry := tools.DryRun(set.Tools()...)[0]
	args := tools.MustJSON(`{"command":"touch canary","description":"leave a trace"}`)
	_, err := dry.Handler(t.Context(), tools.NewRun(tools.NewCall(tools.CallSpec{ID: "1", Name: toolName, Args: args}), tools.RunHooks{}))
	if code := tools.InfoOf(err).Code; code != tools.CodeDryRun {
		t.Errorf("failure %v, want %s", err, tools.CodeDryRun)
	}
}
