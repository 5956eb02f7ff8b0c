package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/internal/trace/oteltrace"
	"github.com/runcode-go/runcode/internal/trace/replay"
	"github.com/runcode-go/runcode/runtime/worker"
)

// traceFlags are the flags of `runcode trace`.
type traceFlags struct {
	waterfall, summary bool
	html, chrome, otel string
}

func newTraceCommand(s *streams) *cobra.Command {
	var f traceFlags
	cmd := &cobra.Command{
		Use:   "trace LOG",
		Short: "Show what happened in an event log",
		Long: "trace reads the log of runcode run --events, or of a DSH session, and shows the calls as\n" +
			"a tree with a summary by tool. With --html it writes one page that needs no network: the\n" +
			"program beside its calls, a timeline, arguments and results, and the way of every call\n" +
			"through the stages, where the log has them (runcode run --stages).\n\n" +
			"Exit status: 0 the log is sound, 1 something is wrong with it (it says what), 2 usage.",
		Example: "  runcode trace log.jsonl\n" +
			"  runcode trace testdata/traces/hostile-listener.jsonl --html trace.html\n" +
			"  runcode trace log.jsonl --chrome trace.json   # for ui.perfetto.dev",
		Args: oneLog("trace"),
		RunE: func(cmd *cobra.Command, args []string) error { return showTrace(commandContext(cmd), s, &f, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.waterfall, "waterfall", false, "show when each call ran, as bars")
	flags.BoolVar(&f.summary, "summary", false, "show the summary by tool alone")
	flags.StringVar(&f.html, "html", "", "write a page to this `file` (- for standard output)")
	flags.StringVar(&f.chrome, "chrome", "", "write trace events for Perfetto to this `file` (- for standard output)")
	flags.StringVar(&f.otel, "otel", "", "write OpenTelemetry spans, sizes and no contents, as JSON to this `file` (- for standard output)")
	return cmd
}

func oneLog(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one log, got %d arguments", command, len(args))
		}
		return nil
	}
}

func showTrace(ctx context.Context, s *streams, f *traceFlags, path string) error {
	t, readErr := trace.ReadFile(path)
	if t == nil || readErr != nil && t.Events == 0 {
		return readErr
	}
	written := false
	for _, out := range []struct {
		file  string
		write func(io.Writer) error
	}{
		{f.html, func(w io.Writer) error {
			return t.HTML(w, &trace.HTMLOptions{Title: filepath.Base(path), Redact: ownSecrets().JSON})
		}},
		{f.chrome, t.Chrome},
		{f.otel, func(w io.Writer) error { return writeSpans(ctx, w, t) }},
	} {
		if out.file == "" {
			continue
		}
		written = true
		if sameFile(out.file, path) {
			return fmt.Errorf("%s is the log itself, which would be lost; give another file", out.file)
		}
		if err := writeTo(s, out.file, out.write); err != nil {
			return err
		}
	}
	if !written {
		if err := f.print(s.out, t); err != nil {
			return fmt.Errorf("cannot write the trace: %w", err)
		}
	}
	if readErr != nil {
		return &programFailed{fmt.Errorf("the log is shown up to its fault: %w", readErr)}
	}
	if n := len(t.Problems); n > 0 {
		if !written && !f.summary && !f.waterfall { // the tree has them
			return &programFailed{}
		}
		return &programFailed{fmt.Errorf("the log has %s, the first: %s", counted(n, "problem", "problems"), termtext.EscapeLine(t.Problems[0].Text))}
	}
	return nil
}

// print writes what was asked for, whose texts are escaped.
func (f *traceFlags) print(w io.Writer, t *trace.Trace) error {
	switch {
	case f.waterfall:
		if err := t.Waterfall(w); err != nil || !f.summary {
			return err
		}
	case !f.summary:
		if err := t.Tree(w); err != nil {
			return err
		}
	}
	return t.Summary(w)
}

