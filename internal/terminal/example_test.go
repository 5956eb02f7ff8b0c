package terminal_test

import (
	"context"
	"fmt"

	"github.com/runcode-go/runcode/internal/terminal"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// A command that was told not to ask still does not let a program change the
// configuration.
func ExampleAlways() {
	configuration := func(call tools.Call) bool { return call.Name() == "configure" }
	approver := terminal.Always(configuration, terminal.Never("the command was started with --yes"))
	for _, name := range []string{"write", "configure"} {
		answer, err := approver.Approve(context.Background(), pipeline.ApprovalRequest{Call: tools.NewCall(tools.CallSpec{Name: name})})
		fmt.Println(name, answer == pipeline.Granted, err)
	}
	// Output:
	// write true <nil>
	// configure false the command was started with --yes
}
