package eventlog_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/tools"
)

// TestLinesAreEvents: each line is the text of its event and nothing of others,
// whatever the lines before it held: long ones, refused ones, those of other
// goroutines.
func TestLinesAreEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log := mustOpen(t, path)
	var seq uint64
	var want strings.Builder
	emit := func(e pipeline.Event) {
		t.Helper()
		e.Seq, e.Time = seq, int64(seq)
		if err := log.Emit(e); err != nil {
			t.Fatal(err)
		}
		seq++
		want.WriteString(e.JSON().String() + "\n")
	}
	text := func(n int) tools.JSON { return tools.StringJSON(strings.Repeat("é\"", n)) }
	for _, n := range []int{9000, 1, 4000, 0, 3999, 2, 200} {
		emit(pipeline.Event{Type: "x/long", Data: text(n), Ignorable: true})
		if err := log.Emit(pipeline.Event{Type: "x/unknown", Seq: seq, Data: text(5000)}); err == nil {
			t.Error("an event nobody could read is written")
		}
		deep := tools.MustJSON(strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999))
		if err := log.Emit(pipeline.Event{Type: "x/deep", Seq: seq, Data: tools.ComposeArray(deep), Ignorable: true}); err == nil {
			t.Error("an event that is too deep is written")
		}
		emit(pipeline.Event{Type: "x/short", Data: tools.MustJSON("1"), Ignorable: true, SurfaceOp: "append", SourceEventSeqs: []uint64{1, 2}})
	}
	mustClose(t, log)
	check(t, "log", read(t, path), want.String())
}

// TestLinesOfMany: events that are emitted at once are whole lines, each with its
// own text.
func TestLinesOfMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log := mustOpen(t, path)
	sink := pipeline.New(&tools.Registry{}, &pipeline.Options{Sink: log})
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 50 {
				text := strings.Repeat(string(rune('a'+n)), 1+i*97%5000)
				if err := sink.Emit("x/text", tools.StringJSON(text)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	mustClose(t, log)
	seen := map[rune]int{}
	for i, e := range contents(t, read(t, path)).Events {
		text, _ := e.Data.Text()
		if e.Seq != uint64(i) || strings.Trim(text, text[:1]) != "" {
			t.Fatalf("event %d has the number %d and the text %.60q", i, e.Seq, text)
		}
		seen[rune(text[0])]++
	}
	for n := range 8 {
		check(t, "lines of "+string(rune('a'+n)), seen[rune('a'+n)], 50)
	}
}

// BenchmarkEmit is one short event.
func BenchmarkEmit(b *testing.B) {
	log, err := eventlog.Open(filepath.Join(b.TempDir(), "log.jsonl"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	e := pipeline.Event{Type: pipeline.EventToolResult, Data: tools.MustJSON(`{"callId":"c1","isError":false}`), SurfaceOp: pipeline.SurfaceAppend, SourceEventSeqs: []uint64{1}}
	b.ReportAllocs()
	for b.Loop() {
		if err := log.Emit(e); err != nil {
			b.Fatal(err)
		}
		e.Seq++
	}
}

// TestLinesByAnotherEncoder: a line is what package json makes of its event, for
// events of any size in any order.
func TestLinesByAnotherEncoder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = "abc {}[],:\"\\\n\t/0\r"[r.IntN(17)]
		}
		return string(b)
	}
	var value func(depth int) any
	value = func(depth int) any {
		switch k := r.IntN(8); {
		case k < 4 || depth > 5:
			return text([]int{5, 40, 3000}[r.IntN(3)])
		case k == 4:
			return []any{nil, true, r.Int64(), r.IntN(9)}[r.IntN(4)]
		case k == 5:
			items := []any{}
			for range r.IntN(5) {
				items = append(items, value(depth+1))
			}
			return items
		}
		members := map[string]any{}
		for range r.IntN(5) {
			members[text(20)] = value(depth + 1)
		}
		return members
	}
	type event struct {
		Type      string   `json:"type"`
		Seq       uint64   `json:"seq"`
		Time      int64    `json:"time"`
		Data      any      `json:"data"`
		Ignorable bool     `json:"ignorable,omitempty"`
		Surface   string   `json:"surfaceOp,omitempty"`
		Sources   []uint64 `json:"sourceEventSeqs,omitempty"`
	}
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := eventlog.Open(path, &eventlog.Options{MaxBody: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	for seq := range uint64(1000) {
		e := event{"x/" + text(10), seq, r.Int64() - r.Int64(), value(0), true, []string{"", "append", "[odd]"}[r.IntN(3)], nil}
		for range r.IntN(3) {
			e.Sources = append(e.Sources, r.Uint64())
		}
		if err := encoder.Encode(e); err != nil {
			t.Fatal(err)
		}
		data, err := tools.ToJSON(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Emit(pipeline.Event{Type: e.Type, Seq: e.Seq, Time: e.Time, Data: data, Ignorable: true, SurfaceOp: e.Surface, SourceEventSeqs: e.Sources}); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, log)
	got, lines := strings.Split(read(t, path), "\n"), strings.Split(want.String(), "\n")
	for i, line := range lines {
		if i >= len(got) || got[i] != line {
			t.Fatalf("line %d differs:\n%.300s\nwant\n%.300s", i, append(got, "")[min(i, len(got))], line)
		}
	}
	check(t, "number of lines", len(got), len(lines))
}
