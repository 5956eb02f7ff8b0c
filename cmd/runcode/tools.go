package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
	"github.com/runcode-go/runcode/tools/mocktools"
)

// toolFlags say which tools a program has.
type toolFlags struct {
	sets  string
	mocks []string
	root  string
}

func (f *toolFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.sets, "tools", "fs", "built-in tools: fs (read, glob, grep) or none")
	flags.StringArrayVar(&f.mocks, "mock", nil, "also the tools declared in this JSON `file` (repeatable)")
	flags.StringVar(&f.root, "root", ".", "the `directory` the file tools see, and nothing above it")
}

// toolset is a registry and what has to be closed after its use.
type toolset struct {
	registry *tools.Registry
	close    func() error
}

func (f *toolFlags) open() (*toolset, error) {
	reg, err := tools.NewRegistry()
	if err != nil {
		return nil, err
	}
	set := &toolset{registry: reg, close: func() error { return nil }}
	for _, name := range strings.Split(f.sets, ",") {
		switch name {
		case "none":
		case "fs":
			fs, err := fstools.New(f.root, nil)
			if err != nil {
				return nil, fmt.Errorf("--root: %w", err)
			}
			set.close = fs.Close
			if _, err := reg.Add(fs.Tools()...); err != nil {
				return nil, errors.Join(err, set.close())
			}
		default:
			return nil, errors.Join(fmt.Errorf("--tools %q: unknown set %q; the sets are fs and none", f.sets, name), set.close())
		}
	}
	for _, path := range f.mocks {
		defs, err := mocktools.LoadFile(path)
		if err == nil {
			_, err = reg.Add(defs...)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("--mock: %w", err), set.close())
		}
	}
	return set, nil
}

// askDestructive makes tools that say they destroy something ask first.
func askDestructive(reg *tools.Registry) pipeline.Listener[tools.Call, pipeline.Decision] {
	return func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if tool := reg.Lookup(c.Name()); tool != nil && tool.Definition().Annotations.Destructive {
			return pipeline.Ask(fmt.Sprintf("tool %q is marked destructive and nobody is here to approve it", c.Name())), nil
		}
		return next(ctx)
	}
}
