package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/mcptools"
	"github.com/runcode-go/runcode/tools/openapitools"
)

// documentFlags say which OpenAPI documents become tools.
type documentFlags struct {
	files, urls, auth []string // each [NAME=]VALUE, of auth [NAME/]SCHEME=VARIABLE
}

func (f *documentFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.files, "openapi", nil, "add the operations of this OpenAPI `[NAME=]FILE` as tools mcp__NAME__operation (repeatable)")
	flags.StringArrayVar(&f.urls, "base-url", nil, "where the requests of a document go, as `[NAME=]URL` (repeatable; the document itself is not asked)")
	flags.StringArrayVar(&f.auth, "auth", nil, "the credential of a security scheme, as `[NAME/]SCHEME=VARIABLE` of the environment (repeatable)")
}

// document is one of them.
type document struct {
	name, file, url string
	credentials     map[string]string
}

func (f *documentFlags) check() error {
	_, err := f.documents()
	return err
}

// documents puts together what the flags say of each.
func (f *documentFlags) documents() ([]*document, error) {
	var list []*document
	named := map[string]*document{}
	for _, given := range f.files {
		name, file, ok := strings.Cut(given, "=")
		if !ok {
			name, file = nameOf(given), given
		}
		if named[name] != nil {
			return nil, fmt.Errorf("--openapi: two documents are named %q; give one another name with --openapi NAME=FILE", name)
		}
		d := &document{name: name, file: file, credentials: map[string]string{}}
		named[name], list = d, append(list, d)
	}
	for _, given := range f.urls {
		name, url := "", given
		if before, after, ok := strings.Cut(given, "="); ok && !strings.Contains(before, ":") {
			name, url = before, after
		}
		d, err := pick(list, named, name, "--base-url")
		if err != nil {
			return nil, err
		}
		d.url = url
	}
	for _, given := range f.auth {
		name, rest := "", given
		if before, after, ok := strings.Cut(given, "/"); ok {
			name, rest = before, after
		}
		scheme, variable, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, fmt.Errorf("--auth %q is not of the form SCHEME=VARIABLE", given)
		}
		d, err := pick(list, named, name, "--auth")
		if err != nil {
			return nil, err
		}
		if d.credentials[scheme] = os.Getenv(variable); d.credentials[scheme] == "" {
			return nil, fmt.Errorf("--auth %s: the variable %s of the environment is not set", given, variable)
		}
	}
	for _, d := range list {
		if d.url == "" {
			return nil, fmt.Errorf("--openapi %s: say where its requests go with --base-url URL; the document's own servers are not trusted with that", d.file)
		}
	}
	return list, nil
}

// secrets are the credentials of documents: their variables may have any name.
func (f *documentFlags) secrets() (list []redact.Secret) {
	for _, given := range f.auth {
		if _, variable, ok := strings.Cut(given, "="); ok {
			list = append(list, redact.Secret{Name: variable, Value: os.Getenv(variable)})
		}
	}
	return list
}

// pick is the document a flag is about: the only one, where it names none.
func pick(list []*document, named map[string]*document, name, flag string) (*document, error) {
	switch {
	case name == "" && len(list) == 1:
		return list[0], nil
	case name == "":
		return nil, fmt.Errorf("%s must name one of %d documents, as NAME=... (see --openapi)", flag, len(list))
	case named[name] == nil:
		return nil, fmt.Errorf("%s: there is no document %q; the documents are %s", flag, name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(named)), ", "), "none"))
	}
	return named[name], nil
}

// notInNames is what a document's name cannot have.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// nameOf names a document after its file.
func nameOf(file string) string {
	base := filepath.Base(filepath.FromSlash(file))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Trim(notInNames.ReplaceAllString(base, "-"), "-")
	return name[:min(len(name), 32)]
}

// maxDocument bounds an OpenAPI document.
const maxDocument = 32 << 20

// add makes the tools of the documents.
func (f *documentFlags) add(set *toolset) error {
	list, err := f.documents()
	if err != nil {
		return err
	}
	for _, d := range list {
		text, err := readFile(d.file, maxDocument)
		if err != nil {
			return fmt.Errorf("--openapi: %w", err)
		}
		// Whoever runs the command names the address, so it may be a private one.
		imported, err := openapitools.New([]byte(text), openapitools.Options{Name: d.name, BaseURL: d.url, Credentials: d.credentials, AllowPrivate: true})
		if err != nil {
			return fmt.Errorf("--openapi %s: %w", d.file, err)
		}
		set.add(imported.Tools(), imported.Close)
		for _, skipped := range imported.Skipped() {
			set.notes = append(set.notes, fmt.Sprintf("%s: left out: %v", d.file, skipped))
		}
		for _, note := range imported.Notes() {
			set.notes = append(set.notes, fmt.Sprintf("%s: %s", d.file, note))
		}
	}
	return nil
}

