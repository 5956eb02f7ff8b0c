package runtime

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReservedWordsAreSorted(t *testing.T) {
	if !slices.IsSorted(reservedWords) {
		t.Error("reservedWords is searched by halving and must be sorted")
	}
}

func TestNewNamespaceNames(t *testing.T) {
	class := ErrorClass{Name: "ToolCallError", Property: "toolName"}
	for _, tc := range []struct {
		name   string
		global string
		class  ErrorClass
		want   string // in the error; empty: accepted
	}{
		{"as usual", "tools", class, ""},
		{"no class", "tools", ErrorClass{}, ""},
		{"underscore", "_tools1", class, ""},
		{"empty", "", class, "not a usable identifier"},
		{"not an identifier", "not valid!", class, "not a usable identifier"},
		{"keyword", "await", class, "not a usable identifier"},
		{"dollar", "$tools", class, "not a usable identifier"},
		{"dollar inside", "a$b", class, "not a usable identifier"},
		{"keyword of Python", "lambda", class, "not a usable identifier"},
		{"digit first", "2fa", class, "not a usable identifier"},
		{"console", "console", class, "reserved by the runtime"},
		{"the reference system's own", "__dsh_main__", class, "reserved by the runtime"},
		{"input", "input", class, "reserved by the runtime"},
		{"class not an identifier", "tools", ErrorClass{"a b", "toolName"}, "not a usable identifier"},
		{"class is a keyword", "tools", ErrorClass{"class", "toolName"}, "not a usable identifier"},
		{"no property", "tools", ErrorClass{"E", ""}, "cannot be used"},
		{"property message", "tools", ErrorClass{"E", "message"}, "cannot be used"},
		{"property args", "tools", ErrorClass{"E", "args"}, "cannot be used"},
		{"property dunder", "tools", ErrorClass{"E", "__dict__"}, "cannot be used"},
		{"property without class", "tools", ErrorClass{"", "toolName"}, "no error class"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewNamespace(tc.global, tc.class, nil)
			if tc.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestNewNamespaceMembers(t *testing.T) {
	at := func(name string, path ...string) Member { return Member{Name: name, Path: path} }
	for _, tc := range []struct {
		name    string
		members []Member
		want    string
	}{
		{"awkward names", []Member{at("__proto__"), at("then"), at("2fa.verify"), at("constructor"), at("web-search"), at("web_search")}, ""},
		{"paths", []Member{at("mcp__a__x", "a", "x"), at("mcp__a__y", "a", "y"), at("b", "b")}, ""},
		{"deeper path", []Member{at("x", "a", "b", "c"), at("y", "a", "b", "d")}, ""},
		{"empty name", []Member{at("")}, "no name"},
		{"twice", []Member{at("a"), at("a")}, "given twice"},
		{"empty part", []Member{at("a", "b", "")}, "no empty part"},
		{"path on a name", []Member{at("a"), at("b", "a")}, `where "a" is already`},
		{"path on a path", []Member{at("a", "s", "t"), at("b", "s", "t")}, `where "a" is already`},
		{"path through a function", []Member{at("a"), at("b", "a", "b")}, "leads through"},
		{"path through another path", []Member{at("a", "s", "t"), at("b", "s", "t", "u")}, "leads through"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := NewNamespace("tools", ErrorClass{}, tc.members)
			if tc.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestNamespaceIsSortedAndOwnsItsMembers(t *testing.T) {
	path := []string{"s", "t"}
	given := []Member{{Name: "\ue000"}, {Name: "b", Path: path}, {Name: "😀"}, {Name: "a"}, {Name: "B"}}
	n, err := NewNamespace("tools", ErrorClass{}, given)
	if err != nil {
		t.Fatal(err)
	}
	given[0].Name, path[0] = "changed", "changed"
	var names []string
	for _, m := range n.Members() {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff([]string{"B", "a", "b", "😀", "\ue000"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if got := n.Members()[2].Path[0]; got != "s" {
		t.Errorf("the path is %q; it was changed from outside", got)
	}
	for _, name := range names {
		if !n.Has(name) {
			t.Errorf("Has(%q) is false", name)
		}
	}
	if n.Has("c") || n.Has("") {
		t.Error("Has says yes to a name that is no member")
	}
}

func TestRequestValidate(t *testing.T) {
	ns := func(global, class string) *Namespace {
		c := ErrorClass{}
		if class != "" {
			c = ErrorClass{class, "member"}
		}
		n, err := NewNamespace(global, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	call := func(context.Context, Invocation) (Reply, error) { return Reply{}, nil }
	for _, tc := range []struct {
		name string
		req  Request
		want string
	}{
		{"empty", Request{}, ""},
		{"two namespaces", Request{Bindings: []Binding{{ns("a", "E"), call}, {ns("b", "F"), call}}}, ""},
		{"no namespace", Request{Bindings: []Binding{{nil, call}}}, "no namespace"},
		{"no function", Request{Bindings: []Binding{{ns("a", ""), nil}}}, "no Call function"},
		{"same global", Request{Bindings: []Binding{{ns("a", ""), call}, {ns("a", ""), call}}}, `"a" is taken`},
		{"same class", Request{Bindings: []Binding{{ns("a", "E"), call}, {ns("b", "E"), call}}}, `"E" is taken`},
		{"class is another's global", Request{Bindings: []Binding{{ns("a", "b"), call}, {ns("b", ""), call}}}, `"b" is taken`},
		{"negative parallel", Request{Parallel: -1}, "parallel is -1"},
		{"too parallel", Request{Parallel: MaxParallel + 1}, "parallel is 257"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.req.Validate()
			if tc.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
