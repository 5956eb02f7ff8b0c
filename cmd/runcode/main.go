// Command runcode runs programs that call tools.
//
//	runcode run script.ts     run a program over the built-in or mocked tools
//	runcode types             print the TypeScript declarations of the tools
//	runcode prompt            print what a model is told
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
	exitFailed = 1 // the program failed
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
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &failed):
		return exitFailed
	}
	fmt.Fprintf(stderr, "runcode: %s\n", termtext.Escape(err.Error()))
	return exitUsage
}

// programFailed says that a program ran and failed; its outcome is printed
// already.
type programFailed struct{}

func (*programFailed) Error() string { return "the program failed" }

// streams are where the command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

func newCommand(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "runcode",
		Short: "Run programs that call tools",
		Long: "runcode runs a JavaScript or TypeScript program in which every await tools.name(args)\n" +
			"goes through one tool pipeline: policy, approval, guards, the tool, the log.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newRunCommand(s), newTypesCommand(s), newPromptCommand(s))
	return root
}
