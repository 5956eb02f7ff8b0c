package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
)

// completeFlags lets the shell complete the flags a command has, where their
// values are words of ours.
func completeFlags(cmd *cobra.Command) {
	modes := []string{codemode.ModeCode.String(), codemode.ModeBoth.String()}
	if cmd.Name() != "run" { // which has nothing to run a program with in the third
		modes = append(modes, codemode.ModeNative.String())
	}
	for name, words := range map[string][]string{"approve": approvals, "mode": modes} {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		// It fails for a flag that does not exist or has its words already.
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	if cmd.Flags().Lookup("api") != nil {
		var names []string
		for _, api := range modelapi.All() {
			names = append(names, api.Name())
		}
		_ = cmd.RegisterFlagCompletionFunc("api", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
	}
	if cmd.Flags().Lookup("tools") != nil {
		_ = cmd.RegisterFlagCompletionFunc("tools", completeSets)
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

// completeSets offers the built-in sets that a list does not have yet.
func completeSets(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	done := begun[:strings.LastIndex(begun, ",")+1]
	chosen := strings.Split(done, ",")
	var words []string
	for _, set := range toolSets {
		if !slices.Contains(chosen, set) {
			words = append(words, done+set)
		}
	}
	if done == "" {
		words = append(words, "none")
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
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
