//go:build unix

package hooks_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/tools"
)

// An agent that ends its turn when the hooks of Stop let it.
func ExampleBridge_Stop() {
	const settings = `{"Stop": [{"hooks": [{
  "command": "grep -q '\"stop_hook_active\":true' || { echo 'run the tests first' >&2; exit 2; }"
}]}]}`
	bridge, err := hooks.Read(strings.NewReader(settings), "settings.json", &hooks.Options{Shell: "sh"})
	if err != nil {
		log.Fatal(err)
	}
	defer bridge.Close()
	for input, active := "fix the bug", false; input != ""; {
		fmt.Println("agent:", input)
		v, err := bridge.Stop(context.Background(), nil, hooks.Turn{HookActive: active})
		if err != nil {
			log.Fatal(err)
		}
		input, active = v.Reason, v.Blocked
	}
	// Output:
	// agent: fix the bug
	// agent: run the tests first
}

// A settings file as Claude Code reads it, with a hook that keeps a tool away
// from one directory. hooks.Load does the same with a file.
func Example() {
	const settings = `{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Read|Edit|Write",
        "hooks": [{
          "type": "command",
          "command": "case $(cat) in *'\"file_path\":\"secrets/'*) echo 'secrets/ is off limits' >&2; exit 2;; esac"
        }]
      }
    ],
    "SessionEnd": []
  }
}`
	type in struct {
		FilePath string `json:"file_path"`
	}
	reg, err := tools.NewRegistry(tools.Define("read", "Read a file.", func(_ context.Context, in in) (string, error) {
		return "read " + in.FilePath, nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	bridge, err := hooks.Read(strings.NewReader(settings), "settings.json", &hooks.Options{Shell: "sh"})
	if err != nil {
		log.Fatal(err)
	}
	defer bridge.Close()
	for _, note := range bridge.NotConnected() {
		fmt.Println(note)
	}
	p := pipeline.New(reg, nil)
	bridge.Install(p)
	for _, args := range []string{`{"file_path":"README.md"}`, `{"file_path": "secrets/key"}`} {
		fmt.Println(p.Execute(context.Background(), pipeline.Request{Name: "read", Args: args}).Text())
	}
	// Output:
	// settings.json:12:5: SessionEnd is not connected: its hooks never run
	// read README.md
	// Error: secrets/ is off limits
}
