package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
)

func newCheckCommand(s *streams) *cobra.Command {
	var f toolFlags
	var json bool
	cmd := &cobra.Command{
		Use:   "check SCRIPT|-",
		Short: "Check a program without running any of it",
		Long: "check compiles a program as run would, and says what is wrong with its syntax and which\n" +
			"tools it calls that do not exist. Nothing runs.\n\n" +
			"Exit status: 0 the program would start, 1 it would not, 2 usage or configuration.",
		Example: "  runcode check script.ts\n  runcode check --mock tools.json --json script.ts",
		Args:    oneScript("check"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkScript(commandContext(cmd), s, &f, json, args[0])
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&json, "json", false, "print one JSON object: ok, error, notes")
	return cmd
}

func checkScript(ctx context.Context, s *streams, f *toolFlags, json bool, path string) error {
	code, err := readScript(s.in, path)
	if err != nil {
		return err
	}
	set, err := f.open(false)
	if err != nil {
		return err
	}
	defer set.close()
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
	}
	if err := printCheck(s, json, path, res); err != nil {
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

func printCheck(s *streams, json bool, path string, res codemode.CheckResult) error {
	text := fmt.Sprintf("%s: ok", path)
	if res.Failure != nil {
		text = failureText(res.Failure)
	}
	redactor := ownSecrets()
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
