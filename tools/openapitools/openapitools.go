package openapitools

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

// Options says under which name a document's operations become tools and where
// their requests go.
type Options struct {
	// Name is the name the tools share, as an MCP server's: letters, digits, -
	// and _, at most 32, without __ and without _ at an end. Required.
	Name string
	// BaseURL is what the paths of operations are added to, and the one origin
	// that requests and credentials go to. Empty: UseServers must be set.
	BaseURL string
	// UseServers takes the first server of the document as the base URL if
	// BaseURL is empty. Whoever wrote the document then says where credentials
	// go.
	UseServers bool
	// Credentials are secrets by the name of the document's security scheme: an
	// API key, a bearer token (of oauth2 and openIdConnect too), or
	// "user:password". An operation that wants a scheme without one is sent
	// without.
	Credentials map[string]string
	// Headers are header fields, name and value, that every request is given. A
	// parameter of that name is no argument.
	Headers map[string]string
	// Trusted lets the document's GET, HEAD and OPTIONS count as reading only:
	// their calls may overlap, be repeated, and be made in a dry run.
	Trusted bool
	// AllowPrivate connects to the base URL's host although its address is not
	// public, such as a service on this machine.
	AllowPrivate bool
	// Timeout ends a call. Zero: 60 seconds.
	Timeout time.Duration
	// MaxBytes is the largest body of a response. Zero: 8 MiB.
	MaxBytes int
}

// The defaults of Options.
const (
	defaultTimeout = time.Minute
	defaultBytes   = 8 << 20
)

// Set is the tools of one document. It is safe for concurrent use.
type Set struct {
	doc     *document
	opts    Options
	base    *url.URL
	have    map[string]credential // by security scheme
	headers http.Header
	client  *nethttp.Client

	left     int             // bytes of schemas that may still be written
	deadline time.Time       // of reading operations
	cut      int             // operations whose response is described in part
	taken    map[string]bool // names of tools
	defs     []*tools.Definition
	skipped  []Skipped
	notes    []string
}

// Skipped is an operation that became no tool.
type Skipped struct {
	Method, Path string
	OperationID  string // may be empty
	Reason       string
}

// String is "POST /pets (createPet): reason".
func (s Skipped) String() string {
	id := ""
	if s.OperationID != "" {
		id = fmt.Sprintf(" (%s)", s.OperationID)
	}
	return fmt.Sprintf("%s %s%s: %s", s.Method, s.Path, id, s.Reason)
}

// New reads a document. It connects to nothing. An error means that the document
// as a whole, or an option, cannot be used; single operations are skipped.
func New(text []byte, opts Options) (*Set, error) {
	s, err := prepare(text, opts)
	if err == nil {
		err = s.importAll()
	}
	if err != nil {
		return nil, fmt.Errorf("OpenAPI tools %q: %w", opts.Name, err)
	}
	s.doc, s.taken = nil, nil // large, and of no more use
	return s, nil
}

// prepare is New without the operations.
func prepare(text []byte, opts Options) (s *Set, err error) {
	if err := checkName(opts.Name); err != nil {
		return nil, err
	}
	if opts.Timeout < 0 || opts.MaxBytes < 0 {
		return nil, fmt.Errorf("Options.Timeout is %v and Options.MaxBytes is %d; want positive numbers, or 0 for the defaults", opts.Timeout, opts.MaxBytes)
	}
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	opts.MaxBytes = cmp.Or(opts.MaxBytes, defaultBytes)
	s = &Set{opts: opts, left: maxSchemas, deadline: time.Now().Add(maxImport), taken: map[string]bool{}}
	if s.doc, err = load(text); err != nil {
		return nil, err
	}
	if s.doc.converted {
		s.note("the document is Swagger 2.0 and was converted to OpenAPI 3.0")
	}
	if s.base, err = s.baseURL(); err != nil {
		return nil, err
	}
	if s.headers, err = fixedHeaders(opts.Headers); err != nil {
		return nil, err
	}
	if s.have, err = s.doc.credentials(opts.Credentials); err != nil {
		return nil, err
	}
	s.client = nethttp.New()
	if opts.AllowPrivate {
		s.client = nethttp.New(nethttp.HostPort(s.base))
	}
	return s, nil
}

// baseURL is where requests go.
func (s *Set) baseURL() (*url.URL, error) {
	text, from := s.opts.BaseURL, "Options.BaseURL"
	if text == "" {
		server, err := s.doc.server()
		if err != nil {
			return nil, fmt.Errorf("Options.BaseURL is empty and the document names no server to use: %w", err)
		}
		if !s.opts.UseServers {
			return nil, fmt.Errorf("Options.BaseURL is empty; give the API's address. The document proposes %q, which is used if Options.UseServers confirms it", server)
		}
		text, from = server, "the document's server"
		s.note("requests go to %s, as the document says", server)
	}
	u, err := nethttp.ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", from, err)
	}
	if u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#") {
		return nil, fmt.Errorf("%s is %q; it must have no query and no fragment", from, text)
	}
	if err := checkSegments(u.EscapedPath()); err != nil {
		return nil, fmt.Errorf("%s %w", from, err)
	}
	return u, nil
}

// server is the first server of the document, its variables replaced by their
// defaults.
func (d *document) server() (string, error) {
	servers := d.root.elements("servers")
	if len(servers) == 0 {
		return "", errors.New("it has none")
	}
	text := servers[0].str("url")
	if variables := servers[0].get("variables"); variables.isObject() {
		for i, name := range variables.names {
			text = strings.ReplaceAll(text, "{"+name+"}", variables.kids[i].str("default"))
		}
	}
	if !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return "", fmt.Errorf("its first one is %.200q, which is no absolute address", text)
	}
	return text, nil
}

func fixedHeaders(fields map[string]string) (http.Header, error) {
	header := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		err := nethttp.CheckHeaderName(name)
		if err == nil {
			err = nethttp.CheckHeaderValue(fields[name])
		}
		if err != nil {
			return nil, fmt.Errorf("Options.Headers[%q] %w", name, err)
		}
		header.Set(name, fields[name])
	}
	return header, nil
}

func (s *Set) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// Tools returns the definitions, in the order of the document.
func (s *Set) Tools() []*tools.Definition { return slices.Clone(s.defs) }

// Skipped returns the operations that became no tool, in the order of the
// document.
func (s *Set) Skipped() []Skipped { return slices.Clone(s.skipped) }

// Notes returns what the operator should know of the tools, a sentence each.
func (s *Set) Notes() []string { return slices.Clone(s.notes) }

// Close gives up connections that are kept open. Calls after it work.
func (s *Set) Close() error {
	s.client.Close()
	return nil
}
