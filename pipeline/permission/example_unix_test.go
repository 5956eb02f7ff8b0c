//go:build unix

package permission_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
)

// fileTool is a tool that says which file below /srv/project it touches, as the file
// tools do.
func fileTool(name string, access tools.Access) *tools.Definition {
	type in struct {
		FilePath string `json:"file_path"`
	}
	def := tools.Define(name, name, func(_ context.Context, in in) (string, error) { return name + " " + in.FilePath, nil })
	def.Subjects = func(args tools.JSON) ([]tools.Subject, error) {
		var in in
		if err := args.Unmarshal(&in); err != nil {
			return nil, err
		}
		path := filepath.Join("/srv/project", in.FilePath)
		return []tools.Subject{{Access: access, Path: path, Real: path}}, nil
	}
	return def
}

// A set of permissions in the form of Claude Code's settings, over two tools.
// permission.Load does the same with a file.
func Example() {
	const settings = `{
  "permissions": {
    "allow": ["Edit(./docs/**)"],
    "ask":   ["Read(./contracts/**)"],
    "deny":  ["Read(./secrets/**)", "Edit(./docs/legal/**)"]
  }
}`
	own, err := permission.Parse(settings, permission.Source{Name: "policy.json", Trusted: true})
	if err != nil {
		log.Fatal(err)
	}
	reg, err := tools.NewRegistry(fileTool("read", tools.AccessRead), fileTool("write", tools.AccessWrite))
	if err != nil {
		log.Fatal(err)
	}
	policy, err := permission.New(reg, []*permission.Settings{own}, permission.Options{Root: "/srv/project"})
	if err != nil {
		log.Fatal(err)
	}
	p := pipeline.New(reg, nil) // without an Approver, what asks is refused
	p.UseRule("permissions", policy.Rule)
	for _, call := range []struct{ tool, path string }{
		{"read", "README.md"}, {"read", "docs/../secrets/key"}, {"read", "contracts/a.pdf"},
		{"write", "docs/index.md"}, {"write", "docs/legal/terms.md"}, {"write", "main.go"},
	} {
		args := fmt.Sprintf(`{"file_path":%q}`, call.path)
		fmt.Println(p.Execute(context.Background(), pipeline.Request{Name: call.tool, Args: args}).Text())
	}
	// Output:
	// read README.md
	// Error: permission rule Read(./secrets/**) in policy.json denies reading secrets/key
	// Error: permission rule Read(./contracts/**) in policy.json asks before reading contracts/a.pdf
	// write docs/index.md
	// Error: permission rule Edit(./docs/legal/**) in policy.json denies writing docs/legal/terms.md
	// Error: write changes main.go and no rule allows it
}

// Settings that come with somebody else's files only tighten, until the operator
// has looked at what they would grant.
func ExampleSettings_Grants() {
	found, err := permission.Parse(`{"permissions": {"allow": ["Bash(make:*)"], "deny": ["Read(.env)"]}}`, permission.Source{Name: "their settings"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Grants())
	// Output: [Bash(make:*)]
}
