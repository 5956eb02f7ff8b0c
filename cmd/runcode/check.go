package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools/mcptools"
)

func newCheckCommand(s *streams) *cobra.Command {
	var f toolFlags
	var servers serverFlags
	var json bool
	cmd := &cobra.Command{
		Use:   "check SCRIPT|-",
		Short: "Check a program without running any of it",
		Long: "check compiles a program as run would, and says what is wrong with its syntax and which\n" +
			"tools it calls that do not exist. Nothing runs but the MCP servers of files that --mcp\n" +
			"names, which say what tools they have.\n\n" +
			"Exit status: 0 the program would start, 1 it would not, 2 usage or configuration.",
		Example: "  runcode check script.ts\n  runcode check --mock tools.json --json script.ts",
		Args:    oneScript("check"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkScript(commandContext(cmd), s, &f, &servers, json, args[0])
		},
	}
	f.register(cmd.Flags())
	servers.register(cmd.Flags())
	cmd.Flags().BoolVar(&json, "json", false, "print one JSON object: ok, error, notes")
	return cmd
}

func checkScript(ctx context.Context, s *streams, f *toolFlags, servers *serverFlags, json bool, path string) error {
	code, err := readScript(s.in, path)
	if err != nil {
		return err
	}
	set, err := f.open(false)
	if err != nil {
		return err
	}
	defer set.close()
	cfg, _, err := servers.load(f.root, false)
	if err != nil {
		return err
	}
	if err := set.connect(ctx, cfg, false); err != nil {
		return err
	}
	// The compiler gets the process of its own that a run would have.
	cm, err := codemode.New(pipeline.New(set.registry, nil), nil)
	if err != nil {
		return err
	}
	defer cm.Close()
	res, err := cm.Check(ctx, withoutHashbang(code))
	if err != nil {
		return err
	}
	for i, note := range res.Notes {
		if missing := f.missingIn(note); missing != "" {
			res.Notes[i] += "; " + missing
		}
		if missing := missingServer(f.root, note); missing != "" {
			res.Notes[i] += "; " + missing
		}
	}
	res.Notes = append(res.Notes, set.notes...)
	if err := printCheck(s, withSecrets(cfg.Secrets()), json, path, res); err != nil {
		return err
	}
	if res.Failure != nil {
		return &programFailed{}
	}
	return nil
}

// checked is what --json prints.
type checked struct {
	OK    bool          `json:"ok"`
	Error *printedError `json:"error,omitempty"`
	Notes []string      `json:"notes"`
}

// missingServer says how to have the tools of the server in the tree's file that
// a note says is not a tool, "" if it is not about one.
func missingServer(root, note string) string {
	path := filepath.Join(root, serverFile)
	text, err := readFile(path, maxConfigFile)
	if err != nil {
		return ""
	}
	cfg, err := mcptools.Parse(path, text, func(string) (string, bool) { return "", true })
	if err != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Servers)) {
		if strings.Contains(note, "tools."+name+" is not a tool") {
			return fmt.Sprintf("%s is an MCP server of %s; to have its tools: --mcp %s", name, path, shellWord(path))
		}
	}
	return ""
}

func printCheck(s *streams, redactor *redact.Redactor, json bool, path string, res codemode.CheckResult) error {
	text := fmt.Sprintf("%s: ok", path)
	if res.Failure != nil {
		text = failureText(res.Failure)
	}
	text = redactor.Known(text)
	escape := termtext.Escape
	if json {
		escape = termtext.EscapeJSON
		about := checked{OK: res.Failure == nil, Notes: append([]string{}, res.Notes...)}
		if res.Failure != nil {
			about.Error = &printedError{Name: res.Failure.Name}
			about.Error.describe(*res.Failure)
		}
		doc, err := encode(about)
		if err != nil {
			return err
		}
		text = withoutSecrets(redactor, doc)
	}
	if err := s.print(text+"\n", escape); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	if !json {
		for _, note := range res.Notes {
			fmt.Fprintf(s.err, "note: %s\n", termtext.Escape(redactor.Known(note)))
		}
	}
	return nil
}

func failureText(f *runtime.Failure) string {
	text := "Error: " + f.Message
	if f.Frame != "" {
		text += "\n" + f.Frame
	}
	if f.Hint != "" {
		text += "\nhint: " + f.Hint
	}
	return text
}
