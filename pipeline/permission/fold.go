package permission

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// foldsCase reports whether the file system below root takes names that differ
// only in case for one. It tries the names in the root and the root's own; where
// none has a letter the operating system's habit decides.
func foldsCase(root string) bool {
	names := []string{}
	if dir, err := os.Open(root); err == nil {
		names, _ = dir.Readdirnames(64)
		dir.Close()
	}
	for i, name := range names {
		names[i] = filepath.Join(root, name)
	}
	for _, name := range append(names, root) {
		swapped := filepath.Join(filepath.Dir(name), swapCase(filepath.Base(name)))
		if swapped == name {
			continue
		}
		info, err := os.Lstat(name)
		if err != nil {
			continue
		}
		other, err := os.Lstat(swapped)
		return err == nil && os.SameFile(info, other)
	}
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin"
}

// swapCase changes the case of the letters every file system that folds case
// agrees about. Whoever made the tree chose its names, and a letter such as the
// dotless i has another case in Unicode and not in the file system.
func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - ('a' - 'A')
		case 'A' <= r && r <= 'Z':
			return r + ('a' - 'A')
		}
		return r
	}, name)
}
