//go:build unix

package shelltools_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/shelltools"
)

// Example runs a command that fails: its exit code is a value, and what it has
// written to both streams is there.
func Example() {
	dir, err := os.MkdirTemp("", "shelltools")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	set, err := shelltools.New(dir, &shelltools.Options{Env: []string{"CI=true"}})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		log.Fatal(err)
	}

	outcome := pipeline.New(reg, nil).Execute(context.Background(), pipeline.Request{
		ID: "1", Name: "bash",
		Args: `{"command": "echo \"CI is $CI\"; echo no such target >&2; exit 2", "description": "build"}`,
	})
	fmt.Println(outcome.Value())
	fmt.Println(tools.ContentString(outcome.Content()))
	// Output:
	// {"exitCode":2,"stdout":"CI is true\n","stderr":"no such target\n","timedOut":false,"truncated":false}
	// CI is true
	// stderr:
	// no such target
	// exit code 2
}
