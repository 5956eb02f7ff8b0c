package fstools

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// shownPaths is how many paths the rendered text of a glob has.
const shownPaths = 1_000

type globIn struct {
	Pattern string `json:"pattern" jsonschema:"the pattern for paths below path, such as **/*.ts"`
	Path    string `json:"path,omitzero" jsonschema:"the directory to search; default: the root directory"`
}

// globOut is the canonical value of glob.
type globOut struct {
	Paths     []string `json:"paths"` // sorted, relative to the root
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated"`
	Note      string   `json:"note,omitempty" jsonschema:"what was cut or left out, and why"`
}

func (s *Set) glob(ctx context.Context, run *tools.Run, in globIn) (globOut, error) {
	_, pattern, err := s.globBase(in)
	if err != nil {
		return globOut{}, err
	}
	base, err := judged(s, "glob", run, in, s.globSubjects)
	if err != nil {
		return globOut{}, err
	}
	compiled, err := compileGlob(pattern)
	if err != nil {
		return globOut{}, badArgs("glob", "pattern", "%v", err)
	}
	w := s.walker(ctx, "glob", base, compiled)
	if err := w.walk(); err != nil {
		return globOut{}, err
	}
	return w.globResult(compiled), nil
}

// globSubjects is the tree a glob looks at. A pattern it refuses touches none.
func (s *Set) globSubjects(in globIn) ([]tools.Subject, error) {
	base, _, err := s.globBase(in)
	if err != nil {
		return nil, err
	}
	tree, err := s.subject("glob", tools.AccessRead, base, true)
	return []tools.Subject{tree}, err
}

// globBase is the directory a glob searches and the pattern below it. It makes
// sense of a pattern that begins with a path of its own: an absolute one inside
// the root, or "./".
func (s *Set) globBase(in globIn) (base, pattern string, err error) {
	base, pattern = in.Path, in.Pattern
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
	}
	if filepath.IsAbs(filepath.FromSlash(pattern)) {
		for _, name := range s.names {
			if rest, ok := strings.CutPrefix(pattern, strings.TrimSuffix(filepath.ToSlash(name), "/")+"/"); ok {
				return ".", strings.TrimLeft(rest, "/"), nil
			}
		}
		return "", "", fail(codeSandbox, nil, "glob %q: the pattern lies outside the root directory %s; give one relative to it", pattern, s.names[0])
	}
	for element := range strings.SplitSeq(pattern, "/") {
		if element == ".." {
			return "", "", badArgs("glob", "pattern", "has the element %q; name the directory in path instead", "..")
		}
	}
	return base, pattern, nil
}

// walker makes a walk that keeps what pattern, relative to base, matches. A nil
// pattern keeps everything.
func (s *Set) walker(ctx context.Context, op string, base place, pattern *globPattern) *walker {
	w := &walker{set: s, ctx: ctx, op: op, base: base, opener: opener{set: s}}
	w.keep = func(rel string) bool { return pattern == nil || pattern.matches(w.below(rel)) }
	w.into = func(rel string) bool { return pattern == nil || pattern.mayHold(w.below(rel)) }
	return w
}

func (w *walker) globResult(pattern *globPattern) globOut {
	out := globOut{Paths: []string{}, Total: len(w.files), Truncated: w.full}
	notes := w.notes()
	room := maxFound
	for _, f := range w.files[:min(len(w.files), w.set.opts.Paths)] {
		if room -= len(f.rel); room < 0 {
			break
		}
		out.Paths = append(out.Paths, f.rel)
	}
	if listed := len(out.Paths); listed < len(w.files) {
		out.Truncated = true
		notes.add("only the first %d paths are listed; narrow the pattern or give a path", listed)
	}
	if len(w.files) == 0 {
		w.whyNone(&notes, pattern)
	}
	out.Note = notes.String()
	return out
}

// whyNone adds what may have been meant by a pattern that matches nothing.
func (w *walker) whyNone(n *notes, pattern *globPattern) {
	w.excludedNote(n)
	switch {
	case strings.HasSuffix(pattern.text, "/"):
		n.add("the pattern ends in a slash and only files are listed; write %s** for the files below", pattern.text)
	case pattern.depth == 0:
		n.add("the pattern looks directly in the directory only; begin it with **/ to look at any depth")
	}
	if strings.Contains(pattern.text, "[") {
		n.add("[ begins a set of characters; write \\[ for the character itself")
	}
}

func (w *walker) excludedNote(n *notes) {
	if w.excluded > 0 {
		n.add("%s excluded by .gitignore; name an excluded directory in path to search it", count(w.excluded, "file or directory is", "files and directories are"))
	}
}

// renderGlob is the text a model reads: one path a line.
func renderGlob(v globOut) string {
	shown := v.Paths[:min(len(v.Paths), shownPaths)]
	var b strings.Builder
	for _, p := range shown {
		b.WriteString(nameText(p) + "\n")
	}
	var notes notes
	switch {
	case len(v.Paths) == 0:
		notes.add("no file matches")
	case len(shown) < len(v.Paths) || v.Total > len(v.Paths):
		notes.add("%d of %d paths", len(shown), v.Total)
	case v.Truncated:
		notes.add("the list is not complete")
	}
	if v.Note != "" {
		notes.add("%s", v.Note)
	}
	b.WriteString(notes.line())
	return strings.TrimSuffix(b.String(), "\n")
}
