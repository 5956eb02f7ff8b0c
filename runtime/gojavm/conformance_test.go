package gojavm_test

import (
	"testing"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
	"github.com/runcode-go/runcode/runtime/runtimetest"
)

func TestConformance(t *testing.T) {
	runtimetest.Run(t, func(t *testing.T) runtime.Runtime {
		rt, err := gojavm.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return rt
	})
}

// TestConformanceWithEsbuild has esbuild read plain JavaScript too.
func TestConformanceWithEsbuild(t *testing.T) {
	runtimetest.Run(t, func(t *testing.T) runtime.Runtime {
		rt, err := gojavm.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		rt.LeaveToEsbuild()
		return rt
	})
}
