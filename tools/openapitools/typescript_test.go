package openapitools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/tools"
)

// compiler finds the TypeScript compiler where the tests of package bindings
// look for it, and where they put it.
func compiler(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("RUNCODE_TSC"); path != "" {
		return path
	}
	if path, err := exec.LookPath("tsc"); err == nil {
		return path
	}
	path := filepath.Join(os.TempDir(), "runcode-typescript-7", "node_modules", ".bin", "tsc")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no TypeScript compiler on the path, and the tests of package bindings have installed none; set RUNCODE_TSC to a tsc to check the declarations with one")
	}
	return path
}

// declarations are what a program is told of the tools of a set.
func declarations(t *testing.T, s *Set) string {
	t.Helper()
	var all []*tools.Tool
	for _, def := range s.Tools() {
		tool, err := tools.NewTool(def)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tool)
	}
	catalog, notes, err := bindings.New(all)
	if err != nil || len(notes) > 0 {
		t.Fatalf("%v, notes %v", err, notes)
	}
	return catalog.Declarations()
}

// TestTypeScript compiles the declarations of the tools of every document of the
// collection, and a program that calls each with arguments that fit and looks at
// the value; and programs that must not compile.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	tsc := compiler(t)
	dir := t.TempDir()
	args := []string{"--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--lib", "es2023,dom"}
	add := func(name, text string) {
		path := filepath.Join(dir, name+".ts")
		if err := os.WriteFile(path, []byte(text+"export {};\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	odd := build(t, documentText("3.1.0", `{"/a/{__proto__}":{"get":{"operationId":"constructor","parameters":[{"name":"__proto__","in":"path","schema":{"type":"string"}}],
		"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/__proto__"}}}}}}}}`,
		`{"schemas":{"__proto__":{"type":"object","properties":{"__proto__":{"$ref":"#/components/schemas/__proto__"},"a":{"oneOf":[{"type":"string","nullable":true},{"type":["integer","null"]}]}}}}}`), nil)
	add("odd", declarations(t, odd)+"\nconst v = await tools.x.constructor({ [\"__proto__\"]: \"a\" });\nconst a: string | number | null | undefined = v.a;\nvoid a;\n")
	t.Run("collection", func(t *testing.T) { // skipped where it is not there
		for _, file := range []string{"petstore-3.0.json", "notion-3.1.json", "tictactoe-3.1.json", "uspto-3.0.json", "link-example-3.0.json"} {
			s := build(t, corpus.ReadFile(t, "openapi", file), nil)
			text := declarations(t, s)
			for _, def := range s.Tools() {
				text += fmt.Sprintf("void tools.x[%q](%s);\n", strings.TrimPrefix(def.Name, "mcp__x__"), synthesise(def.Input))
			}
			if file == "petstore-3.0.json" {
				text += `
const pets = await tools.x.listPets({ limit: 3 });
const names: string[] = pets.map((pet) => pet.name + (pet.tag ?? ""));
const nothing: null = await tools.x.createPets({ body: { id: 1, name: names[0] } });
void nothing;
// @ts-expect-error a pet has an id
await tools.x.createPets({ body: { name: "a" } });
// @ts-expect-error the id is required
await tools.x.showPetById({});
// @ts-expect-error a pet has no such property
pets[0].age;
`
			}
			add(strings.TrimSuffix(file, ".json"), text)
		}
	})
	if out, err := exec.CommandContext(t.Context(), tsc, args...).CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}
