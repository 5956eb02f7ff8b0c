package openapitools

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
)

// serve starts a server on this machine and gives its URL.
func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// execute makes one call of a tool of the set, without a policy.
func execute(t *testing.T, s *Set, name, args string) pipeline.Outcome {
	t.Helper()
	reg, err := tools.NewRegistry(s.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.New(reg, nil).Execute(t.Context(), pipeline.Request{Name: name, Args: args})
}

func private(url string) func(*Options) {
	return func(o *Options) { o.BaseURL, o.AllowPrivate = url, true }
}

// TestRequests: what is sent, to the byte.
func TestRequests(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		headers := ""
		for _, name := range []string{"Accept", "Content-Type", "X-H", "X-Fixed", "Cookie"} {
			if value := r.Header.Get(name); value != "" {
				headers += name + "=" + value + " "
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(fmt.Sprintf("%s %s %s%s", r.Method, r.RequestURI, headers, body))
	})
	s := build(t, documentText("3.1.0", `{
		"/a/{id}/b{x}":{"get":{"operationId":"all","parameters":[
			{"name":"id","in":"path","schema":{"type":"string"}},{"name":"x","in":"path"},
			{"name":"q","in":"query"},{"name":"r","in":"query"},{"name":"X-H","in":"header"},{"name":"c","in":"cookie"},{"name":"d","in":"cookie"}],
			"responses":{"200":{"content":{"application/json; charset=utf-8":{},"*/*":{},"text/html":{}}},"201":{"content":{"application/hal+json":{}}}}}},
		"/json":{"post":{"operationId":"json","requestBody":{"content":{"*/*":{}}}},
			"put":{"operationId":"kind","requestBody":{"content":{"application/merge-patch+json":{}}}}},
		"/form":{"post":{"operationId":"form","requestBody":{"content":{"application/x-www-form-urlencoded":{}}}}},
		"/none":{"delete":{"operationId":"none"}}}`, `{}`), func(o *Options) {
		private(url + "/v%201/")(o)
		o.Headers = map[string]string{"x-fixed": "1"}
	})
	for _, tt := range []struct{ tool, args, want string }{
		{"all", `{"id":"1/2?3","x":[1,"ü"],"r":"b c","q":"a&d=e","X-H":"h","c":"1","d":"2"}`,
			"GET /v%201/a/1%2F2%3F3/b1,%C3%BC?q=a%26d%3De&r=b%20c Accept=application/json, application/hal+json X-H=h X-Fixed=1 Cookie=c=1; d=2 "},
		{"all", `{"id":"...","x":"."}`, "GET /v%201/a/.../b. Accept=application/json, application/hal+json X-Fixed=1 "},
		{"json", `{"body":{"b":1.0,"a":"\ud800","n":9007199254740993}}`, `POST /v%201/json Content-Type=application/json X-Fixed=1 {"b":1.0,"a":"\ud800","n":9007199254740993}`},
		{"json", `{"body":null}`, "POST /v%201/json Content-Type=application/json X-Fixed=1 null"},
		{"json", `{}`, "POST /v%201/json X-Fixed=1 "},
		{"kind", `{"body":[]}`, "PUT /v%201/json Content-Type=application/merge-patch+json X-Fixed=1 []"},
		{"form", `{"body":{"a":"1 2","b":[1,2],"c":{"d":true}}}`, "POST /v%201/form Content-Type=application/x-www-form-urlencoded X-Fixed=1 a=1+2&b=1&b=2&c=%7B%22d%22%3Atrue%7D"},
		{"form", `{"body":{}}`, "POST /v%201/form Content-Type=application/x-www-form-urlencoded X-Fixed=1 "},
		{"none", `{}`, "DELETE /v%201/none X-Fixed=1 "},
	} {
		o := execute(t, s, "mcp__x__"+tt.tool, tt.args)
		got, _ := o.Value().Text()
		if o.Err() != nil || got != tt.want {
			t.Errorf("%s(%s): %v (-want +got)\n%s", tt.tool, tt.args, o.Err(), cmp.Diff(tt.want, got))
		}
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"all", `{"id":"..","x":1}`, `invalid arguments: the path made of the arguments has the segment "..", which leads to another path`},
		{"all", `{"id":".","x":1}`, `invalid arguments: the path made of the arguments has the segment ".", which leads to another path`},
		{"all", `{"id":"a/../../admin","x":1}`, `invalid arguments: the path made of the arguments has the segment "..", which leads to another path`},
		{"all", `{"id":"..\\..\\admin","x":1}`, `invalid arguments: the path made of the arguments has the segment "..", which leads to another path`},
		{"all", `{"id":"","x":1}`, `invalid arguments: "id" is or holds an empty text, which a path cannot`},
		{"all", `{"id":"a","x":1,"q":[[]]}`, `invalid arguments: "q" holds an object or an array inside another, which cannot be written here`},
		{"all", `{"id":"a","x":1,"X-H":"a\nb"}`, `invalid arguments: "X-H" must not hold line breaks or other control characters`},
		{"all", `{"id":"a","x":1,"q":"` + strings.Repeat("x", 20<<10) + `"}`, `invalid arguments: the address made of the arguments has 20`},
		{"all", `{"id":"a"}`, `invalid arguments: missing required property "x"`},
		{"all", `{"id":"a","x":1,"ID":"b"}`, `invalid arguments: `},
		{"form", `{"body":[1]}`, `invalid arguments: "body" must be an object, which a form is made of`},
		{"form", `{"body":{"a":null}}`, `invalid arguments: "body" cannot be a form: "a" is or holds null`},
	} {
		o := execute(t, s, "mcp__x__"+tt.tool, tt.args)
		if o.Info().Code != tools.CodeInvalidArgs || !strings.HasPrefix(o.Err().Error(), tt.want) {
			t.Errorf("%s(%.100s): %.300v, want %s", tt.tool, tt.args, o.Err(), tt.want)
		}
	}
}

