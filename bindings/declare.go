package bindings

import (
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// side is one schema of one tool: its arguments or its result.
type side struct {
	tool        string
	output      bool
	description string     // the tool's, on the side of its arguments
	conv        *converter // nil: no schema
	keys        map[*node]string
}

// declaration is the text about a set of tools, in pieces.
type declaration struct {
	words *words
	sides []*side      // two a tool: arguments, then result; nil when all is printed
	types []*namedType // in order of first use
	tools []toolText   // in the order of the tools
}

// toolText is what is kept of one tool.
type toolText struct {
	piece
	summary string // its description on one line
	terms   terms  // what it is found by
}

// declare prints the declarations of tools that are sorted by name; paths are
// their short forms. No schema makes it fail, whether it compiles as one or not.
func declare(sorted []tools.Definition, paths map[string][]string) *declaration {
	d := &declaration{words: newWords()}
	for _, def := range sorted {
		d.add(&side{tool: def.Name, description: def.Description}, def.Input)
		d.add(&side{tool: def.Name, output: true}, def.Output)
	}
	d.nameTypes()
	for _, t := range d.types {
		t.print()
	}
	for i, def := range sorted {
		key := def.Name
		if path := paths[key]; path != nil {
			key = path[1]
		}
		args, result := d.sides[2*i], d.sides[2*i+1]
		d.tools = append(d.tools, toolText{d.printTool(key, args, result), oneLine(def.Description), args.terms()})
	}
	d.sides = nil
	return d
}

func (d *declaration) add(s *side, schema tools.JSON) {
	if !schema.IsZero() {
		survey := newSurvey(newDocument(schema))
		s.conv = &converter{survey: survey, words: d.words, named: map[*node]*namedType{}}
		s.keys = survey.keys(len(d.sides))
	}
	d.sides = append(d.sides, s)
}

// group is every place in the catalog that means the same type.
type group struct {
	label    string
	arrivals int
	owners   []string // the tools, each once
	sides    []*side
	nodes    []*node
}

// nameTypes gives a name to every type that is reached more than once, in one
// tool or over all of them.
func (d *declaration) nameTypes() {
	groups := map[string]*group{}
	var order []*group
	for _, s := range d.sides {
		if s.conv == nil {
			continue
		}
		for _, target := range slices.Concat(s.conv.targets, s.conv.objects) {
			key := s.keys[target]
			g := groups[key]
			if g == nil {
				g = &group{label: s.label(target)}
				groups[key] = g
				order = append(order, g)
			}
			g.arrivals += s.conv.arrivals[target]
			g.sides, g.nodes = append(g.sides, s), append(g.nodes, target)
			if !slices.Contains(g.owners[max(len(g.owners)-1, 0):], s.tool) {
				g.owners = append(g.owners, s.tool)
			}
		}
	}
	taken := map[string]int{}
	var firsts []*group
	for _, g := range order {
		if g.arrivals < 2 || !g.sides[0].conv.nameable(g.nodes[0]) {
			continue
		}
		t := &namedType{name: unique(g.prefix()+"_"+pascal(g.label), taken)}
		for i, n := range g.nodes {
			g.sides[i].conv.named[n] = t
		}
		d.types = append(d.types, t)
		firsts = append(firsts, g)
	}
	for i, g := range firsts { // only now is every name known
		c, n := g.sides[0].conv, g.nodes[0]
		d.types[i].shape = c.define(n)
		d.types[i].doc = c.docOf(n)
	}
	d.words.untangle(d.types)
}

func (s *side) label(target *node) string {
	if label := s.conv.labels[target]; label != "" {
		return label
	}
	if s.output {
		return "Result"
	}
	return "Args"
}

// prefix keeps type names apart from each other and from TypeScript's own: the
// tool's name, the server's where several of its tools share the type, else
// Shared.
func (g *group) prefix() string {
	if len(g.owners) == 1 {
		_, tool, ok := splitServer(g.owners[0])
		if ok {
			return pascal(tool)
		}
		return pascal(g.owners[0])
	}
	server, _, ok := splitServer(g.owners[0])
	for _, owner := range g.owners[1:] {
		if other, _, _ := splitServer(owner); other != server {
			ok = false
		}
	}
	if !ok {
		return "Shared"
	}
	return pascal(server)
}

// unique makes a name that is not taken by adding a number to it. Taken counts
// the uses of every name.
func unique(name string, taken map[string]int) string {
	candidate := name
	for taken[candidate] > 0 {
		taken[name]++
		candidate = name + strconv.Itoa(taken[name])
	}
	taken[candidate] = 1
	return candidate
}

func (t *namedType) print() {
	p := &printer{}
	p.comment(t.doc)
	p.WriteString("type " + t.name + " = ")
	p.shape(t.shape)
	p.WriteString(";\n")
	t.piece = p.piece()
}

// printTool prints a tool as a member of that name: what it takes, and what it
// resolves to where its definition says so.
func (d *declaration) printTool(key string, args, result *side) piece {
	taken, about := args.typed(d.words)
	given, returns := result.typed(d.words)
	about = doc{text: args.description}.with(about)
	about.notes = append(about.notes, prefixed("returns: ", returns.all())...)

	p := &printer{}
	p.comment(about)
	p.WriteString(quoteKey(key) + ": Tool")
	if says := given.text != "unknown"; says || !taken.saysNothing() {
		p.WriteByte('<')
		p.arguments(taken)
		if says {
			p.WriteString(", ")
			p.shape(given)
		}
		p.WriteByte('>')
	}
	p.WriteString(";\n")
	return p.piece()
}

func (p *printer) arguments(s *shape) {
	if s.saysNothing() {
		p.WriteString("{}")
		return
	}
	p.shape(s)
}

// saysNothing reports whether s, as the type of arguments, names none of them:
// arguments are an object anyway.
func (s *shape) saysNothing() bool {
	return s.text == "unknown" || s.form == objectForm && len(s.fields) == 0 && (s.extra == nil || s.extra.implied)
}

// typed is the side's type, with the comment that is not printed elsewhere.
func (s *side) typed(w *words) (*shape, doc) {
	if s.conv == nil {
		return w.any, doc{}
	}
	root := s.conv.doc.root
	if s.conv.named[root] != nil {
		return s.conv.shapeOf(root), doc{}
	}
	return s.conv.shapeOf(root), s.conv.docOf(root)
}

// text puts the pieces together; names are the tools', and paths their short
// forms.
func (d *declaration) text(names []string, paths map[string][]string) string {
	var b strings.Builder
	b.WriteString(frame(len(paths) > 0))
	for _, t := range d.types {
		b.WriteString(t.piece.text)
	}
	b.WriteString("declare const " + Global + ": ")
	for i, group := range groups(names, paths) {
		if i > 0 {
			b.WriteString(" & ")
		}
		start, end := "{\n", "}"
		if group.server != "" {
			start, end = "Server<"+quoteName(group.server)+", {\n", "}>"
		}
		b.WriteString(start)
		for _, tool := range group.tools {
			b.WriteString(d.tools[tool].text)
		}
		b.WriteString(end)
	}
	b.WriteString(";\n")
	return b.String()
}

// alone is the declaration of one tool, with the named types it needs behind it
// unless they were seen.
func (d *declaration) alone(i int, seen map[*namedType]bool) string {
	var b strings.Builder
	b.WriteString(d.tools[i].text)
	for todo := slices.Clone(d.tools[i].uses); len(todo) > 0; {
		t := todo[0]
		todo = todo[1:]
		if !seen[t] {
			seen[t] = true
			b.WriteString(t.piece.text)
			todo = append(todo, t.piece.uses...)
		}
	}
	return b.String()
}

// frame declares what does not depend on the tools, but for whether any has a
// short form: Server then gives every tool both of its names.
func frame(short bool) string {
	text := `type Tool<A = {}, R = unknown> = (args: {} extends A ? A | void : A, options?: { signal?: AbortSignal; timeoutMs?: number }) => Promise<R>;
declare class ToolCallError extends Error { toolName: string; code?: string; callId?: string; origin?: "policy" | "guard" | "approval"; by?: string }
`
	if short {
		text += "type Server<S extends string, T> = Record<S, T> & { [K in keyof T & string as `mcp__${S}__${K}`]: T[K] };\n"
	}
	return text
}
