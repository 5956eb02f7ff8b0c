package openapitools

import (
	"net/http"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// TestProgram: a program calls imported tools by their short names, computes with
// their values, also with one the document does not allow, and can tell failures
// apart.
func TestProgram(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { responses(w, r) })
	const pet = `{"200":{"content":{"application/json":{"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}}}}}}`
	operation := func(id string) string { return `{"get":{"operationId":"` + id + `","responses":` + pet + `}}` }
	s := build(t, documentText("3.1.0", `{"/ok":`+operation("good")+`,"/wrong":`+operation("wrong")+`,"/404":`+operation("missing")+`}`, `{}`), func(o *Options) {
		private(url)(o)
		o.Name = "pets"
	})
	reg, err := tools.NewRegistry(s.Tools()...)
	if err != nil {
		t.Fatal(err)
	}
	cm, err := codemode.New(pipeline.New(reg, nil), &codemode.Options{Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	defer cm.Close()
	out := cm.Run(t.Context(), codemode.Program{Code: `
const good = await tools.pets.good()
const wrong = await tools["mcp__pets__wrong"]()
try {
  await tools.pets.missing()
} catch (e) {
  return [good.id + 1, wrong.id, e.code, e.message]
}`})
	if want := `[2,"one","HTTP_404","GET /404 answered 404 Not Found: {\"message\":\"no such pet\"}"]`; !strings.Contains(strings.Join(strings.Fields(out.Value().String()), " "), want) {
		t.Errorf("the program returned %s, %v; want %s", out.Value(), out.Err(), want)
	}
}
