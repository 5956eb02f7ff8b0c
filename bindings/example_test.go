package bindings_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/tools"
)

func lookup() *tools.Tool {
	tool, err := tools.NewTool(&tools.Definition{
		Name:        "mcp__shop__stock-level",
		Description: "How much of an article is in stock.",
		Input: tools.MustJSON(`{
			"type": "object",
			"properties": {
				"sku": {"type": "string", "description": "Stock keeping unit", "pattern": "^[A-Z]+$"},
				"tags": {"type": "array", "items": {"type": ["string", "null"]}}
			},
			"required": ["sku"],
			"additionalProperties": false
		}`),
		Output:  tools.MustJSON(`{"type": "integer", "minimum": 0}`),
		Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil },
	})
	if err != nil {
		panic(err)
	}
	return tool
}

// The declarations tell a model what it may call, in the language it writes.
func ExampleCatalog_Declarations() {
	catalog, _, err := bindings.New([]*tools.Tool{lookup()})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, declared, _ := strings.Cut(catalog.Declarations(), "declare const ")
	fmt.Print(declared)
	// Output:
	// tools: Server<"shop", {
	// // How much of an article is in stock. (returns: at least 0)
	// "stock-level": Tool<{
	// // Stock keeping unit (pattern: ^[A-Z]+$)
	// sku: string;
	// tags?: (string | null)[];
	// }, number>;
	// }>;
}

// A program reaches a server's tool by its exact name and by a short path.
func ExampleCatalog_Namespace() {
	catalog, _, err := bindings.New([]*tools.Tool{lookup()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, member := range catalog.Namespace().Members() {
		fmt.Println(catalog.Namespace().Global(), member.Name, member.Path)
	}
	// Output:
	// tools mcp__shop__stock-level [shop stock-level]
}

// What cannot have a short form is said in a note, and stays callable.
func ExampleNew_notes() {
	shop, err := tools.NewTool(&tools.Definition{
		Name:    "shop",
		Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, notes, err := bindings.New([]*tools.Tool{lookup(), shop})
	fmt.Println(notes[0], err)
	// Output:
	// the tools of server "shop" have no short form in programs because a tool is named "shop"; call them by their full names, for example tools["mcp__shop__stock-level"] <nil>
}
