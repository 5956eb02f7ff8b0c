package openapitools_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/openapitools"
)

// A document with two operations, one of which takes a file. The service stands
// on this machine, so the options say that it may.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id": 7, "authorized": `+fmt.Sprint(r.Header.Get("Authorization") == "Bearer token")+`}`)
	}))
	defer server.Close()

	const document = `
openapi: 3.1.0
info: {title: Shop, version: "1"}
security: [{bearerAuth: []}]
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: the order, content: {application/json: {schema: {type: object}}}}}
  /receipts:
    post:
      operationId: uploadReceipt
      requestBody: {content: {multipart/form-data: {schema: {type: object}}}}
components:
  securitySchemes: {bearerAuth: {type: http, scheme: bearer}}
`
	set, err := openapitools.New([]byte(document), openapitools.Options{
		Name:         "shop",
		BaseURL:      server.URL,
		Credentials:  map[string]string{"bearerAuth": "token"},
		AllowPrivate: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	for _, skipped := range set.Skipped() {
		fmt.Println(skipped)
	}
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		log.Fatal(err)
	}
	o := pipeline.New(reg, nil).Execute(context.Background(), pipeline.Request{Name: "mcp__shop__getOrder", Args: `{"id":7}`})
	fmt.Println(o.Text())
	// Output:
	// POST /receipts (uploadReceipt): its body: it is ["multipart/form-data"]; JSON and forms are supported
	// {"id":7,"authorized":true}
}
