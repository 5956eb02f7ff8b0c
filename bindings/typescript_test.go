package bindings

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// compiler finds the TypeScript compiler: RUNCODE_TSC names it, or it is on the
// path.
func compiler(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("RUNCODE_TSC"); path != "" {
		return path
	}
	path, err := exec.LookPath("tsc")
	if err != nil {
		t.Skip("no TypeScript compiler on the path; set RUNCODE_TSC to a tsc to check the declarations with one")
	}
	return path
}

// compile type-checks files strictly, as TypeScript understands them together.
func compile(t *testing.T, files map[string]string) {
	t.Helper()
	args := []string{"--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--lib", "es2023,dom"}
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	if out, err := exec.CommandContext(t.Context(), compiler(t), args...).CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}

// program uses the declarations of exampleCatalog the way a model would; a line
// that must not compile says so above.
const program = `
async function body() {
  const found = await tools.orders.find({ query: "x", limit: 3 });
  const ids: string[] = found.rows.flatMap((row) => row.children ?? []).map((row) => row.id);
  const same = await tools["mcp__orders__find"]({ query: ids[0] });
  await tools.orders.save();
  await tools.orders.save({ rows: same.rows, more: 1 }, { timeoutMs: 500, signal: new AbortController().signal });
  const hits = await tools["web-search"]({ q: "go" });
  const text: string | null = hits[0];
  const tree: JsonValue = await tools.tree({ left: { right: {} } });
  try {
    await tools.mcp__orders__save({});
  } catch (e) {
    if (e instanceof ToolCallError) {
      const parts: (string | undefined)[] = [e.toolName, e.message, e.code, e.callId, e.name];
      console.log(parts);
    }
  }
  // @ts-expect-error a required argument is missing
  await tools.orders.find({});
  // @ts-expect-error arguments are required
  await tools.orders.find();
  // @ts-expect-error a closed object has no such property
  await tools.orders.find({ query: "x", limits: 3 });
  // @ts-expect-error there is no such tool
  await tools.orders.nope({});
  // @ts-expect-error there is no such server
  await tools.nope.find({});
  // @ts-expect-error run_code is not bound
  await tools.run_code({ code: "", description: "" });
  return [text, tree];
}
`

func TestTypeScriptProgram(t *testing.T) {
	compiler(t)
	compile(t, map[string]string{"declarations.ts": exampleCatalog(t).Declarations(), "program.ts": program})
}

// TestTypeScriptNames: odd names can be called, and a server whose name a tool
// bears has no short form in the types either.
func TestTypeScriptNames(t *testing.T) {
	compiler(t)
	text := ""
	for _, name := range awkward {
		text += "void tools[" + quoteName(name) + "]({});\n"
	}
	compile(t, map[string]string{"declarations.ts": catalog(t, named(t, awkward...)...).Declarations(), "program.ts": text})

	c, _, err := New(named(t, "s", "mcp__s__t", "mcp__u__a__b"))
	if err != nil {
		t.Fatal(err)
	}
	compile(t, map[string]string{"declarations.ts": c.Declarations(), "program.ts": `
void tools.s({});
void tools.mcp__s__t({});
void tools.u.a__b({});
// @ts-expect-error s is a tool
void tools.s.t({});
`})
}

func TestTypeScriptLiveTools(t *testing.T) {
	compiler(t)
	files := map[string]string{}
	for server, list := range liveTools(t) {
		files[server+".ts"] = catalog(t, list...).Declarations() + asModule
	}
	compile(t, files)
}

func TestTypeScriptSchemaSuite(t *testing.T) {
	compiler(t)
	files := map[string]string{}
	for name, schema := range suiteSchemas(t) {
		files[pascal(name)+".ts"] = declareOutput(schema.String()) + asModule
	}
	compile(t, files)
}

// asModule makes a module of a text, so that its names do not meet those of
// other files.
const asModule = "export {};\n"

// TestTypeScriptShapes compiles the types that other tests state as text.
func TestTypeScriptShapes(t *testing.T) {
	compiler(t)
	files := map[string]string{}
	for name, schema := range map[string]string{
		"circle":   `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"},{"type":"string"}]}}}`,
		"map":      `{"additionalProperties":{"$ref":"#"}}`,
		"both":     `{"allOf":[{"$ref":"#"}],"properties":{"a":{"$ref":"#"}},"additionalProperties":{"$ref":"#"}}`,
		"tuple":    `{"prefixItems":[{"type":"string"},{"type":["number","null"]}],"minItems":1,"items":{"$ref":"#"}}`,
		"required": `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
		"values":   `{"enum":[1.0,-0,-1,1e3,9007199254740993,"\ud800","*/",{"a":[]},null,false]}`,
		"numbers":  `{"items":{"const":-1}}`,
	} {
		files[name+".ts"] = declareOutput(schema) + asModule
	}
	compile(t, files)
}
