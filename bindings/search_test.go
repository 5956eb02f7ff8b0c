package bindings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// searchCatalog is a set of tools whose words overlap.
func searchCatalog(t testing.TB) *Catalog {
	return catalog(t,
		tool(t, "mcp__github__create_issue", "Open a ticket in a repository", `{"properties":{"title":{},"labels":{"items":{"properties":{"colour":{}}}}}}`, ""),
		tool(t, "mcp__github__list_issues", "All issues of a repository", `{"properties":{"repository":{}}}`, ""),
		tool(t, "mcp__mail__sendMessage", "Send an e-mail", `{"properties":{"to":{},"title":{}}}`, ""),
		tool(t, "read", "Read a file; for issues see the log", `{"properties":{"file_path":{"type":"string"}},"required":["file_path"]}`, `{"type":"string"}`),
		tool(t, "größe", "", "", ""),
	)
}

func TestSearchRanks(t *testing.T) {
	c := searchCatalog(t)
	tests := []struct {
		query string
		want  []string
	}{
		{"issue", []string{"mcp__github__create_issue", "mcp__github__list_issues", "read"}},
		{"issues", []string{"mcp__github__create_issue", "mcp__github__list_issues", "read"}},
		{"list issues", []string{"mcp__github__list_issues", "mcp__github__create_issue", "read"}},
		{"Create an ISSUE", []string{"mcp__github__create_issue", "mcp__github__list_issues", "mcp__mail__sendMessage", "read"}},
		{"ticket", []string{"mcp__github__create_issue"}},
		{"title", []string{"mcp__github__create_issue", "mcp__mail__sendMessage"}},
		{"colour", []string{"mcp__github__create_issue"}},                                 // an argument of an argument
		{"repository", []string{"mcp__github__list_issues", "mcp__github__create_issue"}}, // argument before description
		{"sendmessage", []string{"mcp__mail__sendMessage"}},
		{"message", []string{"mcp__mail__sendMessage"}},
		{"mess", []string{"mcp__mail__sendMessage"}},
		{"me", nil}, // too short for a beginning
		{"filePath", []string{"read"}},
		{"read", []string{"read"}},
		{"tools.github.list_issues", []string{"mcp__github__list_issues", "mcp__github__create_issue", "read"}},
		{"mcp__github__list_issues", []string{"mcp__github__list_issues", "mcp__github__create_issue", "read"}},
		{"mcp", nil}, // in front of every server
		{"GRÖSSE größe", []string{"größe"}},
		{"nothing like it", nil},
		{"", []string{"größe", "mcp__github__create_issue", "mcp__github__list_issues", "mcp__mail__sendMessage", "read"}},
		{" ?! ", []string{"größe", "mcp__github__create_issue", "mcp__github__list_issues", "mcp__mail__sendMessage", "read"}},
		{"a b", []string{"mcp__github__create_issue", "mcp__github__list_issues", "read"}}, // nothing but letters
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			found := c.Search(tt.query, 0)
			var got []string
			for _, m := range found.Matches {
				got = append(got, m.Name)
			}
			want := tt.want
			if len(want) == 5 { // in the order of names
				want = c.Names()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tools found (-want +got):\n%s", diff)
			}
			if found.Total != len(want) || found.Note != "" || found.Matches == nil {
				t.Errorf("total %d and note %q of %d tools, want no note", found.Total, found.Note, len(want))
			}
		})
	}
}

// TestOwnNameIsFirst, whatever else the words of a query find.
func TestOwnNameIsFirst(t *testing.T) {
	c := catalog(t, named(t, "a_tree", "tree", "mcp__a__tree", "mcp__b__tree", "mcp__c__get_user", "mcp__c__get_users")...)
	for query, want := range map[string]string{"tree": "tree", " tree ": "tree", "tools.b.tree": "mcp__b__tree", "mcp__b__tree": "mcp__b__tree",
		"get-users": "mcp__c__get_users", "Get Users": "mcp__c__get_users", "getUser": "mcp__c__get_user", "get_users": "mcp__c__get_users"} {
		if got := c.Search(query, 1).Matches[0].Name; got != want {
			t.Errorf("the first tool for %q is %s, want %s", query, got, want)
		}
	}
}

