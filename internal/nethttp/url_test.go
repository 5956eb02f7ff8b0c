package nethttp

import (
	"net/http"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, want, origin string }{
		{"https://example.org", "https://example.org", "https://example.org:443"},
		{"HTTP://Example.ORG/A?b=c#d", "http://example.org/A?b=c", "http://example.org:80"},
		{"http://example.org:/", "http://example.org:/", "http://example.org:80"},
		{"https://example.org:8443/a%2Fb", "https://example.org:8443/a%2Fb", "https://example.org:8443"},
		{"http://[2606:4700::1]/", "http://[2606:4700::1]/", "http://[2606:4700::1]:80"},
		{"http://[2606:4700::1]:81/", "http://[2606:4700::1]:81/", "http://[2606:4700::1]:81"},
	} {
		u, err := ParseURL(tt.url)
		if err != nil {
			t.Errorf("ParseURL(%q): %v", tt.url, err)
			continue
		}
		if u.String() != tt.want || Origin(u) != tt.origin {
			t.Errorf("ParseURL(%q) = %s of the origin %s, want %s of %s", tt.url, u, Origin(u), tt.want, tt.origin)
		}
	}
	for url, want := range map[string]string{
		"":                          "must begin with https:// or http://",
		"example.org":               "must begin with https:// or http://",
		"//example.org/":            "must begin with https:// or http://",
		"file:///etc/passwd":        "must begin with https:// or http://",
		"ftp://example.org/":        "must begin with https:// or http://",
		"https:example.org":         "names no host",
		"https:///path":             "names no host",
		"https://user@example.org/": "must not hold a user name or password; send them as a header",
		"https://a:secret@b.org/":   "must not hold a user name or password; send them as a header",
		"https://größe.example/":    "must name its host in ASCII, with xn-- for other letters",
		"https://example.org:0/":    `has the port "0"; ports are 1 to 65535`,
		"https://example.org:65536": `has the port "65536"; ports are 1 to 65535`,
		"https://exa mple.org/":     `is no URL: invalid character " " in host name`,
		"https://a.org\\@b.org/":    `is no URL: net/url: invalid userinfo`,
		"https://a.org/%zz":         `is no URL: invalid URL escape "%zz"`,
		"https://a.org/\n":          `is no URL: net/url: invalid control character in URL`,
		"https://ex%61mple.org/":    `is no URL: invalid URL escape "%61"`,
		"https://a.org/" + strings.Repeat("x", maxURL): "has 16398 bytes; the longest URL that is sent has 16384",
	} {
		if u, err := ParseURL(url); err == nil || err.Error() != want {
			t.Errorf("ParseURL(%.60q) = %v, %v; want the error %q", url, u, err, want)
		}
	}
}

func TestCheckHeaderName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"X-Key": true, "authorization": true, "Cookie": true, "Referer": true,
		"": false, "a b": false, "a:b": false, "größe": false, "a\nb": false, "a(b": false,
		"Host": false, "host": false, "CONTENT-LENGTH": false, "Transfer-Encoding": false, "connection": false, "te": false,
		"Upgrade": false, "Expect": false, "Accept-Encoding": false, "Proxy-Authorization": false, "proxy-connection": false,
	} {
		if err := CheckHeaderName(name); (err == nil) != ok {
			t.Errorf("the name %q: %v, want it accepted: %v", name, err, ok)
		}
	}
}

func TestCheckHeaderValue(t *testing.T) {
	t.Parallel()
	for value, ok := range map[string]bool{
		"": true, "a b\tc": true, "größe": true,
		"a\r\nX-Other: b": false, "a\n": false, "a\x00b": false, "\x7f": false, " a": false, "a\t": false,
	} {
		if err := CheckHeaderValue(value); (err == nil) != ok {
			t.Errorf("the value %q: %v, want it accepted: %v", value, err, ok)
		}
	}
}

func TestIsJSON(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{
		"application/json": true, "Application/JSON; charset=utf-8": true, "application/problem+json": true, "text/json": true,
		"application/json; =": true, "": false, "text/plain": false, "application/jsonl": false, "json": false, "application/xml": false,
	} {
		if got := IsJSON(kind); got != want {
			t.Errorf("IsJSON(%q) = %v, want %v", kind, got, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, body string
		truncated  bool
		want       string
		ok         bool
	}{
		{"nothing", "", false, "", true},
		{"letters", "größe", false, "größe", true},
		{"half a letter", "gr\xc3", false, "", false},
		{"half a letter where it was cut", "gr\xc3", true, "gr", true},
		{"three quarters of one", "a\xf0\x9f\x98", true, "a", true},
		{"a whole one where it was cut", "a😀", true, "a😀", true},
		{"wrong before the cut", "\xff\xc3", true, "", false},
		{"a cut in what is no text", "a\x80\x80\x80\x80", true, "", false},
		{"NUL", "a\x00b", false, "", false},
	} {
		r := &Response{Body: []byte(tt.body), Truncated: tt.truncated}
		if got, ok := r.Text(); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: %q, %v; want %q, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestStringOf(t *testing.T) {
	t.Parallel()
	if got, err := StringOf(tools.MustJSON(`"a\u0000\ud83d\ude00"`)); err != nil || got != "a\x00😀" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := StringOf(tools.MustJSON(`"a\ud83d"`)); err == nil {
		t.Errorf("half a pair is %q, want an error", got)
	}
}

func TestIsToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{http.MethodGet: true, "a-b_c.d": true, "": false, "a b": false, "a=b": false, "ä": false} {
		if got := IsToken(text); got != want {
			t.Errorf("IsToken(%q) = %v, want %v", text, got, want)
		}
	}
}

// FuzzParseURL: the host that is judged is the one a request is made to, however
// the address is spelled.
func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{"https://Example.org:443/a?b#c", "http://[::1]:80", "http://a@b", "http://a\\@b", "http://a:80:80/", "HTTP:////a", "http://a%2eb/", "http://[::1%25lo]/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseURL(text)
		if err != nil {
			return
		}
		req, err := http.NewRequest(http.MethodGet, u.String(), nil)
		if err != nil {
			t.Fatalf("%q is accepted, and no request can be made: %v", text, err)
		}
		if HostPort(req.URL) != HostPort(u) || req.URL.User != nil || req.Host != u.Host && req.Host != strings.TrimSuffix(u.Host, ":") {
			t.Errorf("%q is judged as %s and asked of %s (%s)", text, HostPort(u), HostPort(req.URL), req.Host)
		}
		again, err := ParseURL(u.String())
		if err != nil || Origin(again) != Origin(u) || again.EscapedPath() != u.EscapedPath() || again.RawQuery != u.RawQuery {
			t.Errorf("%q is %s, and that is %v, %v", text, u, again, err)
		}
	})
}
