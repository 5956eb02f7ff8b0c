package httptools

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

const toolName = "http"

// Options says what calls may reach and cost. A zero field has the default its
// comment names.
type Options struct {
	// Private names hosts, as "host:port", that are connected to although
	// their addresses are not public or their port is another protocol's. None.
	Private []string
	// Credentials are header fields, name and value, that every request to an
	// origin is given ("https://api.example.org", with a port if it is not the
	// scheme's). A call that sets one of them itself is refused. None.
	Credentials map[string]map[string]string
	// Timeout ends a call that gives no timeoutMs. At most 5 minutes. 30 seconds.
	Timeout time.Duration
	// MaxBytes is how much of a body is returned. 4 MiB.
	MaxBytes int
}

// The defaults of Options.
const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = 5 * time.Minute // the schema says so too
	defaultBytes   = 4 << 20
)

// Set is the tool http. It is safe for concurrent use.
type Set struct {
	client      *nethttp.Client
	private     []string
	credentials map[string]http.Header // by origin
	timeout     time.Duration
	maxBytes    int
}

// New makes the tool. Nil options mean the defaults.
func New(opts *Options) (*Set, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Timeout < 0 || o.Timeout > maxTimeout || o.Timeout%time.Millisecond != 0 {
		return nil, fmt.Errorf("http tool: Options.Timeout is %v; want whole milliseconds up to %v, or 0 for the default", o.Timeout, maxTimeout)
	}
	if o.MaxBytes < 0 {
		return nil, fmt.Errorf("http tool: Options.MaxBytes is %d; want a positive number, or 0 for the default", o.MaxBytes)
	}
	s := &Set{
		private:     slices.Clone(o.Private),
		credentials: map[string]http.Header{},
		timeout:     cmp.Or(o.Timeout, defaultTimeout),
		maxBytes:    cmp.Or(o.MaxBytes, defaultBytes),
	}
	for _, host := range s.private {
		if u, err := nethttp.ParseURL("http://" + host); err != nil || nethttp.HostPort(u) != host {
			return nil, fmt.Errorf(`http tool: Options.Private holds %q; want "host:port" in lower case`, host)
		}
	}
	for _, origin := range slices.Sorted(maps.Keys(o.Credentials)) {
		if err := s.bind(origin, o.Credentials[origin]); err != nil {
			return nil, err
		}
	}
	s.client = nethttp.New(s.private...)
	return s, nil
}

// bind gives an origin its credentials. Its errors hold no value.
func (s *Set) bind(origin string, fields map[string]string) error {
	u, err := nethttp.ParseURL(origin)
	if err != nil || u.Path+u.RawQuery != "" || u.ForceQuery || strings.Contains(origin, "#") {
		return fmt.Errorf(`http tool: Options.Credentials has the origin %q; want a scheme and a host alone, such as "https://api.example.org"`, origin)
	}
	key := nethttp.Origin(u)
	if s.credentials[key] != nil {
		return fmt.Errorf("http tool: Options.Credentials names the origin %s twice; give it once", key)
	}
	s.credentials[key] = http.Header{}
	for name, value := range fields {
		err := nethttp.CheckHeaderName(name)
		if err == nil {
			err = nethttp.CheckHeaderValue(value)
		}
		if err != nil {
			return fmt.Errorf("http tool: the credential %q of %s %w", name, key, err)
		}
		s.credentials[key].Set(name, value)
	}
	return nil
}

// authorize adds the credentials of an origin to a request that goes there.
func (s *Set) authorize(req *http.Request) {
	for name, values := range s.credentials[nethttp.Origin(req.URL)] {
		req.Header[name] = values
	}
}

// bound reports whether a header field is one of an origin's credentials.
func (s *Set) bound(origin, name string) bool {
	_, ok := s.credentials[origin][textproto.CanonicalMIMEHeaderKey(name)]
	return ok
}

// Close gives up connections that are kept open. Calls after it work.
func (s *Set) Close() error {
	s.client.Close()
	return nil
}

var (
	//go:embed http.md
	httpText string
	//go:embed http.schema.json
	httpSchema string
)

// Tools returns the definition of http.
func (s *Set) Tools() []*tools.Definition {
	return []*tools.Definition{tools.DefineWith(tools.Definition{
		Name:        toolName,
		Description: s.describe(),
		Input:       tools.MustJSON(httpSchema),
		// No Timeout: a call has its own. No Preview: nobody knows what a server
		// would answer.
		Annotations:   tools.Annotations{Destructive: true, OpenWorld: true},
		Concurrent:    concurrent,
		Subjects:      s.subjects,
		Render:        render,
		PresentCall:   presentCall,
		PresentResult: presentResult,
	}, s.http)}
}

func (s *Set) describe() string {
	return strings.NewReplacer(
		"{bytes}", strconv.Itoa(s.maxBytes),
		"{timeout}", strconv.FormatInt(s.timeout.Milliseconds(), 10),
		"{maxTimeout}", strconv.FormatInt(maxTimeout.Milliseconds(), 10),
	).Replace(strings.TrimSpace(httpText))
}
