package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/tools"
)

// counting counts the events that came with their long texts beside them.
type counting struct {
	*eventlog.Log
	long int
}

func (c *counting) LongText(pipeline.Sink) int { return c.Log.LongText(c.Log) }

func (c *counting) EmitLong(e pipeline.Event, long map[string]string) error {
	c.long++
	return c.Log.EmitLong(e, long)
}

// logOf is the log of a direct call and a nested one whose results are so many
// blocks with the text, what was stored, and how many events came without their
// long texts. An apart log may get them so, another cannot.
func logOf(t *testing.T, o eventlog.Options, values, apart bool, blocks int, text string, spill func(*shelf) func(context.Context, string) (string, error)) (lines string, put shelf, long int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	if spill != nil {
		o.Spill = spill(&put)
	}
	log, err := eventlog.Open(path, &o)
	if err != nil {
		t.Fatal(err)
	}
	count := &counting{Log: log}
	var sink pipeline.Sink = count
	if !apart {
		sink = pipeline.SinkFunc(log.Emit)
	}
	say := pipelinetest.Tool("say", func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.StringJSON(text)}, nil
	})
	if blocks != 1 {
		say.Render = func(_, value tools.JSON) ([]tools.Content, error) {
			all := []tools.Content{{Type: tools.ContentImage, Data: text, MIMEType: "image/png"}}
			for len(all) < blocks {
				all = append(all, tools.TextContent("short"), tools.TextContent(text))
			}
			return all, nil
		}
	}
	var p *pipeline.Pipeline
	outer := pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.MustJSON("1")}, p.Execute(ctx, pipeline.Request{ID: "c:1", Name: "say", Args: "{}", Parent: run}).Err()
	})
	p = pipelinetest.New(t, &pipeline.Options{Sink: sink, Values: values}, say, outer)
	for _, name := range []string{"say", "outer"} {
		if err := p.Execute(t.Context(), pipeline.Request{ID: "c", Name: name, Args: "{}"}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, log)
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(written), put, count.long
}

// TestLongTexts: a log that gets long texts beside the events writes what one
// writes that gets them inside, byte for byte, and stores the same.
func TestLongTexts(t *testing.T) {
	texts := map[string]string{
		"as long as the body":    strings.Repeat("x", 4096),
		"a byte longer":          strings.Repeat("x", 4097),
		"around the room":        strings.Repeat("x", 3500),
		"escapes":                strings.Repeat("\"\\\n\x00", 2000),
		"characters":             strings.Repeat("aé€😀", 1000),
		"a character at the end": strings.Repeat("x", 4095) + "é",
		"json":                   `[{"token":"` + strings.Repeat("secret", 900) + `"},` + strings.Repeat(`{"a":"é\n"},`, 500) + `1]`,
		"a key":                  strings.Repeat("words ", 1000) + "sk-ant-" + strings.Repeat("a1", 20) + strings.Repeat(" words", 1000),
		"no text":                strings.Repeat("x", 5000) + "\xff\xed\xa0\x80" + strings.Repeat("y", 5000),
		"surrogates":             strings.Repeat("\xed\xa0\xbd\xed\xb8\x80", 2000),
	}
	for shift := range 3 { // the place where the head ends meets every part of a character
		texts[fmt.Sprint("shifted by ", shift)] = strings.Repeat("x", shift) + strings.Repeat("😀\n", 2000)
	}
	spills := map[string]func(*shelf) func(context.Context, string) (string, error){
		"nowhere": nil,
		"stored":  func(s *shelf) func(context.Context, string) (string, error) { return s.put },
		"full": func(*shelf) func(context.Context, string) (string, error) {
			return func(context.Context, string) (string, error) { return "", errors.New("the disk is full") }
		},
	}
	var longer atomic.Int64
	t.Run("all", func(t *testing.T) {
		for name, text := range texts {
			for where, spill := range spills {
				for _, blocks := range []int{1, 4, 25} {
					for _, values := range []bool{false, true} {
						if where != "stored" && (values || blocks > 1) {
							continue
						}
						t.Run(fmt.Sprintf("%s/%s/%d blocks/values %t", name, where, blocks, values), func(t *testing.T) {
							t.Parallel()
							o := eventlog.Options{MaxBody: 4096}
							want, wantPut, _ := logOf(t, o, values, false, blocks, text, spill)
							got, gotPut, long := logOf(t, o, values, true, blocks, text, spill)
							if d := cmp.Diff(want, got); d != "" {
								t.Errorf("lines (-inside +beside):\n%s", d)
							}
							if d := cmp.Diff(wantPut, gotPut); d != "" {
								t.Errorf("stored (-inside +beside):\n%s", d)
							}
							longer.Add(int64(long))
						})
					}
				}
			}
			t.Run(name+"/redacted", func(t *testing.T) {
				t.Parallel()
				o := eventlog.Options{MaxBody: 4096, Redact: redact.New(nil).JSON}
				want, _, _ := logOf(t, o, false, false, 1, text, nil)
				got, _, long := logOf(t, o, false, true, 1, text, nil)
				if d := cmp.Diff(want, got); d != "" || long > 0 {
					t.Errorf("%d events came without their texts, lines (-inside +beside):\n%s", long, d)
				}
			})
		}
	})
	// Two texts are as long as the body at most, two become text only where a tool
	// renders nothing, and each is the result of two calls.
	if want := int64(2 * (8*(len(texts)-4) + 4*2)); longer.Load() != want {
		t.Errorf("%d events came without their long texts, want %d", longer.Load(), want)
	}
}

