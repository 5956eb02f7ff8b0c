// Package early is initialised before package worker, as a host's own packages
// may be. What it does there is told by the environment.
package early

import (
	"fmt"
	"os"
)

// Kept is what the package leaves open.
var Kept *os.File

func init() {
	switch os.Getenv("EARLY") {
	case "print":
		fmt.Println("early: ready")
	case "exit":
		fmt.Fprintln(os.Stderr, "early: no database")
		os.Exit(3)
	case "open":
		Kept, _, _ = os.Pipe()
	}
}
