package codemode_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
)

// A permission set in the form of Claude Code's settings, for direct and nested
// calls alike. No approver is given, so what would be asked about is denied.
func Example_permissions() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"docs/guide.md", "secrets/key"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("the key of "+name+"\n"), 0o600); err != nil {
			log.Fatal(err)
		}
	}

	files, err := fstools.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	reg, err := tools.NewRegistry(files.Tools()...)
	if err != nil {
		log.Fatal(err)
	}
	settings, err := permission.Parse(`{"permissions": {
		"allow": ["Edit(docs/**)"],
		"deny":  ["Read(./secrets/**)"]
	}}`, permission.Source{Name: "policy", Trusted: true})
	if err != nil {
		log.Fatal(err)
	}
	policy, err := permission.New(reg, []*permission.Settings{settings}, permission.Options{Root: dir})
	if err != nil {
		log.Fatal(err)
	}
	files.SetHide(policy.Hidden) // what is denied is not found by glob and grep either
	p := pipeline.New(reg, nil)
	p.UseRule("permissions", policy.Rule)
	cm, err := codemode.New(p, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer cm.Close()

	out := cm.Run(context.Background(), codemode.Program{Code: `
		const said: string[] = [];
		const attempt = async (call: () => Promise<unknown>) => {
			try { await call(); said.push("done"); } catch (e) { said.push(e.code + ": " + e.message); }
		};
		await attempt(() => tools.edit({ file_path: "docs/guide.md", old_string: "key", new_string: "gist" }));
		await attempt(() => tools.read({ file_path: "docs/../secrets/key" }));
		await attempt(() => tools.write({ file_path: "notes.md", content: "hello" }));
		said.push("found in " + (await tools.grep({ pattern: "the" })).matches.map((m) => m.path));
		return said.join("\n");`})
	fmt.Println(out.Text())
	// Output:
	// done
	// DENIED_BY_POLICY: permission rule Read(./secrets/**) in policy denies reading secrets/key
	// APPROVAL_UNAVAILABLE: write changes notes.md and no rule allows it
	// found in docs/guide.md
}
