package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEscapesAreListed holds the table of isolation.md to the attempts that the
// tests of workers make, and to the layers these say refuse them.
func TestEscapesAreListed(t *testing.T) {
	page, err := os.ReadFile("isolation.md")
	if err != nil {
		t.Fatal(err)
	}
	layer := regexp.MustCompile(`[a-z]+(-[a-z]+)*`)
	listed := map[string]string{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(line, "| Attempt ") || strings.HasPrefix(line, "|---") {
			continue
		}
		var layers []string
		for part := range strings.SplitSeq(cells[3], ",") {
			if part = strings.TrimSpace(part); !strings.HasPrefix(part, "which ") {
				layers = append(layers, layer.FindString(part))
			}
		}
		listed[strings.TrimSpace(cells[1])] = strings.Join(layers, ", ")
	}
	if diff := cmp.Diff(escapes(t), listed); diff != "" {
		t.Errorf("attempts (-tried +listed):\n%s", diff)
	}
}

// escapes are the attempts of the worker's test and the layers that refuse them.
func escapes(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	for name, value := range values(t, "../runtime/worker/layers.go") {
		if text, ok := value.(*ast.BasicLit); ok {
			names[name] = unquoted(t, text)
		}
	}
	rows, ok := values(t, "../runtime/worker/escape_linux_test.go")["escapes"].(*ast.CompositeLit)
	if !ok {
		t.Fatal("the worker's test has no table escapes")
	}
	tried := map[string]string{}
	for _, row := range rows.Elts {
		cells := row.(*ast.CompositeLit).Elts
		var layers []string
		for _, name := range cells[1].(*ast.CompositeLit).Elts {
			layers = append(layers, names[name.(*ast.Ident).Name])
		}
		tried[unquoted(t, cells[0].(*ast.BasicLit))] = strings.Join(layers, ", ")
	}
	return tried
}

// values are what the constants and variables of a file begin with.
func values(t *testing.T, file string) map[string]ast.Expr {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]ast.Expr{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
			for i, name := range spec.Names {
				all[name.Name] = spec.Values[i]
			}
		}
		return true
	})
	return all
}

func unquoted(t *testing.T, text *ast.BasicLit) string {
	t.Helper()
	s, err := strconv.Unquote(text.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
