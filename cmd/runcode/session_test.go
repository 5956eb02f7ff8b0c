package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

// TestRunningProgramIsProtected shows that no rule opens the file of the running
// program to writing.
func TestRunningProgramIsProtected(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	allow := filepath.Join(t.TempDir(), "allow.json")
	if err := os.WriteFile(allow, []byte(`{"permissions":{"allow":["Edit"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{filepath.Base(exe): "result: asks\n", "other": "result: allowed\n"} {
		args := tools.ComposeObject(
			tools.Member{Name: "file_path", Value: tools.StringJSON(name)},
			tools.Member{Name: "content", Value: tools.StringJSON("")},
		)
		var stdout, stderr bytes.Buffer
		code := run([]string{"explain", "--root", filepath.Dir(exe), "--config", allow, "write", args.String()}, strings.NewReader(""), &stdout, &stderr)
		if code != exitOK || !strings.HasSuffix(stdout.String(), want) {
			t.Errorf("exit status %d, %q, %q; want it to end in %q", code, stdout.String(), stderr.String(), want)
		}
	}
}

// TestMissingSets shows that what says where a built-in tool is to be had names
// every one of them.
func TestMissingSets(t *testing.T) {
	for _, set := range toolSets {
		t.Run(set, func(t *testing.T) {
			f := toolFlags{sets: []string{set}, root: t.TempDir()}
			opened, err := f.open(false)
			if err != nil {
				t.Skip(err) // there is no shell everywhere
			}
			defer opened.close()
			without := toolFlags{sets: []string{"none"}}
			for _, def := range opened.defs {
				if got, want := without.missing(def.Name), "to have it: --tools "+set; !strings.HasSuffix(got, want) {
					t.Errorf("missing(%q) = %q, want it to end in %q", def.Name, got, want)
				}
				if got := f.missing(def.Name); got != "" {
					t.Errorf("missing(%q) = %q where the set is chosen", def.Name, got)
				}
			}
		})
	}
}
