package bindings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// compiler finds the TypeScript compiler: RUNCODE_TSC names it, or it is on the
// path, or npm installs it into a directory for temporary files, where later
// tests find it.
func compiler(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("RUNCODE_TSC"); path != "" {
		return path
	}
	if path, err := exec.LookPath("tsc"); err == nil {
		return path
	}
	dir := filepath.Join(os.TempDir(), "runcode-typescript-7")
	path := filepath.Join(dir, "node_modules", ".bin", "tsc")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if testing.Short() {
		t.Skip("no TypeScript compiler on the path, and none is installed in short mode; set RUNCODE_TSC to a tsc to check the declarations with one")
	}
	if err := install(t.Context(), dir); err != nil {
		t.Skipf("no TypeScript compiler on the path, and npm installs none: %v; set RUNCODE_TSC to a tsc to check the declarations with one", err)
	}
	return path
}

// install puts the compiler into dir, whole or not at all.
func install(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "runcode-typescript-")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0", "typescript@7")
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("%w\n%s", err, out), os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	return nil
}

// program uses the declarations of exampleCatalog the way a model would; a line
// that must not compile says so above.
const program = `
async function body() {
  const found = await tools.orders.find({ query: "x", limit: 3 });
  const ids: string[] = found.rows.flatMap((row) => row.children ?? []).map((row) => row.id);
  const same = await tools["mcp__orders__find"]({ query: ids[0] });
  await tools.orders.save();
  await tools.orders.save({ rows: same.rows }, { timeoutMs: 500, signal: new AbortController().signal });
  await tools.orders.save(undefined, { timeoutMs: 500 });
  const hits = await tools["web-search"]({ q: "go" });
  const text: string | null = hits[0];
  const tree: unknown = await tools.tree({ left: { right: {} } });
  try {
    await tools.mcp__orders__save({});
  } catch (e) {
    if (e instanceof ToolCallError) {
      const parts: (string | undefined)[] = [e.toolName, e.message, e.code, e.callId, e.name, e.origin, e.by];
      console.log(parts);
    }
  }
  // @ts-expect-error a required argument is missing
  await tools.orders.find({});
  // @ts-expect-error arguments are required
  await tools.orders.find();
  // @ts-expect-error required arguments cannot be left out before options
  await tools.orders.find(undefined, { timeoutMs: 500 });
  // @ts-expect-error an optional argument has a type too
  await tools.orders.save({ rows: "x" });
  // @ts-expect-error options have a type too
  await tools.orders.save({}, { timeout: 500 });
  // @ts-expect-error an object has no such property
  await tools.orders.find({ query: "x", limits: 3 });
  // @ts-expect-error what is not declared is unknown
  (await tools.orders.save()).length;
  // @ts-expect-error there is no such tool
  await tools.orders.nope({});
  // @ts-expect-error there is no such server
  await tools.nope.find({});
  // @ts-expect-error run_code is not bound
  await tools.run_code({ code: "", description: "" });
  return [text, tree];
}
`

// odd are names that clash with JavaScript's own or are no identifiers, for tools
// and for servers.
var odd = append([]string{"größe", "工具", "a b", "quote\"d", "line\nbreak", "sep\u2028arator", "tick`s${x}", "*/", "1"}, awkward...)

// namePrograms call tools of odd names, flat and by server.
func namePrograms(t *testing.T) map[string]string {
	var served []string
	flat, short := "", ""
	for _, name := range odd {
		flat += "void tools[" + quoteName(name) + "]({});\n"
		served = append(served, "mcp__s__"+name, "mcp__"+name+"__t")
		short += "void tools.s[" + quoteName(name) + "]({});\n" +
			"void tools[" + quoteName("mcp__s__"+name) + "]({});\n" +
			"void tools[" + quoteName("mcp__"+name+"__t") + "]({});\n"
		if name != "__proto__" { // no server's name holds two underscores
			short += "void tools[" + quoteName(name) + "].t({});\n"
		}
	}
	clash, _, err := New(named(t, "s", "mcp__s__t", "mcp__u__a__b"))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"names": catalog(t, named(t, odd...)...).Declarations() + flat,
		"short": catalog(t, named(t, served...)...).Declarations() + short,
		"clash": clash.Declarations() + `
void tools.s({});
void tools.mcp__s__t({});
void tools.u.a__b({});
// @ts-expect-error s is a tool
void tools.s.t({});
`,
	}
}

