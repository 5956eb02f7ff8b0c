//go:build !unix && !windows

package worker

import (
	"context"
	"log/slog"
	goruntime "runtime"
	"time"
)

var shortages []error

type starter struct{}

func newStarter(*Options, time.Duration, *slog.Logger) (*starter, error) {
	return nil, &startError{problem: "worker processes are not available on " + goruntime.GOOS}
}

func (*starter) start(context.Context) (*process, error) { panic("unreachable: there is no starter") }

func (*starter) close() {}

func (*starter) layers() []Layer { return mergeLayers(nil) }
