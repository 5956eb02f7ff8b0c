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
	if w.set.hidesWay(w.base, w.base, true) {
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

// entriesPerLook is how many entries are passed without a look at the context.
const entriesPerLook = 64

// enter looks at the entries of a directory and goes on into those below. What is
// hidden is met whatever is wanted: if it depended on that, one pattern after
// another would spell hidden names out.
func (w *walker) enter(dir place, entries []fs.DirEntry, chain *gitignore.Chain, depth int) error {
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile && e.Type().IsRegular() }) {
		chain = w.loadIgnore(dir, chain)
	}
	for i, e := range entries {
		if i%entriesPerLook == 0 {
			if err := aborted(w.ctx, w.op); err != nil {
				return err
			}
		}
		at := place{rel: join(dir.rel, e.Name()), real: join(dir.real, e.Name())}
		switch {
		case !utf8.ValidString(at.rel):
			w.unnamed++
		case e.Name() == repositoryStore || isTemporary(e.Name()):
		case !e.IsDir():
			w.file(at, e.Type(), chain)
		case w.set.hides(w.base, at, true):
			w.hidden = true
		case w.into(at.rel):
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
func (w *walker) file(found place, kind fs.FileMode, chain *gitignore.Chain) {
	link := kind&fs.ModeSymlink != 0
	if !link && !kind.IsRegular() {
		return
	}
	at, inside := found, true
	if link {
		at, inside = w.set.lookUp(found.rel)
	}
	switch {
	case w.set.hides(w.base, found, false) || link && inside && w.set.hidesWay(w.base, at, false):
		w.hidden = true
	case !w.keep(found.rel):
	case chain.Ignores(found.rel, false):
		w.excluded++
	case inside && (!link || w.leadsToFile(at)):
		w.files = append(w.files, walked{at, link})
	}
}

func (w *walker) leadsToFile(at place) bool {
	info, err := w.set.look(at.real)
	return err == nil && info.Mode().IsRegular()
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
