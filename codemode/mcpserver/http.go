package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPOptions say whom Handler serves.
type HTTPOptions struct {
	// Tokens maps bearer tokens to principals, at least one. A token has at least
	// 16 bytes.
	Tokens map[string]string
	// Hosts are the names, beside loopback's, that requests may come to, without
	// a port. A web page cannot choose the name its browser sends, so this is what
	// stops pages that bind their name to this machine.
	Hosts []string
	// Origins are the origins of web pages that may send requests. None by
	// default: clients that are no browsers send no origin. Each is as browsers
	// write it, such as https://example.org.
	Origins []string
	// MaxSessions is how many clients may be connected at once; further ones get
	// the status 503. Zero is 64.
	MaxSessions int
	// Idle is how long a session without requests lives. Zero is 30 minutes.
	Idle time.Duration
	// MaxBody bounds a request, in bytes. Zero is 8 MiB.
	MaxBody int64
}

// Defaults of HTTPOptions.
const (
	DefaultMaxSessions = 64
	DefaultIdle        = 30 * time.Minute
	DefaultMaxBody     = 8 << 20
)

// minToken is the shortest token that is taken.
const minToken = 16

// check refuses what no request could match.
func (o *HTTPOptions) check() error {
	for token, principal := range o.Tokens {
		switch {
		case len(token) < minToken || principal == "":
			return fmt.Errorf("mcpserver: the token of principal %q has %d bytes; tokens have at least %d, and principals a name", principal, len(token), minToken)
		case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
			return fmt.Errorf("mcpserver: the token of principal %q holds white space or characters that are not ASCII, which no header carries", principal)
		}
	}
	for _, host := range o.Hosts {
		if net.ParseIP(host) == nil && strings.ContainsAny(host, ":/[]") || host == "" {
			return fmt.Errorf("mcpserver: the host %q is no name alone; leave out scheme, port, path and brackets", host)
		}
	}
	for _, origin := range o.Origins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Scheme+"://"+strings.ToLower(u.Host) != origin {
			return fmt.Errorf("mcpserver: the origin %q is not of the form https://host or https://host:port, in lower case", origin)
		}
	}
	return nil
}

// Handler serves clients over streamable HTTP, each session as a client of its
// own. A session belongs to the principal whose token began it. It sets the read
// deadlines of its connections: a body has 30 seconds to arrive, whatever the
// http.Server's ReadTimeout is, and the call after it as long as it takes.
func (s *Server) Handler(o HTTPOptions) (http.Handler, error) {
	if len(o.Tokens) == 0 {
		return nil, errors.New("mcpserver: HTTP needs a token: whoever can connect could make every call")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = DefaultMaxSessions
	}
	if o.Idle <= 0 {
		o.Idle = DefaultIdle
	}
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	streams := mcp.NewStreamableHTTPHandler(s.serverOf, &mcp.StreamableHTTPOptions{Logger: s.opts.Logger, SessionTimeout: o.Idle, MaxRequestBodyBytes: o.MaxBody, DisableLocalhostProtection: true /* Hosts says more */})
	sessions := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serveSession(w, r, &o, streams) })
	known := auth.RequireBearerToken(verifier(o.Tokens), &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(sessions)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		deadline := time.Time{} // none where there is no body: the stream may be silent
		if r.ContentLength != 0 {
			deadline = time.Now().Add(bodyTime) // also where nobody reads it: the connection drains it
		}
		_ = http.NewResponseController(w).SetReadDeadline(deadline)
		switch problem := o.foreign(r); {
		case problem != "":
			http.Error(w, problem, http.StatusForbidden)
		case allowPage(w, r):
		default:
			known.ServeHTTP(w, r)
		}
	}), nil
}

// serveSession serves a request whose token is known.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request, o *HTTPOptions, streams http.Handler) {
	id := r.Header.Get(sessionHeader)
	switch {
	case r.Method == http.MethodPost:
		if !readBody(w, r, o.MaxBody) {
			return
		}
	case r.Method == http.MethodDelete:
		if c := s.clientOf(id, principalOf(r)); c != nil {
			s.drop(c, errLeft) // the SDK waits for calls that run
			defer s.leave(c)
		}
	}
	if r.Method != http.MethodPost || id != "" || r.Header.Get("Mcp-Protocol-Version") >= sessionless {
		streams.ServeHTTP(w, r)
		return
	}
	c, err := s.connect(principalOf(r), o.MaxSessions)
	if err != nil {
		s.opts.Logger.Warn("a client was refused", "error", err)
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	streams.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), madeKey{}, c)))
	if !c.greeted() { // the request began no session after all
		s.leave(c)
	}
}

// sessionHeader names the session of a request (MCP spec, session management).
const sessionHeader = "Mcp-Session-Id"

// madeKey is where a request that begins a session keeps its client.
type madeKey struct{}

// serverOf is the SDK's server of a request. Those of a session are told nothing
// but the versions spoken.
func (s *Server) serverOf(r *http.Request) *mcp.Server {
	if c, ok := r.Context().Value(madeKey{}).(*Client); ok {
		return c.mcp
	}
	return s.bare
}

func principalOf(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return info.UserID
	}
	return ""
}

// clientOf is the client of a principal's session, nil if there is none.
func (s *Server) clientOf(id, principal string) *Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if id != "" && c.principal == principal && c.sessionID() == id {
			return c
		}
	}
	return nil
}

// bodyTime is how long a request may take to arrive once its headers have.
const bodyTime = 30 * time.Second

// readBody takes a request's body off the connection, which from then on may be
// silent for as long as the call lasts.
func readBody(w http.ResponseWriter, r *http.Request, most int64) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		http.Error(w, fmt.Sprintf("the request's body exceeds %d bytes", large.Limit), http.StatusRequestEntityTooLarge)
		return false
	}
	if err != nil {
		http.Error(w, "the request's body did not arrive", http.StatusRequestTimeout)
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}

// greeted says whether the client has a session.
func (c *Client) greeted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != nil
}

// sessionID is "" for a client without a session.
func (c *Client) sessionID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return ""
	}
	return c.session.ID()
}

// verifier compares tokens in a time that says nothing about them.
func verifier(tokens map[string]string) auth.TokenVerifier {
	type holder struct {
		digest    [sha256.Size]byte
		principal string
	}
	var holders []holder
	for token, principal := range tokens {
		holders = append(holders, holder{sha256.Sum256([]byte(token)), principal})
	}
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		given := sha256.Sum256([]byte(token))
		var found *auth.TokenInfo
		for _, h := range holders {
			if subtle.ConstantTimeCompare(h.digest[:], given[:]) == 1 {
				found = &auth.TokenInfo{UserID: h.principal}
			}
		}
		if found == nil {
			return nil, auth.ErrInvalidToken
		}
		return found, nil
	}
}

// foreign is why a request is refused that came under another name than ours, or
// from a web page.
func (o *HTTPOptions) foreign(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if !isLoopback(host) && !slices.ContainsFunc(o.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return "this server is not known under the name of the request's Host header"
	}
	for _, origin := range r.Header.Values("Origin") {
		if !slices.Contains(o.Origins, origin) {
			return "requests of web pages are not taken from this origin"
		}
	}
	return ""
}

// allowPage tells the browser of a page that may send requests (Fetch standard,
// CORS), and answers where it only asks that.
func allowPage(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	w.Header().Add("Vary", "Origin")
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", sessionHeader)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, Mcp-Protocol-Version, "+sessionHeader)
	w.WriteHeader(http.StatusNoContent)
	return true
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
