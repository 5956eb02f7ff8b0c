package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain also makes the test binary the command itself, under the name
// runcode, and so its workers: they are copies of the running binary.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"runcode": main})
}

// leakChecked fails a run of tests that leaves goroutines. The tests have a home
// without settings, whatever its owner's says.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	home, err := os.MkdirTemp("", "runcode-home-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(home)
	for _, name := range []string{"HOME", "USERPROFILE", "XDG_CONFIG_HOME", "AppData"} {
		os.Setenv(name, home)
	}
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestErrorsAreEscaped shows that names from a command line, which may come from
// anywhere, cannot take over the terminal.
func TestErrorsAreEscaped(t *testing.T) {
	const evil = "\x1b[2J\u202e"
	for _, args := range [][]string{
		{"run", evil},
		{"run", "--input", "@" + evil, "main.go"},
		{"types", "--mock", evil},
		{"types", "--root", evil},
	} {
		t.Run(strings.Join(args[:len(args)-1], " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(args, strings.NewReader(""), &stdout, &stderr)
			if code != exitUsage || stdout.Len() > 0 {
				t.Errorf("exit status %d after %q, want %d after nothing", code, stdout.String(), exitUsage)
			}
			if text := stderr.String(); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, `\x1b[2J\u{202e}`) {
				t.Errorf("standard error = %q, want the name escaped", text)
			}
		})
	}
}
