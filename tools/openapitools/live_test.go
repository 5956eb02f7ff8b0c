package openapitools

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// api is a server that knows nothing but a document, read by another library:
// it refuses requests the document does not allow and answers with made-up
// values the document allows.
type api struct {
	t      *testing.T
	doc    *openapi3.T
	router routers.Router
	server *httptest.Server
	answer func(*openapi3.Operation) (status int, body string)
}

// startAPI serves a document.
func startAPI(t *testing.T, text []byte, answer func(*openapi3.Operation) (int, string)) *api {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	doc.Servers = nil
	for _, item := range doc.Paths.Map() {
		item.Servers = nil
	}
	router, err := legacy.NewRouter(doc, openapi3.DisableExamplesValidation(), openapi3.DisableSchemaDefaultsValidation())
	if err != nil {
		t.Fatal(err)
	}
	a := &api{t: t, doc: doc, router: router, answer: answer}
	a.server = httptest.NewServer(a)
	t.Cleanup(a.server.Close)
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a.serve(w, r); err != nil {
		a.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		http.Error(w, err.Error(), http.StatusTeapot)
	}
}

// route finds the operation. The router would take an escaped / for one that
// separates.
func (a *api) route(r *http.Request) (*routers.Route, map[string]string, error) {
	escaped := r.Clone(r.Context())
	escaped.URL.Path, escaped.URL.RawPath = r.URL.EscapedPath(), ""
	route, params, err := a.router.FindRoute(escaped)
	for name, value := range params {
		if params[name], err = url.PathUnescape(value); err != nil {
			return nil, nil, err
		}
	}
	return route, params, err
}

func (a *api) serve(w http.ResponseWriter, r *http.Request) error {
	route, params, err := a.route(r)
	if err != nil {
		return err
	}
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, RejectWhenRequestBodyNotSpecified: true,
			IncludeResponseStatus: true, SkipSettingDefaults: true,
		},
	}
	if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
		return fmt.Errorf("the request: %w", err)
	}
	status, body := a.answer(route.Operation)
	if body != "" {
		w.Header().Set("Content-Type", "application/json")
	}
	if err := openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: status, Header: w.Header(), Options: input.Options,
		Body: io.NopCloser(bytes.NewBufferString(body)),
	}); err != nil {
		return fmt.Errorf("the made-up response %s: %w", body, err)
	}
	w.WriteHeader(status)
	_, err = io.WriteString(w, body)
	return err
}

// imported are the tools of a document of the collection, in a pipeline.
func imported(t *testing.T, file string, opts Options) (*Set, *pipeline.Pipeline) {
	t.Helper()
	s, err := New(corpus.ReadFile(t, "openapi", file), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	reg, err := tools.NewRegistry(s.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	return s, pipeline.New(reg, nil)
}

// TestCollection: the documents of the collection become tools, and what does
// not says why.
func TestCollection(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct {
		tools   int
		skipped []string
	}{
		"petstore-3.0.json":     {tools: 3},
		"uspto-3.0.json":        {tools: 3},
		"link-example-3.0.json": {tools: 6},
		"tictactoe-3.1.json":    {tools: 3},
		"notion-3.1.json":       {tools: 24},
		"uber-2.0.json":         {tools: 5},
	} {
		s, _ := imported(t, file, Options{Name: "x", BaseURL: "https://api.example"})
		var skipped []string
		for _, op := range s.Skipped() {
			skipped = append(skipped, op.String())
		}
		if len(s.Tools()) != want.tools || !slices.Equal(skipped, want.skipped) {
			t.Errorf("%s: %d tools and without %q, want %d and %q", file, len(s.Tools()), skipped, want.tools, want.skipped)
		}
	}
}

// TestLive calls every tool of the documents of the collection with made-up
// arguments. The server is made from the same document by another library, which
// judges what arrives; what it answers must come back, and fit.
func TestLive(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"petstore-3.0.json", "notion-3.1.json", "tictactoe-3.1.json", "uspto-3.0.json", "link-example-3.0.json"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			outputs := map[string]tools.JSON{} // by operationId
			status := map[string]int{}
			a := startAPI(t, corpus.ReadFile(t, "openapi", file), func(op *openapi3.Operation) (int, string) {
				return status[op.OperationID], outputs[op.OperationID].String()
			})
			s, p := imported(t, file, Options{Name: "api", BaseURL: a.server.URL, AllowPrivate: true})
			_, raw := imported(t, file, Options{Name: "api", BaseURL: a.server.URL})
			for _, def := range s.Tools() {
				id := strings.TrimPrefix(def.Name, "mcp__api__")
				value := synthesise(def.Output)
				status[id], outputs[id] = successOf(t, a, id), value
				if value.String() == "null" {
					outputs[id] = tools.JSON{}
				}
				args := synthesise(def.Input)
				o := p.Execute(t.Context(), pipeline.Request{Name: def.Name, Args: args.String()})
				if o.Err() != nil || o.Value() != value {
					t.Errorf("%s(%s) = %s, %v; want %s", id, args, o.Value(), o.Err(), value)
				}
				if strings.Contains(o.Text(), "not what the API's document describes") {
					t.Errorf("%s: %s", id, o.Text())
				}
				// The same call does not reach this machine unless it is allowed to.
				if o := raw.Execute(t.Context(), pipeline.Request{Name: def.Name, Args: args.String()}); o.Info().Code != "HTTP_ADDRESS_REFUSED" {
					t.Errorf("%s without AllowPrivate: %v", id, o.Err())
				}
			}
		})
	}
}

// successOf is the first status of success the document has for an operation.
func successOf(t *testing.T, a *api, id string) int {
	t.Helper()
	for _, item := range a.doc.Paths.Map() {
		for _, op := range item.Operations() {
			if op.OperationID != id {
				continue
			}
			for status := 200; status < 300; status++ {
				if op.Responses.Status(status) != nil {
					return status
				}
			}
		}
	}
	t.Fatalf("no success of %s", id)
	return 0
}
