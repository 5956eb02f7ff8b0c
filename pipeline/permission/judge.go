package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/shellcmd"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// finding is what one rule says about a call, or what holds where none does.
type finding struct {
	subject string // what the call does, as in "reading secrets/key"; "" for the call itself
	rule    *rule  // nil: no rule's
	verdict pipeline.Verdict
	text    string
}

// subject is a tools.Subject made ready for rules.
type subject struct {
	tools.Subject
	path, real string // as rules compare them; real may be ""
	doing      string // "reading secrets/key"
}

// judgement is one call on its way past the rules.
type judgement struct {
	p        *Policy
	call     tools.Call
	tool     string // canonical
	subjects []tools.Subject
	allowed  bool // a rule allows whatever the tool does
	found    []finding
}

// judge lists what rules say about a call, first about the tool, then about each
// thing it touches. The strictest counts.
func (p *Policy) judge(call tools.Call) []finding {
	j := &judgement{p: p, call: call, tool: canonical(call.Name())}
	var err error
	j.subjects, err = call.Subjects()
	j.byName(err == nil && len(j.subjects) == 0)
	switch {
	case err != nil:
		j.unknown(err)
		return j.found
	case !slices.ContainsFunc(j.subjects, func(s tools.Subject) bool { return s.Access != tools.AccessRead }):
		j.byDefault()
	}
	for _, s := range j.subjects {
		j.bySubject(s)
	}
	return j.found
}

func (j *judgement) add(subject string, r *rule, verdict pipeline.Verdict, format string, args ...any) {
	j.found = append(j.found, finding{subject, r, verdict, fmt.Sprintf(format, args...)})
}

// byRule adds what a rule says about what the call does, "" for the call itself.
func (j *judgement) byRule(subject string, r *rule, why string) {
	doing := subject
	if subject == "" {
		doing = "every call of " + shownName(j.call.Name())
	}
	verb := "denies"
	switch r.verdict {
	case pipeline.VerdictAsk:
		verb = "asks before"
	case pipeline.VerdictAllow:
		verb = "allows"
	}
	j.add(subject, r, r.verdict, "permission rule %s in %s %s %s%s", r.text, r.file, verb, doing, why)
}

// byName asks the rules about the tool. If nobody knows what the call touches,
// those that are about some uses of the tool only cover all, unless they allow.
func (j *judgement) byName(silent bool) {
	for _, r := range j.p.rules {
		switch {
		case !r.names(j.tool):
		case !r.scoped():
			j.allowed = j.allowed || r.allows()
			j.byRule("", r, "")
		case silent && !r.allows():
			j.byRule("", r, ", since the tool does not say what it touches")
		}
	}
}

// unknown judges a call whose subjects cannot be found. The pipeline does not
// run it, and the error says more than a denial could, so nobody need be asked
// about it.
func (j *judgement) unknown(err error) {
	j.found = slices.DeleteFunc(j.found, func(f finding) bool { return f.verdict == pipeline.VerdictAsk })
	j.add("", nil, pipeline.VerdictAllow, "%s does not run: %v", shownName(j.call.Name()), err)
}

// byDefault judges a tool of which no effect is known.
func (j *judgement) byDefault() {
	tool := j.call.Tool()
	if tool == nil { // a call nobody resolved is judged by what its name means to all
		tool = j.p.reg.Lookup(j.call.Name())
	}
	name := shownName(j.call.Name())
	switch {
	case j.allowed || tool == nil || j.call.IsTransport(): // run_code, or a name that leads nowhere
	case imported(j.tool):
		j.add("", nil, pipeline.VerdictAsk, "%s is an imported tool and no rule allows it", name)
	case tool.Definition().Annotations.Destructive:
		j.add("", nil, pipeline.VerdictAsk, "%s may destroy something and no rule allows it", name)
	case len(j.subjects)+len(j.found) == 0:
		j.add("", nil, pipeline.VerdictAllow, "%s needs no rule", name)
	}
}

// bySubject judges one thing the call touches.
func (j *judgement) bySubject(given tools.Subject) {
	s, err := j.p.subject(given)
	if err != nil {
		j.add("", nil, pipeline.VerdictDeny, "%s %v", shownName(j.call.Name()), err)
		return
	}
	before := len(j.found)
	for _, r := range j.p.rules {
		if r.reaches(j.tool, s.Access) && (r.scoped() && r.on(s) || !r.scoped() && !r.names(j.tool)) {
			j.byRule(s.doing, r, "")
		}
	}
	why := ""
	if s.Access == tools.AccessExec {
		why = j.byCommand(s)
	}
	if j.p.protects(given) {
		j.add(s.doing, nil, pipeline.VerdictAsk, "%s changes %s, which is protected: it is asked about each time", shownName(j.call.Name()), j.p.show(given))
	}
	if len(j.found) > before || j.allowed {
		return
	}
	name := shownName(j.call.Name())
	switch s.Access {
	case tools.AccessRead:
		j.add(s.doing, nil, pipeline.VerdictAllow, "%s needs no rule", s.doing)
	case tools.AccessWrite:
		j.add(s.doing, nil, pipeline.VerdictAsk, "%s changes %s and no rule allows it", name, j.p.show(given))
	case tools.AccessExec:
		j.add(s.doing, nil, pipeline.VerdictAsk, "%s runs %s and no rule allows it%s", name, shownCommand(given.Command), why)
	case tools.AccessNet:
		j.add(s.doing, nil, pipeline.VerdictAsk, "%s connects to %s and no rule allows it", name, shownName(given.Host))
	default:
		j.add(s.doing, nil, pipeline.VerdictAsk, "%s has an effect of the unknown kind %q and no rule allows it", name, s.Access)
	}
}

