package tools_test

import (
	"os"
	"path/filepath"
	"testing"
)

// dataFile reads a file of the shared test data, which stands beside the
// module, and skips the test where there is none.
func dataFile(tb testing.TB, name ...string) []byte {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(append([]string{dir, "..", "shared", "data"}, name...)...))
	if err != nil {
		tb.Skipf("the file %s is not there; this test needs the test data beside the module", filepath.Join(name...))
	}
	return text
}
