package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/pipeline/permission"
)

// treeFiles are the configuration files looked for below --root, as Claude Code
// names them.
var treeFiles = []string{".claude/settings.json", ".claude/settings.local.json"}

// userFile is the one looked for below the home directory.
const userFile = ".claude/settings.json"

// maxConfigFile bounds a configuration file.
const maxConfigFile = 1 << 20

// configFlags say which configuration files hold.
type configFlags struct {
	files  []string
	ignore bool
}

func (f *configFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.files, "config", nil, "permission rules and hooks from this settings `file` (repeatable), beside those found")
	flags.BoolVar(&f.ignore, "no-found-config", false, "leave out ~/.claude/settings.json and, of the tree, .claude/settings.json and .mcp.json")
}

// config is every configuration file that holds for a run.
type config struct {
	root    string
	files   []*configFile
	bridges []*hooks.Bridge // of the files, once they are installed
	notes   []string
}

// configFile is one of them.
type configFile struct {
	name     string // as a person knows it
	path     string // absolute
	text     string
	trusted  bool
	settings *permission.Settings
}

// load reads the files that are named and those that are found.
func (f *configFlags) load(root string) (_ *config, err error) {
	c := &config{root: root}
	for _, path := range f.files {
		file, err := readConfig(path, root, true)
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		c.files = append(c.files, file)
	}
	if f.ignore {
		return c, nil
	}
	if err := c.addUser(); err != nil {
		return nil, err
	}
	return c, c.addTree()
}

// leaveOut ends the errors about files that are found rather than named.
const leaveOut = "(or leave out what is found with --no-found-config)"

// addUser adds the user's own settings, if there are any.
func (c *config) addUser() error {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	path := filepath.Join(home, filepath.FromSlash(userFile))
	if err := regular(path); absent(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("cannot read your settings: %w; repair it %s", err, leaveOut)
	}
	file, err := readConfig(path, c.root, true)
	if err != nil {
		return fmt.Errorf("your settings: %w; repair it %s", err, leaveOut)
	}
	return c.add(file)
}

// addTree adds the settings found in the working tree. Who wrote the tree wrote
// them, so they only tighten until the operator trusts them.
func (c *config) addTree() error {
	paths, err := treeConfig(c.root)
	if err != nil {
		return fmt.Errorf("%w; repair it %s", err, leaveOut)
	}
	if len(paths) == 0 {
		return nil
	}
	store, err := openTrust()
	if err != nil {
		return err
	}
	for _, path := range paths {
		file, err := readConfig(path, c.root, false)
		if err != nil {
			return fmt.Errorf("settings found in the tree: %w; repair it %s", err, leaveOut)
		}
		if store.trusts(file.path, file.text) {
			if file, err = file.trust(c.root); err != nil {
				return err
			}
		}
		if err := c.add(file); err != nil {
			return err
		}
	}
	return nil
}

// add takes a file that was found, unless it is one named already. One that
// needs trust costs its grants; one with hooks costs the run, since leaving out
// a hook could allow what it would deny.
func (c *config) add(file *configFile) error {
	for _, known := range c.files {
		if known.path == file.path {
			return nil
		}
	}
	if !file.trusted {
		if file.settings.HasHooks() {
			return fmt.Errorf("%s runs hooks and is not trusted; look at it, then trust it with: runcode trust %s %s", file.name, shellWord(file.name), leaveOut)
		}
		if n := len(file.settings.Grants()); n > 0 {
			c.note("%s is not trusted, so its %s not apply; look at it, then trust it with: runcode trust %s", file.name, counted(n, "allow rule does", "allow rules do"), shellWord(file.name))
		}
	}
	c.files = append(c.files, file)
	return nil
}

func (c *config) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// treeConfig lists the settings files that exist below a directory.
func treeConfig(root string) ([]string, error) {
	var found []string
	for _, name := range treeFiles {
		path := filepath.Join(root, filepath.FromSlash(name))
		switch err := regular(path); {
		case err == nil:
			found = append(found, path)
		case !absent(err):
			return nil, fmt.Errorf("cannot read the settings of the tree: %w", err)
		}
	}
	return found, nil
}

