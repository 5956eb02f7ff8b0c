package fstools

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// TestRestore has an agent resume with what the log holds.
func TestRestore(t *testing.T) {
	var log []tools.JSON
	o := NewObservations(&ObservationOptions{Emit: func(eventType string, data tools.JSON) error {
		if eventType != "fs/observed" {
			t.Errorf("event type %q", eventType)
		}
		log = append(log, data)
		return nil
	}})
	g := newGated(t, map[string]string{"f": "one\n", "g": "two\n"}, o.Gates())
	for _, step := range []string{"read f", "edit f one 1", "read none", "-/read g"} {
		g.step(step)
	}
	var got []string
	for _, data := range log {
		got = append(got, data.String())
	}
	want := []string{
		`{"path":"f","kind":"present","version":"` + versionOfBytes([]byte("one\n")) + `","callId":"1"}`,
		`{"path":"f","kind":"present","version":"` + versionOfBytes([]byte("1\n")) + `","callId":"1"}`,
		`{"path":"none","kind":"absent","callId":"1"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	resumed := NewObservations(nil)
	for _, data := range log {
		if err := resumed.Restore("R", data); err != nil {
			t.Fatal(err)
		}
	}
	set, err := New(g.dir, &Options{Gates: resumed.Gates()})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	g = &gated{t, g.dir, registry(t, set)}
	for _, step := range []struct{ step, code string }{
		{"A/edit f 1 x", codeNotObserved},
		{"R/edit f 1 x", ""},
		{"R/write none new", ""},
		{"R/write g new", codeNotObserved},
	} {
		if err := g.step(step.step); tools.InfoOf(err).Code != step.code {
			t.Errorf("%s: %v, want the code %q", step.step, err, step.code)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	version := versionOfBytes(nil)
	for name, data := range map[string]tools.JSON{
		"no data":            {},
		"no object":          tools.MustJSON(`"f"`),
		"no path":            tools.MustJSON(`{"kind":"absent"}`),
		"path of no text":    tools.MustJSON(`{"path":7,"kind":"absent"}`),
		"path outside":       tools.MustJSON(`{"path":"../f","kind":"absent"}`),
		"no kind":            tools.MustJSON(`{"path":"f"}`),
		"unknown kind":       tools.MustJSON(`{"path":"f","kind":"maybe"}`),
		"present, no text":   tools.MustJSON(`{"path":"f","kind":"present"}`),
		"present, bad text":  tools.MustJSON(`{"path":"f","kind":"present","version":"7"}`),
		"absent and version": tools.MustJSON(`{"path":"f","kind":"absent","version":"` + version + `"}`),
	} {
		o := NewObservations(nil)
		if err := o.Restore("A", data); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, known := o.recall("A", "f"); known {
			t.Errorf("%s: something is remembered", name)
		}
	}
	o := NewObservations(nil)
	for _, owner := range []any{nil, []string{"A"}, [1]any{func() {}}} {
		if err := o.Restore(owner, tools.MustJSON(`{"path":"f","kind":"absent"}`)); err == nil {
			t.Errorf("an owner that is none, %T, is accepted", owner)
		}
	}
	if err := o.Restore("A", tools.MustJSON(`{"path":"f","kind":"present","version":"`+version+`","more":[1]}`)); err != nil {
		t.Errorf("unknown members are refused: %v", err)
	}
}

// TestAgentThatCannotBeCompared may read and make files, as a call without an
// agent may.
func TestAgentThatCannotBeCompared(t *testing.T) {
	g := newGated(t, map[string]string{"f": "one\n"}, NewObservations(nil).Gates())
	agent := []string{"A"}
	if err := g.as(agent, "read", `{"file_path":"f"}`); err != nil {
		t.Error(err)
	}
	if err := g.as(agent, "write", `{"file_path":"new","content":""}`); err != nil {
		t.Error(err)
	}
	wantFailure(t, g.as(agent, "write", `{"file_path":"f","content":""}`), codeNotObserved)
	wantFailure(t, g.as(agent, "edit", `{"file_path":"f","old_string":"one","new_string":"1"}`), codeNotObserved)
}

// TestEmitFails has the log refuse: the observation does not count, and of a
// change that is made the failure says so.
func TestEmitFails(t *testing.T) {
	full := errors.New("the disk is full")
	o := NewObservations(&ObservationOptions{Emit: func(string, tools.JSON) error { return full }})
	g := newGated(t, map[string]string{"f": "one\n"}, o.Gates())
	if err := g.step("read f"); !errors.Is(err, full) {
		t.Errorf("read: %v, want %v", err, full)
	}
	wantFailure(t, g.step("edit f one 1"), codeNotObserved)
	wantFailure(t, g.step("write new text"), codeIO, "the file was changed", "fs/observed", "the disk is full")
}

func TestObservationsForget(t *testing.T) {
	o := NewObservations(&ObservationOptions{Keep: 3})
	for i := range 5 {
		o.remember(sighting{"A", fmt.Sprint(i)}, State{})
	}
	o.remember(sighting{"A", "3"}, State{})
	o.remember(sighting{"B", "3"}, State{})
	var known []string
	for _, owner := range []string{"A", "B"} {
		for i := range 5 {
			if _, ok := o.recall(owner, fmt.Sprint(i)); ok {
				known = append(known, fmt.Sprint(owner, i))
			}
		}
	}
	if diff := cmp.Diff([]string{"A3", "A4", "B3"}, known); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	if o.order.Len() != len(o.seen) {
		t.Errorf("%d in order, %d seen", o.order.Len(), len(o.seen))
	}
}

// FuzzRestore feeds any JSON: what is accepted is written back as the same
// observation.
func FuzzRestore(f *testing.F) {
	f.Add(`{"path":"f","kind":"present","version":"sha256:00","callId":"1"}`)
	f.Add(`{"path":"a/b","kind":"absent"}`)
	f.Add(`{"path":"../x","kind":"absent","version":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		data, err := tools.ParseJSON(text)
		if err != nil {
			return
		}
		o := NewObservations(nil)
		if err := o.Restore("A", data); err != nil {
			return
		}
		if len(o.seen) != 1 {
			t.Fatalf("%s was accepted and %d observations are known", text, len(o.seen))
		}
		for what, e := range o.seen {
			again := NewObservations(nil)
			state := e.Value.(*sighted).state
			if err := again.Restore("A", observedData(what.path, state, "1")); err != nil {
				t.Fatalf("%s was accepted, and not what it means: %v", text, err)
			}
			if got, known := again.recall("A", what.path); !known || got != state {
				t.Errorf("%s means %+v, written back %+v, %v", text, state, got, known)
			}
		}
	})
}
