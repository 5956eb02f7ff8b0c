package fstools

import (
	"context"
	"strings"
	"time"

	"github.com/runcode-go/runcode/tools"
)

// patience is how long a call may take where the timeout policy is in use.
const patience = time.Minute

// looksOnly is the part of the definition all tools here share: they change
// nothing, so that calls may overlap and be repeated.
func looksOnly[V any](name, description string, render func(V) string) tools.Definition {
	return tools.Definition{
		Name:        name,
		Description: strings.TrimSpace(description),
		Concurrent:  func(tools.JSON) bool { return true },
		Timeout:     patience,
		Annotations: tools.Annotations{ReadOnly: true, Idempotent: true},
		Render: func(_, value tools.JSON) ([]tools.Content, error) {
			var v V
			if err := value.Unmarshal(&v); err != nil {
				return nil, err
			}
			return []tools.Content{tools.TextContent(render(v))}, nil
		},
	}
}

func ignoreRun[In, Out any](body func(context.Context, In) (Out, error)) func(context.Context, *tools.Run, In) (Out, error) {
	return func(ctx context.Context, _ *tools.Run, in In) (Out, error) { return body(ctx, in) }
}
