package httptools_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/httptools"
)

// A service on this machine is reached because the options name it. Its key is
// in no argument.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"authorized": `+fmt.Sprint(r.Header.Get("Authorization") == "Bearer key")+`}`)
	}))
	defer server.Close()

	set, err := httptools.New(&httptools.Options{
		Private:     []string{strings.TrimPrefix(server.URL, "http://")},
		Credentials: map[string]map[string]string{server.URL: {"Authorization": "Bearer key"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		log.Fatal(err)
	}
	o := pipeline.New(reg, nil).Execute(context.Background(), pipeline.Request{Name: "http", Args: `{"url":"` + server.URL + `/orders"}`})
	var value struct {
		Status int        `json:"status"`
		JSON   tools.JSON `json:"json"`
	}
	if err := o.Value().Unmarshal(&value); err != nil {
		log.Fatal(err)
	}
	fmt.Println(value.Status, value.JSON)
	// Output: 200 {"authorized":true}
}