// regular refuses what could keep its reader waiting for ever, such as a pipe.
// Nobody has named the files that are found.
func regular(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case absent(err):
		// A link that leads nowhere is no settings file that could be left out.
		if _, linked := os.Lstat(path); linked == nil {
			return fmt.Errorf("%s is a link that leads nowhere", path)
		}
	}
	return err
}

// absent reports whether an error says that there is no such file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// shellWord is a path as a person types it into a shell.
func shellWord(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != filepath.Separator && !strings.ContainsRune("/.:_-+,@%", r)
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// readConfig reads and parses one file.
func readConfig(path, root string, trusted bool) (*configFile, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	text, err := readFile(abs, maxConfigFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read settings: %w", err)
	}
	file := &configFile{name: path, path: abs, text: text}
	if trusted {
		return file.trust(root)
	}
	return file.parse(root, false)
}

// trust parses the file anew, as one whose grants and hooks hold.
func (file *configFile) trust(root string) (*configFile, error) {
	if _, err := file.parse(root, true); err != nil {
		return nil, err
	}
	_, err := file.hooks(hooks.Options{Dir: root})
	return file, err
}

func (file *configFile) parse(root string, trusted bool) (_ *configFile, err error) {
	base, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	file.trusted = trusted
	file.settings, err = permission.Parse(file.text, permission.Source{Name: file.name, Base: base, Trusted: trusted})
	return file, err
}

// hooks are the file's hooks; nil if it has none or must not run them.
func (file *configFile) hooks(opts hooks.Options) (*hooks.Bridge, error) {
	if !file.trusted || !file.settings.HasHooks() {
		return nil, nil
	}
	return hooks.Read(strings.NewReader(file.text), file.name, &opts)
}

// hookCommands lists the commands its hooks run.
func (file *configFile) hookCommands(root string) []string {
	bridge, err := file.hooks(hooks.Options{Dir: root})
	if err != nil || bridge == nil {
		return nil
	}
	defer bridge.Close()
	var commands []string
	for _, h := range bridge.Hooks() {
		command := h.Event + ": " + h.Command
		if h.Event != hooks.PreToolUse && h.Event != hooks.PostToolUse {
			command += " (not by this command, which never fires the event)"
		}
		commands = append(commands, command)
	}
	return commands
}

// install puts the rules and the hooks of all files into a pipeline. The paths
// are further ones that no rule may open to writing.
func (c *config) install(p *pipeline.Pipeline, protected []string, logger *slog.Logger, redact func(string) string) (policy *permission.Policy, close func() error, err error) {
	close = func() error {
		for _, b := range c.bridges {
			b.Close()
		}
		return nil
	}
	var settings []*permission.Settings
	for _, file := range c.files {
		settings = append(settings, file.settings)
		protected = append(protected, file.path)
	}
	policy, err = permission.New(p.Registry(), settings, permission.Options{Root: c.root, Protected: protected})
	if err != nil {
		return nil, close, err
	}
	p.UseRule("permissions", policy.Rule)
	session := hooks.Session{ID: rand.Text()} // hooks group by it what they keep
	opts := hooks.Options{Dir: c.root, Logger: logger, Redact: redact, Session: func(any) hooks.Session { return session }}
	for _, file := range c.files {
		bridge, err := file.hooks(opts)
		if err != nil {
			return nil, close, err
		}
		if bridge == nil {
			continue
		}
		c.bridges = append(c.bridges, bridge)
		bridge.Install(p)
		for _, note := range slices.Concat(bridge.Ignored(), bridge.NotConnected(), bridge.NeedHarness()) {
			c.note("%v", note)
		}
	}
	c.notes = append(c.notes, policy.Notes()...)
	c.notes = append(c.notes, policy.Warnings()...)
	return policy, close, nil
}

// hooksFor lists the hooks that calls of a tool are put to at an event: a list
// for each bridge that has hooks for any, in the order of their listeners.
func (c *config) hooksFor(event, tool string) (lists [][]hooks.Hook) {
	for _, b := range c.bridges {
		if slices.ContainsFunc(b.Hooks(), func(h hooks.Hook) bool { return h.Event == event }) {
			lists = append(lists, b.HooksFor(event, tool))
		}
	}
	return lists
}
