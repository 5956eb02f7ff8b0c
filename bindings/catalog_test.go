package bindings

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

func noBody(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil }

// tool makes a tool; empty texts are no schemas.
func tool(t testing.TB, name, description, input, output string) *tools.Tool {
	t.Helper()
	def := &tools.Definition{Name: name, Description: description, Handler: noBody}
	if input != "" {
		def.Input = tools.MustJSON(input)
	}
	if output != "" {
		def.Output = tools.MustJSON(output)
	}
	made, err := tools.NewTool(def)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func named(t testing.TB, names ...string) []*tools.Tool {
	t.Helper()
	var list []*tools.Tool
	for _, name := range names {
		list = append(list, tool(t, name, "", "", ""))
	}
	return list
}

func catalog(t testing.TB, list ...*tools.Tool) *Catalog {
	t.Helper()
	c, notes, err := New(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) > 0 {
		t.Fatalf("notes = %q, want none", notes)
	}
	return c
}

func TestNamespace(t *testing.T) {
	c := catalog(t, named(t, "b", "mcp__github__search", "run_code", "mcp__github__get__file", "a.b")...)
	ns := c.Namespace()
	if ns.Global() != "tools" || ns.Class() != (runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"}) {
		t.Errorf("global %q and class %+v, want tools and ToolCallError with toolName", ns.Global(), ns.Class())
	}
	want := []runtime.Member{
		{Name: "a.b"},
		{Name: "b"},
		{Name: "mcp__github__get__file", Path: []string{"github", "get__file"}},
		{Name: "mcp__github__search", Path: []string{"github", "search"}},
	}
	if diff := cmp.Diff(want, ns.Members()); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
}

func TestNamesAreTheCallersOwn(t *testing.T) {
	c := catalog(t, named(t, "x", "y")...)
	c.Names()[0] = "changed"
	if diff := cmp.Diff([]string{"x", "y"}, c.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// TestNamesInCodeUnitOrder: characters beyond the basic plane begin with a
// surrogate, which is less than U+E000.
func TestNamesInCodeUnitOrder(t *testing.T) {
	c := catalog(t, named(t, "\ue000", "😀", "a", "B")...)
	if diff := cmp.Diff([]string{"B", "a", "😀", "\ue000"}, c.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		name string
		list []*tools.Tool
		want string
	}{
		{"nil tool", []*tools.Tool{nil}, "cannot bind a nil tool; make tools with tools.NewTool or a registry"},
		{"name twice", named(t, "x", "x"), `cannot bind two tools named "x"; keep one or rename one`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := New(tt.list)
			if c != nil || err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("New = %v, %v, want the error %q", c, err, tt.want)
			}
		})
	}
}

func TestShortForms(t *testing.T) {
	const noShort = ` have no short form in programs because a tool is named `
	tests := []struct {
		name  string
		tools []string
		paths map[string][]string
		notes []string
	}{
		{"server and tool", []string{"mcp__s__t"}, map[string][]string{"mcp__s__t": {"s", "t"}}, nil},
		{"one tool name at two servers", []string{"mcp__a__t", "mcp__b__t"},
			map[string][]string{"mcp__a__t": {"a", "t"}, "mcp__b__t": {"b", "t"}}, nil},
		{"names that only look so", []string{"mcp_s_t", "mcp__s", "mcp__s__", "mcp____t", "x__s__t", "MCP__s__t"}, nil, nil},
		{"single underscores stay", []string{"mcp__my_server__my_tool"}, map[string][]string{"mcp__my_server__my_tool": {"my_server", "my_tool"}}, nil},
		{"the server ends at the first separator", []string{"mcp__a___b"}, map[string][]string{"mcp__a___b": {"a", "_b"}}, nil},
		{"odd names", []string{"mcp__constructor__then"}, map[string][]string{"mcp__constructor__then": {"constructor", "then"}}, nil},
		{"a tool bears the server's name", []string{"mcp__s__t", "mcp__s__u", "mcp__other__t", "s"},
			map[string][]string{"mcp__other__t": {"other", "t"}},
			[]string{`the tools of server "s"` + noShort + `"s"; call them by their full names, for example tools["mcp__s__t"]`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, notes, err := New(named(t, tt.tools...))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			var paths map[string][]string
			for _, m := range c.Namespace().Members() {
				if m.Path != nil {
					if paths == nil {
						paths = map[string][]string{}
					}
					paths[m.Name] = m.Path
				}
			}
			if diff := cmp.Diff(tt.paths, paths); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// TestShortFormsNeverStopACatalog: whatever a namespace has against the paths,
// the exact names remain.
func TestShortFormsNeverStopACatalog(t *testing.T) {
	c, notes, err := New(named(t, "mcp__s__t", "s\x00t"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Namespace().Members() {
		if m.Path != nil {
			t.Errorf("member %q has the path %q, want none", m.Name, m.Path)
		}
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "no tool has a short form in programs: ") {
		t.Errorf("notes = %q, want one that says why there are no short forms", notes)
	}
	if strings.Contains(c.Instructions(PromptOptions{}), "tools.server.tool") {
		t.Error("the instructions speak of short forms that do not exist")
	}
	if !strings.Contains(c.Declarations(), "declare const tools: {\nmcp__s__t: Tool;\n\"s\\u0000t\": Tool;\n};\n") {
		t.Errorf("the declarations show a short form that does not exist:\n%s", c.Declarations())
	}
}

// TestTransportIsNeverBound: a program cannot call the tool it runs in.
func TestTransportIsNeverBound(t *testing.T) {
	c := catalog(t, named(t, tools.TransportName, "echo")...)
	if c.Namespace().Has(tools.TransportName) || slices.Contains(c.Names(), tools.TransportName) || strings.Contains(c.Declarations(), tools.TransportName) {
		t.Error("run_code is bound or declared")
	}
}

// awkward names clash with JavaScript's own, are no identifiers, or differ only
// in separators.
var awkward = []string{"web-search", "web_search", "2fa.verify", "delete", "__proto__", "constructor", "then", "toString"}

func TestAwkwardNames(t *testing.T) {
	c := catalog(t, named(t, awkward...)...)
	want := []string{"2fa.verify", "__proto__", "constructor", "delete", "then", "toString", "web-search", "web_search"}
	if diff := cmp.Diff(want, c.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, m := range c.Namespace().Members() {
		if m.Path != nil {
			t.Errorf("%q got the alias %q", m.Name, m.Path)
		}
	}
	wantMap := `declare const tools: {
"2fa.verify": Tool;
__proto__: Tool;
constructor: Tool;
delete: Tool;
then: Tool;
toString: Tool;
"web-search": Tool;
web_search: Tool;
};
`
	if !strings.Contains(c.Declarations(), wantMap) {
		t.Errorf("declarations =\n%s\nwant in them:\n%s", c.Declarations(), wantMap)
	}
}
