package permission

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/internal/shellcmd"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Options says where the paths of rules are.
type Options struct {
	// Root is the directory the file tools see; relative paths of rules begin
	// here. Empty: the current directory.
	Root string
	// Home is what ~/ stands for. Empty: the user's home directory.
	Home string
	// Protected adds files and directories that are asked about each time before
	// they are written, whatever the rules say: the event log, the program
	// itself. Files that Load has read are among them.
	Protected []string
	// FoldCase says whether names that differ only in case are one file. Nil:
	// what the file system at Root does.
	FoldCase *bool
}

// Policy is the rules of some settings together. It is immutable and safe for
// concurrent use; the registry may change meanwhile.
type Policy struct {
	reg       *tools.Registry
	bases     bases
	shown     place // the root, to show paths from
	rules     []*rule
	hiding    []*rule // those of rules a search has to mind
	commands  map[pipeline.Verdict]*commands
	protected *protection
	notes     []string
	absent    []string // rules about tools that are not there
}

// commands are the rules about commands with one verdict.
type commands struct {
	rules    []*rule
	patterns []shellcmd.Pattern
}

// New makes a policy of settings, which all apply: a denial wins over an ask, an
// ask over a permission, whatever file they stand in. Without settings it asks
// about all that is not known to read only.
func New(reg *tools.Registry, settings []*Settings, opts Options) (*Policy, error) {
	if reg == nil || slices.Contains(settings, nil) {
		return nil, errors.New("cannot make a policy of a nil registry or nil settings")
	}
	root, err := filepath.Abs(opts.Root)
	if err != nil {
		return nil, fmt.Errorf("cannot find the root of the permission rules: %w", err)
	}
	p := &Policy{reg: reg, shown: newPlace(root), commands: map[pipeline.Verdict]*commands{}}
	for v := pipeline.VerdictDeny; v <= pipeline.VerdictAllow; v++ {
		p.commands[v] = &commands{}
	}
	if p.bases, err = newBases(root, opts); err != nil {
		return nil, err
	}
	protected := slices.Clone(opts.Protected)
	for _, s := range settings {
		if err := p.add(s); err != nil {
			return nil, err
		}
		if s.path != "" {
			protected = append(protected, s.path)
		}
		if s.source.Trusted { // the hooks of others do not run
			protected = append(protected, programs(s.commands, root)...)
		}
	}
	for i, path := range protected {
		if protected[i], err = filepath.Abs(path); err != nil {
			return nil, fmt.Errorf("cannot find the protected path %s: %w", path, err)
		}
	}
	p.protected = newProtection(root, protected)
	return p, nil
}

// add takes the rules of one file.
func (p *Policy) add(s *Settings) error {
	p.notes = append(p.notes, s.notes...)
	source := p.bases.root
	if s.source.Base != "" {
		base, err := filepath.Abs(s.source.Base)
		if err != nil {
			return fmt.Errorf("cannot find the directory of %s: %w", s.source.Name, err)
		}
		source = newPlace(base)
	}
	for _, r := range s.rules {
		if r.path != nil {
			var err error
			if r.paths, err = p.bases.compile(*r.path, source, !r.allows() && s.source.Trusted); err != nil {
				if r.allows() {
					p.note(&r, "has no effect: %v", err)
					continue
				}
				p.note(&r, "covers every use of %s: %v", r.name, err)
				r.path = nil
			}
		}
		p.checkName(&r)
		p.rules = append(p.rules, &r)
		if r.hides() {
			p.hiding = append(p.hiding, &r)
		}
		if r.command != nil {
			c := p.commands[r.verdict]
			c.rules, c.patterns = append(c.rules, &r), append(c.patterns, *r.command)
		}
	}
	return nil
}

func (p *Policy) note(r *rule, format string, args ...any) {
	p.notes = append(p.notes, r.noted(format, args...))
}

func (r *rule) noted(format string, args ...any) string {
	return fmt.Sprintf("%s: the rule %s ", r.place, r.text) + fmt.Sprintf(format, args...)
}

