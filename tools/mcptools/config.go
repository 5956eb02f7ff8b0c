package mcptools

import (
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/jsondoc"
	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/pipeline/redact"
)

// Config is the servers to import tools from, by name. A name has letters,
// digits, "_" and "-", no "__" and no "_" at its end, so that mcp__server__tool
// can be taken apart.
type Config struct{ Servers map[string]Server }

// The kinds of servers.
const (
	TypeStdio = "stdio" // a program, spoken to over its standard streams
	TypeHTTP  = "http"  // streamable HTTP
	TypeSSE   = "sse"   // HTTP with server-sent events, as of 2024
)

// Server is how one server is reached. Printing it shows no secret.
type Server struct {
	// Type is one of the kinds. Empty: TypeStdio with a Command, TypeHTTP with a
	// URL.
	Type string

	// Command is a program: a path, or a name that is looked for in PATH. Args
	// are its arguments, Env is added to its environment, and Dir is where it
	// runs, relative to Options.Dir.
	Command string
	Args    []string
	Env     map[string]string
	Dir     string

	// URL is where an HTTP server listens; Headers are sent with every request
	// to its origin.
	URL     string
	Headers map[string]string

	// StartTimeout is how long the server has until its tools are known, each
	// time it is started; zero means 30 seconds. CallTimeout is how long one
	// call may take; zero means five minutes.
	StartTimeout, CallTimeout time.Duration

	// Lazy starts the server with its first call; see Options.CacheDir.
	Lazy bool
	// Trusted believes what the server says of its tools: that they only read,
	// may be repeated, or destroy nothing. Only the operator can know; no
	// file says so.
	Trusted bool

	// expanded are the values of the variables the file named.
	expanded []redact.Secret
}

// String names the server's kind and program or host.
func (s Server) String() string {
	if s.kind() == TypeStdio {
		return TypeStdio + " " + s.redactor().Text(s.Command)
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.kind()
	}
	return s.kind() + " " + s.redactor().Text(u.Scheme+"://"+u.Host)
}

// GoString is String, for %#v.
func (s Server) GoString() string { return s.String() }

func (s Server) kind() string {
	switch {
	case s.Type != "":
		return s.Type
	case s.URL != "":
		return TypeHTTP
	}
	return TypeStdio
}

// Secrets are, for redactors of what is logged and shown: the values of all headers
// and of URL queries, and those values of env and of variables the file named that
// redact.FromEnviron takes for secrets. The others are paths and modes, which
// results may hold.
func (c Config) Secrets() []redact.Secret {
	var all []redact.Secret
	for _, name := range sortedKeys(c.Servers) {
		server := c.Servers[name]
		var environ []string
		for _, v := range server.variables() {
			environ = append(environ, v.Name+"="+v.Value)
		}
		all = append(all, redact.FromEnviron(environ).Secrets...)
		all = append(all, server.credentials()...)
	}
	return all
}

// secrets are what nothing this package says of the server shows.
func (s Server) secrets() []redact.Secret { return append(s.variables(), s.credentials()...) }

// variables are those the file named, and the server's environment.
func (s Server) variables() []redact.Secret {
	all := slices.Clone(s.expanded)
	for _, name := range sortedKeys(s.Env) {
		all = append(all, redact.Secret{Name: name, Value: s.Env[name]})
	}
	return all
}

// credentials are the values of headers and of the URL's query.
func (s Server) credentials() (all []redact.Secret) {
	for _, name := range sortedKeys(s.Headers) {
		value := s.Headers[name]
		all = append(all, redact.Secret{Name: name, Value: value})
		if scheme, token, ok := strings.Cut(value, " "); ok && scheme != "" {
			all = append(all, redact.Secret{Name: name, Value: token}) // servers quote the token alone
		}
	}
	if u, err := url.Parse(s.URL); err == nil {
		query := u.Query()
		for _, name := range sortedKeys(query) {
			for _, value := range query[name] {
				all = append(all, redact.Secret{Name: name, Value: value})
			}
		}
	}
	return all
}

func (s Server) redactor() *redact.Redactor {
	return redact.New(&redact.Options{Secrets: s.secrets()})
}

// Load reads the mcpServers of a file in the form of .mcp.json. In the texts of a
// server ${VAR} stands for a variable of this process's environment and
// ${VAR:-text} for text if there is none or it is empty.
//
// A server has either command, args, env and cwd, or url and headers; type is
// stdio, http (or streamable-http) or sse; timeout and startTimeout are the milliseconds of
// CallTimeout and StartTimeout; lazy is Lazy, and a server that is disabled is
// left out. Any other key of a server is an error that names its place; what
// stands beside mcpServers is other programs' and passed over. Nothing is started.
func Load(path string) (Config, error) {
	doc, err := jsondoc.Load(path, path)
	if err != nil {
		return Config{}, err
	}
	return parse(doc, os.LookupEnv)
}

// Parse is Load for a text; name stands for it in errors, and lookup finds
// variables, as os.LookupEnv does.
func Parse(name, text string, lookup func(string) (string, bool)) (Config, error) {
	doc, err := jsondoc.Parse(name, text)
	if err != nil {
		return Config{}, err
	}
	return parse(doc, lookup)
}

