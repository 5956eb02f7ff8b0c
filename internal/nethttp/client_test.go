package nethttp

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// serve starts a server on this machine; its URL and "host:port".
func serve(t *testing.T, handler http.HandlerFunc) (*url.URL, string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	u, err := ParseURL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, HostPort(u)
}

// client is one that is closed after the test.
func client(t *testing.T, private ...string) *Client {
	t.Helper()
	c := New(private...)
	t.Cleanup(c.Close)
	return c
}

// get is a request with bounds no honest answer meets.
func get(u *url.URL) Request {
	return Request{Method: http.MethodGet, URL: u, Timeout: time.Minute, MaxBody: 1 << 20}
}

func checkCode(t *testing.T, err error, code, text string) {
	t.Helper()
	if tools.InfoOf(err).Code != code || !strings.Contains(fmt.Sprint(err), text) {
		t.Errorf("the error is %v (%s), want one with the code %s that says %q", err, tools.InfoOf(err).Code, code, text)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	u, host := serve(t, func(http.ResponseWriter, *http.Request) { served.Add(1) })
	named := *u
	named.Host = "localhost:" + u.Port()
	for name, tt := range map[string]struct {
		u       url.URL
		private []string
		ok      bool
	}{
		"the host is named":        {*u, []string{host}, true},
		"nothing is named":         {*u, nil, false},
		"another port is named":    {*u, []string{"127.0.0.1:1"}, false},
		"a name that resolves so":  {named, []string{host}, false},
		"an address inside IPv6":   {url.URL{Scheme: "http", Host: "[::ffff:127.0.0.1]:" + u.Port()}, nil, false},
		"an address written short": {url.URL{Scheme: "http", Host: "0:" + u.Port()}, nil, false},
	} {
		before := served.Load()
		_, err := client(t, tt.private...).Do(t.Context(), get(&tt.u))
		switch after := served.Load(); {
		case tt.ok && (err != nil || after != before+1):
			t.Errorf("%s: %v", name, err)
		case !tt.ok && (err == nil || after != before):
			t.Errorf("%s: the server was reached", name)
		case !tt.ok && name != "an address written short": // which some resolvers do not know
			checkCode(t, err, CodeAddress, "only public addresses are connected to")
		}
	}
}

func TestNoProxyFromTheEnvironment(t *testing.T) {
	var asked atomic.Int32
	u, host := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	t.Setenv("HTTP_PROXY", u.String())
	t.Setenv("http_proxy", u.String())
	_, err := client(t, host).Do(t.Context(), get(&url.URL{Scheme: "http", Host: "name.invalid"}))
	if err == nil || asked.Load() != 0 {
		t.Errorf("error %v, and the proxy was asked %d times, want never", err, asked.Load())
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	seen := make(chan *http.Request, 20)
	other, otherHost := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the other origin was asked for %s", r.URL) })
	u, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/other":
			http.Redirect(w, r, other.String()+"/end", http.StatusFound)
		case "/name":
			http.Redirect(w, r, "http://user:password@"+r.Host+"/end", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s", r.Method, body)
		}
	})
	c := client(t, host, otherHost)
	do := func(path string) (*Response, error) {
		req := get(u.JoinPath(path))
		req.Method, req.Body = http.MethodPost, []byte("text")
		req.Authorize = func(r *http.Request) {
			r.Header.Set("X-Key", "secret")
			r.URL.RawQuery = "key=secret"
		}
		return c.Do(t.Context(), req)
	}
	for _, path := range []string{"/other", "/name", "/file"} {
		resp, err := do(path)
		if err != nil || resp.Status != http.StatusFound || resp.Header.Get("Location") == "" || resp.URL.Path != path {
			t.Errorf("%s: %+v, %v; want the redirect itself", path, resp, err)
		}
		<-seen
	}
	resp, err := do("/same")
	if err != nil || string(resp.Body) != "POST text" || resp.URL.Path != "/end" || resp.URL.RawQuery != "" {
		t.Errorf("within the origin: %+v, %v", resp, err)
	}
	for range 2 {
		if r := <-seen; r.Header.Get("X-Key") != "secret" || r.URL.RawQuery != "key=secret" || r.Referer() != "" {
			t.Errorf("%s has the headers %v and the query %q, want the credentials and no referrer", r.URL.Path, r.Header, r.URL.RawQuery)
		}
	}
	_, err = do("/round")
	checkCode(t, err, CodeRedirects, "more than 5 redirects")
	if strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("the error holds a secret: %v", err)
	}
	if n := len(seen); n != 6 {
		t.Errorf("%d requests before giving up, want 6", n)
	}
}

