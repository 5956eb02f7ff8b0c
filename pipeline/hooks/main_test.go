package hooks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestMain(m *testing.M) {
	if os.Getenv("RUNCODE_HOOK_PROGRAM") != "" {
		os.Exit(hookProgram(os.Stdin, os.Stdout, os.Stderr))
	}
	// The clock of the regular expression library stops by itself a second
	// after the last match.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// check fails the test if got is not want.
func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// hook is one hook of a test's settings.
type hook struct {
	Matcher   string
	Command   string
	Timeout   float64
	OnFailure string // of the group
}

// settings is the text of a settings file with hooks around calls.
func settings(pre, post []hook) string {
	return eventSettings(map[string][]hook{hooks.PreToolUse: pre, hooks.PostToolUse: post})
}

// eventSettings is the text of a settings file, one group for each hook. Events
// stand in alphabetical order.
func eventSettings(events map[string][]hook) string {
	groups := func(list []hook) []any {
		out := []any{}
		for _, h := range list {
			command := map[string]any{"type": "command", "command": h.Command}
			if h.Timeout != 0 {
				command["timeout"] = h.Timeout
			}
			group := map[string]any{"matcher": h.Matcher, "hooks": []any{command}}
			if h.OnFailure != "" {
				group["onFailure"] = h.OnFailure
			}
			out = append(out, group)
		}
		return out
	}
	section := map[string]any{}
	for event, list := range events {
		section[event] = groups(list)
	}
	text, err := json.Marshal(map[string]any{"hooks": section})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// rig is a pipeline with hooks.
type rig struct {
	t      *testing.T
	p      *pipeline.Pipeline
	bridge *hooks.Bridge
	remove func()
	rec    *pipelinetest.Recorder
	log    *logBuffer
	dir    string
	ran    []string // the names of the tools whose bodies ran
}

// newRig is loadRig for a settings text.
func newRig(t *testing.T, text string, change func(*hooks.Options, *pipeline.Options)) *rig {
	t.Helper()
	return loadRig(t, func(opts *hooks.Options) (*hooks.Bridge, error) {
		return hooks.Read(strings.NewReader(text), "settings.json", opts)
	}, change)
}

// loadRig installs hooks in a pipeline with the tools echo, danger, read, bash,
// list and broken. Its bridge is closed at the end.
func loadRig(t *testing.T, load func(*hooks.Options) (*hooks.Bridge, error), change func(*hooks.Options, *pipeline.Options)) *rig {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed; hooks are shell commands")
	}
	r := &rig{t: t, rec: &pipelinetest.Recorder{}, log: &logBuffer{}, dir: t.TempDir()}
	ho := hooks.Options{Dir: r.dir, Now: pipelinetest.Clock(), Logger: r.log.logger()}
	po := pipeline.Options{Sink: r.rec}
	if change != nil {
		change(&ho, &po)
	}
	var defs []*tools.Definition
	for _, name := range []string{"echo", "danger", "read", "bash"} {
		defs = append(defs, pipelinetest.Tool(name, func(_ context.Context, run *tools.Run) (tools.Result, error) {
			r.ran = append(r.ran, name)
			return tools.Result{Value: run.Args()}, nil
		}))
	}
	defs = append(defs, pipelinetest.Tool("list", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.MustJSON("[1]")}, nil
	}))
	defs = append(defs, pipelinetest.Failing("broken", &tools.Error{Name: "FSError", Code: "FS_NOT_FOUND", Message: "no such file"}))
	r.p = pipelinetest.New(t, &po, defs...)
	var err error
	if r.bridge, err = load(&ho); err != nil {
		t.Fatalf("cannot load the hooks: %v", err)
	}
	t.Cleanup(r.bridge.Close)
	r.remove = r.bridge.Install(r.p)
	return r
}

func (r *rig) call(name, args string) pipeline.Outcome {
	return r.p.Execute(context.Background(), pipeline.Request{ID: "c1", Name: name, Args: args})
}

// file is the text of a file hooks have written in their directory, "" for
// none.
func (r *rig) file(name string) string {
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(text)
}

// decisions are the decision words in the log with the exit codes, "-" for
// none.
func (r *rig) decisions() []string {
	out := []string{}
	for _, e := range r.rec.Events() {
		if e.Type != hooks.EventHookResult {
			continue
		}
		var data struct {
			Decision string
			ExitCode *int `json:"exitCode"`
		}
		if err := json.Unmarshal(e.Data.Bytes(), &data); err != nil {
			r.t.Fatal(err)
		}
		code := "-"
		if data.ExitCode != nil {
			code = fmt.Sprint(*data.ExitCode)
		}
		out = append(out, data.Decision+" "+code)
	}
	return out
}

// end is how a call ended, in the form tests compare.
type end struct {
	Text string
	Code string
	Ran  []string
}

// place is where in the settings a hook stands.
var place = regexp.MustCompile(`settings\.json:\d+:\d+`)

// end leaves the places out: they depend on how a test writes its settings.
func (r *rig) end(o pipeline.Outcome) end {
	return end{Text: place.ReplaceAllString(o.Text(), "settings.json"), Code: o.Info().Code, Ran: append([]string{}, r.ran...)}
}

func denied(reason string) end {
	return end{Text: "Error: " + reason, Code: tools.CodeDeniedByPolicy, Ran: []string{}}
}

func passed(name, text string) end { return end{Text: text, Ran: []string{name}} }

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// printing is a command that prints a text.
func printing(text string) string { return "cat <<'EOF'\n" + text + "\nEOF\n" }

// permission is the answer with a permissionDecision.
func permission(event, decision, reason string) string {
	return fmt.Sprintf(`{"hookSpecificOutput":{"hookEventName":%q,"permissionDecision":%q,"permissionDecisionReason":%q}}`, event, decision, reason)
}
