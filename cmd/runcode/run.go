package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/terminal"
)

// runFlags are the flags of `runcode run`.
type runFlags struct {
	sessionFlags
	input string
}

func newRunCommand(s *streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run SCRIPT|-",
		Short: "Run a program (- reads it from standard input)",
		Long: "run executes one JavaScript or TypeScript program: the body of an async function, which\n" +
			"returns or prints what is wanted. Standard output carries exactly the outcome's text.\n\n" +
			"What only reads runs. What changes something is asked about at the terminal, unless a\n" +
			"rule of a settings file allows or denies it; where nobody can be asked it is denied. Rules\n" +
			"have the form of Claude Code's settings: {\"permissions\":{\"allow\":[\"Edit(docs/**)\"],\n" +
			"\"deny\":[\"Read(.env)\"]}}. What they say about a call is shown by runcode explain.\n\n" +
			"A call that lasts longer than its tool allows fails with the code TOOL_TIMEOUT.\n\n" +
			"An interrupt ends the run and has the calls it made listed; a second one ends the command\n" +
			"at once.\n\n" +
			"A script may begin with the line #!/usr/bin/env -S runcode run\n\n" +
			"Exit status: 0 success, 1 the program failed, 2 usage or configuration (nothing ran).",
		Example: "  runcode run script.ts\n" +
			"  echo 'return (await tools.glob({ pattern: \"**/*.go\" })).total' | runcode run -\n" +
			"  runcode run --root src --input '{\"markers\":[\"TODO\"]}' count-markers.ts\n" +
			"  runcode run --dry-run --config policy.json bulk-edit.ts\n" +
			"  runcode run --tools none --mock tools.json --json script.ts",
		Args: oneScript("run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runScript(commandContext(cmd), s, &f, cmd.Flags().Changed("input"), args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.registerTools(flags)
	flags.StringVar(&f.input, "input", "", "the program's global input, as `JSON` text or @FILE")
	flags.StringVar(&f.mode, "mode", "code", "the `mode` in which tools are presented: code or both")
	f.registerRecord(flags)
	f.registerRest(flags)
	return cmd
}

func runScript(ctx context.Context, s *streams, f *runFlags, hasInput bool, path string) error {
	code, err := readScript(s.in, path)
	if err != nil {
		return err
	}
	if f.mode == codemode.ModeNative.String() {
		return errors.New("--mode native offers no run_code, so there is nothing to run a program with; use code or both")
	}
	name := path
	if path == "-" {
		name = "standard input"
	}
	program := codemode.Program{Code: withoutHashbang(code), Description: "Run " + name, Agent: actor{}}
	if hasInput {
		if program.Input, err = readValue("--input", f.input); err != nil {
			return err
		}
	}
	ses, err := readSession(s, &f.sessionFlags)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx, ses.interrupted)
	defer stop()
	if err := ses.open(ctx, audience{source: terminal.SourceOf(name, program.Code)}); err != nil {
		return err
	}
	return ses.run(ctx, program)
}

// oneScript checks the arguments of a command that takes a script.
func oneScript(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one script, got %d arguments; use - to read it from standard input", command, len(args))
		}
		return nil
	}
}

func commandContext(cmd *cobra.Command) context.Context {
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// run runs the program, and prints its outcome even if closing fails after it.
func (s *session) run(ctx context.Context, program codemode.Program) error {
	out := s.codemode.Run(ctx, program)
	closeErr := s.close()
	printErr := s.print(out)
	if err := errors.Join(printErr, closeErr); err != nil {
		return &programFailed{err}
	}
	if out.IsError() {
		return &programFailed{}
	}
	return nil
}

// actor is who acts in this command: the person who started it, or a model.
type actor struct{}

// interruptible makes the first SIGINT, SIGTERM or SIGHUP end the run as aborted,
// with all that its tools have started; the second ends the process. A hang-up
// that is ignored, as nohup has it, stays so; an interrupt that is, as in a script's
// background, does not. If the run takes long to end, slow is called.
func interruptible(ctx context.Context, slow func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	ignored := signal.Ignored(os.Interrupt)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	over := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel(errors.New("interrupted"))
		case <-over:
			return
		}
		if !ignored {
			signal.Stop(signals) // the next one ends the process as it would any other
		}
		late := time.After(patience)
		for {
			select {
			case <-late:
				slow()
			case <-signals:
				os.Exit(exitSignal)
			case <-over:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(over)
		cancel(nil)
	}
}

// exitSignal is the status that shells give a process that SIGINT has ended.
const exitSignal = 130

// patience is how long an interrupted run may take to end before the person is
// told why.
const patience = time.Second
