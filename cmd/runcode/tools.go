package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
	"github.com/runcode-go/runcode/tools/httptools"
	"github.com/runcode-go/runcode/tools/mocktools"
	"github.com/runcode-go/runcode/tools/shelltools"
	"github.com/runcode-go/runcode/tools/todotools"
)

// toolSets are the built-in sets, in the order of help texts.
var toolSets = []string{"fs", "shell", "todo", "http"}

// toolFlags say which tools a program has.
type toolFlags struct {
	sets  []string
	mocks []string
	root  string

	private   []string // addresses for the set http
	documents documentFlags
}

func (f *toolFlags) register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.sets, "tools", []string{"fs", "todo"}, "built-in tools, as `sets`: fs (read, write, edit, glob, grep), shell (bash), todo, http, or none")
	flags.StringArrayVar(&f.mocks, "mock", nil, "add the tools declared in this JSON `file` (repeatable)")
	flags.StringVar(&f.root, "root", ".", "the `directory` the file tools see, and nothing above it")
	flags.StringArrayVar(&f.private, "private", nil, "let the tool http connect to this `host:port` although it is not public (repeatable)")
	f.documents.register(flags)
}

// toolset is a registry and what has to be closed after its use.
type toolset struct {
	registry     *tools.Registry
	root         string // absolute
	defs         []*tools.Definition
	files        *fstools.Set          // nil without the set fs
	observations *fstools.Observations // nil without the set fs
	todos        *todotools.Lists      // nil without the set todo
	notes        []string              // for the person, about what was imported
	closers      []func() error
	changed      func() // is told when tools of MCP servers come, go or change; may be nil
	// emit writes the events of tools; nil, as long as there is no log, drops
	// them.
	emit func(eventType string, data tools.JSON) error
}

// open makes the tools; of a dry run, those that change nothing.
func (f *toolFlags) open(dryRun bool) (_ *toolset, err error) {
	root, err := filepath.Abs(f.root)
	if err != nil {
		return nil, fmt.Errorf("--root: %w", err)
	}
	set := &toolset{root: root}
	defer func() {
		if err != nil {
			err = errors.Join(err, set.close())
		}
	}()
	if err := f.check(); err != nil {
		return nil, err
	}
	for _, name := range f.sets {
		if err := set.addBuiltin(name, f.private); err != nil {
			return nil, err
		}
	}
	for _, path := range f.mocks {
		if err := set.addMocks(path); err != nil {
			return nil, err
		}
	}
	if err := f.documents.add(set); err != nil {
		return nil, err
	}
	if dryRun {
		set.defs = tools.DryRun(set.defs...)
	}
	set.registry, err = tools.NewRegistry(set.defs...)
	return set, err
}

func (f *toolFlags) check() error {
	for i, name := range f.sets {
		switch {
		case name == "none" && len(f.sets) > 1:
			return errors.New("--tools: none stands alone; name the sets that are wanted instead")
		case name != "none" && !slices.Contains(toolSets, name):
			return fmt.Errorf("--tools: unknown set %q; the sets are %s and none", name, strings.Join(toolSets, ", "))
		case slices.Contains(f.sets[:i], name):
			return fmt.Errorf("--tools: the set %q is named twice", name)
		}
	}
	if len(f.private) > 0 && !slices.Contains(f.sets, "http") {
		return errors.New("--private is about the tool http, which is not chosen; add http to --tools")
	}
	return f.documents.check()
}

func (s *toolset) addBuiltin(name string, private []string) error {
	switch name {
	case "fs":
		s.observations = fstools.NewObservations(&fstools.ObservationOptions{Emit: s.event})
		set, err := fstools.New(s.root, &fstools.Options{Gates: s.observations.Gates()})
		if err != nil {
			return fmt.Errorf("--root: %w", err)
		}
		s.files = set
		s.add(set.Tools(), set.Close)
	case "shell":
		set, err := shelltools.New(s.root, nil)
		if err != nil {
			return fmt.Errorf("--tools shell: %w", err)
		}
		s.add(set.Tools(), set.Close)
	case "http":
		set, err := httptools.New(&httptools.Options{Private: private})
		if err != nil {
			return fmt.Errorf("--private: %w", err)
		}
		s.add(set.Tools(), set.Close)
	case "todo":
		s.todos = todotools.New(&todotools.Options{Emit: s.event})
		s.add(s.todos.Tools(), nil)
	}
	return nil
}

func (s *toolset) add(defs []*tools.Definition, close func() error) {
	s.defs = append(s.defs, defs...)
	if close != nil {
		s.closers = append(s.closers, close)
	}
}

// event writes an event of a tool into the log, if there is one.
func (s *toolset) event(eventType string, data tools.JSON) error {
	if s.emit == nil {
		return nil
	}
	return s.emit(eventType, data)
}

// addMocks adds the tools of a file. A name that is taken is refused in words
// that name the file.
func (s *toolset) addMocks(path string) error {
	defs, err := mocktools.LoadFile(path)
	if err != nil {
		return fmt.Errorf("--mock: %w", err)
	}
	for _, def := range defs {
		for _, other := range s.defs {
			if other.Name == def.Name {
				return fmt.Errorf("--mock: %s: there is a tool %q already; rename this one, or leave out the built-in tools with --tools none", path, def.Name)
			}
		}
		if def.Name == tools.TransportName {
			return fmt.Errorf("--mock: %s: the name %q is reserved; rename the tool", path, def.Name)
		}
	}
	for _, def := range defs {
		def.Preview = def.Handler // it changes nothing, so a dry run has its answers
	}
	s.add(defs, nil)
	return nil
}

// members are the tools of the built-in sets.
var members = map[string][]string{
	"fs":    {"edit", "glob", "grep", "read", "write"},
	"shell": {"bash"},
	"todo":  {"todo_write"},
	"http":  {"http"},
}

// missing says how to choose the set a built-in tool is in, "" if it is chosen
// or in none.
func (f *toolFlags) missing(tool string) string {
	for _, set := range toolSets {
		if !slices.Contains(members[set], tool) || slices.Contains(f.sets, set) {
			continue
		}
		chosen := slices.DeleteFunc(append(slices.Clone(f.sets), set), func(s string) bool { return s == "none" })
		return fmt.Sprintf("%s is in the set %s, which is not chosen; to have it: --tools %s", tool, set, strings.Join(chosen, ","))
	}
	return ""
}

// missingIn is missing for the tool that a text of the run or of its check says
// is not there.
func (f *toolFlags) missingIn(text string) string {
	for _, set := range toolSets {
		for _, tool := range members[set] {
			if strings.Contains(text, "tools."+tool+" is not a tool") {
				return f.missing(tool)
			}
		}
	}
	return ""
}

// close closes in the reverse order of opening.
func (s *toolset) close() error {
	var errs []error
	for _, close := range slices.Backward(s.closers) {
		errs = append(errs, close())
	}
	s.closers = nil
	return errors.Join(errs...)
}
