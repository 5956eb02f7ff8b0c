package hooks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/jsondoc"
	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nearest"
)

// maxTimeout bounds a hook's timeout.
const maxTimeout = 24 * time.Hour

// ConfigError says what is wrong with a settings file, and where: its fields are
// File, Line, Column (both from 1, the column in characters) and Problem.
type ConfigError = jsondoc.Error

// Note is something in a settings file that has no effect here.
type Note struct {
	Place string // file:line:column
	Text  string
}

// String is "place: text".
func (n Note) String() string { return n.Place + ": " + n.Text }

// config is what a settings file says.
type config struct {
	groups       map[string][]*group // of the connected events, in order
	ignored      []Note
	notConnected []Note
	needHarness  []Note
}

// group is the hooks of one event under one matcher.
type group struct {
	traits
	matcher *matcher
	// failureBlocks says what a matcher that cannot be tested does.
	failureBlocks bool
	hooks         []*hook
	place         string
}

// hook is one command.
type hook struct {
	group   *group
	command string
	timeout time.Duration
	// failureBlocks says what a failure of the hook does.
	failureBlocks bool
	place         string
}

// parser turns a document into a config. It stops at the first fault.
type parser struct {
	doc  *jsondoc.Document
	opts Options
	out  config
}

func parseConfig(doc *jsondoc.Document, opts Options) (config, error) {
	p := &parser{doc: doc, opts: opts, out: config{groups: map[string][]*group{}}}
	events, err := p.section()
	if err == nil && events != nil {
		err = p.events(*events)
	}
	return p.out, err
}

// section finds the event map: the hooks member of settings, or the document
// itself.
func (p *parser) section() (*jsondoc.Node, error) {
	root := p.doc.Root
	if root.Kind != jsonscan.ObjectStart {
		return nil, p.doc.Fault(root.Offset, "the settings must be an object with a hooks member, got %s", root.Described())
	}
	hooks := root.Find("hooks")
	for _, m := range root.Members {
		switch {
		case hooks == nil && (isEvent(m.Name) || looksLikeGroups(m.Value)):
			return &root, nil
		case hooks != nil && isEvent(m.Name):
			return nil, p.doc.Fault(m.Offset, "the event %s stands beside hooks and would have no effect; move it into hooks", m.Name)
		case m.Name == "disableAllHooks" && m.Value.Kind == jsonscan.True:
			p.ignore(m.Offset, "disableAllHooks: the hooks of this file run; leave the file out to go without them")
		}
	}
	return hooks, nil
}

func isEvent(name string) bool { return slices.Contains(knownEvents, name) }

// looksLikeGroups reports whether a value can only be meant as the groups of an
// event, so that a misspelt event is not taken for a setting.
func looksLikeGroups(n jsondoc.Node) bool {
	return slices.ContainsFunc(n.Items, func(item jsondoc.Node) bool { return item.Find("hooks") != nil })
}

func (p *parser) ignore(offset int, format string, args ...any) {
	p.out.ignored = append(p.out.ignored, Note{p.doc.Place(offset), "ignored " + fmt.Sprintf(format, args...)})
}

func (p *parser) events(events jsondoc.Node) error {
	if events.Kind != jsonscan.ObjectStart {
		return p.doc.Fault(events.Offset, "hooks must be an object of events, got %s", events.Described())
	}
	for _, m := range events.Members {
		if !isEvent(m.Name) {
			return p.doc.Fault(m.Offset, "unknown event %q%s", m.Name, suggestion(m.Name, knownEvents))
		}
		if m.Value.Kind != jsonscan.ArrayStart {
			return p.doc.Fault(m.Value.Offset, "%s must be an array of groups {matcher, hooks}, got %s", m.Name, m.Value.Described())
		}
		t := traitsOf(m.Name)
		for _, item := range m.Value.Items {
			g, err := p.group(t, item)
			if err != nil {
				return err
			}
			if t.runs && len(g.hooks) > 0 {
				p.out.groups[m.Name] = append(p.out.groups[m.Name], g)
			}
		}
		switch place := p.doc.Place(m.Offset); {
		case !t.runs:
			p.out.notConnected = append(p.out.notConnected, Note{place, m.Name + " is not connected: its hooks never run"})
		case t.harness && len(p.out.groups[m.Name]) > 0:
			p.out.needHarness = append(p.out.needHarness, Note{place, m.Name + " hooks run only when an agent's harness fires the event"})
		}
	}
	return nil
}

