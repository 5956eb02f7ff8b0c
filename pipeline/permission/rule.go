package permission

import (
	"errors"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/internal/shellcmd"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// rule is one rule of a settings file. It is immutable.
type rule struct {
	text, file, place string
	verdict           pipeline.Verdict

	name   string // canonical; with wild, a pattern
	wild   bool   // "*" in the name stands for any text
	family *family

	// At most one of these is there; without, the rule is about every use.
	path    *pathSpec
	paths   *pathRule // path, ready for use
	command *shellcmd.Pattern
	host    string
}

// newRule finds what a rule covers. A problem means that it cannot be done as it
// is written: the rule is then about every use of the tool.
func newRule(f form, verdict pipeline.Verdict) (rule, error) {
	r := rule{verdict: verdict, name: canonical(f.name), wild: strings.Contains(f.name, "*")}
	if imported(r.name) {
		r.name = wholeServer(r.name)
		r.wild = strings.Contains(r.name, "*")
	}
	if r.wild && r.allows() && !oneServer(r.name) {
		return r, errors.New("only the tool of an mcp__server__tool rule may hold a *; name the tool")
	}
	if fam, ok := families[r.name]; ok {
		r.family = &fam
	}
	if !f.scoped {
		return r, nil
	}
	return r, r.scope(f.spec)
}

// wholeServer makes of a server's name the pattern of all its tools.
func wholeServer(name string) string {
	server, tool, _ := strings.Cut(name[len(importedPrefix):], "__")
	if tool != "" || strings.HasSuffix(server, "*") {
		return name
	}
	return importedPrefix + server + "__*"
}

// oneServer reports whether a pattern of names is about the tools of one server.
func oneServer(name string) bool {
	server, _, ok := strings.Cut(strings.TrimPrefix(name, importedPrefix), "__")
	return imported(name) && ok && server != "" && !strings.Contains(server, "*")
}

// scope reads what stands in a rule's parentheses.
func (r *rule) scope(spec string) error {
	if r.family == nil {
		return fmt.Errorf("a rule about %s cannot say more than the name", r.name)
	}
	switch r.family.access {
	case tools.AccessExec:
		if spec == "*" || spec == ":*" {
			return nil
		}
		p, err := shellcmd.ParsePattern(spec)
		if err == nil {
			r.command = &p
		}
		return err
	case tools.AccessNet:
		host, err := parseHost(spec)
		r.host = host
		return err
	}
	p, err := parsePath(spec)
	if err == nil {
		r.path = &p
	}
	return err
}

// scoped reports whether the rule is about some uses of its tools only.
func (r *rule) scoped() bool { return r.path != nil || r.command != nil || r.host != "" }

func (r *rule) allows() bool { return r.verdict == pipeline.VerdictAllow }

// names reports whether the rule is about a tool by its canonical name, whatever
// the call touches. Only mcp rules and the pattern * of a rule that does not
// allow name imported tools.
func (r *rule) names(tool string) bool {
	switch {
	case r.wild:
		return wildTool(r.name, tool)
	case r.family != nil:
		return r.family.about(tool, r.allows())
	}
	return r.name == tool
}

// reaches reports whether the rule is about subjects of that kind in calls of a
// tool. A rule that does not allow is about what any tool touches, since what
// is touched is what it protects.
func (r *rule) reaches(tool string, access tools.Access) bool {
	switch {
	case r.family == nil || r.family.access != access:
		return false
	case r.allows() || r.family.alone:
		return r.family.about(tool, r.allows())
	}
	return r.scoped() || !imported(tool)
}

// on reports whether a scoped rule covers what a subject is, in any of its forms
// or, where it allows, in all. Commands are judged together; see judge.
func (r *rule) on(s subject) bool {
	switch {
	case r.paths != nil && r.allows():
		return s.real != "" && r.paths.covers(s.path, s.Tree, false) && r.paths.covers(s.real, s.Tree, false)
	case r.paths != nil:
		return r.paths.covers(s.path, s.Tree, true) || s.real != "" && r.paths.covers(s.real, s.Tree, true)
	case r.host != "":
		return matchHost(r.host, hostOf(s.Host))
	}
	return false
}

// hides reports whether the rule is about what a search finds. One that is about
// all that glob or grep does is about the search.
func (r *rule) hides() bool {
	return !r.allows() && r.family != nil && r.family.access == tools.AccessRead && (r.scoped() || !r.family.alone)
}

// coversPath reports whether a rule that hides is about a path, a key.
func (r *rule) coversPath(key string, dir bool) bool {
	return r.paths == nil || r.paths.covers(key, dir, true)
}
