package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
	"github.com/runcode-go/runcode/tools/mocktools"
)

// toolFlags say which tools a program has.
type toolFlags struct {
	set   string
	mocks []string
	root  string
}

func (f *toolFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.set, "tools", "fs", "built-in tools: fs (read, glob, grep) or none")
	flags.StringArrayVar(&f.mocks, "mock", nil, "add the tools declared in this JSON `file` (repeatable)")
	flags.StringVar(&f.root, "root", ".", "the `directory` the file tools see, and nothing above it")
}

// toolset is a registry and what has to be closed after its use.
type toolset struct {
	registry *tools.Registry
	close    func() error
}

func (f *toolFlags) open() (_ *toolset, err error) {
	reg, err := tools.NewRegistry()
	if err != nil {
		return nil, err
	}
	set := &toolset{registry: reg, close: func() error { return nil }}
	defer func() {
		if err != nil {
			err = errors.Join(err, set.close())
		}
	}()
	switch f.set {
	case "none":
	case "fs":
		fs, err := fstools.New(f.root, nil)
		if err != nil {
			return nil, fmt.Errorf("--root: %w", err)
		}
		set.close = fs.Close
		if _, err := reg.Add(fs.Tools()...); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("--tools: unknown set %q; the sets are fs and none", f.set)
	}
	for _, path := range f.mocks {
		if err := addMocks(reg, path); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func addMocks(reg *tools.Registry, path string) error {
	defs, err := mocktools.LoadFile(path)
	if err != nil {
		return fmt.Errorf("--mock: %w", err)
	}
	for _, def := range defs {
		if reg.Lookup(def.Name) != nil {
			return fmt.Errorf("--mock: %s: there is a tool %q already; rename this one, or leave out the built-in tools with --tools none", path, def.Name)
		}
	}
	if _, err := reg.Add(defs...); err != nil {
		return fmt.Errorf("--mock: %s: %w", path, err)
	}
	return nil
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