// writeTo writes to a file that only its owner can read, as the log is.
func writeTo(s *streams, name string, write func(io.Writer) error) error {
	if name == "-" {
		return write(s.out)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

// writeSpans exports the spans of a trace as JSON lines.
func writeSpans(ctx context.Context, w io.Writer, t *trace.Trace) error {
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(w))
	if err != nil {
		return err
	}
	service := resource.NewSchemaless(attribute.String("service.name", "runcode")) // instead of the program's file name
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithResource(service))
	oteltrace.Spans(ctx, provider.Tracer("github.com/runcode-go/runcode"), t)
	return provider.Shutdown(ctx)
}

// replayFlags are the flags of `runcode replay`.
type replayFlags struct {
	call, program   string
	inProcess, json bool
}

// exitIncomplete is the exit status of a replay that could not go on.
const exitIncomplete = 3

func newReplayCommand(s *streams) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay LOG",
		Short: "Run a logged program again against what was recorded",
		Long: "replay runs a program of an event log once more. No tool runs and nobody is asked: every\n" +
			"call gets what the log says it gave, denials included, and the first call or outcome that\n" +
			"differs is reported. With --program another program takes the place of the recorded one.\n\n" +
			"The log of a run with --record has all that is needed. Of any other, the replay says what\n" +
			"it assumes: the program's clock, randomness and input, and values that are not texts.\n\n" +
			"Exit status: 0 identical, 1 it differs, 2 usage, 3 the log does not say enough.",
		Example: "  runcode run --record --events log.jsonl script.ts && runcode replay log.jsonl\n" +
			"  runcode replay log.jsonl --program changed.ts",
		Args: oneLog("replay"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return replayLog(commandContext(cmd), s, &f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.call, "call", "", "the `id` of the call of run_code, where the log has several")
	flags.StringVar(&f.program, "program", "", "run the program in this `file` instead")
	flags.BoolVar(&f.inProcess, "in-process", false, "run the program in this process instead of a worker")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func replayLog(ctx context.Context, s *streams, f *replayFlags, path string) error {
	t, err := trace.ReadFile(path)
	if err != nil {
		return err
	}
	opts := &replay.Options{CallID: f.call, Fetch: beside(path), Redact: ownSecrets().JSON}
	if f.program != "" {
		if opts.Program, err = readScript(s.in, f.program); err != nil {
			return err
		}
		opts.Program = withoutHashbang(opts.Program)
	}
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	if !f.inProcess { // the log may come from anywhere
		rt, err := worker.New(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = rt.Close() }()
		opts.Runtime = rt
	}
	report, err := replay.Run(ctx, t, opts)
	if err != nil {
		return err
	}
	text, escape := report.String(), termtext.Escape
	if f.json {
		doc, err := encode(printedReport(*report))
		if err != nil {
			return err
		}
		text, escape = doc.String()+"\n", termtext.EscapeJSON
	}
	if err := s.print(text, escape); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	switch report.Verdict {
	case replay.Diverged:
		return &programFailed{}
	case replay.Incomplete:
		return &exitWith{exitIncomplete}
	}
	return nil
}

// printedReport is what --json prints of a replay.
type printedReport struct {
	Verdict     replay.Verdict `json:"verdict"`
	CallID      string         `json:"callId"`
	Calls       int            `json:"calls"`          // made as recorded
	Call        int            `json:"call,omitzero"`  // the number of the one that differs
	Line        int            `json:"line,omitzero"`  // where it was made
	What        string         `json:"what,omitempty"` // what differs
	Diff        string         `json:"diff,omitempty"`
	Assumptions []string       `json:"assumptions,omitempty"` // what the log does not say
}

// beside fetches what was too large for the log from the store beside it, and
// from nowhere else, whatever the log says.
func beside(log string) trace.Fetch {
	return func(_ context.Context, locator string) (string, error) {
		store, err := os.OpenRoot(log + spillSuffix)
		if err != nil {
			return "", err
		}
		defer store.Close()
		file, err := store.Open(filepath.Base(filepath.FromSlash(locator)))
		if err != nil {
			return "", err
		}
		defer file.Close()
		return readBounded(file, maxInputFile)
	}
}
