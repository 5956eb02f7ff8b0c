//go:build unix || windows

package worker_test

import (
	"context"
	"fmt"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
)

// A program that nothing inside its process can stop costs its worker and
// nothing else.
func Example() {
	r, err := worker.New(context.Background(), &worker.Options{MaxWorkers: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for _, req := range []runtime.Request{
		{Program: "return [1, 2, 3].map(n => n * n)"},
		{Program: "return /^(?=a)(a+)+$/.test('a'.repeat(40) + 'b')", Limits: runtime.Limits{Wall: 300 * time.Millisecond}},
		{Program: "return 'still here'"},
	} {
		res, err := r.Run(context.Background(), req)
		switch {
		case err != nil:
			fmt.Println("misuse:", err)
		case res.Failure != nil:
			fmt.Println(res.Failure.Kind, res.Failure.Message)
		default:
			fmt.Println(res.Value)
		}
	}
	// Output:
	// [1,4,9]
	// timeout wall-clock ceiling reached (300ms)
	// "still here"
}
