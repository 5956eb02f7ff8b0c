package fstools_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/fstools"
)

// Example registers the file tools over a directory and calls one by hand, as a
// pipeline would for a model.
func Example() {
	dir, err := os.MkdirTemp("", "fstools")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), []byte("# Plan\n\n- call Ada\n- call Bob\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	set, err := fstools.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		log.Fatal(err)
	}

	grep := reg.Lookup("grep").Definition()
	args := tools.MustJSON(`{"pattern": "call (\\w+)", "limit": 1}`)
	run := tools.NewRun(tools.NewCall(tools.CallSpec{ID: "1", Name: "grep", Args: args}), tools.RunHooks{})
	result, err := grep.Handler(context.Background(), run)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Value)
	text, err := grep.Render(args, result.Value)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tools.ContentString(text))

	// A path that leads out of the directory is refused, however it is written.
	read := reg.Lookup("read").Definition()
	args = tools.MustJSON(`{"file_path": "notes/../../other/plan.md"}`)
	run = tools.NewRun(tools.NewCall(tools.CallSpec{ID: "2", Name: "read", Args: args}), tools.RunHooks{})
	_, err = read.Handler(context.Background(), run)
	fmt.Println(tools.InfoOf(err).Code)
	// Output:
	// {"matches":[{"path":"plan.md","line":3,"text":"- call Ada"}],"files":1,"total":2,"truncated":true}
	// plan.md:3:- call Ada
	// (1 of 2 matches in 1 file)
	// FS_SANDBOX_DENIED
}

// ExampleObservations has a model change a file only in the version it has read.
func ExampleObservations() {
	dir, err := os.MkdirTemp("", "fstools")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "plan.md")
	if err := os.WriteFile(name, []byte("call Ada\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	seen := fstools.NewObservations(nil)
	set, err := fstools.New(dir, &fstools.Options{Gates: seen.Gates()})
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()
	reg, err := tools.NewRegistry(set.Tools()...)
	if err != nil {
		log.Fatal(err)
	}
	p := pipeline.New(reg, nil)
	call := func(tool, args string) {
		out := p.Execute(context.Background(), pipeline.Request{Name: tool, Args: args, Agent: "the agent"})
		fmt.Println(out.Text())
	}

	call("edit", `{"file_path": "plan.md", "old_string": "Ada", "new_string": "Bob"}`)
	call("read", `{"file_path": "plan.md"}`)
	call("edit", `{"file_path": "plan.md", "old_string": "Ada", "new_string": "Bob"}`)
	// Somebody else saves the file.
	if err := os.WriteFile(name, []byte("call nobody\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	call("write", `{"file_path": "plan.md", "content": "call everybody\n"}`)
	call("write", `{"file_path": "notes/new.md", "content": "call Eve\n"}`)
	// Output:
	// Error: edit requires reading "plan.md" first — read the file, then retry
	//      1	call Ada
	// replaced 1 occurrence in plan.md
	// Error: "plan.md" has changed since it was read — re-read the file, then retry
	// wrote 9 bytes to notes/new.md (created)
}
