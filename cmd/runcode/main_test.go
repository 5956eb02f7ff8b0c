package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain also makes the test binary the command itself, under the name
// runcode, and so its workers: they are copies of the running binary.
func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"runcode": main})
}

// leakChecked fails a run of tests that leaves goroutines.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
