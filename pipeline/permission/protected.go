package permission

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/runcode-go/runcode/internal/gitignore"
)

// protectedNames are the directories and files, at any depth, that decide what
// programs run and what is permitted.
var protectedNames = []string{".git", ".claude", ".mcp.json"}

// protection knows the files that are always asked about before they are
// written. Case never matters.
type protection struct {
	root  place // folded
	names []string
	paths place // folded; what lies below one of them is protected too
}

// newProtection adds to the protected names below root the paths given.
func newProtection(root string, paths []string) *protection {
	p := &protection{root: newPlace(root).each(gitignore.Fold)}
	for _, name := range protectedNames {
		p.names = append(p.names, gitignore.Fold(name))
		paths = append(slices.Clip(paths), filepath.Join(root, name))
	}
	for _, name := range append(paths, gitDirs(root)...) {
		p.paths = append(p.paths, newPlace(name).each(gitignore.Fold)...)
	}
	return p
}

// gitDirs are the directories below root that a .git which is a file stands for,
// as in a work tree beside its repository: they need not be called .git. Nothing
// elsewhere is looked at, since whoever made the tree wrote the file.
func gitDirs(root string) []string {
	dir, ok := strings.CutPrefix(firstLine(filepath.Join(root, ".git")), "gitdir: ")
	if dir = absoluteIn(root, dir); !ok || !isBelow(root, dir) {
		return nil
	}
	dirs := []string{dir}
	if common := firstLine(filepath.Join(dir, "commondir")); common != "" {
		dirs = append(dirs, absoluteIn(dir, common))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !isBelow(root, dir) })
}

// isBelow reports whether a path lies in a directory, by their names alone.
func isBelow(dir, name string) bool {
	_, ok := below(slash(dir), slash(name))
	return ok
}

func absoluteIn(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// firstLine is the first line of a small file, "" if it cannot be read.
func firstLine(name string) string {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxPath {
		return ""
	}
	text, _ := os.ReadFile(name)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r")
}

// covers reports whether one of the forms of a path is protected; they are in
// the form of slash.
func (p *protection) covers(forms ...string) bool {
	return slices.ContainsFunc(forms, p.protects)
}

func (p *protection) protects(name string) bool {
	name = gitignore.Fold(name)
	within := name // where the root itself lies does not matter
	if rels := p.root.rels(name); len(rels) > 0 {
		within = rels[0]
	}
	for part := range strings.SplitSeq(within, "/") {
		if slices.Contains(p.names, plainName(part)) {
			return true
		}
	}
	return slices.ContainsFunc(p.paths, func(path string) bool {
		_, ok := below(path, name)
		return ok
	})
}

// plainName is the file that other spellings of a name open on some file
// systems: with dots or spaces at the end, a stream behind a colon, characters
// that are passed over, or in the short form of old.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, " .")
	switch short, _, _ := strings.Cut(name, "~"); {
	case short == name:
	case short == "GIT", short == "CLAUDE":
		return "." + short
	case short == "MCP" && strings.HasSuffix(name, ".JSO"):
		return ".MCP.JSON"
	}
	return name
}
