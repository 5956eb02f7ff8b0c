package schema_test

import (
	"os"
	"path/filepath"
	"testing"
)

// dataDir finds shared test data, which stands beside the module, and skips the
// test where there is none.
func dataDir(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			tb.Skip("the module root was not found, so neither was its test data")
		}
		dir = filepath.Dir(dir)
	}
	data := filepath.Join(dir, "..", "shared", "data", name)
	if _, err := os.Stat(data); err != nil {
		tb.Skipf("the data set %s is not there; this test needs it beside the module", name)
	}
	return data
}