// depthVariable tells a command that it was started as an MCP server, and how deep.
// A tree may name this command as one of its servers, which must not start those
// servers again.
const (
	depthVariable = "RUNCODE_MCP_DEPTH"
	maxDepth      = 3
)

// serverFile is where MCP servers are found in a working tree.
const serverFile = ".mcp.json"

// serverFlags say which MCP servers are started.
type serverFlags struct {
	files   []string
	trusted []string
}

func (f *serverFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.files, "mcp", nil, "start the MCP servers of this `file` and add their tools (repeatable), beside those of a trusted .mcp.json")
	flags.StringArrayVar(&f.trusted, "mcp-trust", nil, "believe what the MCP server of this `name` says of its tools, such as that they only read (repeatable)")
}

// load reads the servers of the files that are named and, if found is set, of the
// one in the tree, if it is trusted. Notes are for the person.
func (f *serverFlags) load(root string, found bool) (cfg mcptools.Config, notes []string, err error) {
	depth, _ := strconv.Atoi(os.Getenv(depthVariable))
	if depth >= maxDepth && len(f.files) > 0 {
		return cfg, nil, fmt.Errorf("--mcp: this command is itself an MCP server of a server, %d deep; a file that names the command it belongs to would never end", depth)
	}
	cfg.Servers = map[string]mcptools.Server{}
	origin := map[string]string{}
	add := func(file string, more mcptools.Config) error {
		for name, server := range more.Servers {
			if other := origin[name]; other != "" {
				return fmt.Errorf("the MCP server %q is in %s and in %s; rename one", name, other, file)
			}
			origin[name], cfg.Servers[name] = file, server
		}
		return nil
	}
	for _, file := range f.files {
		more, err := mcptools.Load(file)
		if err != nil {
			return cfg, nil, fmt.Errorf("--mcp: %w", err)
		}
		if err := add(file, more); err != nil {
			return cfg, nil, err
		}
	}
	if found && depth == 0 {
		path, more, note, err := foundServers(root, f.files)
		if err != nil {
			return cfg, nil, fmt.Errorf("%w; repair it %s", err, leaveOut)
		}
		if note != "" {
			notes = append(notes, note)
		}
		if err := add(path, more); err != nil {
			return cfg, nil, err
		}
	}
	for name, server := range cfg.Servers {
		if server.Command != "" {
			server.Env = maps.Clone(server.Env)
			if server.Env == nil {
				server.Env = map[string]string{}
			}
			server.Env[depthVariable] = strconv.Itoa(depth + 1)
			cfg.Servers[name] = server
		}
	}
	for _, name := range f.trusted {
		server, ok := cfg.Servers[name]
		if !ok {
			return cfg, nil, fmt.Errorf("--mcp-trust: there is no MCP server %q; the servers are %s", name, cmp.Or(strings.Join(slices.Sorted(maps.Keys(cfg.Servers)), ", "), "none"))
		}
		server.Trusted = true
		cfg.Servers[name] = server
	}
	return cfg, notes, nil
}

