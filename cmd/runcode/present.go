package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
)

func newTypesCommand(s *streams) *cobra.Command {
	var f toolFlags
	var servers serverFlags
	cmd := &cobra.Command{
		Use:     "types",
		Short:   "Print the TypeScript declarations of the tools",
		Example: "  runcode types\n  runcode types --tools none --mock tools.json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return present(commandContext(cmd), s, &f, &servers, "code", func(cm *codemode.CodeMode) (string, error) { return cm.Declarations() })
		},
	}
	f.register(cmd.Flags())
	servers.register(cmd.Flags())
	return cmd
}

func newPromptCommand(s *streams) *cobra.Command {
	var f toolFlags
	var servers serverFlags
	var mode string
	cmd := &cobra.Command{
		Use:     "prompt",
		Short:   "Print what a model is told: the section for the system prompt",
		Example: "  runcode prompt\n  runcode prompt --mode both",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return present(commandContext(cmd), s, &f, &servers, mode, func(cm *codemode.CodeMode) (string, error) {
				p, err := cm.Present()
				return p.Prompt, err
			})
		},
	}
	f.register(cmd.Flags())
	servers.register(cmd.Flags())
	cmd.Flags().StringVar(&mode, "mode", "code", "the `mode` in which tools are presented: code, both or native")
	return cmd
}

// present prints something that codemode says about the tools; nothing runs, so
// no worker is started, and no servers but those of files that are named.
func present(ctx context.Context, s *streams, f *toolFlags, servers *serverFlags, mode string, text func(*codemode.CodeMode) (string, error)) error {
	m, err := codemode.ParseMode(mode)
	if err != nil {
		return fmt.Errorf("--mode: %w", err)
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
	cm, err := codemode.New(pipeline.New(set.registry, nil), &codemode.Options{Mode: m, Isolation: codemode.IsolationInProcess})
	if err != nil {
		return err
	}
	defer cm.Close()
	out, err := text(cm)
	if err != nil {
		return err
	}
	about, err := cm.Present()
	if err != nil {
		return err
	}
	if err := s.print(out, termtext.Escape); err != nil {
		return fmt.Errorf("cannot write the text: %w", err)
	}
	secrets := withSecrets(cfg.Secrets())
	for _, note := range append(set.notes, about.Notes...) {
		fmt.Fprintf(s.err, "note: %s\n", termtext.Escape(secrets.Known(note)))
	}
	return nil
}
