package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/tools"
)

// maxScriptFile bounds what is read of a script; the runtime's own limit on
// source text is far smaller and gives the better error.
const maxScriptFile = 16 << 20

// runFlags are the flags of `runcode run`.
type runFlags struct {
	tools     toolFlags
	input     string
	mode      string
	events    string
	inProcess bool
	parallel  int
	limits    limitFlags
	json      bool
	quiet     bool
}

// limitFlags bound a run; zero takes the default.
type limitFlags struct {
	wall, compute time.Duration
	calls, output int
	heap          int64
}

func (f *limitFlags) register(flags *pflag.FlagSet) {
	flags.DurationVar(&f.wall, "wall", 0, "longest time of the run (default 10m)")
	flags.DurationVar(&f.compute, "compute", 0, "longest time the program may compute; waiting for tools is free (default 1m)")
	flags.IntVar(&f.calls, "max-calls", 0, "most tool calls (default 10000)")
	flags.IntVar(&f.output, "max-output", 0, "most `bytes` of output (default 64 MiB)")
	flags.Int64Var(&f.heap, "heap", 0, "most `bytes` of memory for the program (default 512 MiB)")
}

func (f *limitFlags) limits() codemode.Limits {
	return codemode.Limits{Wall: f.wall, Compute: f.compute, Calls: f.calls, Output: f.output, Heap: f.heap}
}

func newRunCommand(s *streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run SCRIPT",
		Short: "Run a program (- reads it from standard input)",
		Long: "run executes one JavaScript or TypeScript program: the body of an async function, which\n" +
			"returns or prints what is wanted. Standard output carries exactly the outcome's text.\n\n" +
			"Exit status: 0 success, 1 the program failed, 2 usage or configuration.",
		Example: "  runcode run examples/scripts/count-markers.ts\n" +
			"  echo 'return (await tools.glob({ pattern: \"**/*.go\" })).total' | runcode run -\n" +
			"  runcode run --tools none --mock tools.json --json script.ts",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("run takes one script, got %d arguments; use - to read it from standard input", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runScript(cmd.Context(), s, &f, args[0]) },
	}
	flags := cmd.Flags()
	f.tools.register(flags)
	flags.StringVar(&f.input, "input", "", "the program's global input, as `JSON` text or @FILE")
	flags.StringVar(&f.mode, "mode", "code", "how tools are presented: code, both or native")
	flags.StringVar(&f.events, "events", "", "append the event log to this `file` (JSON lines)")
	flags.BoolVar(&f.inProcess, "in-process", false, "run in this process instead of a worker: faster to start, no memory limit")
	flags.IntVar(&f.parallel, "parallel", 0, "how many concurrency-safe calls may overlap (default 1: one after another)")
	f.limits.register(flags)
	flags.BoolVar(&f.json, "json", false, "print one JSON object: outcome, calls, usage")
	flags.BoolVar(&f.quiet, "quiet", false, "print nothing on standard error")
	return cmd
}

func runScript(ctx context.Context, s *streams, f *runFlags, path string) error {
	if ctx == nil {
		ctx = context.Background()
	}
	code, err := readScript(s.in, path)
	if err != nil {
		return err
	}
	input, err := readInput(f.input)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()

	session, err := openSession(s, f)
	if err != nil {
		return err
	}
	out := session.codemode.Run(ctx, codemode.Program{Code: code, Input: input, Description: "Run " + path, Agent: agent{}})
	if err := session.close(); err != nil {
		return fmt.Errorf("the run ended, but closing failed: %w", err)
	}
	return session.print(out)
}

// agent is who acts in this command: the person who started it.
type agent struct{}

// interruptible makes SIGINT and SIGTERM end the run as aborted.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; ok {
			cancel(errors.New("interrupted"))
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

func readScript(stdin io.Reader, path string) (string, error) {
	r := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("cannot read the script: %w", err)
		}
		defer file.Close()
		r = file
	}
	text, err := io.ReadAll(io.LimitReader(r, maxScriptFile+1))
	if err != nil {
		return "", fmt.Errorf("cannot read the script: %w", err)
	}
	if len(text) > maxScriptFile {
		return "", fmt.Errorf("the script is larger than %d bytes; put data into --input or read it with a tool", maxScriptFile)
	}
	return string(text), nil
}

// readInput reads the value of --input.
func readInput(flag string) (tools.JSON, error) {
	if flag == "" {
		return tools.JSON{}, nil
	}
	text := flag
	if file, ok := strings.CutPrefix(flag, "@"); ok {
		content, err := os.ReadFile(file)
		if err != nil {
			return tools.JSON{}, fmt.Errorf("--input: %w", err)
		}
		text = string(content)
	}
	input, err := tools.ParseJSON(text)
	if err != nil {
		return tools.JSON{}, fmt.Errorf("--input takes JSON text or @FILE: %w", err)
	}
	return input, nil
}