// responses are what a server may answer, good and bad, by path.
func responses(w http.ResponseWriter, r *http.Request) {
	send := func(status int, kind, body string) {
		w.Header()["Content-Type"] = nil
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	switch r.URL.Path {
	case "/ok":
		send(200, "application/json", `{"id": 1, "n": 1.0}`)
	case "/created":
		send(201, "application/problem+json; charset=utf-8", "\uFEFF"+`{"id":2}`)
	case "/empty":
		w.WriteHeader(204)
	case "/nothing":
		send(200, "application/json", "")
	case "/untyped":
		send(200, "", `{"id":3}`)
	case "/text":
		send(200, "text/plain", "hello")
	case "/binary":
		send(200, "image/png; x=y", "\x89PNG\x00")
	case "/wrong":
		send(200, "application/json", `{"id":"one","extra":null}`)
	case "/broken":
		send(200, "application/json", `{"id": 1,`)
	case "/html":
		send(200, "text/html", `<p>login</p>`)
	case "/large":
		send(200, "application/json", `"`+strings.Repeat("x", 100)+`"`)
	case "/bomb":
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		z := gzip.NewWriter(w)
		_, _ = z.Write(make([]byte, 1<<20))
		_ = z.Close()
	case "/404":
		send(404, "application/json", `{ "message": "no such pet" }`)
	case "/429":
		w.Header().Set("Retry-After", "30")
		send(429, "text/plain", "slow down")
	case "/500":
		send(500, "text/html", strings.Repeat("x", 10<<10))
	case "/599":
		send(599, "", "\x00")
	case "/304":
		w.WriteHeader(304)
	case "/away":
		w.Header().Set("Location", "http://169.254.169.254/latest")
		send(302, "", "")
	case "/near":
		w.Header().Set("Location", "/ok")
		send(307, "", "")
	case "/hang":
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestResponses(t *testing.T) {
	t.Parallel()
	url := serve(t, responses)
	text := func(value string) string { return `{"content":{"application/json":{"schema":` + value + `}}}` }
	pet := text(`{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}},"additionalProperties":{"type":"number"}}`)
	for _, tt := range []struct {
		path, response string
		value, text    string // of a success
		code, message  string // of a failure
	}{
		{path: "ok", response: pet, value: `{"id":1,"n":1.0}`, text: `{"id":1,"n":1.0}`},
		{path: "created", response: pet, value: `{"id":2}`, text: `{"id":2}`},
		{path: "empty", response: `{}`, value: `null`, text: `null`},
		{path: "empty", response: pet, value: `null`, text: "null\n(the response is not what the API's document describes: \"value\" must be an object, got null)"},
		{path: "nothing", response: `{}`, value: `null`, text: `null`},
		{path: "untyped", response: pet, value: `{"id":3}`, text: `{"id":3}`},
		{path: "untyped", response: `{"content":{"text/plain":{}}}`, value: `"{\"id\":3}"`, text: `{"id":3}`},
		{path: "text", response: `{"content":{"text/plain":{}}}`, value: `"hello"`, text: `hello`},
		{path: "binary", response: `{"content":{"image/png":{}}}`, value: `{"base64":"iVBORwA=","mediaType":"image/png"}`, text: `{"base64":"iVBORwA=","mediaType":"image/png"}`},
		{path: "wrong", response: pet, value: `{"id":"one","extra":null}`,
			text: "{\"id\":\"one\",\"extra\":null}\n(the response is not what the API's document describes: \"id\" must be an integer, got the string \"one\"; \"extra\" must be a number, got null)"},
		{path: "html", response: pet, value: `"<p>login</p>"`, text: "<p>login</p>\n(the response is not what the API's document describes: \"value\" must be an object, got the string \"<p>login</p>\")"},
		{path: "near", response: pet, value: `{"id":1,"n":1.0}`, text: `{"id":1,"n":1.0}`},

		{path: "broken", response: pet, code: "HTTP_INVALID_JSON", message: `GET /broken was carried out with the status 200, and the response says it is JSON and is not: invalid JSON at byte 9: unexpected end of text, expected a property name in double quotes: {"id": 1,`},
		{path: "large", response: pet, code: "HTTP_TOO_LARGE", message: "GET /large was carried out with the status 200, and the response is larger than 50 bytes, so it was not read"},
		{path: "bomb", response: pet, code: "HTTP_TOO_LARGE", message: "GET /bomb was carried out"},
		{path: "404", response: pet, code: "HTTP_404", message: `GET /404 answered 404 Not Found: {"message":"no such pet"}`},
		{path: "429", response: pet, code: "HTTP_429", message: `GET /429 answered 429 Too Many Requests (Retry-After: "30"): slow down`},
		{path: "500", response: pet, code: "HTTP_500", message: `GET /500 answered 500 Internal Server Error: ` + strings.Repeat("x", 50) + `… (the first 50 bytes)`},
		{path: "599", response: pet, code: "HTTP_599", message: `GET /599 answered 599: a body of 1 bytes that is no text`},
		{path: "304", response: pet, code: "HTTP_304", message: `GET /304 answered 304 Not Modified: no body`},
		{path: "away", response: pet, code: "HTTP_302", message: `GET /away answered 302 Found to "http://169.254.169.254/latest", and redirects to another origin are not followed: no body`},
		{path: "hang", response: pet, code: "HTTP_TIMEOUT", message: "no complete answer within"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			s := build(t, documentText("3.1.0", `{"/`+tt.path+`":{"get":{"operationId":"op","responses":{"200":`+tt.response+`}}}}`, `{}`), func(o *Options) {
				private(url)(o)
				o.MaxBytes = 50
				if tt.path == "hang" {
					o.Timeout = 20 * time.Millisecond
				}
			})
			o := execute(t, s, "mcp__x__op", `{}`)
			if tt.code != "" {
				if o.Info() != (tools.ErrorInfo{Name: "HTTPError", Code: tt.code}) || !strings.Contains(o.Err().Error(), tt.message) {
					t.Errorf("%v (%v), want %s: %s", o.Err(), o.Info(), tt.code, tt.message)
				}
				return
			}
			if o.Err() != nil {
				t.Fatal(o.Err())
			}
			check(t, "value", o.Value().String(), tt.value)
			check(t, "text", o.Text(), tt.text)
		})
	}
}

// TestCredentials: what each scheme adds to a request, and to which operations.
func TestCredentials(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%s auth=%s key=%s cookie=%s", r.RequestURI, r.Header.Get("Authorization"), r.Header.Get("X-Key"), r.Header.Get("Cookie"))
	})
	const components = `{"securitySchemes":{
		"header":{"type":"apiKey","in":"header","name":"x-key"},"query":{"type":"apiKey","in":"query","name":"api key"},"cookie":{"type":"apiKey","in":"cookie","name":"session"},
		"bearer":{"type":"http","scheme":"Bearer"},"basic":{"type":"http","scheme":"basic"},"oauth":{"type":"oauth2","flows":{}},"oidc":{"type":"openIdConnect"},
		"other":{"$ref":"#/components/securitySchemes/bearer"},"missing":{"type":"http","scheme":"bearer"},"mutual":{"type":"mutualTLS"}}}`
	secrets := map[string]string{"header": "h", "query": "q&x=1", "cookie": "c", "bearer": "b", "basic": "user:pass", "oauth": "o", "oidc": "i", "other": "r"}
	for _, tt := range []struct{ security, want string }{
		{`[{"header":[]}]`, "/a?p=1 auth= key=h cookie=own=1"},
		{`[{"query":[]}]`, "/a?p=1&api%20key=q%26x%3D1 auth= key= cookie=own=1"},
		{`[{"cookie":[]}]`, "/a?p=1 auth= key= cookie=own=1; session=c"},
		{`[{"bearer":[]}]`, "/a?p=1 auth=Bearer b key= cookie=own=1"},
		{`[{"basic":[]}]`, "/a?p=1 auth=Basic dXNlcjpwYXNz key= cookie=own=1"},
		{`[{"oauth":["read"]}]`, "/a?p=1 auth=Bearer o key= cookie=own=1"},
		{`[{"oidc":[]}]`, "/a?p=1 auth=Bearer i key= cookie=own=1"},
		{`[{"other":[]}]`, "/a?p=1 auth=Bearer r key= cookie=own=1"},
		{`[{"header":[],"bearer":[]}]`, "/a?p=1 auth=Bearer b key=h cookie=own=1"},
		{`[{"missing":[]},{"header":[]}]`, "/a?p=1 auth= key=h cookie=own=1"},
		{`[{"missing":[],"header":[]}]`, "/a?p=1 auth= key= cookie=own=1"},
		{`[{},{"bearer":[]}]`, "/a?p=1 auth=Bearer b key= cookie=own=1"},
		{`[]`, "/a?p=1 auth= key= cookie=own=1"},
	} {
		s := build(t, documentText("3.1.0", `{"/a":{"get":{"operationId":"op","security":`+tt.security+`,"parameters":[{"name":"p","in":"query"},{"name":"own","in":"cookie"}]}}}`, components), func(o *Options) {
			private(url)(o)
			o.Credentials = secrets
		})
		o := execute(t, s, "mcp__x__op", `{"p":1,"own":1}`)
		if got, _ := o.Value().Text(); o.Err() != nil || got != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.security, got, o.Err(), tt.want)
		}
		card := s.Tools()[0].PresentCall(tools.MustJSON(`{"p":1}`))
		check(t, "card", card, tools.Card{Type: tools.CardGeneric, Title: "GET " + url + "/a?p=1", Action: "fetch"})
	}
	for name, secret := range map[string]string{"none": "x", "basic": "without-colon", "bearer": "", "mutual": "x", "header": "a\nb", "cookie": "a;b"} {
		_, err := New(documentText("3.1.0", `{"/a":{"get":{}}}`, components), Options{Name: "x", BaseURL: url, Credentials: map[string]string{name: secret}})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("Options.Credentials[%q]: ", name)) || secret != "x" && secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("the secret %q of %s: %v, want an error that does not hold it", secret, name, err)
		}
	}
	s := build(t, documentText("3.1.0", `{"/a":{"get":{"security":[{"bearer":[],"missing":[]}]},"put":{}}}`, components[:len(components)-1]+`,"x":{}}`), func(o *Options) {
		o.Credentials = map[string]string{"bearer": "b"}
	})
	check(t, "notes", s.Notes(), []string{`Options.Credentials has nothing for the security scheme "missing"; operations that ask for it and are sent without: 1`})
}

