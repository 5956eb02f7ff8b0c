package bindings

import (
	"fmt"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// SearchGlobal is the global object through which a program looks for tools.
const SearchGlobal = "catalog"

// The members of the global, both asynchronous as all host functions are.
const (
	searchMember   = "search"
	describeMember = "describe"
)

func newSearchNamespace() (*runtime.Namespace, error) {
	return runtime.NewNamespace(SearchGlobal, runtime.ErrorClass{}, []runtime.Member{{Name: searchMember}, {Name: describeMember}})
}

// searchDeclarations declares the global for a model.
const searchDeclarations = `type Match = { name: string; call: string; declaration?: string };
declare const ` + SearchGlobal + `: {
// ranked by the words of names, descriptions and arguments; answers with declarations
` + searchMember + `(query: string | { query: string; limit?: number }): Promise<{ matches: Match[]; total: number; note?: string }>;
` + describeMember + `(name: string): Promise<Match>;
};
`

// SearchNamespace is the global object "catalog" with the functions search and
// describe. Answer answers their calls.
func (c *Catalog) SearchNamespace() *runtime.Namespace { return c.search }

// Answer answers a call of a member of SearchNamespace: search with a query or
// {query, limit}, describe with a name or {name}. It reads this catalog and
// nothing else, so it needs no policy and is safe for concurrent use. The error
// is for the program.
func (c *Catalog) Answer(member string, args tools.JSON) (tools.JSON, error) {
	var in struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
		Name  string `json:"name"`
	}
	if text, ok := args.Text(); ok {
		in.Query, in.Name = text, text
	} else if args.Kind() != '{' {
		return tools.JSON{}, fmt.Errorf("%s.%s takes a text; it was called with %.60s", SearchGlobal, member, args)
	} else if err := args.Unmarshal(&in); err != nil {
		return tools.JSON{}, fmt.Errorf("%s.%s cannot read its argument: %w", SearchGlobal, member, err)
	}
	switch member {
	case searchMember:
		return tools.ToJSON(c.Search(in.Query, in.Limit))
	case describeMember:
		m, err := c.Describe(in.Name)
		if err != nil {
			return tools.JSON{}, err
		}
		return tools.ToJSON(m)
	}
	return tools.JSON{}, fmt.Errorf("%s has no function %q; it has %s and %s", SearchGlobal, member, searchMember, describeMember)
}