// checkName notes a rule about a tool that is not there.
func (p *Policy) checkName(r *rule) {
	known := []string{tools.TransportName}
	for _, t := range p.reg.All() {
		if r.names(canonical(t.Name())) {
			return
		}
		known = append(known, t.Name())
	}
	if r.names(tools.TransportName) || slices.Contains(slices.Collect(maps.Values(builtins)), canonical(r.name)) {
		return // a built-in tool that was not chosen
	}
	if near := nearest.Names(r.name, known, 1); near != nil {
		p.note(r, "is about a tool that is not there; did you mean %s?", near[0])
		return
	}
	p.absent = append(p.absent, r.text)
}

// absentNote is one note about all rules whose tool nobody knows, of which
// settings that are shared with other programs have some. One that is near to
// another tool's name has its own: it may be a misspelling.
func (p *Policy) absentNote() []string {
	const shown = 3
	n := len(p.absent)
	if n == 0 {
		return nil
	}
	text := strings.Join(p.absent[:min(n, shown)], ", ")
	if n > shown {
		text += ", ..."
	}
	if n == 1 {
		return []string{"1 rule is about a tool that is not there: " + text}
	}
	return []string{fmt.Sprintf("%d rules are about tools that are not there: %s", n, text)}
}

// Notes lists, with their places, what in the settings has no effect or another
// one than it seems, and the rules about tools that were not registered when the
// policy was made. Of very many it lists the first, and how many there are.
func (p *Policy) Notes() []string { return append(shortened(p.notes), p.absentNote()...) }

// Warnings lists what a person should know of these rules together with the
// tools that are registered now.
func (p *Policy) Warnings() []string {
	denies := slices.ContainsFunc(p.rules, func(r *rule) bool { return r.paths != nil && r.verdict == pipeline.VerdictDeny })
	for _, t := range p.reg.All() {
		name := canonical(t.Name())
		if denies && name == toolBash && !p.deniesAll(name) {
			return []string{fmt.Sprintf("rules deny paths, and the tool %s is there: a command it runs opens any file whatever the rules say; leave the tool out, or deny it, where that matters", t.Name())}
		}
	}
	return nil
}

// deniesAll reports whether no call of a tool passes.
func (p *Policy) deniesAll(tool string) bool {
	return slices.ContainsFunc(p.rules, func(r *rule) bool {
		return r.verdict == pipeline.VerdictDeny && !r.scoped() && r.names(tool)
	})
}

// Rule is a pipeline.Rule: the strictest verdict over all a call touches. The
// reason names the rule as it is written, its file and what it is about.
func (p *Policy) Rule(call tools.Call) pipeline.Decision {
	decision := pipeline.Allow()
	for _, f := range p.judge(call) {
		switch {
		case f.verdict >= decision.Verdict():
		case f.verdict == pipeline.VerdictDeny:
			return pipeline.Deny(f.text)
		default:
			decision = pipeline.Ask(f.text)
		}
	}
	return decision
}

// OnlyOnce reports whether no standing answer may cover the call: it writes what
// is protected, or nobody can say what it touches.
func (p *Policy) OnlyOnce(call tools.Call) bool {
	subjects, err := call.Subjects()
	return err != nil || slices.ContainsFunc(subjects, p.protects)
}

func (p *Policy) protects(s tools.Subject) bool {
	return s.Access == tools.AccessWrite && p.protected.covers(slash(s.Path), slash(s.Real))
}

// Hidden reports whether a search that begins at base must pass over path: if a
// rule denies reading it, or one asks that does not ask about base, so that
// nobody has answered it. Both are absolute, in the operating system's form; dir
// says that path is a directory. It looks at the text of a path, so that one with
// links in it is asked about in both forms.
func (p *Policy) Hidden(base, path string, dir bool) bool {
	if len(path) > maxPath {
		return true
	}
	key := p.bases.key(path)
	return slices.ContainsFunc(p.hiding, func(r *rule) bool {
		return r.coversPath(key, dir) && (r.verdict == pipeline.VerdictDeny || !r.coversPath(p.bases.key(base), true))
	})
}