func suggestion(name string, known []string) string {
	if near := nearest.Names(name, known, 1); near != nil {
		return fmt.Sprintf("; did you mean %s?", near[0])
	}
	return ""
}

var groupKeys = []string{"matcher", "hooks", "onFailure"}

func (p *parser) group(t traits, n jsondoc.Node) (*group, error) {
	if n.Kind != jsonscan.ObjectStart {
		return nil, p.doc.Fault(n.Offset, "a group of %s must be an object {matcher, hooks}, got %s", t.event, n.Described())
	}
	for _, m := range n.Members {
		switch {
		case slices.Contains(groupKeys, m.Name):
		case slices.Contains(commandKeys, m.Name):
			return nil, p.doc.Fault(m.Offset, `%s belongs to a hook; write the group as {"matcher": ..., "hooks": [{"type": "command", "command": ...}]}`, m.Name)
		default:
			return nil, p.doc.Fault(m.Offset, "unknown key %q in a group of %s; known are matcher, hooks and onFailure", m.Name, t.event)
		}
	}
	g := &group{traits: t, place: p.doc.Place(n.Offset)}
	var err error
	if g.failureBlocks, err = p.onFailure(g, n, t.closed); err != nil {
		return nil, err
	}
	if err := p.matcher(g, n); err != nil {
		return nil, err
	}
	hooks := n.Find("hooks")
	if hooks == nil {
		return nil, p.doc.Fault(n.Offset, "the group has no hooks; give it an array of {type, command}")
	}
	if hooks.Kind != jsonscan.ArrayStart {
		return nil, p.doc.Fault(hooks.Offset, "hooks must be an array of {type, command}, got %s", hooks.Described())
	}
	for _, item := range hooks.Items {
		h, err := p.hook(g, item)
		if err != nil {
			return nil, err
		}
		if h != nil {
			g.hooks = append(g.hooks, h)
		}
	}
	return g, nil
}

// onFailure reads the switch of that name. It cannot demand what the hooks of
// the event cannot do.
func (p *parser) onFailure(g *group, n jsondoc.Node, blocks bool) (bool, error) {
	value := n.Find("onFailure")
	if value == nil {
		return blocks, nil
	}
	switch text, _ := value.Text(); text {
	case "block":
		if g.runs && !g.blocks {
			return false, p.doc.Fault(value.Offset, `onFailure cannot be "block" for %s, whose hooks block nothing`, g.event)
		}
		return true, nil
	case "continue":
		return false, nil
	}
	return false, p.doc.Fault(value.Offset, `onFailure must be "block" or "continue", got %s`, value.Described())
}

// matcher reads the group's matcher. One that does not compile is kept where it
// can be the stricter choice, before a tool runs; elsewhere it is an error.
func (p *parser) matcher(g *group, n jsondoc.Node) error {
	g.matcher = &matcher{}
	value := n.Find("matcher")
	if value == nil {
		return nil
	}
	text, ok := value.Text()
	if !ok {
		return p.doc.Fault(value.Offset, "matcher must be a string, got %s", value.Described())
	}
	if !g.runs {
		return nil
	}
	if !g.matched {
		if !newMatcher(text).all() {
			p.ignore(value.Offset, "matcher: there is nothing at %s a matcher could be tested on", g.event)
		}
		return nil
	}
	g.matcher = newMatcher(text)
	if g.matcher.broken == nil {
		return nil
	}
	if g.event == PreToolUse && g.failureBlocks {
		p.ignore(value.Offset, "the matcher %q, which does not compile: %v; until it is repaired every call is denied", text, g.matcher.broken)
		return nil
	}
	return p.doc.Fault(value.Offset, "matcher %q does not compile: %v", text, g.matcher.broken)
}

var commandKeys = []string{"type", "command", "timeout", "shell", "args", "onFailure"}

