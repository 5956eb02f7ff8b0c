package fstools

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

// folds reports whether names below dir, which is absolute, are found in either
// case of their letters: whether dir itself is. Where dir has no letter to try,
// the operating system's habit decides.
func folds(dir string) bool {
	swapped := swapCase(dir)
	if swapped == dir {
		return runtime.GOOS == "windows" || runtime.GOOS == "darwin"
	}
	a, errA := os.Stat(dir)
	b, errB := os.Stat(swapped)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// swapCase changes the case of the letters every file system that folds case
// agrees about: a dotless i, for one, has a capital in Unicode that no file
// system finds it by.
func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, name)
}

// stored is dir/name under the name the directory itself gives it, where one
// file can be found by many names.
func (s *Set) stored(dir, name string, info fs.FileInfo) string {
	if runtime.GOOS == "windows" {
		// The system's own answer has long names in place of 8.3 ones as well.
		if real, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err == nil {
			return real
		}
	}
	if s.folds {
		if d, err := os.Open(dir); err == nil {
			names, _ := d.Readdirnames(-1)
			d.Close()
			name = nameIn(names, name, func(candidate string) bool {
				other, err := os.Lstat(filepath.Join(dir, candidate))
				return err == nil && os.SameFile(info, other)
			})
		}
	}
	return filepath.Join(dir, name)
}

// nameIn picks from the names of a directory the one that name finds: itself,
// or one that differs in case or in the composition of its characters.
func nameIn(names []string, name string, same func(string) bool) string {
	if slices.Contains(names, name) {
		return name
	}
	for _, candidate := range names {
		if (strings.EqualFold(candidate, name) || !isASCII(candidate) && !isASCII(name)) && same(candidate) {
			return candidate
		}
	}
	return name
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}
