package permission

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/gitignore"
)

// maxPath is the longest path that is judged, in bytes. No file has a longer
// one.
const maxPath = 32 << 10

// slash is an absolute path in the form rules are tested on: cleaned, with
// slashes, a drive as its first directory (/c/Users).
func slash(name string) string {
	name = filepath.Clean(name)
	drive := filepath.VolumeName(name)
	name = filepath.ToSlash(name)
	if len(drive) == 2 && drive[1] == ':' {
		return "/" + strings.ToLower(drive[:1]) + name[2:]
	}
	return name
}

// place is a directory or a file, by every name it has: as given and with
// symbolic links resolved.
type place []string

// newPlace is the place of an absolute path.
func newPlace(name string) place {
	p := place{slash(name)}
	if real := resolved(name); slash(real) != p[0] {
		p = append(p, slash(real))
	}
	return p
}

// resolved is a path with its symbolic links followed, as far as it exists.
func resolved(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		return real
	}
	dir := filepath.Dir(name)
	if dir == name {
		return name
	}
	return filepath.Join(resolved(dir), filepath.Base(name))
}

// up is the place's parent directory.
func (p place) up() place {
	return p.each(path.Dir)
}

func (p place) each(change func(string) string) place {
	out := make(place, len(p))
	for i, name := range p {
		out[i] = change(name)
	}
	return out
}

// rels lists what a path is called from the place, "." for the place itself; it
// is empty for a path outside.
func (p place) rels(name string) []string {
	var rels []string
	for _, base := range p {
		if rel, ok := below(base, name); ok {
			rels = append(rels, rel)
		}
	}
	return rels
}

// below is name as seen from base, both in the form of slash.
func below(base, name string) (string, bool) {
	if name == base {
		return ".", true
	}
	if base == "/" {
		return strings.CutPrefix(name, "/")
	}
	if rest, ok := strings.CutPrefix(name, base); ok && strings.HasPrefix(rest, "/") {
		return rest[1:], true
	}
	return "", false
}

// origin says which directory a path pattern begins at.
type origin uint8

const (
	fromRoot   origin = iota // x, ./x: the root
	fromSource               // /x: the directory of the settings
	fromHome                 // ~/x
	fromTop                  // //x: the top of the file system
)

// pathSpec is a path pattern as it is written in a rule.
type pathSpec struct {
	from    origin
	up      int      // how many directories above that it begins
	pattern string   // for gitignore
	parts   []string // the elements of a pattern that begins with a directory's name
	// around is a pattern of the directory whose whole content is named, x of
	// x/**: "." for the one the pattern begins at, "" for none.
	around string
}

// parsePath reads a path pattern. One that would match nothing, though it looks
// as if it did, is an error: it may be a denial.
func parsePath(text string) (pathSpec, error) {
	text = strings.TrimSpace(text)
	if err := checkPath(text); err != nil {
		return pathSpec{}, err
	}
	s, rest := splitOrigin(text)
	parts, up, err := cleanParts(rest)
	if err != nil {
		return s, err
	}
	s.up = up
	anchored := rest != text || up > 0 || strings.Contains(strings.TrimRight(rest, "/"), "/")
	if !anchored && len(parts) > 0 && parts[0] == "*" { // all that the directory holds
		parts = nil
	}
	s.name(parts)
	if anchored {
		s.pattern = "/" + s.pattern
		s.parts = parts
	}
	if strings.HasSuffix(rest, "/") {
		s.pattern += "/"
	}
	_, err = gitignore.ParsePattern(s.pattern, false)
	return s, err
}

// name makes the pattern of its elements; none mean all that the directory
// holds.
func (s *pathSpec) name(parts []string) {
	if len(parts) == 0 {
		parts = []string{"**"}
	}
	s.pattern = strings.Join(parts, "/")
	named := parts
	for len(named) > 0 && stars(named[len(named)-1]) {
		named = named[:len(named)-1]
	}
	switch {
	case len(named) == 0:
		s.around = "."
	case len(named) < len(parts):
		s.around = "/" + strings.Join(named, "/")
	}
}

// stars reports whether an element of a pattern matches any number of elements.
func stars(part string) bool { return len(part) > 1 && strings.Trim(part, "*") == "" }

func splitOrigin(spec string) (pathSpec, string) {
	for _, form := range []struct {
		prefix string
		from   origin
	}{{"//", fromTop}, {"~/", fromHome}, {"/", fromSource}, {"./", fromRoot}} {
		if rest, ok := strings.CutPrefix(spec, form.prefix); ok {
			return pathSpec{from: form.from}, rest
		}
	}
	return pathSpec{}, spec
}

