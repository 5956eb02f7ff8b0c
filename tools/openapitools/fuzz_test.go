package openapitools

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

// FuzzNew: no document makes it crash, and every tool it makes has a name
// models may be given, schemas that compile, and one host.
func FuzzNew(f *testing.F) {
	for _, seed := range []string{
		`{"openapi":"3.0.0","paths":{"/a/{b}":{"parameters":[{"name":"b","in":"path","schema":{"type":"string","nullable":true}}],"get":{"operationId":"x","responses":{"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}}},"components":{"schemas":{"A":{"properties":{"a":{"$ref":"#/components/schemas/A"}}}}}}`,
		`{"openapi":"3.1.0","servers":[{"url":"{a}://b","variables":{"a":{"default":"http"}}}],"security":[{"k":[]}],"paths":{"/":{"post":{"requestBody":{"content":{"application/x-www-form-urlencoded":{"encoding":{"a":{"style":"form"}}}}}}}},"components":{"securitySchemes":{"k":{"type":"apiKey","in":"query","name":"k"}}}}`,
		"openapi: 3.1.0\npaths:\n  /a: &a\n    get: {operationId: __proto__}\n  /b: *a\n",
		`{"openapi":"3.1.0","paths":{"/a":{"$ref":"#/paths/~1a"},"/b":{"get":[]},"/c":1},"components":[]}`,
		`{"openapi":"3.1.0","security":[[]],"paths":[{"get":{}}],"components":{"securitySchemes":{"k":1}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := New(text, Options{Name: "x", BaseURL: "https://api.example/v1", UseServers: true})
		if err != nil {
			if s != nil || !strings.HasPrefix(err.Error(), `OpenAPI tools "x": `) {
				t.Errorf("%v with %v", err, s)
			}
			return
		}
		if _, err := tools.NewRegistry(s.Tools()...); err != nil {
			t.Error(err)
		}
		for _, def := range s.Tools() {
			name := strings.TrimPrefix(def.Name, "mcp__x__")
			if name == def.Name || len(def.Name) > maxName || strings.ContainsFunc(def.Name, func(r rune) bool { return !isNameRune(r) }) {
				t.Errorf("the name is %q", def.Name)
			}
			if subjects, err := def.Subjects(tools.MustJSON(`{}`)); err != nil || len(subjects) != 1 || subjects[0].Host != "api.example:443" {
				t.Errorf("subjects %v, %v", subjects, err)
			}
			def.PresentCall(synthesiseOr(def.Input))
		}
	})
}

// synthesiseOr is synthesise for schemas that have no value, too.
func synthesiseOr(schema tools.JSON) (args tools.JSON) {
	defer func() {
		if recover() != nil {
			args = tools.MustJSON(`{}`)
		}
	}()
	return synthesise(schema)
}

// FuzzRequest: whatever the arguments are, a request goes to the path that was
// meant, and a text in a path or a query arrives as it was.
func FuzzRequest(f *testing.F) {
	const document = `{"openapi":"3.1.0","paths":{"/a/{p}/b/{l}":{"get":{"parameters":[
		{"name":"p","in":"path"},{"name":"l","in":"path","style":"matrix","explode":true},
		{"name":"q","in":"query"},{"name":"d","in":"query","style":"deepObject"},{"name":"h","in":"header"},{"name":"c","in":"cookie"}]}}}}`
	op := readOperation(f, document, "/a/{p}/b/{l}")
	f.Add("x", `["a",1]`, "y", `{"a":"b"}`, "z", "c")
	f.Add("../../admin", `".."`, "a&b=c#d", `{"]=":"&"}`, "a\r\nb: c", "a; b=c")
	f.Add("..", `{"a":".."}`, "\u202e", `[]`, " ", "\x00")
	f.Add("%2e%2e", `"%2F"`, "%", `1`, "", "%3B")
	f.Fuzz(func(t *testing.T, p, list, q, deep, header, cookie string) {
		o := objectWriter{}
		for _, arg := range [][2]string{{"p", p}, {"q", q}, {"h", header}, {"c", cookie}} {
			o.add(arg[0], jsonscan.Quote(strings.ToValidUTF8(arg[1], "?")))
		}
		for _, arg := range [][2]string{{"l", list}, {"d", deep}} {
			if json, err := tools.ParseJSON(arg[1]); err == nil {
				o.add(arg[0], json.String())
			}
		}
		req, wrong := op.request(tools.MustJSON(o.close()))
		if wrong != nil {
			return
		}
		if nethttp.Origin(req.URL) != "https://a.example:443" && nethttp.Origin(req.URL) != "http://a.example:80" || req.URL.User != nil || req.URL.Fragment != "" {
			t.Fatalf("the request goes to %s", req.URL)
		}
		path, query, _ := strings.Cut(strings.TrimPrefix(req.URL.String(), "http://a.example"), "?")
		segments := strings.Split(path, "/")
		if len(segments) != 6 || segments[1] != "base" || segments[2] != "a" || segments[4] != "b" || slices.Contains(segments, "..") || slices.Contains(segments, ".") {
			t.Fatalf("the path is %s", path)
		}
		if got, err := url.PathUnescape(segments[3]); err != nil || got != strings.ToValidUTF8(p, "?") {
			t.Errorf("%q arrives as %q, %v", p, got, err)
		}
		if !strings.HasPrefix(segments[5], ";") {
			t.Errorf("the matrix is %q", segments[5])
		}
		values, err := url.ParseQuery(query)
		if err != nil || len(values["q"]) != 1 || values.Get("q") != strings.ToValidUTF8(q, "?") {
			t.Errorf("%q arrives as %q, %v", q, values["q"], err)
		}
		for name := range values {
			if name != "q" && name != "d" && !strings.HasPrefix(name, "d[") {
				t.Errorf("the query has %q: %s", name, query)
			}
		}
		if got := req.Header.Get("h"); got != strings.ToValidUTF8(header, "?") || strings.ContainsAny(got, "\r\n\x00") {
			t.Errorf("%q arrives as %q", header, got)
		}
		if got := req.Header.Get("Cookie"); !strings.HasPrefix(got, "c=") || strings.ContainsAny(got, "; ,\"\\\r\n\x00") {
			t.Errorf("the cookies are %q", got)
		}
	})
}