// TestCredentialsStandAlone shows that no argument puts a second value beside a
// credential.
func TestCredentialsStandAlone(t *testing.T) {
	t.Parallel()
	sent := ""
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { sent = r.RequestURI + " " + r.Header.Get("Cookie") })
	s := build(t, documentText("3.1.0", `{"/q":{"get":{"operationId":"q","security":[{"key":[],"cookie":[]}],"parameters":[
		{"name":"filter","in":"query","schema":{"type":"object"}},
		{"name":"deep","in":"query","style":"deepObject","schema":{"type":"object"}},
		{"name":"Cookie","in":"header","schema":{"type":"string"}}]}}}`,
		`{"securitySchemes":{"key":{"type":"apiKey","in":"query","name":"api key"},"cookie":{"type":"apiKey","in":"cookie","name":"session"}}}`), func(o *Options) {
		private(url)(o)
		o.Credentials = map[string]string{"key": "secret", "cookie": "cookie-secret"}
	})
	for _, tt := range []struct{ args, sent, wrong string }{
		{`{"filter":{"a":"1"},"deep":{"api key":"2"}}`, "/q?a=1&deep%5Bapi%20key%5D=2&api%20key=secret session=cookie-secret", ""},
		{`{"filter":{"api key":"mine"}}`, "", `invalid arguments: "filter" has a member of the name under which the credential is sent`},
		{`{"filter":{"API KEY":"mine"}}`, "", `invalid arguments: "filter" has a member of the name under which the credential is sent`},
		{`{"Cookie":"session=mine"}`, "", `invalid arguments: `},
	} {
		sent = ""
		o := execute(t, s, "mcp__x__q", tt.args)
		if wrong := o.Err() != nil; wrong != (tt.wrong != "") || wrong && !strings.HasPrefix(o.Err().Error(), tt.wrong) || sent != tt.sent {
			t.Errorf("%s: %v, sent %q; want %q and %q", tt.args, o.Err(), sent, tt.wrong, tt.sent)
		}
	}
}

