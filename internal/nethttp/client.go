package nethttp

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Bounds of every request.
const (
	maxRedirects = 5
	maxHeaders   = 64 << 10 // of a response, in bytes
	dialTime     = 15 * time.Second
	idleTime     = 30 * time.Second
)

// Client makes requests. It is safe for concurrent use.
type Client struct{ transport *http.Transport }

// New makes a client. The hosts named as "host:port" (see HostPort) are
// connected to whatever their addresses are; any other only at public ones.
func New(private ...string) *Client {
	private = slices.Clone(private)
	return &Client{&http.Transport{
		Proxy: nil, // the environment's would see, and choose, what no policy judged
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialer := net.Dialer{Timeout: dialTime}
			if !slices.Contains(private, address) {
				dialer.Control = refuseSpecial
			}
			return dialer.DialContext(ctx, network, address)
		},
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTime,
		MaxResponseHeaderBytes: maxHeaders,
		MaxIdleConnsPerHost:    4,
		MaxIdleConns:           32,
		IdleConnTimeout:        idleTime,
	}}
}

// Close gives up connections that are not in use.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// refuseSpecial is asked before each connection, after the name was resolved, so
// what it judges is what is connected to.
func refuseSpecial(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &addressError{address, "not one that can be judged"}
	}
	if kind := Special(to.Addr()); kind != "" {
		return &addressError{to.Addr().String(), kind}
	}
	return nil
}

// Request is one request and what it may cost. All fields but Header, Body and
// Authorize are required.
type Request struct {
	Method string
	URL    *url.URL // of ParseURL
	Header http.Header
	Body   []byte // nil: none
	// Authorize adds credentials. It is given a copy of each request that is
	// sent, all of them to the origin of URL.
	Authorize func(*http.Request)
	Timeout   time.Duration // for all of it, redirects and body included
	MaxBody   int           // most bytes of the response's body, after decompression
}

// Response is what came of a Request.
type Response struct {
	Status    int
	Header    http.Header
	Body      []byte   // the first MaxBody bytes
	Truncated bool     // there was more
	URL       *url.URL // after redirects
}

// Text is a body as text, if it is one: UTF-8 without NUL. Of a body that was
// cut, an incomplete last character is left out.
func (r *Response) Text() (string, bool) {
	text := r.Body
	if r.Truncated {
		for i := 1; i <= min(utf8.UTFMax-1, len(text)); i++ {
			if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					text = text[:len(text)-i]
				}
				break
			}
		}
	}
	s := string(text)
	return s, utf8.ValidString(s) && !strings.Contains(s, "\x00")
}

// Do sends a request and reads the response. Redirects within the origin are
// followed; one that leads elsewhere is the response. Failures are *tools.Error
// with the codes of this package, and the cause of ctx if that has ended.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, r.Method, r.URL.String(), nil)
	if err != nil {
		return nil, Fail(CodeProtocol, err, "%s: the request cannot be made: %v", HostPort(r.URL), err)
	}
	if r.Header != nil {
		req.Header = r.Header.Clone()
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "runcode")
	}
	if r.Body != nil {
		req.Body = io.NopCloser(bytes.NewReader(r.Body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
		req.ContentLength = int64(len(r.Body))
	}
	client := http.Client{Transport: authorizer{c.transport, r.Authorize}, CheckRedirect: sameOrigin}
	resp, err := client.Do(req)
	if err != nil {
		return nil, r.explain(ctx, limited, err)
	}
	defer resp.Body.Close()
	out := &Response{Status: resp.StatusCode, Header: resp.Header, URL: resp.Request.URL}
	if out.Body, err = io.ReadAll(io.LimitReader(resp.Body, int64(r.MaxBody)+1)); err != nil {
		return nil, r.explain(ctx, limited, err)
	}
	if len(out.Body) > r.MaxBody {
		out.Body, out.Truncated = out.Body[:r.MaxBody], true
	}
	return out, nil
}

// sameOrigin decides about a redirect.
func sameOrigin(next *http.Request, via []*http.Request) error {
	to, err := ParseURL(next.URL.String())
	if err != nil || Origin(to) != Origin(via[0].URL) {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return errRedirects
	}
	next.Header.Del("Referer")
	return nil
}

// authorizer adds credentials where the request is sent, so that neither the
// client's redirects nor its errors know them.
type authorizer struct {
	base      http.RoundTripper
	authorize func(*http.Request)
}

func (a authorizer) RoundTrip(req *http.Request) (*http.Response, error) {
	if a.authorize == nil {
		return a.base.RoundTrip(req)
	}
	sent := req.Clone(req.Context())
	a.authorize(sent)
	resp, err := a.base.RoundTrip(sent)
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}
