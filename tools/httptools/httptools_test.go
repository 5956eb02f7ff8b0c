package httptools_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/httptools"
)

// newTool is the tool in a registry of its own.
func newTool(t *testing.T, opts *httptools.Options) (*tools.Registry, *tools.Tool) {
	t.Helper()
	set, err := httptools.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	return reg, reg.Lookup("http")
}

// call runs the tool as a pipeline without policy does.
func call(t *testing.T, reg *tools.Registry, args string) pipeline.Outcome {
	t.Helper()
	return pipeline.New(reg, nil).Execute(t.Context(), pipeline.Request{Name: "http", Args: args})
}

// serve starts a server on this machine; its URL and "host:port".
func serve(t *testing.T, handler http.HandlerFunc) (url, host string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL, strings.TrimPrefix(s.URL, "http://")
}

func echo(w http.ResponseWriter, r *http.Request) {
	w.Header()["Date"] = nil
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/json":
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, "\uFEFF"+`{"n": 9007199254740993, "a": -0, "b": 1.0}`)
	case "/bad-json":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a": 1, "a": 2}`)
	case "/binary":
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte{0x89, 'P', 'N', 'G', 0})
	case "/empty":
		w.Header()["X-Two"] = []string{"1", "2"}
		w.Header().Set("X-Old", "gr\xf6\xdfe")
		w.WriteHeader(http.StatusNoContent)
	case "/missing":
		http.Error(w, "no such page", http.StatusNotFound)
	case "/elsewhere":
		w.Header().Set("Location", "http://169.254.169.254/latest")
		w.WriteHeader(http.StatusFound)
	case "/moved":
		w.Header().Set("Location", "/ok")
		w.WriteHeader(http.StatusMovedPermanently)
	default:
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprintf(w, "%s %s type=%q key=%q a=%q %s", r.Method, r.URL, r.Header.Get("Content-Type"), r.Header.Get("X-Key"), r.Header.Get("X-A"), body)
	}
}

// contentLength is what every response has and no row is about.
var contentLength = regexp.MustCompile(`"content-length":"\d+",?`)

