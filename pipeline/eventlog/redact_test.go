package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/pipeline/spill"
	"github.com/runcode-go/runcode/tools"
)

// secret needs escaping, so that it stands in the events in several spellings.
const secret = `hunter2"\hunter2`

// TestNoFileHoldsASecret puts a secret into whatever a call can bring into the
// log, small and large, and looks for it in every file.
func TestNoFileHoldsASecret(t *testing.T) {
	for _, tt := range []struct{ name, around string }{
		{"small", ""},
		{"large", strings.Repeat("filler ", 12_000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			r := redact.New(&redact.Options{Secrets: []redact.Secret{{Name: "SECRET", Value: secret}}})
			store, err := spill.Open(filepath.Join(dir, "spill"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			log, err := eventlog.Open(filepath.Join(dir, "log.jsonl"), &eventlog.Options{Redact: r.JSON, Spill: store.Put})
			if err != nil {
				t.Fatal(err)
			}
			leaky(t, log, tt.around+secret+tt.around)
			mustClose(t, log)

			c, err := eventlog.ReadFile(filepath.Join(dir, "log.jsonl"), nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, e := range c.Events {
				if tt.around != "" || strings.Contains(e.JSON().String(), "[redacted") {
					seen[e.Type] = true
				}
			}
			check(t, "types that had a secret", seen, map[string]bool{
				pipeline.EventToolCall: true, pipeline.EventToolResult: true, pipeline.EventCodeDispatchStart: true,
				pipeline.EventCodeDispatch: true, pipeline.EventUserMessage: true, "hook/result": true,
			})
			files := noneHolds(t, dir, "hunter2")
			if large := tt.around != ""; large != (files > 1) {
				t.Errorf("%d files were written", files)
			}
		})
	}
}

// noneHolds looks for a part of the secret that every spelling has.
func noneHolds(t *testing.T, dir, part string) (files int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		if at := strings.Index(read(t, path), part); at >= 0 {
			text := read(t, path)
			t.Errorf("%s holds the secret: ...%s...", path, text[max(0, at-200):min(len(text), at+50)])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// leaky runs calls that carry text in arguments, results, error texts, reasons,
// contexts, ids and names.
func leaky(t *testing.T, log *eventlog.Log, text string) {
	t.Helper()
	args := object("x", text, "password", "hunter2", text, 1).String()
	var p *pipeline.Pipeline
	p = pipelinetest.New(t, &pipeline.Options{Sink: log, LogRequired: true},
		pipelinetest.Echo("echo"),
		pipelinetest.Failing("fail", errors.New(text)),
		pipelinetest.Tool("crash", func(context.Context, *tools.Run) (tools.Result, error) { panic(text) }),
		pipelinetest.Tool("image", func(context.Context, *tools.Run) (tools.Result, error) {
			return tools.Result{Content: []tools.Content{tools.ImageContent(text, text), {Type: text, URI: text}}}, nil
		}),
		pipelinetest.Text("denied", ""),
		pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			for i, name := range []string{"echo", "fail", "crash", "image", "denied", text} {
				p.Execute(ctx, pipeline.Request{ID: fmt.Sprint("s", i), Name: name, Args: args, Parent: run})
			}
			p.Execute(ctx, pipeline.Request{ID: text, Name: "echo", Args: "no JSON: " + text, Parent: run})
			run.Defer(tools.ContextMessage(text, text))
			return tools.Result{Value: tools.StringJSON(args)}, nil
		}))
	p.PreExecute.Use("rule", func(ctx context.Context, call tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		if call.Name() == "denied" {
			return pipeline.Deny(text), nil
		}
		return next(ctx)
	})
	if err := p.Emit("hook/result", object("reason", text)); err != nil {
		t.Fatal(err)
	}
	p.Batch(context.Background(), []pipeline.Request{
		{ID: "c1", Name: "outer", Args: args},
		{ID: "c2", Name: "fail", Args: `{"x": "twice", "x": ` + tools.StringJSON(text).String() + `}`},
	})
}

// An event that cannot be redacted is not written.
func TestRedactorsThatMisbehave(t *testing.T) {
	for _, tt := range []struct {
		name   string
		redact func(tools.JSON) tools.JSON
		want   string
	}{
		{"crashes", func(tools.JSON) tools.JSON { panic(secret) }, "the redactor crashed"},
		{"returns no value", func(tools.JSON) tools.JSON { return tools.JSON{} }, "it has no data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			log, err := eventlog.Open(path, &eventlog.Options{Redact: tt.redact})
			if err != nil {
				t.Fatal(err)
			}
			err = log.Emit(event(0))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
			mustClose(t, log)
			check(t, "file", read(t, path), "")
		})
	}
}

// The log must be free while a redactor or a store works: they may look at it.
func TestForeignCodeHoldsNoLock(t *testing.T) {
	var log *eventlog.Log
	log, err := eventlog.Open(filepath.Join(t.TempDir(), "log.jsonl"), &eventlog.Options{
		Redact: func(v tools.JSON) tools.JSON { log.NextSeq(); return v },
		Spill:  func(context.Context, string) (string, error) { return fmt.Sprint("at ", log.NextSeq()), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if err := log.Emit(pipeline.Event{Type: pipeline.EventToolCall, Data: tools.StringJSON(strings.Repeat("x", 1<<17))}); err != nil {
		t.Fatal(err)
	}
}

func TestOneWriterAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	first := mustOpen(t, path)
	_, err := eventlog.Open(path, nil)
	if err == nil || !strings.Contains(err.Error(), "another writer has it open") {
		t.Errorf("a second writer: error = %v", err)
	}
	// The refusal takes nothing from the first.
	if err := first.Emit(event(0)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, first)
	check(t, "next seq", mustOpen(t, path).NextSeq(), uint64(1))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "size", info.Size(), int64(len(line(0))))
}