// outside is a sink that has a log inside.
type outside struct {
	*eventlog.Log
	emitted int
}

func (o *outside) Emit(e pipeline.Event) error {
	o.emitted++
	return o.Log.Emit(e)
}

// TestSinkAroundALog: a sink with an Emit of its own gets every event, also if it
// has the other methods of the log inside it.
func TestSinkAroundALog(t *testing.T) {
	log, err := eventlog.Open(filepath.Join(t.TempDir(), "log.jsonl"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, log)
	sink := &outside{Log: log}
	p := pipelinetest.New(t, &pipeline.Options{Sink: sink}, pipelinetest.Text("say", strings.Repeat("x", 100_000)))
	if err := p.Execute(t.Context(), pipeline.Request{ID: "c", Name: "say", Args: "{}"}).Err(); err != nil {
		t.Fatal(err)
	}
	check(t, "events", sink.emitted, 2)
}

// TestLongTextsThatAreNot: who says that a text is long when it is not is told.
func TestLongTextsThatAreNot(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		options    eventlog.Options
	}{
		{"short", strings.Repeat("x", 4096), eventlog.Options{MaxBody: 4096}},
		{"no text", strings.Repeat("\xff", 5000), eventlog.Options{MaxBody: 4096}},
		{"to be redacted", strings.Repeat("x", 5000), eventlog.Options{MaxBody: 4096, Redact: redact.New(nil).JSON}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log, err := eventlog.Open(filepath.Join(t.TempDir(), "log.jsonl"), &tt.options)
			if err != nil {
				t.Fatal(err)
			}
			defer mustClose(t, log)
			err = log.EmitLong(pipeline.Event{Type: pipeline.EventToolCall, Data: tools.MustJSON(`{"a":""}`)}, map[string]string{"/a": tt.text})
			if err == nil || !strings.Contains(err.Error(), "the text at /a must be longer than LongText") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// FuzzLong: the line is the same with a text in its place and beside it, wherever
// its place is.
func FuzzLong(f *testing.F) {
	f.Add(`{"callId":"c1","content":[{"type":"text","text":"?"}]}`, "x\n", 5_000)
	f.Add(`{"content":[{"type":"text","text":"?"},{"type":"?"}],"cut":"?"}`, "é😀", 3_000)
	f.Add(`{"?":[[[[[[[[[["?"]]]]]]]]]],"a/b~c":"?"}`, "\"", 9_000)
	f.Add(`{"a":[`+strings.Repeat(`"?",`, 40)+`1],"b":{"?":"?"}}`, "y", 5_000)
	f.Fuzz(func(t *testing.T, text, unit string, n int) {
		data, err := tools.ParseJSON(text)
		if err != nil || data.Kind() != '{' || strings.Contains(text, `\u`) {
			return
		}
		fill := strings.Repeat(unit, max(0, min(n, 20_000))/max(1, len(unit)))
		if len(fill) <= 4096 || tools.StringJSON(fill).Len() < len(fill) || strings.ToValidUTF8(fill, "") != fill {
			return
		}
		// Every string that is the mark alone becomes the text, in its place or beside it.
		long := map[string]string{}
		inside := fillMarks(data, "", func(string) tools.JSON { return tools.StringJSON(fill) })
		beside := fillMarks(data, "", func(at string) tools.JSON { long[at] = fill; return tools.StringJSON("") })
		if len(long) == 0 {
			return
		}
		want, wantPut := emittedLine(t, inside, nil)
		got, gotPut := emittedLine(t, beside, long)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("line (-inside +beside):\n%s", d)
		}
		if d := cmp.Diff(wantPut, gotPut); d != "" {
			t.Errorf("stored (-inside +beside):\n%s", d)
		}
	})
}

// fillMarks is data in which every string "?" is what fill gives for its place.
func fillMarks(data tools.JSON, at string, fill func(at string) tools.JSON) tools.JSON {
	switch data.Kind() {
	case '{', '[':
		parts := jsonscan.Split(data.String())
		for i, p := range parts {
			name := strconv.Itoa(i)
			if p.Key != "" {
				name = strings.NewReplacer("~", "~0", "/", "~1").Replace(p.Name())
			}
			parts[i].Raw = fillMarks(tools.MustJSON(p.Raw), at+"/"+name, fill).String()
		}
		return tools.MustJSON(jsonscan.Join(data.Kind(), parts))
	case '"':
		if data.String() == `"?"` {
			return fill(at)
		}
	}
	return data
}

// emittedLine is the line of an event, and what was stored.
func emittedLine(t *testing.T, data tools.JSON, long map[string]string) (line string, put shelf) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := eventlog.Open(path, &eventlog.Options{Spill: put.put, MaxBody: 4096})
	if err != nil {
		t.Fatal(err)
	}
	e := pipeline.Event{Type: pipeline.EventToolCall, Data: data}
	if long == nil {
		err = log.Emit(e)
	} else {
		err = log.EmitLong(e, long)
	}
	mustClose(t, log)
	if err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(written), put
}

// BenchmarkLongResult logs a call whose result is a megabyte of rows.
func BenchmarkLongResult(b *testing.B) {
	value := tools.MustJSON("[" + strings.Repeat(`{"id":1,"name":"a row","tags":["a","b"],"open":true,"text":"some text of some length"},`, 12_000) + "1]")
	r := redact.New(&redact.Options{Secrets: []redact.Secret{{Name: "TOKEN", Value: "hunter2hunter2"}}})
	for _, tt := range []struct {
		name string
		o    eventlog.Options
	}{{"whole", eventlog.Options{}}, {"redacted", eventlog.Options{Redact: r.JSON}}} {
		b.Run(tt.name, func(b *testing.B) {
			log, err := eventlog.Open(filepath.Join(b.TempDir(), "log.jsonl"), &tt.o)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = log.Close() }()
			p := pipelinetest.New(b, &pipeline.Options{Sink: log}, pipelinetest.Tool("rows", func(context.Context, *tools.Run) (tools.Result, error) {
				return tools.Result{Value: value}, nil
			}))
			b.SetBytes(int64(value.Len()))
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Execute(b.Context(), pipeline.Request{Name: "rows", Args: "{}"}).Err(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
