//go:build unix && !linux

package worker

import (
	"slices"
	"syscall"
)

func onMainThread() bool { return false }

func confineThread(string, []string, []string) []Layer { return nil }

func namespacesRefused(error) bool { return false }

func sysProcAttr(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func limitFromOutside(*process, []string) ([]Layer, error) { return nil, nil }

// confineProcess limits files. There is no hard limit of memory here: what the
// collector can keep within the heap limit it does.
func confineProcess(without []string) ([]Layer, error) {
	if slices.Contains(without, LayerFiles) {
		return []Layer{leftOut(LayerFiles)}, nil
	}
	if _, err := limitFiles(); err != nil {
		return nil, err
	}
	return []Layer{{Name: LayerFiles, State: LayerOn}}, nil
}

// openedByInit says nothing: which descriptors are the runtime's own cannot be
// told here.
func openedByInit() []Layer { return nil }