// checkPath finds what people write and what no file is called.
func checkPath(spec string) error {
	switch {
	case strings.HasPrefix(spec, "!"):
		return errors.New("a rule cannot be negated")
	case strings.HasPrefix(spec, "~") && !strings.HasPrefix(spec, "~/"):
		return errors.New("only ~/ stands for a home directory")
	case strings.HasPrefix(spec, "$"):
		return errors.New("variables are not expanded; write // before an absolute path or ~/ for the home directory")
	case len(spec) > 2 && spec[1] == ':' && strings.ContainsAny(spec[2:3], `/\`):
		return fmt.Errorf("an absolute path begins with //; write //%s/ for the drive", strings.ToLower(spec[:1]))
	case len(spec) > 1 && strings.ContainsAny(spec[:1], "\"'`") && spec[0] == spec[len(spec)-1]:
		return errors.New("a path is written without quotes")
	case strings.HasSuffix(spec, ":*"):
		return errors.New(`":*" belongs to commands; end a path with * or /**`)
	}
	for i := 0; i < len(spec); i++ {
		switch c := spec[i]; {
		case c == '{':
			return errors.New("braces are not expanded; write one rule for each alternative")
		case c == '\\' && i+1 < len(spec) && (notSpecial(spec[i+1]) || strings.HasPrefix(spec[i+1:], "**")):
			return errors.New("a path is written with / and not with a backslash")
		case c == '\\':
			i++
		}
	}
	return nil
}

func notSpecial(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '.' || c == '_' || c == '\\' || c >= 0x80
}

// cleanParts is a pattern as its elements, without those that mean nothing. up
// counts the leading elements that go one directory up.
func cleanParts(pattern string) (parts []string, up int, err error) {
	for part := range strings.SplitSeq(pattern, "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			parts = append(parts, part)
		case len(parts) == 0:
			up++
		case strings.Contains(parts[len(parts)-1], "**"):
			return nil, 0, errors.New(`".." after ** leads nowhere`)
		default:
			parts = parts[:len(parts)-1]
		}
	}
	return parts, up, nil
}

// pathRule is a path pattern ready for use. It is immutable.
type pathRule struct {
	base    place
	pattern *gitignore.Pattern
	around  *gitignore.Pattern // nil: none
	whole   bool               // the base itself belongs to what is named
	// leads are what the symbolic links the pattern names lead to.
	leads []*pathRule
}

// bases are the directories patterns begin at.
type bases struct {
	root, home place
	fold       bool
}

// newBases finds the directories. root is absolute.
func newBases(root string, opts Options) (bases, error) {
	var b bases
	if opts.FoldCase != nil {
		b.fold = *opts.FoldCase
	} else {
		b.fold = foldsCase(root)
	}
	b.root = newPlace(root)
	home := opts.Home
	if home == "" {
		home, _ = os.UserHomeDir() // rules that need it then say so
	}
	if home == "" {
		return b, nil
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return b, fmt.Errorf("cannot find the home directory %s: %w", opts.Home, err)
	}
	b.home = newPlace(home)
	return b, nil
}

// key is a path as it is compared.
func (b *bases) key(name string) string { return b.folded(slash(name)) }

func (b *bases) folded(name string) string {
	if b.fold {
		return gitignore.Fold(name)
	}
	return name
}

// compile makes a pattern ready. source is the directory of its settings. With
// follow it is also about what the links it names lead to at this time; to look at
// a name can be an effect, so that nobody's names but the operator's are followed.
func (b *bases) compile(s pathSpec, source place, follow bool) (*pathRule, error) {
	base := b.root
	switch s.from {
	case fromSource:
		base = source
	case fromHome:
		base = b.home
	case fromTop:
		base = place{"/"}
	}
	if base == nil {
		return nil, errors.New("the home directory is not known")
	}
	for range s.up {
		base = base.up()
	}
	r, err := b.rule(s, base)
	if err == nil && follow {
		r.leads, err = b.leads(s, base)
	}
	return r, err
}

// rule makes a pattern ready that begins at base.
func (b *bases) rule(s pathSpec, base place) (*pathRule, error) {
	r := &pathRule{base: base.each(b.folded), whole: s.around == "."}
	var err error
	if r.pattern, err = gitignore.ParsePattern(s.pattern, b.fold); err != nil {
		return nil, err
	}
	if s.around != "" && !r.whole {
		r.around, err = gitignore.ParsePattern(s.around, b.fold)
	}
	return r, err
}

// leads are the rules about what the symbolic links among the first elements of
// the pattern lead to, as far as those are plain names.
func (b *bases) leads(s pathSpec, base place) (list []*pathRule, err error) {
	plain := slices.IndexFunc(s.parts, func(part string) bool { return strings.ContainsAny(part, `*?[\`) })
	if plain < 0 {
		plain = len(s.parts)
	}
	named := base.each(func(dir string) string { return path.Join(dir, path.Join(s.parts[:plain]...)) })
	for _, name := range named {
		real := slash(resolved(native(name)))
		if slices.Contains(named, real) {
			continue
		}
		named = append(named, real)
		var rest pathSpec
		rest.name(s.parts[plain:])
		rest.pattern = "/" + rest.pattern
		r, err := b.rule(rest, place{real})
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// native is a path in the form of slash in the operating system's.
func native(name string) string {
	if runtime.GOOS == "windows" && len(name) > 1 && name[0] == '/' && (len(name) == 2 || name[2] == '/') {
		name = name[1:2] + ":/" + strings.TrimPrefix(name[2:], "/")
	}
	return filepath.FromSlash(name)
}

// covers reports whether the rule names the path, which is a key, or a
// directory it lies in. tree says that the path is a directory; widely, that a
// path of which nobody knows counts as one, and that what names the content of a
// directory names the directory.
func (r *pathRule) covers(name string, tree, widely bool) bool {
	dir := tree || widely
	for _, base := range r.base {
		rel, inside := below(base, name)
		switch {
		case !inside:
		case rel == ".":
			if r.whole && dir {
				return true
			}
		case r.pattern.Covers(rel, dir), dir && r.around != nil && r.around.Covers(rel, dir):
			return true
		}
	}
	return slices.ContainsFunc(r.leads, func(lead *pathRule) bool { return lead.covers(name, tree, widely) })
}
