package httptools

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

type httpIn struct {
	URL       string            `json:"url"`
	Method    string            `json:"method"`
	Headers   map[string]string `json:"headers"`
	Body      tools.JSON        `json:"body"`
	TimeoutMs int64             `json:"timeoutMs"`
}

type httpOut struct {
	Status    int               `json:"status"`
	Headers   map[string]string `json:"headers" jsonschema:"names in lower case; of fields that came more than once the values, joined by a comma"`
	URL       string            `json:"url" jsonschema:"of the response, after redirects"`
	JSON      tools.JSON        `json:"json,omitzero"`
	Text      *string           `json:"text,omitzero"`
	Base64    string            `json:"base64,omitempty"`
	Truncated bool              `json:"truncated"`
}

// badArgs refuses one argument before anything is connected to.
func badArgs(pointer, name string, problem error) error {
	text := fmt.Sprintf("%q %v", name, problem)
	return &tools.ArgsError{Tool: toolName, Problems: []tools.Problem{{Pointer: pointer, Text: text}}}
}

func (in httpIn) method() string {
	if in.Method == "" {
		return http.MethodGet
	}
	return in.Method
}

// concurrent says that requests which only read may overlap.
func concurrent(args tools.JSON) bool {
	var in httpIn
	return args.Unmarshal(&in) == nil && (in.method() == http.MethodGet || in.method() == http.MethodHead)
}

// target is the URL a call is about.
func (s *Set) target(in httpIn) (*url.URL, error) {
	u, err := nethttp.ParseURL(in.URL)
	if err != nil {
		return nil, badArgs("/url", "url", err)
	}
	host := nethttp.HostPort(u)
	port, _ := strconv.Atoi(host[strings.LastIndexByte(host, ':')+1:])
	if port < 1024 && port != 80 && port != 443 && !slices.Contains(s.private, host) {
		return nil, badArgs("/url", "url", fmt.Errorf("has the port %d, which belongs to another protocol; of the ports below 1024 only 80 and 443 are reached", port))
	}
	return u, nil
}

func (s *Set) subjects(args tools.JSON) ([]tools.Subject, error) {
	var in httpIn
	if err := args.Unmarshal(&in); err != nil {
		return nil, err
	}
	u, err := s.target(in)
	if err != nil {
		return nil, err
	}
	return []tools.Subject{{Access: tools.AccessNet, Host: nethttp.HostPort(u)}}, nil
}

// http is the body of http.
func (s *Set) http(ctx context.Context, _ *tools.Run, in httpIn) (httpOut, error) {
	req, err := s.request(in)
	if err != nil {
		return httpOut{}, err
	}
	resp, err := s.client.Do(ctx, req)
	if err != nil {
		return httpOut{}, err
	}
	return outcome(resp), nil
}

func (s *Set) request(in httpIn) (nethttp.Request, error) {
	u, err := s.target(in)
	if err != nil {
		return nethttp.Request{}, err
	}
	req := nethttp.Request{
		Method: in.method(), URL: u, Header: http.Header{},
		Authorize: s.authorize, Timeout: s.timeout, MaxBody: s.maxBytes,
	}
	if in.TimeoutMs > 0 {
		req.Timeout = time.Duration(in.TimeoutMs) * time.Millisecond
	}
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		if err := s.setHeader(req, name, in.Headers[name]); err != nil {
			return nethttp.Request{}, badArgs("/headers/"+pointerStep.Replace(name), "headers."+name, err)
		}
	}
	return req, setBody(&req, in.Body)
}

var pointerStep = strings.NewReplacer("~", "~0", "/", "~1")

func (s *Set) setHeader(req nethttp.Request, name, value string) error {
	if err := nethttp.CheckHeaderName(name); err != nil {
		return err
	}
	if err := nethttp.CheckHeaderValue(value); err != nil {
		return err
	}
	origin := nethttp.Origin(req.URL)
	switch {
	case s.bound(origin, name):
		return fmt.Errorf("is set by the configuration for %s; leave it out", origin)
	case req.Header.Values(name) != nil:
		return fmt.Errorf("is given twice, in another case; give it once")
	}
	req.Header.Set(name, value)
	return nil
}

// setBody gives a request its body, and a content type if it has none.
func setBody(req *nethttp.Request, body tools.JSON) error {
	kind := "application/json"
	switch body.Kind() {
	case 0:
		return nil
	case '"':
		text, err := nethttp.StringOf(body)
		if err != nil {
			return badArgs("/body", "body", err)
		}
		req.Body, kind = []byte(text), "text/plain; charset=utf-8"
	default:
		req.Body = body.Bytes()
	}
	if req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", kind)
	}
	return nil
}

// outcome is the value of a response. What says it is JSON and is not, or was
// cut, is text.
func outcome(resp *nethttp.Response) httpOut {
	out := httpOut{Status: resp.Status, Headers: headers(resp.Header), URL: resp.URL.String(), Truncated: resp.Truncated}
	if nethttp.IsJSON(resp.Header.Get("Content-Type")) && !resp.Truncated {
		if value, err := tools.ParseJSON(string(bytes.TrimPrefix(resp.Body, []byte("\uFEFF")))); err == nil {
			out.JSON = value
			return out
		}
	}
	if text, ok := resp.Text(); ok {
		out.Text = &text
		return out
	}
	out.Base64 = base64.StdEncoding.EncodeToString(resp.Body)
	return out
}

// headers are the fields of a response as a program reads them.
func headers(fields http.Header) map[string]string {
	out := make(map[string]string, len(fields))
	for name, values := range fields {
		out[strings.ToLower(name)] = fieldText(strings.Join(values, ", "))
	}
	return out
}

// fieldText is a header field as text: what is no UTF-8 is Latin-1, as of old.
func fieldText(value string) string {
	if utf8.ValidString(value) {
		return value
	}
	runes := make([]rune, len(value))
	for i := range len(value) {
		runes[i] = rune(value[i])
	}
	return string(runes)
}
