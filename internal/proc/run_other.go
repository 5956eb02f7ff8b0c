//go:build !unix

package proc

import (
	"context"
	"fmt"
	goruntime "runtime"
)

// Supported reports whether Run can start processes on this system.
const Supported = false

func run(context.Context, Command) (Result, error) { return Result{}, errUnsupported() }

func launch(Command) (*Process, error) { return nil, errUnsupported() }

func errUnsupported() error {
	return fmt.Errorf("cannot start processes on %s: sessions that can be ended as a whole need a Unix system", goruntime.GOOS)
}
