package worker

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/runtime"
)

// deathSignal is what the system sends this process when the thread that started it
// ends. Package initialisation is on the main thread, which is the one that has it.
var deathSignal = func() int32 {
	signal := new(int32)
	raw(unix.SYS_PRCTL, unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(signal)))
	attempts["death-signal"] = func(string) error { return fmt.Errorf("signal %d", *signal) }
	return *signal
}()

// The system ends a worker with its host, also one that has left the protocol.
func TestDeathSignal(t *testing.T) {
	for _, leftOut := range [][]string{nil, {LayerNamespaces}, switchable()} {
		t.Run("without "+strings.Join(leftOut, ","), func(t *testing.T) {
			r, err := New(t.Context(), &Options{MaxWorkers: 1, Without: leftOut})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			res := mustRun(t, r, runtime.Request{Program: attemptPrefix + "death-signal"})
			wantFailure(t, res, runtime.Exception, "signal 9")
		})
	}
}
