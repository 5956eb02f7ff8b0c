// Package docs holds no code: its tests hold pages against the tests they name.
package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCases fails when dsh-cases.md lacks a case, or names a test or a row of one
// that is not there.
func TestCases(t *testing.T) {
	page, err := os.ReadFile("dsh-cases.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems(t, string(page), allCases()) {
		t.Error(problem)
	}
}

// allCases are 1 to 185, two with letters, and the claims.
func allCases() (cases []string) {
	for n := 1; n <= 185; n++ {
		cases = append(cases, strconv.Itoa(n))
	}
	return append(cases, "66a", "66b", "L1", "L2", "L3", "L4", "L5", "L6")
}

// problems says what is wrong with a page that is to name the tests of cases.
func problems(t *testing.T, page string, cases []string) (found []string) {
	t.Helper()
	tests := suites{}
	seen := map[string]bool{}
	for i, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| case ") {
			continue
		}
		report := func(format string, args ...any) {
			found = append(found, fmt.Sprintf("line %d: ", i+1)+fmt.Sprintf(format, args...))
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 4 {
			report("%d cells, want case, behaviour, test and row", len(cells))
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		id, behaviour, test, row := cells[0], cells[1], cells[2], cells[3]
		switch {
		case !slices.Contains(cases, id):
			report("there is no case %q", id)
		case seen[id] == (behaviour != ""):
			report("the behaviour of case %s stands in its first line, and there only", id)
		}
		seen[id] = true
		if problem := tests.problem(t, test, row); problem != "" {
			report("%s", problem)
		}
	}
	for _, id := range cases {
		if !seen[id] {
			found = append(found, "case "+id+" is missing")
		}
	}
	return found
}

// suites are the test functions of packages by directory, with the strings that
// stand in the file of each.
type suites map[string]map[string][]string

var namedTest = regexp.MustCompile("^`([a-z/]+)` ((?:Test|Fuzz)\\w+)$")

// problem says what is wrong with a test and a row, "" for nothing.
func (s suites) problem(t *testing.T, test, row string) string {
	t.Helper()
	if test == "none" {
		if row == "" {
			return "no test, and no reason why"
		}
		return ""
	}
	named := namedTest.FindStringSubmatch(test)
	if named == nil {
		return fmt.Sprintf("the test %q is not of the form `package` TestName", test)
	}
	dir, name := named[1], named[2]
	if s[dir] == nil {
		s[dir] = testsIn(t, filepath.Join("..", filepath.FromSlash(dir)))
	}
	words, ok := s[dir][name]
	switch {
	case !ok:
		return fmt.Sprintf("package %s has no test %s", dir, name)
	case row != "" && !slices.Contains(words, row):
		return fmt.Sprintf("%s of package %s has no row %q", name, dir, row)
	}
	return ""
}

// testsIn reads the test files of a directory, whatever system they are for.
func testsIn(t *testing.T, dir string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string][]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		ast.Inspect(parsed, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					words = append(words, text)
				}
			}
			return true
		})
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[f.Name.Name] = words
			}
		}
	}
	return tests
}

// TestProblems shows that the check finds what it looks for.
func TestProblems(t *testing.T) {
	const absent = "no such " // in two parts, so that the row is not in this file
	page := strings.Join([]string{
		"Words.", "", "| case | behaviour | test | row |", "|---|---|---|---|",
		"| 1 | good | `docs` TestProblems | case 9 is missing |",
		"| 1 | | `docs` TestProblems | |",
		"| 2 | no test | none | of another project |",
		"| 2 | again | `docs` TestProblems | |",
		"| 3 | | `docs` TestProblems | |",
		"| 4 | gone | `docs` TestGone | |",
		"| 5 | another row | `docs` TestProblems | " + absent + "row |",
		"| 6 | no reason | none | |",
		"| 7 | no form | TestProblems | |",
		"| 8 | no package | `nowhere` TestProblems | |",
		"| 9 | a cell too few | none |",
		"| 99 | unknown | none | x |",
	}, "\n")
	want := []string{
		"line 8: the behaviour of case 2 stands in its first line, and there only",
		"line 9: the behaviour of case 3 stands in its first line, and there only",
		"line 10: package docs has no test TestGone",
		"line 11: TestProblems of package docs has no row \"" + absent + "row\"",
		"line 12: no test, and no reason why",
		"line 13: the test \"TestProblems\" is not of the form `package` TestName",
		"line 14: package nowhere has no test TestProblems",
		"line 15: 3 cells, want case, behaviour, test and row",
		"line 16: there is no case \"99\"",
		"case 9 is missing",
	}
	if diff := cmp.Diff(want, problems(t, page, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"})); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