// foundServers are those of the tree's file. It starts programs, so they count
// only once the operator trusts it.
func foundServers(root string, named []string) (path string, cfg mcptools.Config, note string, err error) {
	path = filepath.Join(root, serverFile)
	if err := regular(path); absent(err) {
		return path, cfg, "", nil
	} else if err != nil {
		return path, cfg, "", fmt.Errorf("cannot read the MCP servers of the tree: %w", err)
	}
	if slices.ContainsFunc(named, func(file string) bool { return sameFile(file, path) }) {
		return path, cfg, "", nil
	}
	file, err := readServers(path)
	if err != nil {
		return path, cfg, "", err
	}
	store, err := openTrust()
	if err != nil {
		return path, cfg, "", err
	}
	if len(file.servers) == 0 {
		return path, cfg, "", nil
	}
	if !store.trusts(file.path, file.text) {
		return path, cfg, fmt.Sprintf("%s is not trusted, so its %s not started; look at it, then trust it with: runcode trust %s", path, counted(len(file.servers), "MCP server is", "MCP servers are"), shellWord(path)), nil
	}
	cfg, err = mcptools.Parse(path, file.text, os.LookupEnv) // not read again: it could be another by now
	return path, cfg, "", err
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// servers is a file of MCP servers as it can be looked at: nothing is expanded.
type servers struct {
	path, text string   // path is absolute
	servers    []string // what each is, and what the variables are that they take
}

// withDefault finds a variable with what stands for it where it is not set.
var withDefault = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*:-[^}]*\}`)

func readServers(path string) (*servers, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	text, err := readFile(abs, maxConfigFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read MCP servers: %w", err)
	}
	file := &servers{path: abs, text: text}
	var variables []string
	cfg, err := mcptools.Parse(path, text, func(name string) (string, bool) {
		if !slices.Contains(variables, name) {
			variables = append(variables, name)
		}
		return "${" + name + "}", true
	})
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Servers)) {
		file.servers = append(file.servers, name+": "+describeServer(cfg.Servers[name]))
	}
	if len(variables) > 0 {
		file.servers = append(file.servers, "with the variables "+strings.Join(variables, ", "))
	}
	if defaults := withDefault.FindAllString(text, -1); len(defaults) > 0 {
		file.servers = append(file.servers, "where they are not set "+strings.Join(defaults, ", "))
	}
	return file, nil
}

// describeServer is what a server runs or where it is. Of the environment and the
// headers it is given only the names are shown: the values may be secret.
func describeServer(server mcptools.Server) string {
	what := server.URL
	if server.Command != "" {
		what = strings.Join(append([]string{server.Command}, server.Args...), " ")
	}
	if server.Dir != "" {
		what += ", in " + server.Dir
	}
	if names := slices.Sorted(maps.Keys(server.Env)); len(names) > 0 {
		what += ", with its own " + strings.Join(names, ", ")
	}
	if names := slices.Sorted(maps.Keys(server.Headers)); len(names) > 0 {
		what += ", with the headers " + strings.Join(names, ", ")
	}
	return what
}

// withSecrets is a redactor that knows the secrets of servers as well.
func withSecrets(secrets []redact.Secret) *redact.Redactor {
	opts := redact.FromEnviron(os.Environ())
	opts.Secrets = append(opts.Secrets, secrets...)
	return redact.New(opts)
}

// connect starts the servers and adds their tools to the registry, as they come
// and go.
func (s *toolset) connect(ctx context.Context, cfg mcptools.Config, dryRun bool) error {
	if len(cfg.Servers) == 0 {
		return nil
	}
	for name := range cfg.Servers {
		prefix := "mcp__" + name + "__"
		if slices.ContainsFunc(s.defs, func(d *tools.Definition) bool { return strings.HasPrefix(d.Name, prefix) }) {
			return fmt.Errorf("an OpenAPI document and an MCP server are both named %q; rename one", name)
		}
	}
	opts := &mcptools.Options{Dir: s.root}
	if s.changed != nil {
		opts.OnStatus = func(mcptools.Status) { go s.changed() }
	}
	if dir, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "runcode")
		if os.MkdirAll(dir, 0o700) == nil {
			opts.CacheDir = dir
		}
	}
	client, err := mcptools.Connect(ctx, cfg, opts)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, client.Close)
	var to mcptools.Registrar = s.registry
	if dryRun {
		to = dryRegistrar{s.registry}
	}
	remove := client.Register(to)
	s.closers = append(s.closers, func() error { remove(); return nil })
	for _, status := range client.Status() {
		s.notes = append(s.notes, statusNotes(status)...)
	}
	return nil
}

// statusNotes is what a person should know of a server.
func statusNotes(status mcptools.Status) (notes []string) {
	add := func(format string, args ...any) {
		notes = append(notes, fmt.Sprintf("MCP server %s: ", status.Server)+fmt.Sprintf(format, args...))
	}
	if status.State == mcptools.Down {
		reason := fmt.Sprintf("%s; it is started again after %v", status.Reason, status.Again)
		if status.Stderr != "" {
			reason += "; it printed: " + termtext.EscapeLine(head(status.Stderr))
		}
		add("it is down, and its tools are missing: %s", reason)
	}
	for _, o := range status.LeftOut {
		add("the tool %s is left out: %s", termtext.EscapeLine(head(o.Tool)), o.Reason)
	}
	for _, note := range status.Notes {
		add("%s", note)
	}
	return notes
}

// dryRegistrar adds tools as a dry run has them.
type dryRegistrar struct{ to mcptools.Registrar }

func (d dryRegistrar) Add(defs ...*tools.Definition) (func(), error) {
	return d.to.Add(tools.DryRun(defs...)...)
}
