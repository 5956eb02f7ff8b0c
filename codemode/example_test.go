package codemode_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// A tool, a pipeline, a program.
func Example() {
	add := tools.Define("add", "Add two integers.", func(_ context.Context, in struct{ A, B int }) (int, error) {
		return in.A + in.B, nil
	})
	reg, err := tools.NewRegistry(add)
	if err != nil {
		log.Fatal(err)
	}
	cm, err := codemode.New(pipeline.New(reg, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer cm.Close()
	out := cm.Run(context.Background(), codemode.Program{Code: `return await tools.add({ A: 1, B: 2 })`})
	fmt.Println(out.Text())
	// Output: 3
}

// What a model request carries, and how its answer comes back.
func ExampleCodeMode_Call() {
	greet := tools.Define("greet", "Greet somebody.", func(_ context.Context, in struct {
		Name string `json:"name"`
	}) (string, error) {
		return "hello " + in.Name, nil
	})
	reg, _ := tools.NewRegistry(greet)
	cm, err := codemode.New(pipeline.New(reg, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer cm.Close()

	request, _ := cm.Present()
	for _, tool := range request.Tools {
		fmt.Println("tool on the wire:", tool.Name)
	}
	fmt.Println("prompt declares greet:", strings.Contains(request.Prompt, "greet: Tool<{ name: string }, string>"))

	// The model answered with this call; the arguments are its text.
	out := cm.Call(context.Background(), pipeline.Request{ID: "call_1", Name: "run_code",
		Args: `{"code":"const all = [];\nfor (const name of [\"Ada\", \"Bo\"]) all.push(await tools.greet({ name }));\nreturn all.join(\", \")","description":"Greet two people"}`})
	fmt.Println(out.Text())
	// Output:
	// tool on the wire: run_code
	// prompt declares greet: true
	// hello Ada, hello Bo
}

// A guard holds inside a program as it does outside, and the program can catch
// the denial.
func Example_guard() {
	rm := tools.Define("rm", "Remove a file.", func(_ context.Context, in struct {
		Path string `json:"path"`
	}) (string, error) {
		return "removed " + in.Path, nil
	})
	reg, _ := tools.NewRegistry(rm)
	p := pipeline.New(reg, nil)
	p.Guards.Use("keep-etc", func(c tools.Call) string {
		if c.Name() == "rm" && strings.Contains(c.Args().String(), "/etc/") {
			return "nothing under /etc is removed"
		}
		return ""
	})
	cm, err := codemode.New(p, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer cm.Close()
	out := cm.Run(context.Background(), codemode.Program{Code: `
		try {
			return await tools.rm({ path: "/etc/passwd" })
		} catch (e) {
			return e.toolName + ": " + e.code + ": " + e.message
		}`})
	fmt.Println(out.Text())
	// Output: rm: DENIED_BY_GUARD: nothing under /etc is removed
}

// A program that fails tells what was done before, so that it is not done
// twice.
func ExampleReportOf() {
	send := tools.Define("send", "Send a letter.", func(_ context.Context, in struct {
		To string `json:"to"`
	}) (bool, error) {
		if in.To == "Cy" {
			return false, fmt.Errorf("no address for %s", in.To)
		}
		return true, nil
	})
	reg, _ := tools.NewRegistry(send)
	cm, err := codemode.New(pipeline.New(reg, nil), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer cm.Close()
	out := cm.Run(context.Background(), codemode.Program{ID: "call_7", Code: `for (const to of ["Ada", "Cy"]) await tools.send({ to })`})
	for _, call := range codemode.ReportOf(out).Calls {
		fmt.Printf("%s %s: %s %s\n", call.ID, call.Name, call.State, cmp.Or(call.Error, "without error"))
	}
	// Output:
	// call_7:code:1 send: done without error
	// call_7:code:2 send: failed no address for Cy
}