func TestBadPeers(t *testing.T) {
	t.Parallel()
	u, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hang":
			<-r.Context().Done()
		case "/hang-after-headers":
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 1024 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
			_ = z.Close()
		case "/headers":
			for i := range 4096 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
			}
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		case "/no-http":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "hello\r\n")
			conn.Close()
		case "/location":
			w.Header().Set("Location", "http://[")
			w.WriteHeader(http.StatusFound)
		}
	})
	c := client(t, host)
	do := func(path string, timeout time.Duration) (*Response, error) {
		req := get(u.JoinPath(path))
		req.Timeout = timeout
		return c.Do(t.Context(), req)
	}
	for _, path := range []string{"/hang", "/hang-after-headers"} {
		_, err := do(path, 20*time.Millisecond)
		checkCode(t, err, CodeTimeout, "no complete answer within 20 ms; the request may have been carried out")
	}
	for _, path := range []string{"/endless", "/bomb"} {
		resp, err := do(path, time.Minute)
		if err != nil || len(resp.Body) != 1<<20 || !resp.Truncated {
			t.Errorf("%s: %v; want the first MiB", path, err)
		}
	}
	for path, text := range map[string]string{"/headers": "header", "/cut": "unexpected EOF", "/no-http": "malformed HTTP response", "/location": "Location"} {
		_, err := do(path, time.Minute)
		checkCode(t, err, CodeProtocol, text)
	}
}

func TestExactBody(t *testing.T) {
	t.Parallel()
	u, host := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "12345") })
	for most, truncated := range map[int]bool{4: true, 5: false, 6: false} {
		req := get(u)
		req.MaxBody = most
		resp, err := client(t, host).Do(t.Context(), req)
		if err != nil || resp.Truncated != truncated || string(resp.Body) != "12345"[:min(most, 5)] {
			t.Errorf("at most %d bytes: %+v, %v", most, resp, err)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	u, host := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	cause := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(cause)
	if _, err := client(t, host).Do(ctx, get(u)); err != cause {
		t.Errorf("the error is %v, want the cause and nothing else", err)
	}
}

func TestConnectionFailures(t *testing.T) {
	t.Parallel()
	u, host := serve(t, func(http.ResponseWriter, *http.Request) {})
	overTLS := *u
	overTLS.Scheme = "https"
	_, err := client(t, host).Do(t.Context(), get(&overTLS))
	checkCode(t, err, CodeProtocol, "answers http to https")

	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it says that nobody trusts it
	secure.StartTLS()
	defer secure.Close()
	s, err := ParseURL(secure.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client(t, HostPort(s)).Do(t.Context(), get(s))
	checkCode(t, err, CodeConnect, "the certificate is not valid")

	closed := httptest.NewServer(http.NotFoundHandler())
	gone, err := ParseURL(closed.URL)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	_, err = client(t, HostPort(gone)).Do(t.Context(), get(gone))
	checkCode(t, err, CodeConnect, "connect")

	_, err = client(t).Do(t.Context(), get(&url.URL{Scheme: "http", Host: "name.invalid"}))
	checkCode(t, err, CodeConnect, "the host name cannot be resolved")
}

func TestRequest(t *testing.T) {
	t.Parallel()
	u, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %q %d %s", r.Method, r.URL, r.UserAgent(), r.Header["X-A"], r.ContentLength, body)
	})
	req := get(u.JoinPath("/a%2Fb"))
	req.Method, req.Body = http.MethodPut, []byte("text")
	req.Header = http.Header{"X-A": {"1", "2"}}
	resp, err := client(t, host).Do(t.Context(), req)
	if want := `PUT /a%2Fb runcode ["1" "2"] 4 text`; err != nil || string(resp.Body) != want {
		t.Errorf("%s, %v; want %s", resp.Body, err, want)
	}
	if req.Header.Get("User-Agent") != "" {
		t.Error("the caller's header was changed")
	}
}
