package permission

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFoldsCase(t *testing.T) {
	root := t.TempDir()
	probe := filepath.Join(root, "probe")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := os.Stat(filepath.Join(root, "PROBE"))
	if got, want := foldsCase(root), err == nil; got != want {
		t.Errorf("foldsCase = %v, want %v", got, want)
	}
	// Two files whose names differ in case show that it counts.
	if err := os.WriteFile(filepath.Join(root, "PROBE"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if names, _ := os.ReadDir(root); len(names) == 2 && foldsCase(root) {
		t.Error("foldsCase takes two files for one")
	}
}

// Only letters whose case nobody disputes are tried: no name in the tree makes a
// file system that folds case look like one that does not.
func TestSwapCase(t *testing.T) {
	for name, want := range map[string]string{"aZ-1": "Az-1", "ı": "ı", "ŋß": "ŋß", "éa": "éA", "1": "1"} {
		if got := swapCase(name); got != want {
			t.Errorf("swapCase(%q) = %q, want %q", name, got, want)
		}
	}
}
