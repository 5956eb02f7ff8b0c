package todotools_test

import (
	"context"
	"fmt"
	"log"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/todotools"
)

// Example writes a list and gives it to the agent of a resumed session.
func Example() {
	var event tools.JSON // what a log would hold
	lists := todotools.New(&todotools.Options{
		Emit: func(_ string, data tools.JSON) error { event = data; return nil },
	})
	reg, err := tools.NewRegistry(lists.Tools()...)
	if err != nil {
		log.Fatal(err)
	}
	outcome := pipeline.New(reg, nil).Execute(context.Background(), pipeline.Request{
		Name: "todo_write", Agent: "main",
		Args: `{"todos": [{"content": "read the code", "status": "in_progress"}, {"content": "fix it", "status": "pending"}]}`,
	})
	fmt.Println(tools.ContentString(outcome.Content()))

	resumed := todotools.New(nil)
	if err := resumed.Restore("main", event); err != nil {
		log.Fatal(err)
	}
	fmt.Println(resumed.Todos("main"))
	// Output:
	// Updated todo list: 1 pending, 1 in progress, 0 completed.
	// {"todos":[{"content":"read the code","status":"in_progress"},{"content":"fix it","status":"pending"}]}
}
