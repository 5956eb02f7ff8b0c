package fstools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// gated is a directory behind the gates of an Observations.
type gated struct {
	t   *testing.T
	dir string
	reg *tools.Registry
}

func newGated(t *testing.T, files map[string]string, gates Gates) *gated {
	set, dir := newSet(t, files, &Options{Gates: gates})
	return &gated{t, dir, registry(t, set)}
}

// as runs a tool for an agent, nil for none.
func (g *gated) as(agent any, tool, args string) error {
	g.t.Helper()
	found := g.reg.Lookup(tool)
	in := tools.MustJSON(args)
	if err := found.CheckArgs(in); err != nil {
		g.t.Fatal(err)
	}
	_, err := found.Definition().Handler(g.t.Context(), runOf(found, agent, in))
	return err
}

// step runs "read f", "write f text" or "edit f old new" for an agent, and says
// how that ended. Before a slash in the tool stands the agent, default "A"; "-"
// is none. "outside f text" is another program, "remove f" too.
func (g *gated) step(line string) error {
	g.t.Helper()
	words := strings.Fields(line)
	agent, tool, named := strings.Cut(words[0], "/")
	if !named {
		agent, tool = "A", agent
	}
	owner := any(agent)
	if agent == "-" {
		owner = nil
	}
	switch path := words[1]; tool {
	case "read":
		return g.as(owner, tool, fmt.Sprintf(`{"file_path":%q}`, path))
	case "window":
		return g.as(owner, "read", fmt.Sprintf(`{"file_path":%q,"offset":2,"limit":1}`, path))
	case "write":
		return g.as(owner, tool, fmt.Sprintf(`{"file_path":%q,"content":%q}`, path, words[2]+"\n"))
	case "edit":
		return g.as(owner, tool, fmt.Sprintf(`{"file_path":%q,"old_string":%q,"new_string":%q}`, path, words[2], words[3]))
	case "outside":
		write(g.t, filepath.Join(g.dir, path), words[2]+"\n")
		return nil
	case "remove":
		return os.Remove(filepath.Join(g.dir, path))
	}
	g.t.Fatalf("no step %q", line)
	return nil
}

const (
	overwriteRefused = `cannot overwrite existing "f" without reading it first — read the file, then retry`
	editRefused      = `edit requires reading "f" first — read the file, then retry`
	stale            = `"f" has changed since it was read — re-read the file, then retry`
	gone             = `"f" does not exist any more — re-read the file, then retry`
)

