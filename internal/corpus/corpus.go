// Package corpus finds collections of programs and data that are too large for
// the repository, for tests. They lie beside the module, in ../shared/data.
package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Dir is the directory of the collection name. Where there is none, the test is
// skipped with a sentence that says so.
func Dir(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(moduleRoot(t), "..", "shared", "data", name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the collection %s is not beside the module (../shared/data); its test needs it", name)
	} else if err != nil {
		t.Fatal(err)
	}
	return dir
}

// ReadFile is the content of a file of the collection name.
func ReadFile(t testing.TB, name, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Dir(t, name), file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ReadLines decodes the JSON values of a file of the collection name, one a
// line.
func ReadLines[V any](t testing.TB, name, file string) []V {
	t.Helper()
	f, err := os.Open(filepath.Join(Dir(t, name), file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []V
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v V
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s line %d: %v", file, len(out)+1, err)
		}
		out = append(out, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// moduleRoot is the nearest directory above the test with a go.mod.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test's directory")
		}
		dir = up
	}
}
