// Command host is a small program that runs programs in workers, for tests.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
	_ "github.com/runcode-go/runcode/runtime/worker/testdata/host/early"
)

func main() {
	fmt.Println("main ran")
	if len(os.Args) != 3 || os.Args[1] != "run" && os.Args[1] != "hang" {
		return
	}
	opts := &worker.Options{Env: []string{"EARLY=" + os.Args[2]}, MaxWorkers: 1, Logger: slog.New(slog.NewTextHandler(os.Stdout, nil))}
	r, err := worker.New(context.Background(), opts)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	if os.Args[1] == "hang" {
		fmt.Println("hanging")
		select {}
	}
	res, err := r.Run(context.Background(), runtime.Request{Program: "return 1 + 1"})
	fmt.Println("value:", res.Value, res.Failure, err)
	r.Close()
}