// parser turns a document into a Config. It stops at the first fault.
type parser struct {
	doc    *jsondoc.Document
	lookup func(string) (string, bool)
}

func parse(doc *jsondoc.Document, lookup func(string) (string, bool)) (Config, error) {
	p := &parser{doc, lookup}
	cfg := Config{Servers: map[string]Server{}}
	if doc.Root.Kind != jsonscan.ObjectStart {
		return Config{}, doc.Fault(doc.Root.Offset, "the file must be an object, got %s", doc.Root.Described())
	}
	found := doc.Root.Find("mcpServers")
	if found == nil {
		return Config{}, doc.Fault(doc.Root.Offset, `the file has no "mcpServers", the object of servers by name`)
	}
	servers := *found
	if servers.Kind != jsonscan.ObjectStart {
		return Config{}, doc.Fault(servers.Offset, "mcpServers must be an object of servers by name, got %s", servers.Described())
	}
	for _, m := range servers.Members {
		if err := checkName(m.Name); err != nil {
			return Config{}, doc.Fault(m.Offset, "%v", err)
		}
		server, disabled, err := p.server(m)
		if err != nil {
			return Config{}, err
		}
		if !disabled {
			cfg.Servers[m.Name] = server
		}
	}
	return cfg, nil
}

// members gives each member of an object to take, and refuses unknown ones.
func (p *parser) members(n jsondoc.Node, what string, known []string, take func(jsondoc.Member) error) error {
	if n.Kind != jsonscan.ObjectStart {
		return p.doc.Fault(n.Offset, "%s must be an object, got %s", what, n.Described())
	}
	for _, m := range n.Members {
		if !slices.Contains(known, m.Name) {
			hint := "known are " + strings.Join(known, ", ")
			if near := nearest.Names(m.Name, known, 1); near != nil {
				hint = fmt.Sprintf("did you mean %s? (%s)", near[0], hint)
			}
			return p.doc.Fault(m.Offset, "unknown key %q of %s; %s", m.Name, what, hint)
		}
		if err := take(m); err != nil {
			return err
		}
	}
	return nil
}

var serverKeys = []string{"type", "command", "args", "env", "cwd", "url", "headers", "timeout", "startTimeout", "lazy", "disabled"}

func (p *parser) server(server jsondoc.Member) (s Server, disabled bool, err error) {
	what := fmt.Sprintf("the server %q", server.Name)
	if server.Value.Kind == jsonscan.ObjectStart {
		if n := server.Value.Find("disabled"); n != nil {
			// What it is need not be right, nor its variables set.
			if disabled, err = p.flag("disabled", *n); disabled || err != nil {
				return s, disabled, err
			}
		}
	}
	err = p.members(server.Value, what, serverKeys, func(m jsondoc.Member) (err error) {
		switch m.Name {
		case "type":
			s.Type, err = p.text(&s, m.Name, m.Value)
			if strings.EqualFold(strings.ReplaceAll(s.Type, "-", ""), "streamablehttp") {
				s.Type = TypeHTTP
			}
		case "command":
			s.Command, err = p.text(&s, m.Name, m.Value)
		case "cwd":
			s.Dir, err = p.text(&s, m.Name, m.Value)
		case "url":
			s.URL, err = p.text(&s, m.Name, m.Value)
		case "args":
			s.Args, err = p.list(&s, m.Value)
		case "env":
			s.Env, err = p.texts(&s, m)
		case "headers":
			s.Headers, err = p.texts(&s, m)
		case "timeout":
			s.CallTimeout, err = p.millis(m)
		case "startTimeout":
			s.StartTimeout, err = p.millis(m)
		case "lazy":
			s.Lazy, err = p.flag(m.Name, m.Value)
		}
		return err
	})
	if err == nil {
		if fault := s.check(); fault != nil {
			err = p.doc.Fault(server.Value.Offset, "%s %v", what, fault)
		}
	}
	return s, false, err
}

