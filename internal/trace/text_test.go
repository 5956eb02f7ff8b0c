package trace_test

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestText shows the samples in all forms of text.
func TestText(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			tr := readSample(t, s.name)
			var out bytes.Buffer
			for _, print := range []func() error{
				func() error { return tr.Tree(&out) },
				func() error { return tr.Waterfall(&out) },
				func() error { return tr.Summary(&out) },
			} {
				if err := print(); err != nil {
					t.Fatal(err)
				}
				out.WriteString("--\n")
			}
			golden(t, filepath.Join("testdata", s.name+".txt"), out.Bytes())
		})
	}
}