// TestRareWordsCountMore: of two words the one that fewer tools have decides.
func TestRareWordsCountMore(t *testing.T) {
	c := catalog(t, tool(t, "file_a", "", "", ""), tool(t, "file_b", "", "", ""), tool(t, "file_c", "", "", ""), tool(t, "z", "", `{"properties":{"parser":{}}}`, ""),
		tool(t, "file_d", "", "", ""), tool(t, "file_e", "", "", ""), tool(t, "file_f", "", "", ""), tool(t, "file_g", "", "", ""))
	if got := c.Search("file parser", 1).Matches[0].Name; got != "z" {
		t.Errorf("the first tool is %s, want z", got)
	}
}

func TestSearchAnswersWithDeclarations(t *testing.T) {
	found := exampleCatalog(t).Search("orders", 0)
	want := Found{Total: 2, Matches: []Match{
		{Name: "mcp__orders__find", Call: "tools.orders.find", Declaration: `// Find orders
find: Tool<{
// at least 1 character
query: string;
// default: 20; 1 to 100
limit?: number;
}, { rows: Orders_Row[] }>;
// One row
type Orders_Row = {
// format: uuid
id: string;
children?: Orders_Row[];
};
`},
		{Name: "mcp__orders__save", Call: "tools.orders.save", Declaration: `// Save rows
save: Tool<{ rows?: Orders_Row[] }>;
`},
	}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// TestSearchIsBounded: whatever is asked for, the answer is small and says what
// it lacks.
func TestSearchIsBounded(t *testing.T) {
	var list []*tools.Tool
	for i := range 200 {
		list = append(list, tool(t, fmt.Sprintf("tool_%03d", i), strings.Repeat("word ", 200), "", ""))
	}
	list = append(list, tool(t, "big", "word "+strings.Repeat("x", 10_000), "", ""))
	c := catalog(t, list...)
	tests := []struct {
		name       string
		query      string
		limit      int
		matches    int
		total      int
		quoted     int
		note       string
		firstFound string
	}{
		{"default limit", "word", 0, 8, 201, 7, "declarations left out as too long: 1; catalog.describe(name) has them. more tools that match: 193; use more words, or {query, limit} with a limit up to 50", "big"},
		{"limit", "tool", 2, 2, 200, 2, "more tools that match: 198; use more words, or {query, limit} with a limit up to 50", "tool_000"},
		{"no limit is too high", "tool", 1 << 30, 50, 200, 32, "declarations left out as too long: 18; catalog.describe(name) has them. more tools that match: 150; use more words, or {query, limit} with a limit up to 50", "tool_000"},
		{"negative limit", "tool", -1, 8, 200, 8, "more tools that match: 192; use more words, or {query, limit} with a limit up to 50", "tool_000"},
		{"many words", "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1 l1 m1 n1 o1 p1 tool", 1, 0, 0, 0, "only the first 16 words of the query were looked for", ""},
		{"one word often", strings.Repeat("tool ", 20), 1, 1, 200, 1, "more tools that match: 199; use more words, or {query, limit} with a limit up to 50", "tool_000"},
		{"long query", strings.Repeat("ä", 500_000) + " tool", 1, 0, 0, 0, "only the first 1000 bytes of the query were read", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found := c.Search(tt.query, tt.limit)
			quoted, first := 0, ""
			for i, m := range found.Matches {
				if m.Declaration != "" {
					quoted++
				}
				if i == 0 {
					first = m.Name
				}
			}
			if len(found.Matches) != tt.matches || found.Total != tt.total || quoted != tt.quoted || first != tt.firstFound {
				t.Errorf("%d of %d tools, %d of them declared, the first %q; want %d of %d, %d and %q",
					len(found.Matches), found.Total, quoted, first, tt.matches, tt.total, tt.quoted, tt.firstFound)
			}
			if found.Note != tt.note {
				t.Errorf("note %q, want %q", found.Note, tt.note)
			}
			if text, err := tools.ToJSON(found); err != nil || text.Len() > 48<<10 {
				t.Errorf("an answer of %d bytes, error %v; want at most 48 KiB", text.Len(), err)
			}
		})
	}
}

// TestSearchKeepsTypesOfTheLeftOut: a type that only a left out declaration
// mentioned is still given with the next one that needs it.
func TestSearchKeepsTypesOfTheLeftOut(t *testing.T) {
	row := `{"$comment":"` + long + `","properties":{"id":{"type":"string"}}}`
	c := catalog(t,
		tool(t, "rows_a", strings.Repeat("x", maxDeclaration), `{"properties":{"row":`+row+`,"x":{}}}`, ""),
		tool(t, "rows_b", "", `{"properties":{"row":`+row+`}}`, ""))
	found := c.Search("rows", 0)
	if len(found.Matches) != 2 || found.Matches[0].Declaration != "" {
		t.Fatalf("found %+v, want two tools, the first without a declaration", found)
	}
	want := "rows_b: Tool<{ row?: Shared_Row }>;\ntype Shared_Row = { id?: string };\n"
	if got := found.Matches[1].Declaration; got != want {
		t.Errorf("declaration %q, want %q", got, want)
	}
}

func TestDescribe(t *testing.T) {
	c := exampleCatalog(t)
	find := Match{Name: "mcp__orders__find", Call: "tools.orders.find", Declaration: c.Search("mcp__orders__find", 1).Matches[0].Declaration}
	tests := []struct {
		name string
		want Match
		err  string
	}{
		{"mcp__orders__find", find, ""},
		{"tools.orders.find", find, ""},
		{"orders.find", find, ""},
		{"web-search", Match{Name: "web-search", Call: `tools["web-search"]`, Declaration: "// Search the web\n\"web-search\": Tool<{ q: string }, (string | null)[]>;\n"}, ""},
		{`tools["web-search"]`, Match{Name: "web-search", Call: `tools["web-search"]`, Declaration: "// Search the web\n\"web-search\": Tool<{ q: string }, (string | null)[]>;\n"}, ""},
		{"tree", Match{Name: "tree", Call: "tools.tree", Declaration: "tree: Tool<Tree_Args, Tree_Json>;\ntype Tree_Args = { left?: Tree_Args; right?: Tree_Args };\ntype Tree_Json = string | { [key: string]: Tree_Json };\n"}, ""},
		{"web_search", Match{}, `no tool is named "web_search"; did you mean "web-search"?`},
		{"run_code", Match{}, `no tool is named "run_code"; catalog.search(query) finds tools by words`},
		{"", Match{}, `no tool is named ""; catalog.search(query) finds tools by words`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.Describe(tt.name)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("tool (-want +got):\n%s", diff)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || err.Error() != tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

// TestDescribeIsWhole: what a search leaves out is here.
func TestDescribeIsWhole(t *testing.T) {
	description := strings.Repeat("x", 1<<20)
	m, err := catalog(t, tool(t, "t", description, "", "")).Describe("t")
	if err != nil || m.Declaration != "// "+description+"\nt: Tool;\n" {
		t.Errorf("a declaration of %d bytes, error %v; want the whole one", len(m.Declaration), err)
	}
}

func TestAnswer(t *testing.T) {
	c := catalog(t, tool(t, "read", "Read a file", "", ""), tool(t, "write", "Write a file", "", ""))
	const read = `{"name":"read","call":"tools.read","declaration":"// Read a file\nread: Tool;\n"}`
	const write = `{"name":"write","call":"tools.write","declaration":"// Write a file\nwrite: Tool;\n"}`
	tests := []struct{ name, member, args, want, err string }{
		{"query", "search", `"read"`, `{"matches":[` + read + `],"total":1}`, ""},
		{"query and limit", "search", `{"query":"file","limit":1}`,
			`{"matches":[` + read + `],"total":2,"note":"more tools that match: 1; use more words, or {query, limit} with a limit up to 50"}`, ""},
		{"one argument too many", "search", `{"query":"write","detail":"full"}`, "", `catalog.search takes a text or {query, limit}; it does not know "detail"`},
		{"another name for the query", "search", `{"q":"write"}`, "", `catalog.search takes a text or {query, limit}; it does not know "q"`},
		{"query of a name", "describe", `{"query":"write"}`, "", `catalog.describe takes the name of a tool or {name}; it does not know "query"`},
		{"a limit that is no limit", "search", `{"query":"file","limit":-1}`, `{"matches":[` + read + `,` + write + `],"total":2}`, ""},
		{"a limit that is a text", "search", `{"limit":"2"}`, "", `catalog.search takes a whole number as limit; it was called with "2"`},
		{"a limit that is a fraction", "search", `{"limit":2.5}`, "", `catalog.search takes a whole number as limit; it was called with 2.5`},
		{"a limit beyond integers", "search", `{"limit":1e400}`, "", `catalog.search takes a whole number as limit; it was called with 1e400`},
		{"no name", "describe", `{}`, "", `no tool is named ""; catalog.search(query) finds tools by words`},
		{"nothing found", "search", `"x"`, `{"matches":[],"total":0}`, ""},
		{"no argument", "search", `{}`, `{"matches":[` + read + `,` + write + `],"total":2}`, ""},
		{"name", "describe", `"write"`, write, ""},
		{"name as a member", "describe", `{"name":"write"}`, write, ""},
		{"unknown name", "describe", `"wriet"`, "", `no tool is named "wriet"; did you mean "write"?`},
		{"a list", "search", `["read"]`, "", `catalog.search takes a text or {query, limit}; it was called with ["read"]`},
		{"a wrong query", "search", `{"query":1}`, "", "catalog.search takes a text as query; it was called with 1"},
		{"unknown function", "list", `{}`, "", `catalog has no function "list"; it has search and describe`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.Answer(tt.member, tools.MustJSON(tt.args))
			if got.String() != tt.want {
				t.Errorf("answer %s, want %s", got, tt.want)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func TestSearchNamespace(t *testing.T) {
	n := catalog(t).SearchNamespace()
	if n.Global() != "catalog" || !n.Has("search") || !n.Has("describe") || len(n.Members()) != 2 {
		t.Errorf("global %q with %v, want catalog with search and describe", n.Global(), n.Members())
	}
}

// TestSearchLiveTools: the usual questions find the tool a person would name.
func TestSearchLiveTools(t *testing.T) {
	var all []*tools.Tool
	for _, list := range liveTools(t) {
		all = append(all, list...)
	}
	c := catalog(t, all...)
	for query, want := range map[string]string{
		"create github issue":        "tools[\"github-ref\"].create_issue",
		"take a screenshot":          "tools.playwright.browser_take_screenshot",
		"post message slack channel": "tools.slack.slack_post_message",
		"search the web":             "tools.tavily.tavily_search",
		"list directory":             "tools.filesystem.list_directory",
		"read several files":         "tools.filesystem.read_multiple_files",
		"move file":                  "tools.filesystem.move_file",
		"knowledge graph relations":  "tools.memory.create_relations",
		"pull request files":         "tools[\"github-ref\"].get_pull_request_files",
	} {
		t.Run(query, func(t *testing.T) {
			found := c.Search(query, 3)
			var calls []string
			for _, m := range found.Matches {
				calls = append(calls, m.Call)
			}
			if !strings.Contains(strings.Join(calls, "\n"), want) {
				t.Errorf("found %q, want %s among them", calls, want)
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	var list []*tools.Tool
	for i := range 2_000 {
		list = append(list, tool(b, fmt.Sprintf("mcp__server%d__do_thing_%d", i%40, i), "Does the thing "+fmt.Sprint(i)+" with a file, a row and an issue", `{"properties":{"path":{},"limit":{}}}`, ""))
	}
	c := catalog(b, list...)
	for b.Loop() {
		c.Search("create an issue for the row with a path", 10)
	}
}