// TestObservations states what each kind of knowledge permits. The last step of
// a course is what is tested; f holds "one", "two", "three" in three lines.
func TestObservations(t *testing.T) {
	original := "one\ntwo\nthree\n"
	for _, tt := range []struct {
		name  string
		steps string // by ";"
		code  string
		text  string
		want  string // what f holds; "" for no file
	}{
		{"unseen, write an existing file", "write f new", codeNotObserved, overwriteRefused, original},
		{"unseen, write a new file", "write g new", "", "", original},
		{"unseen, edit", "edit f one 1", codeNotObserved, editRefused, original},
		{"unseen, edit what does not exist", "remove f; edit f one 1", codeNotObserved, editRefused, ""},
		{"present, write", "read f; write f new", "", "", "new\n"},
		{"present, edit", "read f; edit f one 1", "", "", "1\ntwo\nthree\n"},
		{"present, changed, write", "read f; outside f other; write f new", codeStale, stale, "other\n"},
		{"present, changed, edit", "read f; outside f one; edit f one 1", codeStale, stale, "one\n"},
		{"present, gone, write", "read f; remove f; write f new", codeStale, gone, ""},
		{"present, gone, edit", "read f; remove f; edit f one 1", codeStale, gone, ""},
		{"present, changed and changed back, write", "outside f x; read f; outside f other; outside f x; write f new", "", "", "new\n"},
		{"stale, read again, write", "read f; outside f other; read f; write f new", "", "", "new\n"},
		{"absent, write", "remove f; read f; write f new", "", "", "new\n"},
		{"absent, edit", "remove f; read f; edit f one 1", codeNotFound, `edit "f": the file did not exist when it was last read; create it with write`, ""},
		{"absent, made by another, write", "remove f; read f; outside f other; write f new", codeNotObserved, overwriteRefused, "other\n"},
		{"no agent, write", "-/read f; -/write f new", codeNotObserved, overwriteRefused, original},
		{"no agent, edit", "-/read f; -/edit f one 1", codeNotObserved, editRefused, original},
		{"a window counts for the file, write", "window f; write f new", "", "", "new\n"},
		{"a window counts for the file, edit", "window f; edit f one 1", "", "", "1\ntwo\nthree\n"},
		{"changed outside the window", "window f; outside f other; write f new", codeStale, stale, "other\n"},
		{"write then edit", "read f; write f new; edit f new newer", "", "", "newer\n"},
		{"create then edit", "remove f; write f new; edit f new newer", "", "", "newer\n"},
		{"edit then edit", "read f; edit f one 1; edit f two 2", "", "", "1\n2\nthree\n"},
		{"a failed edit keeps what is known", "read f; edit f none x; edit f one 1", "", "", "1\ntwo\nthree\n"},
		{"another agent read it", "A/read f; B/edit f one 1", codeNotObserved, editRefused, original},
		{"another agent changed it", "A/read f; B/read f; B/edit f one 1; A/edit f two 2", codeStale, stale, "1\ntwo\nthree\n"},
		{"a deleted file is made again", "read f; remove f; read f; write f new", "", "", "new\n"},
		{"read by one name, written by another", "read ./sub/../f; write f new", "", "", "new\n"},
		{"read through a link, written by its name", "read ln; write f new", "", "", "new\n"},
		{"read by its name, edited through a link", "read f; edit ln one 1", "", "", "1\ntwo\nthree\n"},
		{"search is no reading", "grep f; write f new", codeNotObserved, overwriteRefused, original},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGated(t, map[string]string{"f": original}, NewObservations(nil).Gates())
			if strings.Contains(tt.steps, "ln") {
				link(t, "f", filepath.Join(g.dir, "ln"))
			}
			var err error
			for _, step := range strings.Split(tt.steps, "; ") {
				if strings.HasPrefix(step, "grep") {
					err = g.as("A", "grep", `{"pattern":"one","path":"f"}`)
				} else {
					err = g.step(step)
				}
			}
			if tt.code == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tt.code != "" {
				wantFailure(t, err, tt.code)
				if diff := cmp.Diff(tt.text, err.Error()); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
			}
			if tt.want == "" {
				if _, err := os.Lstat(filepath.Join(g.dir, "f")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the file exists: %v", err)
				}
			} else if got := textOf(t, filepath.Join(g.dir, "f")); got != tt.want {
				t.Errorf("the file holds %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTwoEditsOfOneVersion has both edits permitted before either is made.
func TestTwoEditsOfOneVersion(t *testing.T) {
	o := NewObservations(nil)
	gates := o.Gates()
	var both sync.WaitGroup
	both.Add(2)
	ask := gates.EditIntent
	gates.EditIntent = func(ctx context.Context, target Target, call tools.Call) (string, error) {
		version, err := ask(ctx, target, call)
		both.Done()
		both.Wait()
		return version, err
	}
	g := newGated(t, map[string]string{"f": "one\ntwo\n"}, gates)
	if err := g.step("read f"); err != nil {
		t.Fatal(err)
	}
	var errs [2]error
	var wg sync.WaitGroup
	for i, step := range []string{"edit f one 1", "edit f two 2"} {
		wg.Go(func() { errs[i] = g.step(step) })
	}
	wg.Wait()
	failed := errs[0]
	if failed == nil {
		failed = errs[1]
	}
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("the edits ended with %v and %v, want one of them to succeed", errs[0], errs[1])
	}
	wantFailure(t, failed, codeStale, "re-read the file")
	if got := textOf(t, filepath.Join(g.dir, "f")); got != "1\ntwo\n" && got != "one\n2\n" {
		t.Errorf("the file holds %q, want one edit in it", got)
	}
}

// TestUnconditionalEdits has many edits of one file without gates: none is lost.
func TestUnconditionalEdits(t *testing.T) {
	var text strings.Builder
	const edits = 24
	for i := range edits {
		fmt.Fprintf(&text, "<%d>\n", i)
	}
	g := newGated(t, map[string]string{"f": text.String()}, Gates{})
	var wg sync.WaitGroup
	for i := range edits {
		wg.Go(func() {
			if err := g.step(fmt.Sprintf("edit f <%d> [%d]", i, i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := strings.NewReplacer("<", "[", ">", "]").Replace(text.String())
	if diff := cmp.Diff(want, textOf(t, filepath.Join(g.dir, "f"))); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestGateFailures(t *testing.T) {
	refusal := &tools.Error{Name: "Mine", Code: "MINE", Message: "not on Sundays"}
	for _, tt := range []struct {
		name    string
		gates   Gates
		step    string
		code    string
		text    string
		changed bool
	}{
		{"write refused", Gates{WriteIntent: func(context.Context, Target, tools.Call) (Intent, error) { return Intent{}, refusal }},
			"write f new", "MINE", "not on Sundays", false},
		{"write crashes", Gates{WriteIntent: func(context.Context, Target, tools.Call) (Intent, error) { panic("oh") }},
			"write f new", tools.CodePanic, "the write-intent gate crashed", false},
		{"edit refused", Gates{EditIntent: func(context.Context, Target, tools.Call) (string, error) { return "", refusal }},
			"edit f old x", "MINE", "not on Sundays", false},
		{"edit crashes", Gates{EditIntent: func(context.Context, Target, tools.Call) (string, error) { panic("oh") }},
			"edit f old x", tools.CodePanic, "the edit-intent gate crashed", false},
		{"a version of its own", Gates{EditIntent: func(context.Context, Target, tools.Call) (string, error) { return "v1", nil }},
			"edit f old x", codeStale, stale, false},
		{"observing a write fails", Gates{Observed: func(context.Context, Target, State, tools.Call) error { return refusal }},
			"write f new", codeIO, `write "f": the file was changed, but recording that failed: not on Sundays; read the file before the next change`, true},
		{"observing an edit crashes", Gates{Observed: func(context.Context, Target, State, tools.Call) error { panic("oh") }},
			"edit f old new", codeIO, `edit "f": the file was changed, but recording that failed: the observed gate crashed; read the file before the next change`, true},
		{"observing a read fails", Gates{Observed: func(context.Context, Target, State, tools.Call) error { return refusal }},
			"read f", "MINE", "not on Sundays", false},
		{"observing an absence fails", Gates{Observed: func(context.Context, Target, State, tools.Call) error { return refusal }},
			"read none", "MINE", "not on Sundays", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newGated(t, map[string]string{"f": "old\n"}, tt.gates)
			err := g.step(tt.step)
			if err == nil || tools.InfoOf(err).Code != tt.code || err.Error() != tt.text {
				t.Errorf("failure %v with the code %q, want %q with %q", err, tools.InfoOf(err).Code, tt.text, tt.code)
			}
			want := "old\n"
			if tt.changed {
				want = "new\n"
			}
			if got := textOf(t, filepath.Join(g.dir, "f")); got != want {
				t.Errorf("the file holds %q, want %q", got, want)
			}
		})
	}
}

// TestObservedAfterCancel has the call cancelled when the file is changed already.
func TestObservedAfterCancel(t *testing.T) {
	set, _ := newSet(t, nil, &Options{Gates: Gates{
		Observed: func(ctx context.Context, _ Target, _ State, _ tools.Call) error { return ctx.Err() },
	}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := change{set: set, op: "write", at: place{rel: "f", real: "f"}}
	if err := c.settle(ctx, noRun, changed{new: []byte("text")}); err != nil {
		t.Errorf("the gate was not told: %v", err)
	}
}

// TestWhatGatesSee states the targets, states and calls the gates are given.
func TestWhatGatesSee(t *testing.T) {
	var seen []string
	see := func(what string, target Target, call tools.Call) {
		seen = append(seen, fmt.Sprintf("%s %s for %v", what, target.Path, call.Agent()))
	}
	var dir string
	g := newGated(t, map[string]string{"real/f": "one\n"}, Gates{
		WriteIntent: func(_ context.Context, target Target, call tools.Call) (Intent, error) {
			if want := filepath.Join(realDir(t, dir), filepath.FromSlash(target.Path)); target.Abs != want {
				t.Errorf("absolute path %q, want %q", target.Abs, want)
			}
			see("write", target, call)
			return Intent{}, nil
		},
		EditIntent: func(_ context.Context, target Target, call tools.Call) (string, error) {
			see("edit", target, call)
			return "", nil
		},
		Observed: func(_ context.Context, target Target, state State, call tools.Call) error {
			see(fmt.Sprintf("observed %v", state), target, call)
			return nil
		},
	})
	dir = g.dir
	link(t, "real", filepath.Join(dir, "ln"))
	for _, step := range []string{"read ln/f", "edit ln/f one two", "write ln/g new", "-/read ln/none"} {
		g.step(step)
	}
	version := func(text string) string { return versionOfBytes([]byte(text)) }
	want := []string{
		"observed {true " + version("one\n") + "} real/f for A",
		"edit real/f for A",
		"observed {true " + version("two\n") + "} real/f for A",
		"write real/g for A",
		"observed {true " + version("new\n") + "} real/g for A",
		"observed {false } real/none for <nil>",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
	if got := version(""); got != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("version of nothing: %s", got)
	}
}

// TestTooLargeToObserve reads a part of a file whose end is out of reach.
func TestTooLargeToObserve(t *testing.T) {
	o := NewObservations(nil)
	set, dir := newSet(t, map[string]string{"f": numbered(100)}, &Options{ScanBytes: 100, Gates: o.Gates()})
	g := &gated{t, dir, registry(t, set)}
	value, _, err := call(t, g.reg, "read", `{"file_path":"f","limit":1}`)
	if err != nil || !strings.Contains(value, "a file this large does not count as read for write and edit") {
		t.Errorf("value %s, %v; want a note", value, err)
	}
	wantFailure(t, g.as("agent", "write", `{"file_path":"f","content":""}`), codeNotObserved)
}

// TestSwapInGate has the gate's time used to put a link in the place of a
// directory.
func TestSwapInGate(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "f"), "secret old\n")
	for _, tool := range []string{"write", "edit"} {
		var dir string
		swap := func() {
			if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
				t.Error(err)
			}
			link(t, outside, filepath.Join(dir, "sub"))
		}
		g := newGated(t, map[string]string{"sub/f": "old\n"}, Gates{
			WriteIntent: func(context.Context, Target, tools.Call) (Intent, error) { swap(); return Intent{}, nil },
			EditIntent:  func(context.Context, Target, tools.Call) (string, error) { swap(); return "", nil },
		})
		dir = g.dir
		wantFailure(t, g.step(tool+" sub/f old new"), codeChanged)
		if got := textOf(t, filepath.Join(outside, "f")); got != "secret old\n" {
			t.Errorf("%s changed the file outside to %q", tool, got)
		}
	}
}