// TestCredentialsStayAtTheirOrigin: a server that sends its caller elsewhere
// does not get the caller's secrets there.
func TestCredentialsStayAtTheirOrigin(t *testing.T) {
	t.Parallel()
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked for with %v", r.URL, r.Header) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+"/steal?"+r.URL.RawQuery, http.StatusTemporaryRedirect)
	})
	s := build(t, documentText("3.1.0", `{"/a":{"post":{"operationId":"op","security":[{"key":[]}],"requestBody":{"content":{"application/json":{}}}}}}`,
		`{"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"}}}`), func(o *Options) {
		private(url)(o)
		o.Credentials = map[string]string{"key": "secret"}
		o.Headers = map[string]string{"X-Fixed": "secret"}
	})
	if o := execute(t, s, "mcp__x__op", `{"body":1}`); o.Info().Code != "HTTP_307" || strings.Contains(o.Text(), "secret") {
		t.Errorf("%s", o.Text())
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, servers string
		opts          Options
		want          string // where a request goes; or
		err           string
	}{
		{name: "given", servers: `[{"url":"https://evil.example"}]`, opts: Options{BaseURL: "https://API.example/v1/"}, want: "https://api.example/v1/a"},
		{name: "given, and the document's confirmed", servers: `[{"url":"https://evil.example"}]`, opts: Options{BaseURL: "https://api.example", UseServers: true}, want: "https://api.example/a"},
		{name: "the document's", servers: `[{"url":"https://api.example/v2"},{"url":"https://b.example"}]`, opts: Options{UseServers: true}, want: "https://api.example/v2/a"},
		{name: "with variables", servers: `[{"url":"{scheme}://{host}/v2","variables":{"scheme":{"default":"https"},"host":{"default":"a.example"}}}]`, opts: Options{UseServers: true}, want: "https://a.example/v2/a"},
		{name: "not confirmed", servers: `[{"url":"https://api.example"}]`, err: `Options.BaseURL is empty; give the API's address. The document proposes "https://api.example", which is used if Options.UseServers confirms it`},
		{name: "relative", servers: `[{"url":"/v2"}]`, opts: Options{UseServers: true}, err: `the document names no server to use: its first one is "/v2", which is no absolute address`},
		{name: "none", servers: `[]`, opts: Options{UseServers: true}, err: "the document names no server to use: it has none"},
		{name: "a variable of no value", servers: `[{"url":"https://{host}/"}]`, opts: Options{UseServers: true}, err: "the document's server is no URL"},
		{name: "no address", opts: Options{BaseURL: "api.example"}, err: "Options.BaseURL must begin with https:// or http://"},
		{name: "a file", opts: Options{BaseURL: "file:///etc"}, err: "Options.BaseURL must begin with https:// or http://"},
		{name: "a password", opts: Options{BaseURL: "https://a:b@api.example"}, err: "Options.BaseURL must not hold a user name or password"},
		{name: "a query", opts: Options{BaseURL: "https://api.example?a=b"}, err: "it must have no query and no fragment"},
		{name: "a fragment", opts: Options{BaseURL: "https://api.example#"}, err: "it must have no query and no fragment"},
		{name: "dot segments", opts: Options{BaseURL: "https://api.example/a/.."}, err: `Options.BaseURL has the segment ".."`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			servers := tt.servers
			if servers == "" {
				servers = "[]"
			}
			tt.opts.Name = "x"
			s, err := New([]byte(`{"openapi":"3.1.0","servers":`+servers+`,"paths":{"/a":{"get":{}}}}`), tt.opts)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v, want an error that says %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, "title", only(t, s).PresentCall(tools.MustJSON(`{}`)).Title, "GET "+tt.want)
			if tt.opts.BaseURL == "" {
				check(t, "notes", s.Notes(), []string{"requests go to " + strings.TrimSuffix(tt.want, "/a") + ", as the document says"})
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	text := documentText("3.1.0", `{"/a":{"get":{}}}`, `{}`)
	for _, name := range []string{"", "a__b", "_a", "a_", "a.b", "größe", strings.Repeat("a", 33), "a b"} {
		if _, err := New(text, Options{Name: name, BaseURL: "https://a.example"}); err == nil || !strings.Contains(err.Error(), "Options.Name is ") {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	for want, change := range map[string]func(*Options){
		"Options.Timeout is -1ns":          func(o *Options) { o.Timeout = -1 },
		"Options.MaxBytes is -1":           func(o *Options) { o.MaxBytes = -1 },
		`Options.Headers["Host"] is set`:   func(o *Options) { o.Headers = map[string]string{"Host": "b"} },
		`Options.Headers["A"] must not`:    func(o *Options) { o.Headers = map[string]string{"A": "b\nsecret"} },
		`Options.Headers["a b"] is no nam`: func(o *Options) { o.Headers = map[string]string{"a b": "c"} },
	} {
		opts := Options{Name: "x", BaseURL: "https://a.example"}
		change(&opts)
		if _, err := New(text, opts); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want an error that says %s", err, want)
		}
	}
}

// TestRules: imported tools are asked about unless a rule for them allows them,
// and rules about hosts that deny hold for them. Nobody is there to be asked.
func TestRules(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	s := build(t, documentText("3.1.0", `{"/read":{"get":{"operationId":"read"}}}`, `{}`), func(o *Options) {
		private(url)(o)
		o.Name, o.Trusted = "shop", true
	})
	reg, err := tools.NewRegistry(s.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	for settings, code := range map[string]string{
		`{}`: tools.CodeApprovalUnavailable,
		`{"allow":["Read","read","WebFetch","WebFetch(domain:127.0.0.1)","shop"]}`:     tools.CodeApprovalUnavailable,
		`{"allow":["mcp__other","mcp__shop__list*"]}`:                                  tools.CodeApprovalUnavailable,
		`{"allow":["mcp__shop"]}`:                                                      "",
		`{"allow":["mcp__shop__read"]}`:                                                "",
		`{"allow":["mcp__shop__re*"]}`:                                                 "",
		`{"allow":["mcp__shop"],"deny":["mcp__shop__read"]}`:                           tools.CodeDeniedByPolicy,
		`{"allow":["mcp__shop"],"deny":["WebFetch(domain:127.0.0.1)"]}`:                tools.CodeDeniedByPolicy,
		`{"allow":["mcp__shop"],"deny":["Read","WebFetch(domain:elsewhere.example)"]}`: "",
	} {
		own, err := permission.Parse(`{"permissions":`+settings+`}`, permission.Source{Name: "policy.json", Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		policy, err := permission.New(reg, []*permission.Settings{own}, permission.Options{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		p := pipeline.New(reg, nil)
		p.UseRule("permissions", policy.Rule)
		if o := p.Execute(t.Context(), pipeline.Request{Name: "mcp__shop__read", Args: `{}`}); o.Info().Code != code {
			t.Errorf("%s: %s %s, want %q", settings, o.Info().Code, o.Text(), code)
		}
	}
}

// TestDryRun: only a trusted document's operations that read are run in a dry
// run.
func TestDryRun(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	for method, trusted := range map[string]bool{"get": true, "post": false} {
		for _, trust := range []bool{false, true} {
			s := build(t, documentText("3.1.0", `{"/a":{"`+method+`":{"operationId":"op"}}}`, `{}`), func(o *Options) {
				private(url)(o)
				o.Trusted = trust
			})
			reg, err := tools.NewRegistry(tools.DryRun(s.Tools()...)...)
			if err != nil {
				t.Fatal(err)
			}
			o := pipeline.New(reg, nil).Execute(t.Context(), pipeline.Request{Name: "mcp__x__op", Args: `{}`})
			if runs := o.Err() == nil; runs != (trusted && trust) {
				t.Errorf("%s, trusted %v: %v", method, trust, o.Err())
			}
		}
	}
}
