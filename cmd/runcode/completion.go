package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
)

// completeFlags lets the shell complete the flags a command has, where their
// values are words of ours.
func completeFlags(cmd *cobra.Command) {
	for name, words := range map[string][]string{
		"tools":   append(toolSets[:len(toolSets):len(toolSets)], "none"),
		"approve": approvals,
		"mode":    {codemode.ModeCode.String(), codemode.ModeBoth.String(), codemode.ModeNative.String()},
	} {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		// It fails for a flag that does not exist or has its words already.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	for name, directive := range map[string]cobra.ShellCompDirective{
		"root":   cobra.ShellCompDirectiveFilterDirs,
		"config": cobra.ShellCompDirectiveDefault,
		"mock":   cobra.ShellCompDirectiveDefault,
	} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(nil, directive))
		}
	}
}

// completeTools offers the names of the tools the flags select.
func completeTools(f *toolFlags) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		// Flags are parsed more than once on the way here.
		once := toolFlags{sets: distinct(f.sets), mocks: distinct(f.mocks), root: f.root}
		set, err := once.open(false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer set.close()
		var names []string
		for _, tool := range set.registry.All() {
			if strings.HasPrefix(tool.Name(), begun) {
				names = append(names, tool.Name())
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// distinct are the words without repetitions, sorted.
func distinct(words []string) []string { return slices.Compact(slices.Sorted(slices.Values(words))) }
