//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestExampleCommandLines runs every command line that the head of an example
// script shows, in the directory it is meant for.
func TestExampleCommandLines(t *testing.T) {
	scripts, err := filepath.Glob("../../examples/scripts/*.ts")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no example scripts: %v", err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range strings.Lines(string(text)) {
			line, ok := strings.CutPrefix(strings.TrimSpace(line), "//   runcode ")
			if !ok {
				continue
			}
			found++
			t.Run(line, func(t *testing.T) {
				cmd := exec.Command("sh", "-c", "runcode "+line)
				cmd.Dir = "../.."
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "\nruncode: ok, ") {
					t.Errorf("%s ended with %v and said\n%s", line, err, out)
				}
			})
		}
		if found == 0 {
			t.Errorf("%s does not say how it is run", script)
		}
	}
}
