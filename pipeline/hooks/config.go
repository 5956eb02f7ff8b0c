package hooks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nearest"
)

// maxTimeout bounds a hook's timeout.
const maxTimeout = 24 * time.Hour

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
}

// group is the hooks of one event under one matcher.
type group struct {
	event   string
	matcher *matcher
	// blocks says what a matcher that cannot be tested does.
	blocks bool
	hooks  []*hook
	place  string
}

// hook is one command.
type hook struct {
	group   *group
	command string
	timeout time.Duration
	// blocks says what a failure of the hook does.
	blocks bool
	place  string
}

// parser turns a document into a config. It stops at the first fault.
type parser struct {
	doc  *document
	opts Options
	out  config
}

func parseConfig(doc *document, opts Options) (config, error) {
	p := &parser{doc: doc, opts: opts, out: config{groups: map[string][]*group{}}}
	events, err := p.section()
	if err == nil && events != nil {
		err = p.events(*events)
	}
	return p.out, err
}

// section finds the event map: the hooks member of settings, or the document
// itself.
func (p *parser) section() (*node, error) {
	root := p.doc.root
	if root.kind != jsonscan.ObjectStart {
		return nil, p.doc.fault(root.offset, "the settings must be an object with a hooks member, got %s", root.described())
	}
	hooks := root.find("hooks")
	for _, m := range root.members {
		switch {
		case hooks == nil && (isEvent(m.name) || looksLikeGroups(m.value)):
			return &root, nil
		case hooks != nil && isEvent(m.name):
			return nil, p.doc.fault(m.offset, "the event %s stands beside hooks and would have no effect; move it into hooks", m.name)
		case m.name == "disableAllHooks" && m.value.kind == jsonscan.True:
			p.ignore(m.offset, "disableAllHooks: the hooks of this file run; leave the file out to go without them")
		}
	}
	return hooks, nil
}

func isEvent(name string) bool { return slices.Contains(knownEvents, name) }

// looksLikeGroups reports whether a value can only be meant as the groups of an
// event, so that a misspelt event is not taken for a setting.
func looksLikeGroups(n node) bool {
	return slices.ContainsFunc(n.items, func(item node) bool { return item.find("hooks") != nil })
}

func (p *parser) ignore(offset int, format string, args ...any) {
	p.out.ignored = append(p.out.ignored, Note{p.doc.place(offset), "ignored " + fmt.Sprintf(format, args...)})
}

