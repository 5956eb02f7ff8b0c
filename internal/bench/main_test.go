package bench

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/codemode"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", name, diff)
	}
}

// inProcess is a bench without worker processes.
func inProcess(t *testing.T) *bench {
	t.Helper()
	b, err := newBench(t.Context(), &Options{Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.runtime.Close() })
	return b
}

func quick(t *testing.T, o Options) *Report {
	t.Helper()
	o.Quick, o.Isolation = true, codemode.IsolationInProcess
	r, err := Run(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJSON(t *testing.T, r *Report) []byte {
	t.Helper()
	return written(t, func(b *bytes.Buffer) error { return r.JSON(b) })
}
