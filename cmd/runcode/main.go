// Command runcode runs programs that call tools.
//
//	runcode run script.ts     run a program over the built-in or mocked tools
//	runcode agent TASK        let a model work on a task with the same tools
//	runcode serve             offer run_code to MCP clients
//	runcode trace LOG         show what happened in an event log
//	runcode replay LOG        run a logged program again against what was recorded
//	runcode bench             compare programs with direct calls
//	runcode init              write a starter configuration
//	runcode check script.ts   say what is wrong with a program, running nothing
//	runcode explain TOOL ARGS say what policy would do with a call, and why
//	runcode types             print the TypeScript declarations of the tools
//	runcode prompt            print what a model is told
//	runcode trust             let a tree's own settings grant permissions
//	runcode doctor            say what protects this machine, and which settings hold
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/internal/termtext"
)

// The exit codes of the command.
const (
	exitOK     = 0
	exitFailed = 1 // the program ran and failed, or its outcome could not be delivered
	exitUsage  = 2 // the command line or the configuration is wrong; nothing ran
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run is main with its surroundings given.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newCommand(&streams{in: stdin, out: stdout, err: stderr})
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	var failed *programFailed
	var with *exitWith
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &with):
		return with.code
	case errors.As(err, &failed) && failed.err == nil:
		return exitFailed
	}
	fmt.Fprintf(stderr, "runcode: %s\n", termtext.Escape(ownSecrets().Known(err.Error())))
	if failed != nil {
		return exitFailed
	}
	return exitUsage
}

// programFailed says that a program ran and that not all is well. Without err
// the program failed, and its printed outcome says how.
type programFailed struct{ err error }

func (e *programFailed) Error() string {
	if e.err == nil {
		return "the program failed"
	}
	return e.err.Error()
}

func (e *programFailed) Unwrap() error { return e.err }

// exitWith ends the command with a code of its own; all has been said.
type exitWith struct{ code int }

func (e *exitWith) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// streams are where the command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// print writes to standard output, escaped if it is a terminal.
func (s *streams) print(text string, escape func(string) string) error {
	if isTerminal(s.out) {
		text = escape(text)
	}
	_, err := io.WriteString(s.out, text)
	return err
}

func newCommand(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "runcode",
		Short: "Run programs that call tools",
		Long: "runcode runs a JavaScript or TypeScript program in which every await tools.name(args)\n" +
			"goes through one tool pipeline: policy, approval, guards, the tool, the log.",
		Example: "  runcode run script.ts\n" +
			"  runcode run --dry-run script.ts\n" +
			"  runcode check script.ts\n" +
			"  runcode explain read '{\"file_path\":\".env\"}'\n" +
			"  runcode types",
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; the commands are run, agent, serve, trace, replay, bench, init, check, explain, types, prompt, trust and doctor (to run a program: runcode run SCRIPT)", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("runcode {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newRunCommand(s), newAgentCommand(s), newServeCommand(s), newTraceCommand(s), newReplayCommand(s), newBenchCommand(s), newInitCommand(s), newCheckCommand(s), newExplainCommand(s), newTypesCommand(s), newPromptCommand(s), newTrustCommand(s), newDoctorCommand(s))
	for _, cmd := range root.Commands() {
		completeFlags(cmd)
	}
	return root
}

// noArguments refuses what a command without arguments is given.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, got %q; see %s --help", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}
