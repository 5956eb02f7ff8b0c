package fstools

import (
	"context"
	"errors"
	"io"
	"io/fs"
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
	base place                 // where the walk begins
	from string                // the base's real path, absolute, for the host's Hide
	keep func(rel string) bool // which files are wanted; rel is from the root
	into func(rel string) bool // which directories may hold wanted files

	files []walked

	opener     opener
	looked     int // entries seen
	excluded   int // by a .gitignore
	unreadable int // directories
	unnamed    int // names that are not UTF-8
	hidden     bool
	full       bool
}

// walked is one wanted file.
type walked struct {
	place
	link bool
}

// walk lists the wanted files below the base in the order of their paths. The
// base itself is searched even if a .gitignore excludes it: who names
// it wants it.
func (w *walker) walk() error {
	defer w.opener.close()
	base := w.base.rel
	if w.set.hidesWay(w.from, w.base, true) {
		return w.set.notFound(w.op, base, nil)
	}
	var chain *gitignore.Chain
	for i, c := range base {
		switch {
		case base == ".":
		case i == 0:
			chain = w.loadIgnore(place{".", "."}, chain)
		case c == '/':
			if above, ok := w.set.lookUp(base[:i]); ok {
				chain = w.loadIgnore(above, chain)
			}
		}
	}
	if info, err := w.set.look(w.base.real); err == nil && !info.IsDir() {
		return fail(codeNotDir, nil, "%s %q: it is not a directory; give the path of one", w.op, base)
	}
	entries, err := w.list(w.base)
	if err != nil {
		return err
	}
	if err := w.enter(w.base, entries, chain, 0); err != nil {
		return err
	}
	slices.SortFunc(w.files, func(a, b walked) int { return strings.Compare(a.rel, b.rel) })
	return nil
}

// enter looks at the entries of a directory and goes on into those below.
func (w *walker) enter(dir place, entries []fs.DirEntry, chain *gitignore.Chain, depth int) error {
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile && e.Type().IsRegular() }) {
		chain = w.loadIgnore(dir, chain)
	}
	for _, e := range entries {
		at := place{rel: join(dir.rel, e.Name()), real: join(dir.real, e.Name())}
		switch {
		case !utf8.ValidString(at.rel):
			w.unnamed++
		case e.Name() == repositoryStore || isTemporary(e.Name()):
		case !e.IsDir():
			w.file(at, e.Type(), chain)
		case !w.into(at.rel):
		case w.set.hides(w.from, at, true):
			w.hidden = true
		default:
			if err := w.descend(at, chain, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// below is rel as seen from the base.
func (w *walker) below(rel string) string {
	if w.base.rel == "." {
		return rel
	}
	return rel[len(w.base.rel)+1:]
}

// file keeps a file that is wanted. What a link leads to decides whether it
// counts as a file and whether it is hidden.
func (w *walker) file(at place, kind fs.FileMode, chain *gitignore.Chain) {
	link := kind&fs.ModeSymlink != 0
	if !link && !kind.IsRegular() || !w.keep(at.rel) {
		return
	}
	if w.set.hides(w.from, at, false) {
		w.hidden = true
		return
	}
	if chain.Ignores(at.rel, false) {
		w.excluded++
		return
	}
	if link {
		target, inside := w.set.lookUp(at.rel)
		if !inside {
			return
		}
		info, err := w.set.look(target.real)
		if err != nil || !info.Mode().IsRegular() {
			return
		}
		if w.set.hidesWay(w.from, target, false) {
			w.hidden = true
			return
		}
		at = target
	}
	w.files = append(w.files, walked{at, link})
}

// descend enters one more directory. One that cannot be read is counted and
// passed over.
func (w *walker) descend(at place, chain *gitignore.Chain, depth int) error {
	if chain.Ignores(at.rel, true) {
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
	entries, err := w.list(at)
	if stop := aborted(w.ctx, w.op); stop != nil {
		return stop
	}
	if err != nil {
		w.unreadable++
		return nil
	}
	return w.enter(at, entries, chain, depth+1)
}

// list reads a directory, as far as the budget of entries goes, in the order of
// names.
func (w *walker) list(at place) ([]fs.DirEntry, error) {
	if err := aborted(w.ctx, w.op); err != nil {
		return nil, err
	}
	f, err := w.opener.openDir(at.real)
	if err != nil {
		return nil, w.set.openFailure(w.op, at.rel, err)
	}
	defer f.Close()
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
			return nil, w.set.openFailure(w.op, at.rel, err)
		}
		if err := aborted(w.ctx, w.op); err != nil {
			return nil, err
		}
	}
}

// loadIgnore adds the rules a directory has of its own. Like git it takes no
// .gitignore that is a link.
func (w *walker) loadIgnore(dir place, chain *gitignore.Chain) *gitignore.Chain {
	f, info, err := w.opener.open(join(dir.real, ignoreFile))
	if err != nil || f == nil {
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
	return chain.With(dir.rel, gitignore.Parse(string(text)))
}

// notes says what a walk passed over and which budget ended it.
func (w *walker) notes() notes {
	var n notes
	if w.hidden {
		n.add("paths that policy denies are left out")
	}
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
