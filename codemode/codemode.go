package codemode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// ToolName is the reserved name of the tool that carries programs.
const ToolName = tools.TransportName

// Limits bounds one run; see runtime.Limits for fields, units and defaults.
type Limits = runtime.Limits

// Options tune a CodeMode. The zero value is the recommended setting.
type Options struct {
	// Mode is how tools are presented to the model and which calls are allowed
	// directly, for agents that CodeMode.PresentAs gives no other.
	Mode Mode
	// Isolation chooses where programs run.
	Isolation Isolation
	// Limits bounds every run. A program cannot raise them.
	Limits Limits
	// Parallel is how many sub-calls may overlap. Zero and one mean that calls
	// run one after another in the order they were made, also under
	// Promise.all. Above one, concurrency-safe tools overlap and any other call
	// runs alone. At most runtime.MaxParallel.
	Parallel int
	// Contexts is what becomes of the additional contexts of sub-calls.
	Contexts Contexts
	// PromptBudget is how many tokens the declarations in the prompt may take,
	// counted as four bytes each. Over it the prompt lists the tools, and programs
	// look them up with the global catalog. Zero means bindings.DefaultBudget.
	PromptBudget int
	// MaxText bounds the text a model reads of one result, in bytes. Zero means
	// DefaultMaxText.
	MaxText int
	// Store keeps the whole text of a result that is over MaxText and returns
	// where it is, in words the model can use: a path it may read, a URL. Nil:
	// what is cut is gone, but for Report.Output. An error or a panic costs the
	// text and not the result. Its ctx lasts 30 seconds, also in a run that was
	// cancelled. It may be called from several goroutines at once.
	Store func(ctx context.Context, callID, text string) (locator string, err error)
	// Redact takes secrets out of the text a model reads of a result, before it is
	// cut or stored: no later redactor finds a secret that a cut has parted. Nil:
	// nothing is taken out. Values, and Report.Output, are never altered. A panic
	// costs the text and not the result.
	Redact func(text string) string
	// MaxImages bounds the images of sub-calls that follow a result, in bytes
	// of base64. Zero means DefaultMaxImages.
	MaxImages int
	// OnLog receives console lines as they are printed, with the id of the
	// run_code call. It may be called from several goroutines at once when
	// several programs run. It must not block: its run waits for it.
	OnLog func(callID string, line runtime.Line)
	// Record makes runs repeatable from the log: what a program takes from the world
	// around it is in an event of the type EventWorld, and its clock and randomness
	// are such that they can be had again. The pipeline must log values
	// (pipeline.Options.Values, with a Sink). A program notices this in its clock,
	// which stands still while it computes and moves on to the time of each result
	// it takes and of each timer that fires: one that waits for Date.now() to
	// change without awaiting anything ends at its compute limit. Its randomness,
	// crypto's too, follows from what is in the log.
	Record bool
	// Worker tunes worker processes.
	Worker WorkerOptions
	// Runtime replaces the engine and its isolation; CodeMode closes it.
	Runtime runtime.Runtime
}

// DefaultMaxImages bounds the images that follow one result.
const DefaultMaxImages = 8 << 20

// Contexts is what becomes of the additional contexts of sub-calls.
type Contexts uint8

const (
	// DropContexts drops and counts them, so that a call and its result stay
	// next to each other in the conversation.
	DropContexts Contexts = iota
	// DeferContexts hands them to the outer result, which they follow.
	DeferContexts
)

// maxNesting is how many runs may stand inside each other, the outermost
// included: a program calls a sub-agent tool, whose model calls run_code.
const maxNesting = 3

// maxAbandoned is how many abandoned bodies may still run when a program begins:
// each keeps a goroutine and may act, and nothing else bounds their number.
const maxAbandoned = 16

// CodeMode is the run_code tool of one pipeline. It is safe for concurrent use.
type CodeMode struct {
	pipeline *pipeline.Pipeline
	runtime  runtime.Runtime
	opts     Options

	modes modes

	mu    sync.Mutex
	known []*snapshot // the latest first; mu is held
}

// maxSnapshots is how many sets of tools are remembered: agents may have
// different ones.
const maxSnapshots = 16

// snapshot is what is made of the tools registered at one moment. It is
// immutable.
type snapshot struct {
	list    []*tools.Tool
	catalog *bindings.Catalog
	notes   []string // about the catalog: short names that clash
}

