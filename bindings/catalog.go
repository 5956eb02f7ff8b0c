package bindings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// The names a program meets. They are DSH's.
const (
	Global        = "tools"         // the global object of the tools
	ErrorClass    = "ToolCallError" // the class every failed call throws
	ErrorProperty = "toolName"      // the error's own property that names the tool
)

// Catalog is a set of tools as programs and models see it. It is immutable and
// safe for concurrent use.
type Catalog struct {
	names        []string
	paths        map[string][]string // the short forms, by name
	namespace    *runtime.Namespace
	search       *runtime.Namespace
	pieces       *declaration
	declarations string
}

// New makes the catalog of the given tools, in any order. The tool run_code is
// left out: a program cannot call the transport it came through.
//
// The notes say, one sentence each, which short forms were dropped because they
// clash; the tools stay callable by their exact names. The error is for a list
// that cannot be bound at all: a nil tool, or a name given twice.
func New(list []*tools.Tool) (c *Catalog, notes []string, err error) {
	byName, err := bindable(list)
	if err != nil {
		return nil, nil, err
	}
	c = &Catalog{paths: map[string][]string{}}
	if c.namespace, notes, err = newNamespace(byName); err != nil {
		return nil, nil, err
	}
	if c.search, err = newSearchNamespace(); err != nil {
		return nil, nil, err
	}
	sorted := make([]tools.Definition, 0, len(byName))
	for _, member := range c.namespace.Members() {
		c.names = append(c.names, member.Name)
		sorted = append(sorted, byName[member.Name].Definition())
		if member.Path != nil {
			c.paths[member.Name] = member.Path
		}
	}
	c.pieces = declare(sorted, c.paths)
	c.declarations = c.pieces.text(c.names, c.paths)
	return c, notes, nil
}

// bindable is the tools a program can call, by name.
func bindable(list []*tools.Tool) (map[string]*tools.Tool, error) {
	byName := make(map[string]*tools.Tool, len(list))
	for _, tool := range list {
		if tool == nil {
			return nil, errors.New("cannot bind a nil tool; make tools with tools.NewTool or a registry")
		}
		name := tool.Name()
		if byName[name] != nil {
			return nil, fmt.Errorf("cannot bind two tools named %q; keep one or rename one", name)
		}
		if name != tools.TransportName {
			byName[name] = tool
		}
	}
	return byName, nil
}

// newNamespace binds the names, with their short paths where these can be.
func newNamespace(byName map[string]*tools.Tool) (*runtime.Namespace, []string, error) {
	names := slices.Sorted(maps.Keys(byName))
	class := runtime.ErrorClass{Name: ErrorClass, Property: ErrorProperty}
	paths, notes := shortPaths(names)
	members := make([]runtime.Member, len(names))
	for i, name := range names {
		members[i] = runtime.Member{Name: name, Path: paths[name]}
	}
	namespace, err := runtime.NewNamespace(Global, class, members)
	if err == nil {
		return namespace, notes, nil
	}
	for i := range members { // the exact names alone may still do
		members[i].Path = nil
	}
	namespace, second := runtime.NewNamespace(Global, class, members)
	if second != nil {
		return nil, nil, fmt.Errorf("cannot bind the tools: %w", second)
	}
	return namespace, []string{fmt.Sprintf("no tool has a short form in programs: %v", err)}, nil
}

// Namespace is the global object "tools": a member for every tool by its exact
// name, and a short path {server, tool} for names of the form
// mcp__server__tool.
func (c *Catalog) Namespace() *runtime.Namespace { return c.namespace }

// Names lists the tools in code-unit order. The slice is the caller's.
func (c *Catalog) Names() []string { return slices.Clone(c.names) }

// Declarations is the TypeScript text that declares the tools: argument and
// result types, the error class and the global. It carries no code fence and
// ends with a line break. It is made once, and is the same text for the same
// set of tools.
func (c *Catalog) Declarations() string { return c.declarations }

// quoteName writes a name as a JavaScript string literal that is safe in a line
// comment too.
func quoteName(name string) string {
	return lineSeparators.Replace(string(jsonscan.AppendQuote(nil, name)))
}

// lineSeparators writes the characters that may stand in JavaScript strings but
// end its comments.
var lineSeparators = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)