func (p *parser) flag(name string, n jsondoc.Node) (bool, error) {
	switch n.Raw {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, p.doc.Fault(n.Offset, "%s must be true or false, got %s", name, n.Described())
}

// text reads a string and puts in the values of variables.
func (p *parser) text(s *Server, what string, n jsondoc.Node) (string, error) {
	text, ok := n.Text()
	if !ok {
		return "", p.doc.Fault(n.Offset, "%s must be a string, got %s", what, n.Described())
	}
	text, used, err := expand(text, p.lookup)
	if err != nil {
		return "", p.doc.Fault(n.Offset, "%s: %v", what, err)
	}
	s.expanded = append(s.expanded, used...)
	return text, nil
}

func (p *parser) list(s *Server, n jsondoc.Node) ([]string, error) {
	if n.Kind != jsonscan.ArrayStart {
		return nil, p.doc.Fault(n.Offset, "args must be an array of strings, got %s", n.Described())
	}
	var list []string
	for _, item := range n.Items {
		text, err := p.text(s, "an element of args", item)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

func (p *parser) texts(s *Server, m jsondoc.Member) (map[string]string, error) {
	if m.Value.Kind != jsonscan.ObjectStart {
		return nil, p.doc.Fault(m.Value.Offset, "%s must be an object of strings, got %s", m.Name, m.Value.Described())
	}
	texts := map[string]string{}
	for _, member := range m.Value.Members {
		text, err := p.text(s, m.Name+"."+member.Name, member.Value)
		if err != nil {
			return nil, err
		}
		texts[member.Name] = text
	}
	return texts, nil
}

// maxTimeout bounds the time limits of a file.
const maxTimeout = 24 * time.Hour

func (p *parser) millis(m jsondoc.Member) (time.Duration, error) {
	ms, err := strconv.ParseInt(m.Value.Raw, 10, 64)
	if m.Value.Kind != jsonscan.Number || err != nil || ms <= 0 || ms > maxTimeout.Milliseconds() {
		return 0, p.doc.Fault(m.Value.Offset, "%s must be a whole number of milliseconds from 1 to %d, got %s", m.Name, maxTimeout.Milliseconds(), m.Value.Described())
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// expand puts the values of variables into a text. used are those that were
// found.
func expand(text string, lookup func(string) (string, bool)) (out string, used []redact.Secret, err error) {
	for {
		before, rest, found := strings.Cut(text, "${")
		out += before
		if !found {
			return out, used, nil
		}
		inner, after, closed := strings.Cut(rest, "}")
		name, fallback, hasDefault := strings.Cut(inner, ":-")
		if !closed || !isVariable(name) {
			return "", nil, errors.New("a ${ begins no variable; write ${NAME} or ${NAME:-default}")
		}
		value, ok := lookup(name)
		switch {
		case ok && (value != "" || !hasDefault):
			used = append(used, redact.Secret{Name: name, Value: value})
		case hasDefault:
			value = fallback
		default:
			return "", nil, fmt.Errorf("the variable %s is not set; set it, or write ${%s:-default}", name, name)
		}
		out, text = out+value, after
	}
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && '0' <= c && c <= '9') {
			return false
		}
	}
	return name != ""
}

// check says what is wrong with a configuration, as a predicate. It quotes no
// value that may be secret.
func (s Server) check() error {
	switch kind := s.kind(); kind {
	case TypeStdio:
		return s.checkProgram()
	case TypeHTTP, TypeSSE:
		return s.checkURL()
	default:
		return fmt.Errorf("has the type %.40q; it is %s, %s or %s", kind, TypeStdio, TypeHTTP, TypeSSE)
	}
}

func (s Server) checkProgram() error {
	switch {
	case s.Command == "":
		return errors.New("has neither a command nor a url; give one of them")
	case s.URL != "" || len(s.Headers) > 0:
		return errors.New("is a program and has a url or headers, which would have no effect; leave them out")
	case strings.ContainsRune(s.Command+s.Dir+strings.Join(s.Args, ""), 0):
		return errors.New("has a NUL character in its command, args or cwd")
	}
	for name, value := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fmt.Errorf("has the variable %.40q in env, which no environment can hold", name)
		}
	}
	return s.checkTimeouts()
}

func (s Server) checkURL() error {
	u, err := url.Parse(s.URL)
	switch {
	case s.Command != "" || len(s.Args) > 0 || len(s.Env) > 0 || s.Dir != "":
		return errors.New("is reached by HTTP and has command, args, env or cwd, which would have no effect; leave them out")
	case s.URL == "":
		return fmt.Errorf("is of type %s and has no url; give one", s.kind())
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("has a url that is no http or https address")
	case u.User != nil:
		return errors.New("has a user in its url; send an Authorization header instead")
	}
	for name, value := range s.Headers {
		switch {
		case !isToken(name) || strings.ContainsAny(value, "\r\n\x00"):
			return fmt.Errorf("has the header %.40q, which cannot be sent; see its name and value", name)
		case slices.Contains(ownHeaders, textproto.CanonicalMIMEHeaderKey(name)):
			return fmt.Errorf("sets the header %s, which the protocol sets itself; leave it out", name)
		}
	}
	return s.checkTimeouts()
}

func (s Server) checkTimeouts() error {
	if s.StartTimeout < 0 || s.CallTimeout < 0 {
		return errors.New("has a negative time limit; a limit is positive, or zero for the default")
	}
	return nil
}

// ownHeaders are set by HTTP or the protocol, in canonical form.
var ownHeaders = []string{"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id", "Mcp-Protocol-Version", "Mcp-Session-Id", "Transfer-Encoding"}

func isToken(name string) bool {
	return name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}

// checkName says why a server cannot have a name.
func checkName(name string) error {
	switch {
	case name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "":
		return fmt.Errorf("the server name %.40q has other characters than A-Z, a-z, 0-9, _ and -; rename it", name)
	case strings.Contains(name, "__") || strings.HasSuffix(name, "_"):
		return fmt.Errorf("the server name %.40q holds __ or ends in _, so mcp__server__tool could be read in two ways; rename it", name)
	}
	return nil
}
