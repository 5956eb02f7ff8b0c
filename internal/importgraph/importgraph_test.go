// Package importgraph holds no code: its test keeps the import rules of the
// house, so that an embedder of a small package does not link a large one.
package importgraph

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/runcode-go/runcode/"

// rules says which packages a package must never reach, directly or not. An
// entry that ends in a slash is a prefix, any other is a whole import path.
var rules = []struct {
	pkg string
	ban []string
}{
	{pkg: "runtime", ban: []string{module, "net/http", "github.com/", "golang.org/"}},
	{pkg: "tools", ban: []string{"github.com/tiktoken-go/", "net/http", "github.com/dop251/", "github.com/evanw/", module + "pipeline", module + "runtime", module + "bindings", module + "codemode"}},
	{pkg: "pipeline", ban: []string{"github.com/tiktoken-go/", "net/http", "github.com/dop251/", "github.com/evanw/", module + "runtime", module + "bindings", module + "codemode"}},
	{pkg: "bindings", ban: []string{"github.com/tiktoken-go/", "net/http", "github.com/dop251/", "github.com/evanw/", module + "runtime/gojavm", module + "pipeline", module + "codemode"}},
	{pkg: "codemode", ban: []string{"github.com/tiktoken-go/", "github.com/modelcontextprotocol/", "go.opentelemetry.io/", "github.com/spf13/", "golang.org/x/term", module + "cmd/"}},
	{pkg: "pipeline/eventlog", ban: []string{"net/http", "github.com/dop251/", module + "runtime", module + "codemode"}},
	{pkg: "pipeline/hooks", ban: []string{"net/http", "github.com/dop251/", "github.com/evanw/", module + "runtime", module + "codemode"}},
	{pkg: "internal/sandbox", ban: []string{"net/http", "github.com/", module}},
	{pkg: "internal/proc", ban: []string{"net/http", "github.com/", module}},
	{pkg: "tools/fstools", ban: []string{"net/http", "github.com/dop251/", module + "pipeline", module + "runtime"}},
	{pkg: "tools/shelltools", ban: []string{"net/http", "github.com/dop251/", module + "pipeline", module + "runtime"}},
	{pkg: "tools/todotools", ban: []string{"net/http", "github.com/dop251/", module + "pipeline", module + "runtime"}},
	{pkg: "pipeline/permission", ban: []string{"net/http", "github.com/dop251/", "github.com/evanw/", module + "runtime", module + "codemode", module + "tools/"}},
	{pkg: "pipeline/redact", ban: []string{"net/http", "github.com/dop251/", module + "pipeline", module + "runtime", module + "codemode"}},
	{pkg: "pipeline/spill", ban: []string{"net/http", "github.com/", module + "pipeline", module + "runtime", module + "codemode"}},
	{pkg: "pipeline/pipelinetest", ban: []string{"net/http", "github.com/dop251/", "github.com/evanw/", module + "runtime", module + "bindings", module + "codemode"}},
	{pkg: "pipeline/approval", ban: []string{"net/http", "github.com/dop251/", "github.com/evanw/", module + "runtime", module + "bindings", module + "codemode", module + "tools/"}},
	{pkg: "pipeline/policy", ban: []string{"net/http", "github.com/dop251/", "github.com/evanw/", module + "runtime", module + "bindings", module + "codemode", module + "tools/"}},
	{pkg: "internal/shellcmd", ban: []string{"net/http", "github.com/", module}},
	{pkg: "internal/terminal", ban: []string{"net/http", "github.com/dop251/", "github.com/spf13/", module + "runtime", module + "codemode"}},
	{pkg: "internal/cardview", ban: []string{"net/http", "github.com/dop251/", "github.com/spf13/", module + "pipeline", module + "runtime", module + "codemode"}},
	{pkg: "tools/mcptools", ban: []string{"github.com/dop251/", "github.com/evanw/", module + "runtime", module + "codemode"}},
	{pkg: "tools/openapitools", ban: []string{"github.com/dop251/", "github.com/evanw/", module + "pipeline", module + "runtime", module + "codemode"}},
	{pkg: "tools/httptools", ban: []string{"github.com/dop251/", "github.com/evanw/", "github.com/getkin/", module + "pipeline", module + "runtime", module + "codemode"}},
	{pkg: "internal/nethttp", ban: []string{"github.com/dop251/", "github.com/evanw/", "github.com/getkin/", module + "pipeline", module + "runtime", module + "codemode"}},
	{pkg: "internal/trace", ban: []string{"net/http", "github.com/dop251/", "github.com/evanw/", "go.opentelemetry.io/", module + "runtime", module + "codemode"}},
	{pkg: "internal/trace/oteltrace", ban: []string{"net/http", "go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters"}},
	{pkg: "codemode/modelapi", ban: []string{"github.com/modelcontextprotocol/", "go.opentelemetry.io/", "github.com/spf13/"}},
	{pkg: "tools/mocktools", ban: []string{"net/http", "github.com/dop251/", module + "pipeline", module + "runtime"}},
}

func TestImportRules(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.pkg, func(t *testing.T) {
			root := module + rule.pkg
			imports := load(t, root)
			for pkg := range imports {
				if pkg == root {
					continue
				}
				for _, ban := range rule.ban {
					if banned(ban, pkg) {
						t.Errorf("%s must not reach %s, but does: %s", rule.pkg, ban, strings.Join(chain(imports, root, pkg), " -> "))
					}
				}
			}
		})
	}
}

// TestChainIsNamed shows that the rule check would fail, and name the chain, on
// a package that breaks a rule on purpose: codemode does reach goja.
func TestChainIsNamed(t *testing.T) {
	const goja = "github.com/dop251/goja"
	got := chain(load(t, module+"codemode"), module+"codemode", goja)
	if len(got) < 3 || got[0] != module+"codemode" || got[len(got)-1] != goja {
		t.Errorf("chain from codemode to goja = %v, want one that begins and ends with them", got)
	}
}

func banned(ban, pkg string) bool {
	if strings.HasSuffix(ban, "/") {
		return strings.HasPrefix(pkg, ban)
	}
	return pkg == ban || strings.HasPrefix(ban, module) && strings.HasPrefix(pkg, ban+"/")
}

// load maps every package that root reaches to what it imports.
func load(t *testing.T, root string) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", root).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list %s: %v\n%s", root, err, exit.Stderr)
		}
		t.Skipf("the go command is needed to read the import graph: %v", err)
	}
	imports := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&pkg); err == io.EOF {
			return imports
		} else if err != nil {
			t.Fatalf("go list %s printed no JSON: %v", root, err)
		}
		imports[pkg.ImportPath] = pkg.Imports
	}
}

// chain is a shortest import chain from one package to another.
func chain(imports map[string][]string, from, to string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			var path []string
			for p := to; p != ""; p = before[p] {
				path = append(path, p)
			}
			slices.Reverse(path)
			return path
		}
		for _, next := range imports[queue[0]] {
			if _, seen := before[next]; !seen {
				before[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}
