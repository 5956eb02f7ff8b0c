package mcpserver

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
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
	// default: clients that are no browsers send no origin.
	Origins []string
	// MaxSessions is how many clients may be connected at once. Zero is 64.
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

// Handler serves clients over streamable HTTP, each session as a client of its
// own. A session belongs to the principal whose token began it.
func (s *Server) Handler(o HTTPOptions) (http.Handler, error) {
	if len(o.Tokens) == 0 {
		return nil, errors.New("mcpserver: HTTP needs a token: whoever can connect could make every call")
	}
	for token, principal := range o.Tokens {
		if len(token) < minToken || principal == "" {
			return nil, fmt.Errorf("mcpserver: the token of principal %q has %d bytes; tokens have at least %d, and principals a name", principal, len(token), minToken)
		}
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
	streams := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		return s.admit(r, o.MaxSessions)
	}, &mcp.StreamableHTTPOptions{Logger: s.opts.Logger, SessionTimeout: o.Idle, MaxRequestBodyBytes: o.MaxBody, DisableLocalhostProtection: true /* Hosts says more */})
	known := auth.RequireBearerToken(verifier(o.Tokens), &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(streams)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if problem := o.foreign(r); problem != "" {
			http.Error(w, problem, http.StatusForbidden)
			return
		}
		var made *Client
		known.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), madeKey{}, &made)))
		if made != nil && !made.greeted() { // the request began no session after all
			s.leave(made)
		}
	}), nil
}

// madeKey is where a request keeps the client that was made for it.
type madeKey struct{}

// admit makes a client for a request that begins a session; nil refuses it.
// It may be asked twice about one request, and is asked about others for nothing
// but the versions spoken.
func (s *Server) admit(r *http.Request, most int) *mcp.Server {
	if r.Header.Get("Mcp-Session-Id") != "" || r.Header.Get("Mcp-Protocol-Version") >= sessionless {
		return s.bare
	}
	made, ok := r.Context().Value(madeKey{}).(**Client)
	if !ok {
		return nil
	}
	if *made != nil {
		return (*made).mcp
	}
	s.mu.Lock()
	full := len(s.clients) >= most
	s.mu.Unlock()
	if full {
		s.opts.Logger.Warn("a client was refused: as many are connected as may be", "sessions", most)
		return nil
	}
	principal := ""
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		principal = info.UserID
	}
	c, err := s.connect(principal)
	if err != nil {
		s.opts.Logger.Warn("a client was refused", "error", err)
		return nil
	}
	*made = c
	return c.mcp
}

// greeted says whether the client has a session.
func (c *Client) greeted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session != nil
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
		u, err := url.Parse(origin)
		if err != nil || !slices.Contains(o.Origins, u.Scheme+"://"+u.Host) {
			return "requests of web pages are not taken from this origin"
		}
	}
	return ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
