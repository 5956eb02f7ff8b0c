package bindings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// side is one schema of one tool: its arguments or its result.
type side struct {
	tool   string
	output bool
	doc    doc
	conv   *converter // nil: no schema
	keys   map[*node]string
}

// declaration collects everything the text is made from.
type declaration struct {
	words *words
	sides []*side      // two a tool: arguments, then result
	types []*namedType // in order of first use
}

// declare writes the declarations of tools that are sorted by name. No schema
// makes it fail, whether it compiles as one or not.
func declare(sorted []tools.Definition, shortExample string) string {
	d := &declaration{words: newWords()}
	for _, def := range sorted {
		d.add(&side{tool: def.Name, doc: doc{text: def.Description}}, def.Input)
		d.add(&side{tool: def.Name, output: true}, def.Output)
	}
	d.nameTypes()
	return d.print(shortExample)
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
		for _, target := range s.conv.targets {
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
	taken := map[string]bool{}
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

func unique(name string, taken map[string]bool) string {
	candidate := name
	for i := 2; taken[candidate]; i++ {
		candidate = name + strconv.Itoa(i)
	}
	taken[candidate] = true
	return candidate
}

func (d *declaration) print(shortExample string) string {
	p := &printer{}
	p.line(0, "type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };")
	p.WriteByte('\n')
	d.printMap(p, "ToolArgsMap", false)
	p.WriteByte('\n')
	d.printMap(p, "ToolOutputMap", true)
	for _, t := range d.types {
		p.WriteByte('\n')
		p.comment(0, t.doc)
		p.WriteString("type " + t.name + " = ")
		p.shape(0, t.shape)
		p.WriteString(";\n")
	}
	p.WriteString(frame(shortExample))
	return p.String()
}

func (d *declaration) printMap(p *printer, name string, output bool) {
	if len(d.sides) == 0 {
		p.line(0, "interface "+name+" {}")
		return
	}
	p.line(0, "interface "+name+" {")
	for _, s := range d.sides {
		if s.output == output {
			p.member(1, s.field(d.words))
		}
	}
	p.line(0, "}")
}

// field is the side's entry in its map.
func (s *side) field(w *words) field {
	f := field{key: s.tool, required: true, typ: w.any, doc: s.doc}
	if s.conv != nil {
		root := s.conv.doc.root
		f.typ = s.conv.shapeOf(root)
		if s.conv.named[root] == nil { // a named type has a comment of its own
			f.doc.notes = s.conv.notes(root, noteDepth)
			f.doc.text = cmp.Or(f.doc.text, s.conv.description(root))
		}
	}
	if !s.output && f.typ.isAny() {
		f.typ = &shape{form: objectForm, extra: w.any} // arguments are an object
	}
	return f
}

// frame declares what does not depend on the tools, and the short forms where
// there are any: tools of a server whose name no tool bears.
func frame(shortExample string) string {
	var b strings.Builder
	b.WriteString(`
type ToolName = keyof ToolArgsMap;
type ToolCall<N extends ToolName> = (
  ...args: {} extends ToolArgsMap[N]
    ? [args?: ToolArgsMap[N], options?: ToolCallOptions]
    : [args: ToolArgsMap[N], options?: ToolCallOptions]
) => Promise<ToolOutputMap[N]>;
interface ToolCallOptions {
  /** Cancels this call alone. */
  signal?: AbortSignal;
  timeoutMs?: number;
}
/** What a failed or denied call throws. */
declare class ToolCallError extends Error {
  readonly name: "ToolCallError";
  readonly toolName: string;
  readonly code?: string;
  readonly callId?: string;
  /** of a denial: "policy", "guard" or "approval", and the rule's name */
  readonly origin?: string;
  readonly by?: string;
}
`)
	if shortExample == "" {
		b.WriteString("declare const tools: { readonly [N in ToolName]: ToolCall<N> };\n")
		return b.String()
	}
	server, tool, _ := splitServer(shortExample)
	b.WriteString("type ServerName = Exclude<ToolName extends infer N ? N extends `mcp__${infer S}__${string}` ? S : never : never, ToolName>;\n")
	b.WriteString("/** mcp__server__tool is also tools.server.tool, for example tools" + oneLine(access(server)+access(tool)) + ". */\n")
	b.WriteString("declare const tools: { readonly [N in ToolName]: ToolCall<N> } & {\n" +
		"  readonly [S in ServerName]: { readonly [N in ToolName as N extends `mcp__${S}__${infer T}` ? T : never]: ToolCall<N> };\n" +
		"};\n")
	return b.String()
}