// byCommand asks the rules about commands; why says why none allows it.
func (j *judgement) byCommand(s subject) (why string) {
	command := shellcmd.Parse(s.Command)
	for _, v := range []pipeline.Verdict{pipeline.VerdictDeny, pipeline.VerdictAsk} {
		rules := j.p.commands[v]
		if i := command.Denied(rules.patterns); i >= 0 {
			j.byRule(s.doing, rules.rules[i], "")
		}
	}
	if j.tool != toolBash {
		return ""
	}
	rules := j.p.commands[pipeline.VerdictAllow]
	command = shellcmd.Parse(j.p.withDirectory(s))
	ok, why := command.Allowed(rules.patterns)
	switch {
	case ok:
	case why == "no rule allows "+strconv.Quote(s.Command):
		return ""
	default:
		return " (" + why + ")"
	}
	simple := command.Commands()
	for i, pattern := range rules.patterns {
		if slices.ContainsFunc(simple, pattern.Matches) {
			j.byRule(s.doing, rules.rules[i], "")
		}
	}
	return ""
}

// withDirectory is a command as it would read if it were run from the root: in
// another directory the same words may run another program, so who allows them
// there must allow the way there.
func (p *Policy) withDirectory(s subject) string {
	atRoot := func(dir string) bool {
		return dir == "" || slices.Contains(p.bases.root.rels(p.bases.key(dir)), ".")
	}
	if atRoot(s.Path) && atRoot(s.Real) {
		return s.Command
	}
	return "cd '" + strings.ReplaceAll(p.fromRoot(s.Path), "'", `'\''`) + "'\n" + s.Command
}

// subject makes a subject ready.
func (p *Policy) subject(s tools.Subject) (subject, error) {
	out := subject{Subject: s}
	switch s.Access {
	case tools.AccessExec:
		out.doing = "running " + shownCommand(s.Command)
		return out, nil
	case tools.AccessNet:
		out.doing = "connecting to " + shownName(s.Host)
		return out, checkHost(s.Host)
	}
	if s.Tree && s.Access != tools.AccessRead {
		return out, fmt.Errorf("would %s a whole tree, and rules are tested on files; it must name them one by one", s.Access)
	}
	if !filepath.IsAbs(s.Path) || s.Real != "" && !filepath.IsAbs(s.Real) {
		return out, fmt.Errorf("does not give the absolute path of what it would %s, so no rule can be tested", s.Access)
	}
	if len(s.Path) > maxPath || len(s.Real) > maxPath {
		return out, fmt.Errorf("gives a path of %d bytes; the longest that is judged has %d", max(len(s.Path), len(s.Real)), maxPath)
	}
	out.path = p.bases.key(s.Path)
	if s.Real != "" {
		out.real = p.bases.key(s.Real)
	}
	verb := "reading "
	if s.Access != tools.AccessRead {
		verb = "writing "
	}
	out.doing = verb + p.show(s)
	return out, nil
}

// show names a file as seen from the root, and what it really is if links lead
// there.
func (p *Policy) show(s tools.Subject) string {
	path := p.fromRoot(s.Path)
	if s.Real == "" {
		return shownName(path)
	}
	if real := p.fromRoot(s.Real); real != path {
		return fmt.Sprintf("%s (which is %s)", shownName(path), shownName(real))
	}
	return shownName(path)
}

func (p *Policy) fromRoot(path string) string {
	if rels := p.shown.rels(slash(path)); len(rels) > 0 {
		return rels[0]
	}
	return path
}

// shownName is a name as it stands in a sentence: quoted if it could be taken
// for something else.
func shownName(name string) string {
	if quoted := strconv.Quote(name); name == "" || len(quoted) != len(name)+2 || strings.ContainsRune(name, ' ') {
		return quoted
	}
	return name
}

// maxShown is how much of a command a sentence shows, in bytes.
const maxShown = 200

func shownCommand(command string) string {
	if len(command) <= maxShown {
		return strconv.Quote(command)
	}
	return fmt.Sprintf("%s (the first %d of %d bytes)", strconv.Quote(strings.ToValidUTF8(command[:maxShown], "")), maxShown, len(command))
}
