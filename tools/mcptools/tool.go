package mcptools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// declaration is what a server says of a tool, as far as it matters here. Two
// tools are the same if their declarations are equal.
type declaration struct {
	name, description          string
	input, output, annotations tools.JSON
}

// readDeclaration reads the text of a tool in a list.
func readDeclaration(text string) (d declaration, err error) {
	whole, err := tools.ParseJSON(text)
	switch {
	case err != nil:
		return d, fmt.Errorf("its declaration: %w", err)
	case whole.Kind() != '{':
		return d, errors.New("its declaration is no object")
	}
	var wire struct {
		Name        string     `json:"name"`
		Description string     `json:"description"`
		Input       tools.JSON `json:"inputSchema"`
		Output      tools.JSON `json:"outputSchema"`
		Annotations tools.JSON `json:"annotations"`
	}
	err = whole.Unmarshal(&wire)
	d = declaration{wire.Name, wire.Description, orNone(wire.Input), orNone(wire.Output), orNone(wire.Annotations)}
	switch {
	case err != nil:
		return d, fmt.Errorf("its declaration cannot be read: %w", err)
	case d.name == "":
		return d, errors.New("it has no name")
	}
	return d, nil
}

// orNone takes null for nothing.
func orNone(j tools.JSON) tools.JSON {
	if j.Kind() == 'n' {
		return tools.JSON{}
	}
	return j
}

// imported is a tool of a server as it is registered.
type imported struct {
	declaration
	def *tools.Definition
	// tool is def with its schemas compiled, to see what the output schema
	// allows.
	tool *tools.Tool
	// wrapped: the value is the member "result" of what the server sends.
	wrapped bool
	note    string // what is not as declared, "" for nothing
}

// importTool makes a definition of a declaration. The error says why there is
// none.
func (s *server) importTool(d declaration) (*imported, error) {
	t := &imported{declaration: d}
	t.def = &tools.Definition{
		Name:        "mcp__" + s.name + "__" + d.name,
		Description: s.secrets.Known(d.description),
		Input:       d.input,
		Output:      d.output,
		// A result that does not fit must not hide that the call was carried out.
		OutputDescribes: true,
		Annotations:     s.annotations(d.annotations),
	}
	t.def.Handler = func(ctx context.Context, run *tools.Run) (tools.Result, error) { return s.call(ctx, run, t) }
	if s.cfg.Trusted && t.def.Annotations.ReadOnly {
		t.def.Concurrent = func(tools.JSON) bool { return true }
	}
	if inner, ok := unwrapped(d.output); ok {
		t.wrapped, t.def.Output = true, inner
	}
	var err error
	if t.tool, err = tools.NewTool(t.def); err != nil {
		declared := t.def.Output
		t.def.Output = tools.JSON{}
		again, still := tools.NewTool(t.def)
		if still != nil || declared.IsZero() {
			return nil, err // the name or the input schema: without it nobody would check arguments
		}
		t.tool = again
		t.note = fmt.Sprintf("%s has no output type: %v", t.def.Name, err)
	}
	return t, nil
}

// annotations are what policies may believe: of a server that is not trusted
// nothing but the worst.
func (s *server) annotations(text tools.JSON) tools.Annotations {
	if !s.cfg.Trusted {
		return tools.Annotations{Destructive: true, OpenWorld: true}
	}
	var hints struct {
		ReadOnly    bool  `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  bool  `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	}
	if !text.IsZero() && text.Unmarshal(&hints) != nil {
		return tools.Annotations{Destructive: true, OpenWorld: true}
	}
	return tools.Annotations{
		ReadOnly:    hints.ReadOnly,
		Destructive: !hints.ReadOnly && (hints.Destructive == nil || *hints.Destructive), // the protocol's default
		Idempotent:  hints.Idempotent,
		OpenWorld:   hints.OpenWorld == nil || *hints.OpenWorld,
	}
}

// wrapMark is how FastMCP marks the schema of {result: x} that stands for x,
// because structured content used to be an object always.
const wrapMark = "x-fastmcp-wrap-result"

// unwrapped is the schema of x, with what its references may lead to.
func unwrapped(schema tools.JSON) (inner tools.JSON, ok bool) {
	var root map[string]tools.JSON
	if schema.Kind() != '{' || schema.Unmarshal(&root) != nil || root[wrapMark].Kind() != 't' {
		return tools.JSON{}, false
	}
	var properties map[string]tools.JSON
	if orNone(root["properties"]).Kind() != '{' || root["properties"].Unmarshal(&properties) != nil {
		return tools.JSON{}, false
	}
	result, ok := properties["result"]
	if !ok || result.Kind() != '{' {
		return tools.JSON{}, ok // true allows anything
	}
	var own map[string]tools.JSON
	_ = result.Unmarshal(&own) // an object
	text := result.String()
	for _, name := range []string{"$schema", "$defs", "definitions"} {
		shared, has := root[name]
		if !has || !own[name].IsZero() {
			continue
		}
		member := jsonscan.Quote(name) + ":" + shared.String()
		if text != "{}" {
			member += ","
		}
		text = "{" + member + text[1:]
	}
	return tools.MustJSON(text), true
}

// Omission is a tool that a server has and that cannot be used.
type Omission struct{ Tool, Reason string }

// importAll makes the tools of a list. Those that are declared as they were
// remain the same.
func (s *server) importAll(texts []string, before map[string]*imported) (now map[string]*imported, left []Omission, notes []string) {
	now = map[string]*imported{}
	leave := func(i int, name string, why error) {
		if name == "" {
			name = fmt.Sprintf("number %d of the list", i+1)
		}
		left = append(left, s.omission(name, why.Error()))
	}
	for i, text := range texts {
		d, err := readDeclaration(text)
		if err != nil {
			leave(i, d.name, err)
			continue
		}
		t := before["mcp__"+s.name+"__"+d.name]
		if t == nil || t.declaration != d {
			t, err = s.importTool(d)
		}
		switch {
		case err != nil:
			leave(i, d.name, err)
			continue
		case now[t.def.Name] != nil:
			leave(i, d.name, errors.New("the server lists another tool of that name before it"))
			continue
		}
		now[t.def.Name] = t
		if t.note != "" {
			notes = append(notes, s.secrets.Text(t.note))
		}
	}
	return now, left, notes
}

func (s *server) omission(tool, why string) Omission {
	const longest = 80
	if tool = s.secrets.Text(tool); len(tool) > longest {
		tool = tool[:longest] + "…"
	}
	return Omission{strings.ToValidUTF8(tool, "\uFFFD"), s.secrets.Text(why)}
}
