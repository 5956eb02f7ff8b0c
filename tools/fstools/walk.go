package fstools

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/gitignore"
)

const (
	ignoreFile      = ".gitignore"
	maxIgnoreBytes  = 1 << 20 // of one .gitignore that are read
	maxDepth        = 500     // directories in each other
	entriesAtOnce   = 1_024
	repositoryStore = ".git"
)

// walker lists the files below a directory. It leaves out what .gitignore
// files exclude and the repository's own store, and never follows a link to a
// directory, so that it cannot go round in circles.
type walker struct {
	set  *Set
	ctx  context.Context
	op   string
	base string                // where the walk begins
	real string                // base with links resolved
	keep func(rel string) bool // which files are wanted; rel is from the root
	into func(rel string) bool // which directories may hold wanted files

	files []walked

	looked     int // entries seen
	excluded   int // by a .gitignore
	unreadable int // directories
	unnamed    int // names that are not UTF-8
	full       bool
}

// walked is one wanted file.
type walked struct {
	rel  string
	link bool
}

// walk lists the wanted files below the base in the order of their paths. The
// base itself is searched even if a .gitignore excludes it: who names
// it wants it.
func (w *walker) walk() error {
	base := w.base
	if w.set.hiddenPath(base, true) || w.set.hiddenPath(w.real, true) {
		return w.set.notFound(w.op, base, nil)
	}
	var chain *gitignore.Chain
	for i, c := range base {
		switch {
		case base == ".":
		case i == 0:
			chain = w.loadIgnore(".", chain)
		case c == '/':
			chain = w.loadIgnore(base[:i], chain)
		}
	}
	entries, err := w.list(base)
	if err != nil {
		return err
	}
	if err := w.enter(base, entries, chain, 0); err != nil {
		return err
	}
	slices.SortFunc(w.files, func(a, b walked) int { return strings.Compare(a.rel, b.rel) })
	return nil
}

// enter looks at the entries of a directory and goes on into those below.
func (w *walker) enter(dir string, entries []fs.DirEntry, chain *gitignore.Chain, depth int) error {
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile && e.Type().IsRegular() }) {
		chain = w.loadIgnore(dir, chain)
	}
	for _, e := range entries {
		rel := join(dir, e.Name())
		switch {
		case !utf8.ValidString(rel):
			w.unnamed++
		case e.Name() == repositoryStore:
		case w.hidden(rel, e.IsDir()):
		case !e.IsDir():
			w.file(rel, e, chain)
		case w.into(rel):
			if err := w.descend(rel, chain, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// hidden asks the host about an entry, under the name its directory really has
// as well, so that a link to a directory shows nothing the directory would not.
func (w *walker) hidden(rel string, dir bool) bool {
	hide := w.set.opts.Hide
	if hide == nil {
		return false
	}
	return hide(rel, dir) || w.real != w.base && hide(join(w.real, w.below(rel)), dir)
}

// below is rel as seen from the base.
func (w *walker) below(rel string) string {
	if w.base == "." {
		return rel
	}
	return rel[len(w.base)+1:]
}

// file keeps a file that is wanted. What a link leads to decides whether it
// counts as a file.
func (w *walker) file(rel string, e fs.DirEntry, chain *gitignore.Chain) {
	link := e.Type()&fs.ModeSymlink != 0
	if !link && !e.Type().IsRegular() || !w.keep(rel) {
		return
	}
	if chain.Ignores(rel, false) {
		w.excluded++
		return
	}
	if link {
		info, err := w.set.stat(rel)
		if err != nil || !info.Mode().IsRegular() {
			return
		}
	}
	w.files = append(w.files, walked{rel, link})
}

// descend enters one more directory. One that cannot be read is counted and
// passed over.
func (w *walker) descend(rel string, chain *gitignore.Chain, depth int) error {
	if chain.Ignores(rel, true) {
		w.excluded++
		return nil
	}
	if w.full {
		return nil
	}
	if depth == maxDepth {
		w.unreadable++
		return nil
	}
	entries, err := w.list(rel)
	if stop := aborted(w.ctx, w.op); stop != nil {
		return stop
	}
	if err != nil {
		w.unreadable++
		return nil
	}
	return w.enter(rel, entries, chain, depth+1)
}

// list reads a directory, as far as the budget of entries goes, in the order of
// names.
func (w *walker) list(rel string) ([]fs.DirEntry, error) {
	if err := aborted(w.ctx, w.op); err != nil {
		return nil, err
	}
	f, info, err := w.set.open(rel)
	if err != nil {
		return nil, w.set.openFailure(w.op, rel, err)
	}
	defer f.Close()
	if !info.IsDir() {
		return nil, fail(codeNotDir, nil, "%s %q: it is not a directory; give the path of one", w.op, rel)
	}
	var entries []fs.DirEntry
	for {
		// One more than the budget tells whether something is left over.
		room := w.set.opts.Entries - w.looked
		some, err := f.ReadDir(min(entriesAtOnce, room+1))
		if len(some) > room {
			w.full, some = true, some[:room]
		}
		w.looked += len(some)
		entries = append(entries, some...)
		switch {
		case w.full || errors.Is(err, io.EOF):
			slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return entries, nil
		case err != nil:
			return nil, w.set.openFailure(w.op, rel, err)
		}
		if err := aborted(w.ctx, w.op); err != nil {
			return nil, err
		}
	}
}

// loadIgnore adds the rules a directory has of its own. Like git it takes no
// .gitignore that is a link.
func (w *walker) loadIgnore(dir string, chain *gitignore.Chain) *gitignore.Chain {
	name := filepath.FromSlash(path.Join(dir, ignoreFile))
	if info, err := w.set.root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return chain
	}
	f, info, err := w.set.open(path.Join(dir, ignoreFile))
	if err != nil {
		return chain
	}
	defer f.Close()
	if !info.Mode().IsRegular() {
		return chain
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreBytes))
	if err != nil {
		return chain
	}
	return chain.With(dir, gitignore.Parse(string(text)))
}

// notes says what a walk passed over and which budget ended it.
func (w *walker) notes() notes {
	var n notes
	if w.full {
		n.add("stopped after %d directory entries; give a path to search a part of the tree", w.set.opts.Entries)
	}
	if w.unreadable > 0 {
		n.add("%s could not be read", count(w.unreadable, "directory", "directories"))
	}
	if w.unnamed > 0 {
		n.add("%s left out because their names are not UTF-8", count(w.unnamed, "entry", "entries"))
	}
	return n
}
