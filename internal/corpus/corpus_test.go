package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDirIsBesideTheModule(t *testing.T) {
	root := moduleRoot(t)
	if _, err := os.Stat(filepath.Join(root, "internal", "corpus", "corpus.go")); err != nil {
		t.Fatalf("%s is not the module's root: %v", root, err)
	}
}

func TestAbsentCollectionSkips(t *testing.T) {
	skipped := false
	t.Run("absent", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Dir(t, "no-such-collection")
	})
	if !skipped {
		t.Error("an absent collection did not skip the test")
	}
}

func TestReadLines(t *testing.T) {
	type outcome struct{ ID, Node string }
	all := ReadLines[outcome](t, "humaneval-x-js", "outcomes.jsonl")
	if len(all) != 164 || all[0] != (outcome{"JavaScript/0", "ok"}) {
		t.Errorf("got %d lines, the first %+v; want 164 from JavaScript/0", len(all), all[0])
	}
}
