package bindings

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/runcode-go/runcode/internal/jsonscan"
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
	switch member {
	case searchMember:
		in, err := readLookUp(args, "a text or {query, limit}", "query", "limit")
		if err != nil {
			return tools.JSON{}, fmt.Errorf("%s.%s %w", SearchGlobal, member, err)
		}
		return tools.ToJSON(c.Search(in.text, in.limit))
	case describeMember:
		in, err := readLookUp(args, "the name of a tool or {name}", "name")
		if err != nil {
			return tools.JSON{}, fmt.Errorf("%s.%s %w", SearchGlobal, member, err)
		}
		m, err := c.Describe(in.text)
		if err != nil {
			return tools.JSON{}, err
		}
		return tools.ToJSON(m)
	}
	return tools.JSON{}, fmt.Errorf("%s has no function %q; it has %s and %s", SearchGlobal, member, searchMember, describeMember)
}

// lookUp is what a member of the global was called with.
type lookUp struct {
	text  string
	limit int
}

// readLookUp reads a text, or an object with some of the known members: the
// first of them is the text, "limit" a whole number. The error is a predicate;
// form is what it says should have been sent.
func readLookUp(args tools.JSON, form string, known ...string) (in lookUp, err error) {
	if text, ok := args.Text(); ok {
		return lookUp{text: text}, nil
	}
	object := parse(args)
	if !object.is(jsonscan.ObjectStart) {
		return in, fmt.Errorf("takes %s; it was called with %.60s", form, args)
	}
	for i, name := range object.names {
		value := object.kids[i]
		switch {
		case !slices.Contains(known, name):
			return in, fmt.Errorf("takes %s; it does not know %.60q", form, name)
		case name == "limit":
			if in.limit, err = strconv.Atoi(value.text); err != nil {
				return in, fmt.Errorf("takes a whole number as limit; it was called with %.60s", value.text)
			}
		case !value.is(jsonscan.String):
			return in, fmt.Errorf("takes a text as %s; it was called with %.60s", name, value.text)
		default:
			in.text = value.unquote()
		}
	}
	return in, nil
}
