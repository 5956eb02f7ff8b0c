package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/internal/termtext"
)

// starterFiles are what init writes, in this order. What is there already stays.
var starterFiles = []struct{ name, text string }{
	{".claude/settings.json", `{
  "permissions": {
    "allow": [],
    "deny": [
      "Read(.env)",
      "Read(.env.*)",
      "Read(**/*.pem)",
      "Edit(.git/**)"
    ]
  }
}
`},
	{".mcp.json", `{
  "mcpServers": {}
}
`},
	{"hello.ts", `// The ten largest files of this directory, by lines.
const { paths } = await tools.glob({ pattern: "**/*" });
const sizes: { path: string; lines: number }[] = [];
for (const path of paths) {
  try {
    const { totalLines } = await tools.read({ file_path: path, limit: 1 });
    sizes.push({ path, lines: totalLines });
  } catch (e) {
    if (!(e instanceof ToolCallError)) throw e;
    console.log(` + "`${path} was left out: ${e.message}`" + `);
  }
}
return sizes.sort((a, b) => b.lines - a.lines).slice(0, 10);
`},
}

func newInitCommand(s *streams) *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a starter configuration and a first program",
		Long: "init writes .claude/settings.json with rules to start from, an empty .mcp.json for MCP\n" +
			"servers, and the program hello.ts. A file that exists is left as it is.\n\n" +
			"Exit status: 0 all are there, 2 one could not be written.",
		Example: "  runcode init\n  runcode init --root project && runcode run --root project project/hello.ts",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return initialise(s, root)
		},
	}
	cmd.Flags().StringVar(&root, "root", ".", "the `directory` to write to")
	return cmd
}

func initialise(s *streams, root string) error {
	var b strings.Builder
	for _, file := range starterFiles {
		made, err := writeNew(root, file.name, file.text)
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", file.name, err)
		}
		verb := "kept "
		if made {
			verb = "wrote"
		}
		fmt.Fprintf(&b, "%s %s\n", verb, filepath.Join(root, filepath.FromSlash(file.name)))
	}
	in := ""
	if root != "." {
		in = " --root " + shellWord(root)
	}
	fmt.Fprintf(&b, "\nNext: runcode run%s %s\n", in, shellWord(filepath.Join(root, "hello.ts")))
	return s.print(b.String(), termtext.Escape)
}

// writeNew writes a file that does not exist yet, through no link that leads out
// of the directory, and says whether it did.
func writeNew(root, name, text string) (made bool, err error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	if err := dir.MkdirAll(filepath.Dir(filepath.FromSlash(name)), 0o755); err != nil {
		return false, err
	}
	file, err := dir.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = file.WriteString(text)
	return true, errors.Join(err, file.Close())
}
