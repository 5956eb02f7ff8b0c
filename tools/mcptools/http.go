package mcptools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// httpTransport is how the SDK reaches a server on HTTP, and what forgets its
// connections in the end.
func httpTransport(s Server) (transport mcp.Transport, forget func(), err error) {
	u, err := url.Parse(s.URL)
	if err != nil {
		return nil, nil, err
	}
	base := &http.Transport{ // without Proxy, unlike the default one
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     time.Minute,
	}
	t := &originTransport{base: base, origin: originOf(u), headers: s.Headers, kind: s.kind()}
	client := &http.Client{Transport: t, CheckRedirect: t.checkRedirect}
	if s.kind() == TypeSSE {
		transport = &mcp.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}
	} else {
		transport = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxMessage}
	}
	return transport, base.CloseIdleConnections, nil
}

// originTransport sends requests to one origin, with the configured headers, and
// puts what is wrong with answers into words.
type originTransport struct {
	base    http.RoundTripper
	origin  string
	headers map[string]string
	kind    string
}

// originOf is the scheme, host and port of an address.
func originOf(u *url.URL) string {
	host := strings.ToLower(u.Host)
	if u.Port() == "" {
		host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	return u.Scheme + "://" + host
}

func (t *originTransport) checkRedirect(req *http.Request, via []*http.Request) error {
	switch {
	case originOf(req.URL) != t.origin:
		return faultf("redirects to another origin, %s, which is refused; configure its address if it is right", originOf(req.URL))
	case len(via) >= 5:
		return faultf("redirects again and again")
	}
	return nil
}

// RoundTrip refuses other origins: an event of an old server may name one for
// messages.
func (t *originTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if originOf(req.URL) != t.origin {
		return nil, faultf("wants its messages sent to another origin, %s, which is refused", originOf(req.URL))
	}
	out := req.Clone(req.Context())
	isCall := false
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
		isCall = bytes.HasPrefix(body, callStart)
		body = realMethod(body)
		nameMethod(out.Header, body)
		out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	for name, value := range t.headers {
		out.Header.Set(name, value)
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if f := t.judge(resp, isCall); f != nil {
		_ = resp.Body.Close()
		return nil, f
	}
	if mediaType(resp) != "text/event-stream" {
		resp.Body = &boundedBody{resp.Body, maxMessage}
	}
	return resp, nil
}

// nameMethod puts right the headers of newer versions of the protocol, which
// repeat what the message says.
func nameMethod(header http.Header, message []byte) {
	method, alias := strings.CutPrefix(header.Get("Mcp-Method"), aliasMark)
	if !alias {
		return
	}
	header.Set("Mcp-Method", method)
	var call struct {
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if err := json.Unmarshal(message, &call); err == nil && call.Params.Name != "" {
		header.Set("Mcp-Name", call.Params.Name)
	}
}

// callStart is how the SDK begins a message that wants an answer.
var callStart = []byte(`{"jsonrpc":"2.0","id":`)

// judge says what is wrong with an answer that the SDK would call by the status
// or the type alone. Errors in JSON and what ends a session are left to it.
func (t *originTransport) judge(resp *http.Response, isCall bool) *fault {
	req, kind := resp.Request, mediaType(resp)
	stream := t.kind == TypeSSE && req.Method == http.MethodGet
	if req.Method != http.MethodPost && !stream {
		return nil
	}
	status := resp.StatusCode
	refusal := func(advice string) *fault {
		return &fault{text: fmt.Sprintf("answered HTTP %d %s%s", status, http.StatusText(status), advice), status: status}
	}
	switch {
	case status >= 300 && status < 400: // followed or refused by the client
		return nil
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return refusal("; check the headers it is configured with")
	case status >= 400 && (kind == "application/json" || status == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != ""):
		return nil
	case status >= 400 && t.kind == TypeHTTP && (status == http.StatusNotFound || status == http.StatusMethodNotAllowed):
		return refusal(`; check its url, and if it is an old server say "type": "sse"`)
	case status >= 400:
		return refusal("")
	case stream && kind != "text/event-stream", t.kind == TypeHTTP && isCall && kind != "text/event-stream" && kind != "application/json":
		return faultf("answered with the content type %.60q instead of JSON or events; check its url", kind)
	}
	return nil
}

func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return resp.Header.Get("Content-Type")
	}
	return kind
}

// boundedBody is the body of one message.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