// session is everything one `runcode run` opens.
type session struct {
	streams  *streams
	flags    *runFlags
	codemode *codemode.CodeMode
	live     *liveView
	closers  []func() error // in the order of opening
}

func openSession(s *streams, f *runFlags) (_ *session, err error) {
	ses := &session{streams: s, flags: f}
	defer func() {
		if err != nil {
			err = errors.Join(err, ses.close())
		}
	}()
	mode, err := codemode.ParseMode(f.mode)
	if err != nil {
		return nil, fmt.Errorf("--mode: %w", err)
	}
	if mode == codemode.ModeNative {
		return nil, errors.New("--mode native offers no run_code, so there is nothing to run a program with; use code or both")
	}
	set, err := f.tools.open()
	if err != nil {
		return nil, err
	}
	ses.closers = append(ses.closers, set.close)

	opts := &pipeline.Options{}
	var sinks []pipeline.Sink
	if f.events != "" {
		log, err := eventlog.Open(f.events, nil)
		if err != nil {
			return nil, fmt.Errorf("--events: %w", err)
		}
		ses.closers = append(ses.closers, log.Close)
		opts.FirstSeq, opts.LogRequired = log.NextSeq(), true
		sinks = append(sinks, log)
	}
	if !f.quiet {
		ses.live = newLiveView(s.err)
		sinks = append(sinks, ses.live)
	}
	if len(sinks) > 0 {
		opts.Sink = pipeline.Tee(sinks...)
	}
	p := pipeline.New(set.registry, opts)
	p.PreExecute.Use("destructive", askDestructive(set.registry))

	isolation := codemode.IsolationAuto
	if f.inProcess {
		isolation = codemode.IsolationInProcess
	}
	ses.codemode, err = codemode.New(p, &codemode.Options{
		Mode:      mode,
		Isolation: isolation,
		Limits:    f.limits.limits(),
		Parallel:  f.parallel,
	})
	if err != nil {
		return nil, err
	}
	ses.closers = append(ses.closers, ses.codemode.Close)
	return ses, nil
}

// close closes in the reverse order of opening.
func (s *session) close() error {
	var errs []error
	for i := len(s.closers) - 1; i >= 0; i-- {
		errs = append(errs, s.closers[i]())
	}
	s.closers = nil
	return errors.Join(errs...)
}

// print writes the outcome and returns *programFailed if it is a failure.
func (s *session) print(out pipeline.Outcome) error {
	var err error
	if s.flags.json {
		err = s.printJSON(out)
	} else {
		err = s.printText(out)
	}
	if s.live != nil {
		s.live.summary(out)
	}
	if err != nil {
		return fmt.Errorf("cannot write the outcome: %w", err)
	}
	if out.IsError() {
		return &programFailed{}
	}
	return nil
}

// printText writes the whole text, which a model may get cut.
func (s *session) printText(out pipeline.Outcome) error {
	text := out.Text()
	if report := codemode.ReportOf(out); report != nil {
		text = report.Output
		if out.IsError() {
			text = "Error: " + text
		}
	}
	if isTerminal(s.streams.out) {
		text = termtext.Escape(text)
	}
	_, err := fmt.Fprintln(s.streams.out, text)
	return err
}

// printedOutcome is the object that --json prints.
type printedOutcome struct {
	IsError bool                  `json:"isError"`
	Text    string                `json:"text"` // what a model reads
	Value   *tools.JSON           `json:"value,omitempty"`
	Error   *printedError         `json:"error,omitempty"`
	Calls   []codemode.CallRecord `json:"calls"`
	Usage   *codemode.Usage       `json:"usage,omitempty"`
}

type printedError struct {
	Name    string `json:"name,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Kind    string `json:"kind,omitempty"`
	Line    int    `json:"line,omitempty"`   // 1-based
	Column  int    `json:"column,omitempty"` // 1-based, in characters
	Frame   string `json:"frame,omitempty"`
}

func (s *session) printJSON(out pipeline.Outcome) error {
	object := printedOutcome{IsError: out.IsError(), Text: out.Text(), Calls: []codemode.CallRecord{}}
	if value := out.Value(); !value.IsZero() {
		object.Value = &value
	}
	if report := codemode.ReportOf(out); report != nil {
		object.Calls, object.Usage = report.Calls, &report.Usage
	}
	if err := out.Err(); err != nil {
		info := out.Info()
		object.Error = &printedError{Name: info.Name, Code: info.Code, Message: err.Error()}
		var run *codemode.RunError
		if errors.As(err, &run) {
			f := run.Failure
			object.Error.Message, object.Error.Kind = f.Message, string(f.Kind)
			object.Error.Line, object.Error.Column, object.Error.Frame = f.Site.Line, f.Site.Column, f.Frame
		}
	}
	enc := json.NewEncoder(s.streams.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(object)
}