// hook reads one hook; nil is one that does not run here.
func (p *parser) hook(g *group, n jsondoc.Node) (*hook, error) {
	if n.Kind != jsonscan.ObjectStart {
		return nil, p.doc.Fault(n.Offset, "a hook must be an object {type, command}, got %s", n.Described())
	}
	for _, m := range n.Members {
		if !slices.Contains(commandKeys, m.Name) && ignoredKeys[m.Name] == "" {
			return nil, p.doc.Fault(m.Offset, "unknown key %q in a hook of %s%s", m.Name, g.event, suggestion(m.Name, commandKeys))
		}
	}
	kind, err := p.kind(n)
	if err != nil {
		return nil, err
	}
	for _, m := range n.Members {
		if instead := ignoredKeys[m.Name]; instead != "" && kind == "command" && g.runs {
			p.ignore(m.Offset, "%s: %s", m.Name, instead)
		}
	}
	h := &hook{group: g, place: p.doc.Place(n.Offset)}
	if h.failureBlocks, err = p.onFailure(g, n, g.failureBlocks); err != nil {
		return nil, err
	}
	if h.timeout, err = p.timeout(n); err != nil {
		return nil, err
	}
	if offset, problem := p.unsupported(kind, n); problem != "" && g.runs {
		if h.failureBlocks {
			return nil, p.doc.Fault(offset, `%s; write a command hook for bash instead, or set "onFailure": "continue" to go on without this hook`, problem)
		}
		p.ignore(offset, "a hook: %s", problem)
		return nil, nil
	}
	if kind == "command" {
		err = p.command(h, n)
	}
	return h, err
}

func (p *parser) kind(n jsondoc.Node) (string, error) {
	kind := "command"
	if value := n.Find("type"); value != nil {
		text, ok := value.Text()
		if !ok || knownTypes[text] == "" {
			return "", p.doc.Fault(value.Offset, "unknown hook type %.60s; known are command, http, mcp_tool, prompt and agent", value.Raw)
		}
		kind = text
	}
	needs := knownTypes[kind]
	value := n.Find(needs)
	if value == nil {
		return "", p.doc.Fault(n.Offset, "the %s hook has no %s", kind, needs)
	}
	if text, _ := value.Text(); strings.TrimSpace(text) == "" {
		return "", p.doc.Fault(value.Offset, "%s must be a string that is not empty, got %s", needs, value.Described())
	}
	return kind, nil
}

// unsupported says what of a known form cannot be run.
func (p *parser) unsupported(kind string, n jsondoc.Node) (offset int, problem string) {
	if kind != "command" {
		return n.Find("type").Offset, fmt.Sprintf("hooks of type %s cannot be run here", kind)
	}
	if shell := n.Find("shell"); shell != nil {
		if text, _ := shell.Text(); text != "bash" {
			return shell.Offset, fmt.Sprintf(`the shell must be "bash", got %s`, shell.Described())
		}
	}
	if args := n.Find("args"); args != nil {
		return args.Offset, "args cannot be passed without a shell here"
	}
	return 0, ""
}

func (p *parser) timeout(n jsondoc.Node) (time.Duration, error) {
	value := n.Find("timeout")
	if value == nil {
		return p.opts.Timeout, nil
	}
	seconds, err := strconv.ParseFloat(value.Raw, 64)
	if value.Kind != jsonscan.Number || err != nil || !(seconds > 0) || seconds > maxTimeout.Seconds() {
		return 0, p.doc.Fault(value.Offset, "timeout must be a number of seconds above 0 and at most %.0f, got %s", maxTimeout.Seconds(), value.Described())
	}
	return max(time.Duration(seconds*float64(time.Second)), 1), nil
}

func (p *parser) command(h *hook, n jsondoc.Node) error {
	value := n.Find("command")
	h.command, _ = value.Text()
	switch {
	case !h.group.runs:
	case strings.ContainsRune(h.command, 0):
		return p.doc.Fault(value.Offset, "the command holds a NUL character, which no shell can be given")
	case p.opts.PluginRoot == "" && strings.Contains(h.command, "CLAUDE_PLUGIN_ROOT"):
		return p.doc.Fault(value.Offset, "the command uses CLAUDE_PLUGIN_ROOT, which is not known; write the directory instead (in a Go program: set Options.PluginRoot)")
	}
	return nil
}
