package fstools

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/runcode-go/runcode/tools"
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
	// Hide says which files and directories glob and grep pass over and no
	// error suggests, as if they did not exist; a policy that denies paths
	// gives its rule here, since those two answer with names nobody asked for
	// one by one. It gets a path relative to the root, must be safe for
	// concurrent use, and does not concern read. Nil hides nothing.
	Hide func(path string, dir bool) bool
}

// The defaults of Options.
const (
	defaultReadBytes = 4 << 20
	defaultScanBytes = 512 << 20
	defaultEntries   = 200_000
	defaultPaths     = 20_000
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
	} {
		if limit.value < 0 {
			return r, fmt.Errorf("file tools: Options.%s is %d; want a positive number, or 0 for the default", limit.name, limit.value)
		}
	}
	r.ReadBytes = cmp.Or(r.ReadBytes, defaultReadBytes)
	r.ScanBytes = cmp.Or(r.ScanBytes, defaultScanBytes)
	r.Entries = cmp.Or(r.Entries, defaultEntries)
	r.Paths = cmp.Or(r.Paths, defaultPaths)
	return r, nil
}

// Set is the file tools over one directory tree. It is safe for concurrent use.
type Set struct {
	root *os.Root
	// names are the absolute spellings of the root: as it was given, and with
	// symbolic links resolved where that differs.
	names []string
	opts  Options
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
	return &Set{root: root, names: names, opts: resolved}, nil
}

// Close gives the directory back. Calls that run finish; later ones fail.
func (s *Set) Close() error { return s.root.Close() }

var (
	//go:embed read.md
	readText string
	//go:embed glob.md
	globText string
	//go:embed grep.md
	grepText string
)

// Tools returns the definitions of read, glob and grep.
func (s *Set) Tools() []*tools.Definition {
	return []*tools.Definition{
		tools.DefineWith(looksOnly("read", readText, renderRead), ignoreRun(s.read)),
		tools.DefineWith(looksOnly("glob", globText, renderGlob), ignoreRun(s.glob)),
		tools.DefineWith(looksOnly("grep", grepText, renderGrep), ignoreRun(s.grep)),
	}
}
