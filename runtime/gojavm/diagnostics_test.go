package gojavm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

type order struct {
	ID    string `json:"id"`
	Open  bool   `json:"open"`
	Total int    `json:"total"`
}

// orderTools are what the broken programs call.
func orderTools(t *testing.T) *tools.Registry {
	t.Helper()
	orders := []order{{"o1", true, 12}, {"o2", false, 30}}
	listOrders := tools.Define("list_orders", "List the orders of a customer.", func(context.Context, struct {
		Customer string `json:"customer"`
		Max      int    `json:"max,omitempty"`
	}) ([]order, error) {
		return orders, nil
	})
	getOrder := tools.Define("get_order", "Get an order.", func(_ context.Context, in struct {
		ID string `json:"id"`
	}) (order, error) {
		for _, o := range orders {
			if o.ID == in.ID {
				return o, nil
			}
		}
		return order{}, &tools.Error{Name: "NotFound", Code: "NO_ORDER", Message: "there is no order " + in.ID}
	})
	search := tools.Define("search", "Search for texts.", func(context.Context, struct {
		Text string `json:"text"`
		Page int    `json:"page,omitempty"`
	}) (struct {
		Hits  []order `json:"hits"`
		Pages int     `json:"pages"`
	}, error) {
		return struct {
			Hits  []order `json:"hits"`
			Pages int     `json:"pages"`
		}{orders, 3}, nil
	})
	bigID := &tools.Definition{Name: "big_id", Description: "A large number.", Handler: func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.MustJSON(`{"id":9007199254740993}`)}, nil
	}}
	reg, err := tools.NewRegistry(listOrders, getOrder, search, bigID)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// racing are programs that end beside a call of theirs: whether it began is not
// settled, and the ledger is left out.
var racing = map[string]bool{
	"not-awaited-then-used": true, "promise-in-result": true, "not-awaited-taken-apart": true, "async-map-not-awaited": true,
}

// TestBrokenPrograms holds what a model reads about a program that fails.
func TestBrokenPrograms(t *testing.T) {
	cm, err := codemode.New(pipeline.New(orderTools(t), nil), &codemode.Options{Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cm.Close() })
	files, err := filepath.Glob("testdata/broken/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 40 {
		t.Errorf("%d programs, want at least 40", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ts")
		t.Run(name, func(t *testing.T) {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			args, err := tools.ToJSON(map[string]string{"code": string(code), "description": "broken"})
			if err != nil {
				t.Fatal(err)
			}
			got := cm.Call(t.Context(), pipeline.Request{ID: "call", Name: codemode.ToolName, Args: args.String()}).Text() + "\n"
			if racing[name] {
				got, _, _ = strings.Cut(got, "\nTool calls of this run:")
				got += "\n"
			}
			golden := strings.TrimSuffix(file, ".ts") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("what a model reads (-want +got):\n%s", diff)
			}
		})
	}
}