// New installs run_code in the pipeline. It fails if the pipeline has it
// already, if an option or limit cannot be, and if the chosen isolation cannot
// be had: it never falls back to a weaker one. Close the CodeMode when done.
func New(p *pipeline.Pipeline, opts *Options) (*CodeMode, error) {
	if p == nil {
		return nil, errors.New("codemode.New needs a pipeline, got nil")
	}
	c := &CodeMode{pipeline: p}
	if opts != nil {
		c.opts = *opts
	}
	if err := c.opts.check(); err != nil {
		return nil, err
	}
	if c.opts.Record && !p.LogsValues() {
		return nil, errors.New("option Record needs a pipeline that logs values; set Values and Sink in its options")
	}
	rt, err := openRuntime(&c.opts)
	if err != nil {
		return nil, err
	}
	c.runtime = rt
	tool, err := tools.NewTool(&tools.Definition{
		Name:        ToolName,
		Description: bindings.ToolDescription,
		Input:       bindings.TransportSchema(),
		Handler:     c.run,
	})
	if err == nil {
		err = p.InstallTransport(pipeline.Transport{
			Tool:     tool,
			Visible:  func(scopes []any) bool { return c.mode(scopes) != ModeNative },
			Collapse: func(scopes []any) bool { return c.mode(scopes) == ModeCode },
		})
	}
	if err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	return c, nil
}

func (o *Options) check() error {
	if err := o.Mode.check(); err != nil {
		return err
	}
	if o.Parallel < 0 || o.MaxText < 0 || o.MaxImages < 0 || o.PromptBudget < 0 {
		return fmt.Errorf("option Parallel (%d), MaxText (%d), MaxImages (%d) or PromptBudget (%d) is negative; zero takes the default", o.Parallel, o.MaxText, o.MaxImages, o.PromptBudget)
	}
	if o.Parallel > runtime.MaxParallel {
		return fmt.Errorf("option Parallel is %d; at most %d calls may overlap", o.Parallel, runtime.MaxParallel)
	}
	if o.Contexts > DeferContexts {
		return fmt.Errorf("unknown Contexts(%d); use DropContexts or DeferContexts", o.Contexts)
	}
	var err error
	if o.Limits, err = o.Limits.WithDefaults(); err != nil {
		return err
	}
	o.Parallel = max(o.Parallel, 1)
	if o.MaxText == 0 {
		o.MaxText = DefaultMaxText
	}
	if o.MaxImages == 0 {
		o.MaxImages = DefaultMaxImages
	}
	return nil
}

// Close ends live runs as aborted, waits for them, and ends the worker
// processes. It may be called twice.
func (c *CodeMode) Close() error { return c.runtime.Close() }

// Call executes a model's call of run_code; the request's name may be left
// empty. It is pipeline.Execute, which serves run_code as well.
func (c *CodeMode) Call(ctx context.Context, req pipeline.Request) pipeline.Outcome {
	if req.Name == "" {
		req.Name = ToolName
	}
	return c.pipeline.Execute(ctx, req)
}

// Program is a program that Go code runs by itself, without a model.
type Program struct {
	Code        string     // the body of an async function, JavaScript or TypeScript
	Description string     // what it is for, in the log; empty: "Run a program"
	Input       tools.JSON // the global input; zero: none
	ID          string     // the call's id; empty: a fresh one
	Agent       any        // the acting agent
}

// Run runs a program through the whole pipeline, as a call of run_code. Code
// that is not valid UTF-8 fails as invalid-input rather than being altered.
func (c *CodeMode) Run(ctx context.Context, p Program) pipeline.Outcome {
	if p.Description == "" {
		p.Description = "Run a program"
	}
	extra := given{input: p.Input}
	if !utf8.ValidString(p.Code) {
		extra.refusal = "the program is not valid UTF-8; save it as UTF-8 and run it again"
		p.Code = ""
	}
	args, err := tools.ToJSON(arguments{Code: p.Code, Description: strings.ToValidUTF8(p.Description, "\uFFFD")})
	if err != nil {
		extra.refusal = err.Error()
	}
	ctx = context.WithValue(ctx, givenKey{}, extra)
	return c.Call(ctx, pipeline.Request{ID: p.ID, Args: args.String(), Agent: p.Agent})
}

// arguments is what a model sends to run_code.
type arguments struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}

type (
	givenKey struct{} // what Run was given beside the arguments
	depthKey struct{} // how many runs enclose this one
)

// given is what Run adds to a call that a model's call does not have.
type given struct {
	input   tools.JSON
	refusal string // why the program cannot be run at all
}