func (p *parser) events(events node) error {
	if events.kind != jsonscan.ObjectStart {
		return p.doc.fault(events.offset, "hooks must be an object of events, got %s", events.described())
	}
	for _, m := range events.members {
		if !isEvent(m.name) {
			return p.doc.fault(m.offset, "unknown event %q%s", m.name, suggestion(m.name, knownEvents))
		}
		if m.value.kind != jsonscan.ArrayStart {
			return p.doc.fault(m.value.offset, "%s must be an array of groups {matcher, hooks}, got %s", m.name, m.value.described())
		}
		for _, item := range m.value.items {
			g, err := p.group(m.name, item)
			if err != nil {
				return err
			}
			if connected(m.name) && len(g.hooks) > 0 {
				p.out.groups[m.name] = append(p.out.groups[m.name], g)
			}
		}
		if !connected(m.name) {
			p.out.notConnected = append(p.out.notConnected, Note{p.doc.place(m.offset), m.name + " is not connected: its hooks never run"})
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

func (p *parser) group(event string, n node) (*group, error) {
	if n.kind != jsonscan.ObjectStart {
		return nil, p.doc.fault(n.offset, "a group of %s must be an object {matcher, hooks}, got %s", event, n.described())
	}
	for _, m := range n.members {
		if !slices.Contains(groupKeys, m.name) {
			return nil, p.doc.fault(m.offset, "unknown key %q in a group of %s; known are matcher, hooks and onFailure", m.name, event)
		}
	}
	g := &group{event: event, place: p.doc.place(n.offset)}
	var err error
	if g.blocks, err = p.onFailure(n, event == PreToolUse); err != nil {
		return nil, err
	}
	if err := p.matcher(g, n); err != nil {
		return nil, err
	}
	hooks := n.find("hooks")
	if hooks == nil {
		return nil, p.doc.fault(n.offset, "the group has no hooks; give it an array of {type, command}")
	}
	if hooks.kind != jsonscan.ArrayStart {
		return nil, p.doc.fault(hooks.offset, "hooks must be an array of {type, command}, got %s", hooks.described())
	}
	for _, item := range hooks.items {
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

// onFailure reads the switch of that name.
func (p *parser) onFailure(n node, blocks bool) (bool, error) {
	value := n.find("onFailure")
	if value == nil {
		return blocks, nil
	}
	switch text, _ := p.text(value); text {
	case "block":
		return true, nil
	case "continue":
		return false, nil
	}
	return false, p.doc.fault(value.offset, `onFailure must be "block" or "continue", got %s`, value.described())
}

// matcher reads the group's matcher. One that does not compile is kept where it
// can be the stricter choice, before a tool runs; elsewhere it is an error.
func (p *parser) matcher(g *group, n node) error {
	g.matcher = &matcher{}
	value := n.find("matcher")
	if value == nil {
		return nil
	}
	text, ok := p.text(value)
	if !ok {
		return p.doc.fault(value.offset, "matcher must be a string, got %s", value.described())
	}
	if !connected(g.event) {
		g.matcher.text = text
		return nil
	}
	g.matcher = newMatcher(text)
	if g.matcher.broken == nil || g.event == PreToolUse && g.blocks {
		return nil
	}
	return p.doc.fault(value.offset, "matcher %q does not compile: %v", text, g.matcher.broken)
}

func (p *parser) text(n *node) (string, bool) {
	if n == nil || n.kind != jsonscan.String {
		return "", false
	}
	return plain(n.raw), true
}

var commandKeys = []string{"type", "command", "timeout", "shell", "args", "onFailure"}

// hook reads one hook; nil is one that does not run here.
func (p *parser) hook(g *group, n node) (*hook, error) {
	if n.kind != jsonscan.ObjectStart {
		return nil, p.doc.fault(n.offset, "a hook must be an object {type, command}, got %s", n.described())
	}
	kind, err := p.kind(n)
	if err != nil {
		return nil, err
	}
	for _, m := range n.members {
		instead, ignored := ignoredKeys[m.name]
		switch {
		case slices.Contains(commandKeys, m.name):
		case !ignored:
			return nil, p.doc.fault(m.offset, "unknown key %q in a hook of %s", m.name, g.event)
		case kind == "command" && connected(g.event):
			p.ignore(m.offset, "%s: %s", m.name, instead)
		}
	}
	h := &hook{group: g, place: p.doc.place(n.offset)}
	if h.blocks, err = p.onFailure(n, g.blocks); err != nil {
		return nil, err
	}
	if h.timeout, err = p.timeout(n); err != nil {
		return nil, err
	}
	if offset, problem := p.unsupported(kind, n); problem != "" && connected(g.event) {
		if h.blocks {
			return nil, p.doc.fault(offset, `%s; write a command hook for bash instead, or set "onFailure": "continue" to go on without this hook`, problem)
		}
		p.ignore(offset, "a hook: %s", problem)
		return nil, nil
	}
	if kind == "command" {
		err = p.command(h, n)
	}
	return h, err
}

func (p *parser) kind(n node) (string, error) {
	kind := "command"
	if value := n.find("type"); value != nil {
		text, ok := p.text(value)
		if !ok || knownTypes[text] == "" {
			return "", p.doc.fault(value.offset, "unknown hook type %.60s; known are command, http, mcp_tool, prompt and agent", value.raw)
		}
		kind = text
	}
	needs := knownTypes[kind]
	value := n.find(needs)
	if value == nil {
		return "", p.doc.fault(n.offset, "the %s hook has no %s", kind, needs)
	}
	if text, _ := p.text(value); strings.TrimSpace(text) == "" {
		return "", p.doc.fault(value.offset, "%s must be a string that is not empty, got %s", needs, value.described())
	}
	return kind, nil
}

// unsupported says what of a known form cannot be run.
func (p *parser) unsupported(kind string, n node) (offset int, problem string) {
	if kind != "command" {
		return n.find("type").offset, fmt.Sprintf("hooks of type %s cannot be run here", kind)
	}
	if shell := n.find("shell"); shell != nil {
		if text, _ := p.text(shell); text != "bash" {
			return shell.offset, fmt.Sprintf(`the shell must be "bash", got %s`, shell.described())
		}
	}
	if args := n.find("args"); args != nil {
		return args.offset, "args cannot be passed without a shell here"
	}
	return 0, ""
}

func (p *parser) timeout(n node) (time.Duration, error) {
	value := n.find("timeout")
	if value == nil {
		return p.opts.Timeout, nil
	}
	seconds, err := strconv.ParseFloat(value.raw, 64)
	if value.kind != jsonscan.Number || err != nil || !(seconds > 0) || seconds > maxTimeout.Seconds() {
		return 0, p.doc.fault(value.offset, "timeout must be a number of seconds above 0 and at most %.0f, got %s", maxTimeout.Seconds(), value.described())
	}
	return max(time.Duration(seconds*float64(time.Second)), 1), nil
}

func (p *parser) command(h *hook, n node) error {
	value := n.find("command")
	h.command, _ = p.text(value)
	switch {
	case !connected(h.group.event):
	case strings.ContainsRune(h.command, 0):
		return p.doc.fault(value.offset, "the command holds a NUL character, which no shell can be given")
	case p.opts.PluginRoot == "" && strings.Contains(h.command, "CLAUDE_PLUGIN_ROOT"):
		return p.doc.fault(value.offset, "the command uses CLAUDE_PLUGIN_ROOT, which is not known; set Options.PluginRoot")
	}
	return nil
}
