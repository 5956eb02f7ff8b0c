package fstools

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Options bounds what one call may cost. A zero field has the default its
// comment names; a negative one is an error of New.
type Options struct {
	// ReadBytes is how much text one read returns, and how large a file may be
	// that is read without offset and limit. 4 MiB.
	ReadBytes int
	// ScanBytes is how much one call reads from disk to find its answer: the
	// lines before a window and the count of those after it, or the files grep
	// searches. 512 MiB.
	ScanBytes int64
	// Entries is how many directory entries one glob or grep looks at. 200,000.
	Entries int
	// Paths is how many paths a glob returns. 20,000.
	Paths int
	// WriteBytes is how large a file write and edit make. 4 MiB.
	WriteBytes int
	// Hide says which files and directories glob and grep pass over and no
	// error suggests; a policy that denies paths gives its rule here (or later,
	// to Set.SetHide), since those two answer with names nobody asked for one
	// by one. Both paths are absolute and in the operating system's form: base
	// is where the search begins, or the directory of a suggestion. The question
	// is put for both as they were named and, where path differs, as they really
	// are, links resolved, so that a link to a hidden file is hidden. It must be
	// safe for concurrent use, and does not concern read, write and edit. Nil
	// hides nothing.
	Hide func(base, path string, dir bool) bool
	// Gates are the conditions on changes; see Gates. Zero: none.
	Gates Gates
}

// The defaults of Options.
const (
	defaultReadBytes = 4 << 20
	defaultScanBytes = 512 << 20
	defaultEntries   = 200_000
	defaultPaths     = 20_000
	defaultWrite     = 4 << 20
)

func (o *Options) resolve() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"ReadBytes", int64(r.ReadBytes)}, {"ScanBytes", r.ScanBytes},
		{"Entries", int64(r.Entries)}, {"Paths", int64(r.Paths)},
		{"WriteBytes", int64(r.WriteBytes)},
	} {
		if limit.value < 0 {
			return r, fmt.Errorf("file tools: Options.%s is %d; want a positive number, or 0 for the default", limit.name, limit.value)
		}
	}
	r.ReadBytes = cmp.Or(r.ReadBytes, defaultReadBytes)
	r.ScanBytes = cmp.Or(r.ScanBytes, defaultScanBytes)
	r.Entries = cmp.Or(r.Entries, defaultEntries)
	r.Paths = cmp.Or(r.Paths, defaultPaths)
	r.WriteBytes = cmp.Or(r.WriteBytes, defaultWrite)
	return r, nil
}

// Set is the file tools over one directory tree. It is safe for concurrent use.
type Set struct {
	root *os.Root
	// names are the absolute spellings of the root: as it was given, and with
	// symbolic links resolved where that differs.
	names []string
	folds bool // a name is found in either case of its letters
	opts  Options
	hide  atomic.Pointer[hideFunc]

	// changes is held while a file is checked and replaced, and while no code
	// but this package's runs.
	changes sync.Mutex
}

// New opens the directory tree the tools see. Nil options mean the defaults.
func New(dir string, opts *Options) (*Set, error) {
	resolved, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("file tools: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, fmt.Errorf("file tools: the root must be a directory that exists: %w", err)
	}
	names := []string{abs}
	if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
		names = append(names, real)
	}
	s := &Set{root: root, names: names, opts: resolved, folds: folds(names[len(names)-1])}
	s.SetHide(resolved.Hide)
	return s, nil
}

// Close gives the directory back. Calls that run finish; later ones fail.
func (s *Set) Close() error { return s.root.Close() }
