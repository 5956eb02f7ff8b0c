package spill_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/pipeline/spill"
)

func Example() {
	dir, err := os.MkdirTemp("", "spill")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	r := redact.New(redact.FromEnviron([]string{"DEPLOY_TOKEN=4b1d-77aa-90f3"}))
	store, err := spill.Open(filepath.Join(dir, "session.spill"), &spill.Options{Redact: r.Text})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	path, err := store.Put(context.Background(), "deployed with 4b1d-77aa-90f3")
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output: deployed with [redacted: DEPLOY_TOKEN]
}