// run is the body of run_code.
func (c *CodeMode) run(ctx context.Context, run *tools.Run) (tools.Result, error) {
	var args arguments
	if err := run.Args().Unmarshal(&args); err != nil {
		return tools.Result{}, err
	}
	if strings.TrimSpace(args.Description) == "" {
		return tools.Result{}, errors.New("invalid description: expected a non-empty string")
	}
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxNesting {
		return tools.Result{}, c.refused(ctx, run, runtime.Failure{
			Kind:    runtime.CallLimit,
			Message: fmt.Sprintf("run_code is nested %d levels deep, which is the limit; return the data to the outer program instead", maxNesting),
		})
	}
	if abandoned := c.pipeline.Abandoned(); len(abandoned) >= maxAbandoned {
		return tools.Result{}, c.refused(ctx, run, tooManyAbandoned(abandoned))
	}
	extra, _ := ctx.Value(givenKey{}).(given)
	if extra.refusal != "" {
		return tools.Result{}, c.refused(ctx, run, runtime.Failure{Kind: runtime.InvalidInput, Message: extra.refusal})
	}
	now, err := c.snapshot(run.Call().Agent())
	if err != nil {
		return tools.Result{}, err
	}
	// The input is this program's alone: a program of a sub-agent has its own.
	ctx = context.WithValue(context.WithValue(ctx, depthKey{}, depth+1), givenKey{}, nil)

	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	b := &bridge{c: c, run: run, catalog: now.catalog, end: end}
	if c.opts.Parallel > 1 {
		b.lane = newLane()
	}
	req := runtime.Request{
		Program:  args.Code,
		Bindings: bound(now.catalog, b.call, b.lookUp),
		Input:    extra.input.String(),
		Limits:   c.opts.Limits,
		Parallel: c.opts.Parallel,
		Log:      c.logger(run.Call().ID()),
		Nested:   depth > 0,
		Trust:    run.Call().Agent(),
	}
	if c.opts.Record {
		if err := c.record(&req, run.Call().ID(), now.list); err != nil {
			return tools.Result{}, err
		}
	}
	res, err := c.runtime.Run(ctx, req)
	if err != nil {
		return tools.Result{}, err
	}
	if res.Failure != nil {
		return tools.Result{}, c.failed(ctx, run.Call().ID(), res, b)
	}
	return c.completed(ctx, res, b)
}

// refused is the failure of a program that is not run.
func (c *CodeMode) refused(ctx context.Context, run *tools.Run, f runtime.Failure) *RunError {
	return c.failed(ctx, run.Call().ID(), runtime.Result{Failure: &f}, &bridge{})
}

func (c *CodeMode) failed(ctx context.Context, callID string, res runtime.Result, b *bridge) *RunError {
	e := &RunError{
		Failure: *res.Failure,
		Logs:    res.Logs,
		Report:  newReport(res, b.ledger(), b.notes(), b.dropped()),
	}
	e.Report.Output = e.FullText()
	e.text = c.fit(ctx, callID, c.redact(e.Report.Output), c.opts.MaxText-len(failurePrefix))
	return e
}

// completed makes the outcome of a run that returned: the canonical value, the
// text cut to the budget, the images of sub-calls, and the notes.
func (c *CodeMode) completed(ctx context.Context, res runtime.Result, b *bridge) (tools.Result, error) {
	var result tools.JSON
	if res.Value != "" {
		var err error
		if result, err = tools.ParseJSON(res.Value); err != nil {
			return tools.Result{}, fmt.Errorf("the runtime returned a value that is not JSON: %w", err)
		}
	}
	value := resultValue(res.Logs, result)
	report := newReport(res, b.ledger(), b.notes(), b.dropped())
	report.Output = renderText(res.Logs, result)
	return tools.Result{Value: value, Content: c.content(ctx, b.run.Call().ID(), report, b.images(c.opts.MaxImages)), Detail: report}, nil
}

// content is what a model reads of a run that returned: the output, the images,
// the notes. The texts fit the budget together; the notes get at most a quarter.
func (c *CodeMode) content(ctx context.Context, callID string, report *Report, images []tools.Content) []tools.Content {
	rest := images
	if notes := report.Usage.Notes; len(notes) > 0 {
		text := clip(c.redact("note: "+strings.Join(notes, "\nnote: ")), c.opts.MaxText/4, unstored)
		rest = append(rest, tools.TextContent(text))
	}
	room := c.opts.MaxText
	for _, block := range rest {
		room -= len(block.Text) + 1
	}
	return append([]tools.Content{tools.TextContent(c.fit(ctx, callID, c.redact(report.Output), room))}, rest...)
}

// snapshot is the tools an agent sees now and their catalogue, which is built
// again only for a set of tools that has not been seen lately.
func (c *CodeMode) snapshot(agent any) (*snapshot, error) {
	list := c.pipeline.Tools(agent)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.known {
		if slices.Equal(list, s.list) {
			c.known = slices.Insert(slices.Delete(c.known, i, i+1), 0, s)
			return s, nil
		}
	}
	catalog, notes, err := bindings.New(list)
	if err != nil {
		return nil, err
	}
	s := &snapshot{list, catalog, notes}
	c.known = slices.Insert(c.known, 0, s)
	c.known = c.known[:min(len(c.known), maxSnapshots)]
	return s, nil
}

func (c *CodeMode) logger(callID string) func(runtime.Line) {
	if c.opts.OnLog == nil {
		return nil
	}
	return func(line runtime.Line) { c.opts.OnLog(callID, line) }
}
