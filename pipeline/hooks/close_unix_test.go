//go:build unix

package hooks_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/tools"
)

// lasting is a command that notes its number and that of a job in a session of
// its own, says so in the fifo begun and never ends.
const lasting = `echo $$ > pids
(setsid bash -c 'echo $$ >> pids; exec sleep 1000' </dev/null >/dev/null 2>&1 &)
until [ "$(wc -l < pids)" -eq 2 ]; do :; done
echo > begun
exec sleep 1000`

// afterBegin runs do once the lasting hook of the rig is there.
func (r *rig) afterBegin(do func()) {
	r.t.Helper()
	fifo := filepath.Join(r.dir, "begun")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = os.ReadFile(fifo)
		do()
	}()
	r.t.Cleanup(func() { <-done })
}

// checkGone fails the test if a process of the lasting hook runs.
func (r *rig) checkGone() {
	r.t.Helper()
	pids := strings.Fields(r.file("pids"))
	if len(pids) != 2 {
		r.t.Fatalf("the hook noted the processes %v, want two", pids)
	}
	r.checkEnded(pids)
}

// checkEnded fails the test if one of the processes runs.
func (r *rig) checkEnded(pids []string) {
	r.t.Helper()
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		n, _ := strconv.Atoi(pid)
		_, state, _ := strings.Cut(string(text), ") ")
		if ended := err == nil && (state[0] == 'Z' || state[0] == 'X'); !ended && syscall.Kill(n, 0) == nil {
			r.t.Errorf("process %s still runs", pid)
		}
	}
}

func needSetsid(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("what leaves the session of a hook is found on Linux only")
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, "setsid")); err == nil {
			return
		}
	}
	t.Skip("setsid is not installed")
}

func TestClose(t *testing.T) { // 157
	needSetsid(t)
	for _, onFailure := range []string{"block", "continue"} {
		t.Run(onFailure, func(t *testing.T) {
			r := newRig(t, settings([]hook{{Command: lasting, OnFailure: onFailure}}, nil), nil)
			r.afterBegin(func() {
				r.bridge.Close()
				r.checkGone()
			})
			want := denied("blocked because the PreToolUse hook at settings.json was stopped before it had answered")
			if onFailure == "continue" {
				want = passed("echo", "{}")
			}
			check(t, "end", r.end(r.call("echo", "")), want)
			check(t, "log", r.decisions(), []string{"cancelled -"})
		})
	}
}

func TestCancel(t *testing.T) {
	needSetsid(t)
	tests := map[string]struct {
		text string
		code string
	}{
		"before the call":               {settings([]hook{{Command: lasting}, {Command: "touch second"}}, nil), tools.CodeAbortedBeforeDispatch},
		"before the call, failing open": {settings([]hook{{Command: lasting, OnFailure: "continue"}}, nil), tools.CodeAbortedBeforeDispatch},
		"after the call":                {settings(nil, []hook{{Command: lasting}, {Command: "touch second"}}), tools.CodeAborted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tt.text, nil)
			ctx, cancel := context.WithCancel(t.Context())
			r.afterBegin(cancel)
			o := r.p.Execute(ctx, pipeline.Request{ID: "c1", Name: "echo"})
			r.checkGone()
			check(t, "code", o.Info().Code, tt.code)
			check(t, "log", r.decisions(), []string{"cancelled -"})
			if _, err := os.Stat(filepath.Join(r.dir, "second")); err == nil {
				t.Error("a second hook was started")
			}
		})
	}
}

func TestAfterClose(t *testing.T) {
	r := newRig(t, settings([]hook{{Matcher: "danger", Command: "touch ran"}}, []hook{{Matcher: "echo", Command: "touch ran"}}), nil)
	r.bridge.Close()
	r.bridge.Close()
	check(t, "a call hooks are to judge", r.end(r.call("danger", "")),
		denied("blocked because the PreToolUse hook at settings.json could not be run: the hooks have been closed"))
	check(t, "any other", r.end(r.call("echo", "")), passed("echo", "{}"))
	check(t, "log", r.decisions(), []string{"error -", "error -"})
	check(t, "ran", r.file("ran"), "")
	if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
		t.Error("a hook ran after Close")
	}
}

// TestCloseAmongCalls closes a bridge while calls begin and end.
func TestCloseAmongCalls(t *testing.T) {
	r := newRig(t, settings([]hook{{Command: "exit 0"}}, nil), nil)
	var calls sync.WaitGroup
	started := make(chan struct{}, 8)
	for range cap(started) {
		calls.Go(func() {
			started <- struct{}{}
			r.p.Execute(t.Context(), pipeline.Request{Name: "list"})
		})
	}
	<-started
	r.bridge.Close()
	check(t, "after Close", r.end(r.call("echo", "")).Code, tools.CodeDeniedByPolicy)
	calls.Wait()
}

// TestCannotStart has the directory of the hooks removed under the bridge.
func TestCannotStart(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, settings([]hook{{Command: "exit 0"}}, nil), func(ho *hooks.Options, _ *pipeline.Options) { ho.Dir = gone })
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	o := r.call("echo", "")
	if text := o.Text(); !strings.HasPrefix(text, "Error: blocked because the PreToolUse hook at settings.json:1:52 could not be run: ") || len(r.ran) > 0 {
		t.Errorf("call = %s, ran %v", text, r.ran)
	}
	check(t, "log", r.decisions(), []string{"error -"})
}

func TestLongOutput(t *testing.T) {
	small := func(ho *hooks.Options, _ *pipeline.Options) { ho.MaxOutput = 100 }
	long := strings.Repeat("x", 200)
	t.Run("an answer", func(t *testing.T) {
		r := newRig(t, settings([]hook{{Command: printing(`{"decision":"approve","reason":"` + long + `"}`)}}, nil), small)
		check(t, "end", r.end(r.call("echo", "")),
			denied("blocked because the PreToolUse hook at settings.json printed a JSON answer of 235 bytes, of which only 100 are read"))
	})
	t.Run("text", func(t *testing.T) {
		r := newRig(t, settings([]hook{{Command: "echo " + long}}, nil), small)
		check(t, "end", r.end(r.call("echo", "")), passed("echo", "{}"))
	})
	t.Run("a reason", func(t *testing.T) {
		r := newRig(t, settings([]hook{{Command: "echo " + long + " >&2; exit 2"}}, nil), small)
		check(t, "end", r.end(r.call("echo", "")), denied(long[:100]+"\n[the first 100 of 201 bytes]"))
	})
}
