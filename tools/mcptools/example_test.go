package mcptools_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/mcptools"
)

// weather is an MCP server with one tool.
func weather() *httptest.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "weather", Version: "1"}, nil)
	type in struct {
		City string `json:"city"`
	}
	type out struct {
		Temp int `json:"temp"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "now"}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, out, error) {
		return nil, out{Temp: len(in.City)}, nil
	})
	return httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
}

func Example() {
	server := weather()
	defer server.Close()
	cfg, err := mcptools.Parse(".mcp.json", `{"mcpServers": {
		"weather": {"type": "http", "url": "${WEATHER_URL}"},
		"missing": {"command": "no-such-program"}
	}}`, func(string) (string, bool) { return server.URL, true })
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	client, err := mcptools.Connect(ctx, cfg, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	var reg tools.Registry
	defer client.Register(&reg)()

	p := pipeline.New(&reg, nil)
	out := p.Execute(ctx, pipeline.Request{ID: "1", Name: "mcp__weather__now", Args: `{"city":"Oslo"}`})
	fmt.Println(out.Value())
	for _, s := range client.Status() {
		fmt.Println(s.Server, s.State, s.Tools)
	}
	// Output:
	// {"temp":4}
	// missing down []
	// weather ready [mcp__weather__now]
}
