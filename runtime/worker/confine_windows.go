package worker

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/windows"

	"github.com/runcode-go/runcode/internal/sandbox"
)

// limitFromOutside adds nothing: a worker starts in its job.
func limitFromOutside(*process, []string) ([]Layer, error) { return nil, nil }

// openedByInit says nothing: which handles are the runtime's own cannot be told.
func openedByInit() []Layer { return nil }

// confineProcess takes from this process, a worker, what only its start needed:
// the level of integrity that it was started with. No byte of a program has come
// yet.
func confineProcess(without []string) ([]Layer, error) {
	time.Now().Zone() // reads the registry while it can
	token, err := sandbox.OwnToken()
	if err != nil {
		return []Layer{{LayerPrivileges, LayerMissing, err.Error()}, {LayerFiles, LayerMissing, err.Error()}}, nil
	}
	defer token.Close()
	return []Layer{privilegesLayer(token), filesLayer(token, without)}, nil
}

// privilegesLayer says whether this process has been started without privileges.
func privilegesLayer(token windows.Token) Layer {
	layer := Layer{Name: LayerPrivileges, State: LayerOn}
	if n, err := sandbox.Privileges(token); err != nil {
		layer.State, layer.Note = LayerMissing, err.Error()
	} else if n > 0 {
		layer.State, layer.Note = LayerMissing, fmt.Sprintf("it has %d privileges of its user's", n)
	}
	return layer
}

// filesLayer takes writing from this process: almost everything has a higher level.
func filesLayer(token windows.Token, without []string) Layer {
	if slices.Contains(without, LayerFiles) {
		return leftOut(LayerFiles)
	}
	err := sandbox.LowerIntegrity(token, sandbox.Untrusted)
	level, kept := sandbox.IntegrityOf(token)
	switch {
	case err != nil:
		return Layer{Name: LayerFiles, State: LayerMissing, Note: err.Error()}
	case kept != nil:
		return Layer{Name: LayerFiles, State: LayerMissing, Note: kept.Error()}
	case level != sandbox.Untrusted:
		return Layer{Name: LayerFiles, State: LayerMissing, Note: fmt.Sprintf("the system took a level of integrity and did not keep it; it says %#x", uint32(level))}
	}
	return Layer{Name: LayerFiles, State: LayerOn, Note: "by level of integrity, which file systems without security (FAT) do not know"}
}