// shapeTexts are types that other tests state as text.
func shapeTexts() map[string]string {
	texts := map[string]string{}
	for name, schema := range map[string]string{
		"circle":    `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"},{"type":"string"}]}}}`,
		"map":       `{"additionalProperties":{"$ref":"#"}}`,
		"both":      `{"allOf":[{"$ref":"#"}],"properties":{"a":{"$ref":"#"}},"additionalProperties":{"$ref":"#"}}`,
		"tuple":     `{"prefixItems":[{"type":"string"},{"type":["number","null"]}],"minItems":1,"items":{"$ref":"#"}}`,
		"required":  `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		"values":    `{"enum":[1.0,-0,-1,1e3,9007199254740993,"\ud800","\u2028","*/",{"a":[]},null,false]}`,
		"numbers":   `{"items":{"const":-1}}`,
		"others":    `{"properties":{"a":{"type":"string"},"b":{"$ref":"#"}},"required":["b"],"additionalProperties":{"type":"number"}}`,
		"deep":      nest(`{"properties":{"a":`, `{"type":"string"}`, `}}`, 500),
		"comments":  `{"properties":{"a":{"description":"@ts-expect-error"},"b":{"description":"*/ ` + "```" + ` \u2028 /* @ts-nocheck"},"c":{"description":"/ <reference path='x' />"}}}`,
		"recursive": `{"description":"` + long + `","properties":{"a":{"items":{"$ref":"#"}},"b":{"additionalProperties":{"$ref":"#"}},"c":{"prefixItems":[{"$ref":"#"}]},"d":{"anyOf":[{"$ref":"#"},{"type":"null"}]},"e":{"allOf":[{"$ref":"#"},{"required":["a"]}]}}}`,
	} {
		texts[name] = declareOutput(schema)
	}
	return texts
}

// TestTypeScript compiles, strictly and in one go, the declarations of every
// list of tools and of every schema there is, and programs against them.
func TestTypeScript(t *testing.T) {
	tsc := compiler(t)
	dir := t.TempDir()
	args := []string{"--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--lib", "es2023,dom"}
	add := func(name, text string) {
		path := filepath.Join(dir, fmt.Sprintf("%s%d.ts", pascal(name), len(args)))
		if err := os.WriteFile(path, []byte(text+asModule), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	add("program", exampleCatalog(t).Declarations()+program)
	for name, text := range namePrograms(t) {
		add(name, text)
	}
	for name, text := range shapeTexts() {
		add(name, text)
	}
	for name, schema := range hostileSchemas() {
		add(name, declareOutput(schema))
	}
	t.Run("collections", func(t *testing.T) { // skipped where they are not there
		var all []*tools.Tool
		for server, list := range liveTools(t) {
			add(server, catalog(t, list...).Declarations())
			all = append(all, list...)
		}
		add("all", catalog(t, all...).Declarations())
		for name, schema := range suiteSchemas(t) {
			add(name, declareAll(tools.Definition{Name: "t", Input: schema, Output: schema}))
		}
		for name, schema := range openSchemas(t) {
			add(name, declareAll(tools.Definition{Name: "t", Input: schema, Output: schema}))
		}
	})
	if out, err := exec.CommandContext(t.Context(), tsc, args...).CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}

// asModule makes a module of a text, so that its names do not meet those of
// other files.
const asModule = "export {};\n"
