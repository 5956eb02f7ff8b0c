package permission

import (
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
	for _, name := range paths {
		p.paths = append(p.paths, newPlace(name).each(gitignore.Fold)...)
	}
	return p
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
	if short, _, ok := strings.Cut(name, "~"); ok && (short == "GIT" || short == "CLAUDE") {
		return "." + short
	}
	return name
}
