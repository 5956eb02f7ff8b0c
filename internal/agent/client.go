package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/tools"
)

// Client posts requests to a model API. It is safe for concurrent use.
type Client struct {
	API     modelapi.API
	BaseURL string // without the API's path
	Key     string // sent to BaseURL's origin alone; empty for servers that want none
	// HTTP carries the requests. Nil is a client of its own that follows no
	// redirect, so that the key stays where it belongs, and gives up on an answer
	// that takes more than ten minutes. It takes a proxy from the environment for
	// https alone, where a proxy sees no key.
	HTTP *http.Client
	// Wait passes time between attempts; nil waits on the clock.
	Wait func(ctx context.Context, d time.Duration) error
}

// Bounds of an exchange.
const (
	maxAnswer   = 64 << 20
	maxAttempts = 4
	maxPause    = time.Minute
)

// CheckURL validates a base URL: http and https alone, without credentials, which
// would appear in messages.
func CheckURL(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return fmt.Errorf("the base URL cannot be read: %w", errors.Unwrap(err))
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return fmt.Errorf("the base URL %q is not of the form https://host/path", u.Redacted())
	case u.User != nil:
		return errors.New("the base URL holds credentials; give the key in the environment")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the base URL has a query or a fragment; give what comes before the API's path")
	}
	return nil
}

var ownHTTP = &http.Client{
	Transport:     httpsProxied(),
	Timeout:       10 * time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func httpsProxied() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		if r.URL.Scheme != "https" {
			return nil, nil
		}
		return http.ProxyFromEnvironment(r)
	}
	return t
}

// StatusError is an answer that is no success.
type StatusError struct {
	Status  int
	Message string // the API's own words, or the head of the body
}

// Error names the status, and what to do where that is known.
func (e *StatusError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("the model API answers %d %s", e.Status, http.StatusText(e.Status)))
	if e.Message != "" {
		text += ": " + e.Message
	}
	switch {
	case e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden:
		text += "; check the key in the environment"
	case e.Status == http.StatusNotFound:
		text += "; check the base URL and the model"
	case e.Status >= 300 && e.Status < 400:
		text += "; redirects are not followed, give the URL it leads to"
	}
	return text
}

// again says whether the same request may succeed a little later.
func (e *StatusError) again() bool {
	const overloaded = 529 // Anthropic's
	switch e.Status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, overloaded:
		return true
	}
	return false
}

// Send implements Transport. It tries again, up to four times in all, where the
// server is busy or cannot be reached, after the time the server asks for.
func (c *Client) Send(ctx context.Context, request tools.JSON) (string, error) {
	wait := c.Wait
	if wait == nil {
		wait = pass
	}
	pause := time.Second
	for attempt := 1; ; attempt++ {
		body, after, err := c.post(ctx, request)
		if err == nil || attempt == maxAttempts || ctx.Err() != nil {
			return body, c.without(err)
		}
		if status := (*StatusError)(nil); errors.As(err, &status) && !status.again() {
			return "", c.without(err)
		}
		if err := wait(ctx, min(max(pause, after), maxPause)); err != nil {
			return "", err
		}
		pause *= 2
	}
}

func pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// without takes the key out of an error's text, should a server repeat it.
func (c *Client) without(err error) error {
	if err == nil || c.Key == "" || !strings.Contains(err.Error(), c.Key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), c.Key, "[key]"))
}

// post is one attempt. after is how long the server asks to wait.
func (c *Client) post(ctx context.Context, request tools.JSON) (body string, after time.Duration, err error) {
	target := strings.TrimSuffix(c.BaseURL, "/") + c.API.Path()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(request.Bytes()))
	if err != nil {
		return "", 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	for name, value := range c.API.Header(c.Key) {
		req.Header.Set(name, value)
	}
	client := c.HTTP
	if client == nil {
		client = ownHTTP
	}
	res, err := client.Do(req)
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return "", 0, fmt.Errorf("the answer of the model API broke off: %w", err)
	case isStream(res.Header.Get("Content-Type")):
		return "", 0, &StatusError{Status: res.StatusCode, Message: "its body is a stream of events, which was not asked for; this server cannot be used unless it can answer whole"}
	case len(text) > maxAnswer:
		return "", 0, &StatusError{Status: res.StatusCode, Message: fmt.Sprintf("its body is larger than %d MiB", maxAnswer>>20)}
	case res.StatusCode != http.StatusOK:
		return "", retryAfter(res.Header.Get("Retry-After")), &StatusError{res.StatusCode, c.problem(string(text))}
	}
	return string(text), 0, nil
}

func isStream(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "text/event-stream"
}

// problem is what the body of a failure says.
func (c *Client) problem(body string) string {
	if e := modelapi.ErrorOf(c.API, body); e != nil {
		return e.Message
	}
	const head = 300
	body = strings.Join(strings.Fields(strings.ToValidUTF8(body, "\uFFFD")), " ")
	if len(body) > head {
		body = strings.ToValidUTF8(body[:head], "") + "…"
	}
	return body
}

// retryAfter reads the header in seconds; dates are rare and not waited for.
func retryAfter(text string) time.Duration {
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxPause)
}