func TestValues(t *testing.T) {
	t.Parallel()
	url, host := serve(t, echo)
	reg, _ := newTool(t, &httptools.Options{Private: []string{host}, MaxBytes: 200})
	for _, tt := range []struct{ name, args, want string }{
		{"the least", `{"url":"U/ok"}`,
			`{"status":200,"headers":{"content-type":"text/plain"},"url":"U/ok","text":"GET /ok type=\"\" key=\"\" a=\"\" ","truncated":false}`},
		{"text", `{"url":"U/ok?q=1#x","method":"POST","body":"größe"}`,
			`{"status":200,"headers":{"content-type":"text/plain"},"url":"U/ok?q=1","text":"POST /ok?q=1 type=\"text/plain; charset=utf-8\" key=\"\" a=\"\" größe","truncated":false}`},
		{"an object as JSON", `{"url":"U/ok","method":"PUT","body":{"b":1.0,"a":"\ud800"}}`,
			`{"status":200,"headers":{"content-type":"text/plain"},"url":"U/ok","text":"PUT /ok type=\"application/json\" key=\"\" a=\"\" {\"b\":1.0,\"a\":\"\\ud800\"}","truncated":false}`},
		{"a content type of its own", `{"url":"U/ok","method":"PATCH","body":[1],"headers":{"content-type":"application/x","x-a":"b"}}`,
			`{"status":200,"headers":{"content-type":"text/plain"},"url":"U/ok","text":"PATCH /ok type=\"application/x\" key=\"\" a=\"b\" [1]","truncated":false}`},
		{"JSON", `{"url":"U/json"}`,
			`{"status":200,"headers":{"content-type":"application/json; charset=utf-8"},"url":"U/json","json":{"n":9007199254740993,"a":-0,"b":1.0},"truncated":false}`},
		{"what says it is JSON and is not", `{"url":"U/bad-json"}`,
			`{"status":200,"headers":{"content-type":"application/json"},"url":"U/bad-json","text":"{\"a\": 1, \"a\": 2}","truncated":false}`},
		{"binary", `{"url":"U/binary"}`,
			`{"status":200,"headers":{"content-type":"image/png"},"url":"U/binary","base64":"iVBORwA=","truncated":false}`},
		{"nothing", `{"url":"U/empty","method":"DELETE"}`,
			`{"status":204,"headers":{"x-old":"größe","x-two":"1, 2"},"url":"U/empty","text":"","truncated":false}`},
		{"a status that is no success", `{"url":"U/missing"}`,
			`{"status":404,"headers":{"content-type":"text/plain; charset=utf-8","x-content-type-options":"nosniff"},"url":"U/missing","text":"no such page\n","truncated":false}`},
		{"a redirect within the origin", `{"url":"U/moved"}`,
			`{"status":200,"headers":{"content-type":"text/plain"},"url":"U/ok","text":"GET /ok type=\"\" key=\"\" a=\"\" ","truncated":false}`},
		{"a redirect to a private address", `{"url":"U/elsewhere"}`,
			`{"status":302,"headers":{"location":"http://169.254.169.254/latest"},"url":"U/elsewhere","text":"","truncated":false}`},
		{"HEAD", `{"url":"U/json","method":"HEAD"}`,
			`{"status":200,"headers":{"content-type":"application/json; charset=utf-8"},"url":"U/json","text":"","truncated":false}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := call(t, reg, strings.ReplaceAll(tt.args, "U/", url+"/"))
			want := strings.ReplaceAll(tt.want, "U/", url+"/")
			if o.Err() != nil {
				t.Fatal(o.Err())
			}
			if diff := cmp.Diff(want, contentLength.ReplaceAllString(o.Value().String(), "")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	url, host := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `"aö"`)
	})
	number, numberHost := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `12345`)
	})
	reg, _ := newTool(t, &httptools.Options{Private: []string{numberHost}, MaxBytes: 3})
	if o := call(t, reg, `{"url":"`+number+`"}`); o.Err() != nil || !strings.Contains(o.Value().String(), `"text":"123","truncated":true`) {
		t.Errorf("the beginning of a number: %s, %v; want no number", o.Value(), o.Err())
	}
	for most, want := range map[int]string{3: `"text":"\"a","truncated":true`, 4: `"text":"\"aö","truncated":true`, 5: `"json":"aö","truncated":false`} {
		reg, _ := newTool(t, &httptools.Options{Private: []string{host}, MaxBytes: most})
		if o := call(t, reg, `{"url":"`+url+`"}`); o.Err() != nil || !strings.Contains(o.Value().String(), want) {
			t.Errorf("at most %d bytes: %s, %v; want %s", most, o.Value(), o.Err(), want)
		}
	}
}

// TestRefused: what is refused before anything is connected to, each with the
// argument and the reason.
func TestRefused(t *testing.T) {
	t.Parallel()
	reg, tool := newTool(t, &httptools.Options{
		Private:     []string{"files.example:21"},
		Credentials: map[string]map[string]string{"https://api.example.org": {"X-Key": "secret"}},
	})
	for _, tt := range []struct{ args, want string }{
		{`{"url":"file:///etc/passwd"}`, `"url" must begin with https:// or http://`},
		{`{"url":"https://a@example.org/"}`, `"url" must not hold a user name or password; send them as a header`},
		{`{"url":"https://example.org:25/"}`, `"url" has the port 25, which belongs to another protocol; of the ports below 1024 only 80 and 443 are reached`},
		{`{"url":"https://example.org/","headers":{"host":"other.example"}}`, `"headers.host" is set by the connection; leave Host out`},
		{`{"url":"https://example.org/","headers":{"x-a":"a\r\nX-B: c"}}`, `"headers.x-a" must not hold line breaks or other control characters`},
		{`{"url":"https://example.org/","headers":{"a b":"c"}}`, `"headers.a b" is no name of a header field`},
		{`{"url":"https://api.example.org/","headers":{"x-key":"mine"}}`, `"headers.x-key" is set by the configuration for https://api.example.org:443; leave it out`},
		{`{"url":"https://example.org/","body":"\ud800"}`, `"body" holds half a surrogate pair, which has no form in UTF-8`},
		{`{"url":"https://example.org/","method":"CONNECT"}`, `"method"`},
		{`{"url":"https://example.org/","method":"get"}`, `"method"`},
		{`{"url":"https://example.org/","body":1}`, `"body"`},
		{`{"url":"https://example.org/","timeoutMs":0}`, `"timeoutMs"`},
		{`{"url":"https://example.org/","timeoutMs":300001}`, `"timeoutMs"`},
		{`{"url":"https://example.org/","URL":"https://example.com/"}`, `"URL"`},
		{`{"url":"https://example.org/","headers":{"X-A":"1","x-a":"2"}}`, `"headers`},
		{`{}`, `"url"`},
	} {
		o := call(t, reg, tt.args)
		if info := tools.InfoOf(o.Err()); info.Code != tools.CodeInvalidArgs || !strings.Contains(o.Err().Error(), tt.want) {
			t.Errorf("%s: %v (%s), want INVALID_ARGS that says %s", tt.args, o.Err(), info.Code, tt.want)
		}
	}
	if s, err := tool.Subjects(tools.MustJSON(`{"url":"https://files.example:21/"}`)); err != nil || len(s) != 1 {
		t.Errorf("the port of a private host: %v, %v", s, err)
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	_, tool := newTool(t, nil)
	for url, want := range map[string]string{
		"https://Example.ORG/a?b":          "example.org:443",
		"http://example.org":               "example.org:80",
		"https://example.org:8443/":        "example.org:8443",
		"http://[2606:4700::1]/":           "[2606:4700::1]:80",
		"https://example.org.:443/":        "example.org.:443",
		"http://127.0.0.1:8080/":           "127.0.0.1:8080",
		"https://api.example.org@b.org/":   "",
		"https://b.org#@api.example.org/":  "b.org:443",
		"https://b.org?@api.example.org/":  "b.org:443",
		"https://b.org/\\@api.example.org": "b.org:443",
	} {
		got, err := tool.Subjects(tools.MustJSON(`{"url":` + tools.StringJSON(url).String() + `}`))
		if want == "" {
			if err == nil {
				t.Errorf("%s: %v, want an error", url, got)
			}
			continue
		}
		if diff := cmp.Diff([]tools.Subject{{Access: tools.AccessNet, Host: want}}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", url, err, diff)
		}
	}
}

func TestPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	url, _ := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the server was reached") })
	reg, _ := newTool(t, nil)
	o := call(t, reg, `{"url":"`+url+`"}`)
	if tools.InfoOf(o.Err()).Code != "HTTP_ADDRESS_REFUSED" || !strings.Contains(o.Err().Error(), "the address 127.0.0.1 is loopback") {
		t.Errorf("the error is %v", o.Err())
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	url, host := serve(t, echo)
	other, otherHost := serve(t, echo)
	reg, _ := newTool(t, &httptools.Options{
		Private:     []string{host, otherHost},
		Credentials: map[string]map[string]string{url: {"x-key": "secret"}},
	})
	for target, want := range map[string]string{url + "/moved": `key=\"secret\"`, other + "/ok": `key=\"\"`} {
		if o := call(t, reg, `{"url":"`+target+`"}`); o.Err() != nil || !strings.Contains(o.Value().String(), want) {
			t.Errorf("%s: %s, %v; want %s", target, o.Value(), o.Err(), want)
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	url, host := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, tt := range map[string]struct {
		timeout time.Duration
		args    string
	}{
		"of the call":    {0, `{"url":"U","timeoutMs":20}`},
		"of the options": {20 * time.Millisecond, `{"url":"U"}`},
	} {
		reg, _ := newTool(t, &httptools.Options{Private: []string{host}, Timeout: tt.timeout})
		o := call(t, reg, strings.Replace(tt.args, "U", url, 1))
		if tools.InfoOf(o.Err()).Code != "HTTP_TIMEOUT" || !strings.Contains(o.Err().Error(), "20 ms") {
			t.Errorf("%s: %v", name, o.Err())
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		opts httptools.Options
		want string
	}{
		{"a negative time", httptools.Options{Timeout: -1}, "Options.Timeout is -1ns"},
		{"too long a time", httptools.Options{Timeout: time.Hour}, "up to 5m0s"},
		{"a negative size", httptools.Options{MaxBytes: -1}, "Options.MaxBytes is -1"},
		{"a host without port", httptools.Options{Private: []string{"localhost"}}, `Options.Private holds "localhost"`},
		{"a host in capitals", httptools.Options{Private: []string{"LOCALHOST:80"}}, `want "host:port" in lower case`},
		{"a host with a path", httptools.Options{Private: []string{"localhost:80/x"}}, `Options.Private holds "localhost:80/x"`},
		{"an origin with a path", httptools.Options{Credentials: map[string]map[string]string{"https://a.example/x": {"A": "b"}}}, `has the origin "https://a.example/x"`},
		{"an origin without scheme", httptools.Options{Credentials: map[string]map[string]string{"a.example": {"A": "b"}}}, `has the origin "a.example"`},
		{"one origin twice", httptools.Options{Credentials: map[string]map[string]string{"https://a.example": {"A": "b"}, "https://a.example:443": {"A": "b"}}}, "the origin https://a.example:443 twice"},
		{"a header that is ours", httptools.Options{Credentials: map[string]map[string]string{"https://a.example": {"Host": "b"}}}, `the credential "Host" of https://a.example:443 is set by the connection`},
		{"a broken secret", httptools.Options{Credentials: map[string]map[string]string{"https://a.example": {"A": "se\ncret"}}}, `must not hold line breaks`},
	} {
		_, err := httptools.New(&tt.opts)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: %v, want an error that says %s", tt.name, err, tt.want)
		}
	}
}

func TestPresentation(t *testing.T) {
	t.Parallel()
	_, tool := newTool(t, nil)
	long := strings.Repeat("ö", 20<<10)
	for _, tt := range []struct{ name, value, want string }{
		{"text", `{"status":200,"headers":{"content-type":"text/plain","date":"x"},"url":"https://a.example/","text":"hello","truncated":false}`,
			"status 200\ncontent-type: text/plain\n\nhello"},
		{"after a redirect", `{"status":200,"headers":{},"url":"https://a.example/b","json":{"a":1},"truncated":false}`,
			"status 200\nurl: https://a.example/b\n\n{\"a\":1}"},
		{"a redirect elsewhere", `{"status":302,"headers":{"location":"https://b.example/"},"url":"https://a.example/","text":"","truncated":false}`,
			"status 302\nlocation: https://b.example/\n\n(no body)"},
		{"cut", `{"status":200,"headers":{},"url":"https://a.example/","text":"hel","truncated":true}`,
			"status 200\n\nhel\n(the response was longer and is cut here)"},
		{"binary", `{"status":200,"headers":{},"url":"https://a.example/","base64":"AAAA","truncated":true}`,
			"status 200\n\n(binary, 4 characters of base64, of a response that was longer)"},
		{"long", `{"status":200,"headers":{},"url":"https://a.example/","text":"` + long + `","truncated":false}`,
			"status 200\n\n" + long[:32<<10] + "\n(the first 32768 of 40960 bytes; a program has them all)"},
	} {
		args := tools.MustJSON(`{"url":"https://a.example/"}`)
		blocks, err := tool.Definition().Render(args, tools.MustJSON(tt.value))
		if diff := cmp.Diff(tt.want, tools.ContentString(blocks)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", tt.name, err, diff)
		}
	}
	args := tools.MustJSON(`{"url":"https://a.example/","method":"PUT"}`)
	want := tools.Card{Type: tools.CardGeneric, Title: "PUT https://a.example/", Action: "fetch"}
	if diff := cmp.Diff(want, tool.PresentCall(args)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want.Content = []tools.Content{tools.TextContent("status 200")}
	if diff := cmp.Diff(want, tool.PresentResult(args, tools.Final{Content: want.Content})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	_, tool := newTool(t, nil)
	for method, want := range map[string]bool{"": true, `,"method":"HEAD"`: true, `,"method":"POST"`: false, `,"method":"OPTIONS"`: false} {
		if got := tool.Concurrent(tools.MustJSON(`{"url":"https://a.example/"` + method + `}`)); got != want {
			t.Errorf("%s may overlap: %v, want %v", method, got, want)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	_, tool := newTool(t, &httptools.Options{Timeout: time.Second, MaxBytes: 77})
	if text := tool.Definition().Description; strings.ContainsAny(text, "\n") || strings.Contains(text, "{bytes}") ||
		!strings.Contains(text, "more than 77 bytes") || !strings.Contains(text, "more than 1000 ms") || !strings.Contains(text, "up to 300000") {
		t.Errorf("the description is %s", text)
	}
}
