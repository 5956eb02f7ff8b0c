package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/internal/agent"
	"github.com/runcode-go/runcode/tools"
)

// LiveOptions are what a Live does. API, Model and one of Transport and Replay
// are needed.
type LiveOptions struct {
	API   modelapi.API
	Model string
	// Transport carries the requests: an agent.Client. It is not used beside
	// Replay.
	Transport agent.Transport
	// Record takes a cassette of every exchange and of how long it took. Nil:
	// none is made.
	Record io.Writer
	// Replay is such a cassette: nothing is sent, and with the same options the
	// report is the same.
	Replay io.Reader
	// Redact is applied to both sides of a cassette. Nil changes nothing.
	Redact func(tools.JSON) tools.JSON

	Runs      int      // of each task in each arm; zero: 5
	Only      []string // as Options.Only
	Seed      uint64   // of the tasks' data
	Isolation codemode.Isolation
	MaxSteps  int // requests of one run; zero: 25
	MaxTokens int // of one answer; zero: the API's default

	// The caps of the whole benchmark. A run that meets one is a failure, and so
	// are those that were to follow. Zero: 1,000 requests, no cap of tokens, none
	// of money.
	Requests int
	Tokens   int
	Money    float64
	Prices   Prices

	Progress func(title string) // as Options.Progress
}

// Prices are those of a million tokens, in any currency. Zero is free.
type Prices struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"` // of the input, what a cache gave
	Output float64 `json:"output"`
}

func (p Prices) of(u modelapi.Usage) float64 {
	return (float64(u.Input-u.Cached)*p.Input + float64(u.Cached)*p.Cached + float64(u.Output)*p.Output) / 1e6
}

// LiveReport is what real models did. Nothing in it was measured here but the
// time of requests, which a cassette holds.
type LiveReport struct {
	API    string     `json:"api"`
	Model  string     `json:"model"`
	Runs   int        `json:"runs"`
	Prices Prices     `json:"prices"`
	Tasks  []LiveTask `json:"tasks"`
	All    []LiveArm  `json:"all"` // over all tasks
}

// LiveTask is one workload in every arm.
type LiveTask struct {
	Workload string    `json:"workload"`
	Arms     []LiveArm `json:"arms"`
}

// LiveArm is the runs of one arm: means, with the interval in which 95 of 100
// resampled means lie.
type LiveArm struct {
	Name           string   `json:"name"`
	Runs           int      `json:"runs"`
	Success        Interval `json:"success"` // a share: state and answer are right
	Requests       Interval `json:"requests"`
	Input          Interval `json:"input"` // tokens as billed, those from a cache included
	Cached         Interval `json:"cached"`
	Output         Interval `json:"output"`
	Seconds        Interval `json:"seconds"` // waiting for the model
	Money          Interval `json:"money"`
	ScriptFailures int      `json:"scriptFailures"` // programs that did not compile, threw or timed out
	Repaired       int      `json:"repaired"`       // runs with such a program that succeeded in the end
	Capped         int      `json:"capped"`         // runs that met a cap
	Errors         []string `json:"errors,omitempty"`
}

// Direct is the arm of live runs that calls tools directly, one or several at a
// time as the model likes.
const Direct = "direct"

var liveArms = []arm{{name: Direct, mode: codemode.ModeNative}, code, codeSearch}

func (o *LiveOptions) setDefaults() error {
	switch {
	case o.API == nil || o.Model == "":
		return errors.New("a live benchmark needs an API and a model")
	case (o.Transport == nil) == (o.Replay == nil):
		return errors.New("a live benchmark needs either a transport or a cassette to replay")
	case o.Record != nil && o.Replay != nil:
		return errors.New("a replay sends nothing that could be recorded; leave Record or Replay nil")
	case o.Runs < 0 || o.MaxSteps < 0 || o.MaxTokens < 0 || o.Requests < 0 || o.Tokens < 0 || o.Money < 0:
		return errors.New("a number of a live benchmark is negative; zero takes the default")
	case o.Money > 0 && o.Prices == Prices{}:
		return errors.New("a cap of money needs prices: without them nothing costs anything")
	}
	if o.Runs == 0 {
		o.Runs = 5
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = 25
	}
	if o.Requests == 0 {
		o.Requests = 1_000
	}
	return nil
}

// Live lets a model work on the built-in tasks in every arm, the arms interleaved.
// A run succeeds if the tools' final state and the answer are those of the
// scripted model; no model judges. Failures of the model or its server are part of
// the report; the error is for options, cassettes and ctx.
func Live(ctx context.Context, opts LiveOptions) (_ *Report, err error) {
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	b, err := newBench(ctx, &Options{Seed: opts.Seed, Only: opts.Only, Isolation: opts.Isolation, Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.runtime.Close()) }()
	l := &live{bench: b, opts: opts, runs: map[string][]liveRun{}}
	if err := l.connect(); err != nil {
		return nil, err
	}
	for _, w := range suite(opts.Seed, liveSizes) {
		if b.wanted(w.title()) {
			l.tasks = append(l.tasks, w)
		}
	}
	if len(l.tasks) == 0 {
		return nil, fmt.Errorf("no task is called %s", strings.Join(opts.Only, " or "))
	}
	if err := l.run(ctx); err != nil {
		return nil, err
	}
	b.report.Live = l.report()
	return b.report, nil
}

// live is one live benchmark under way.
type live struct {
	*bench
	opts   LiveOptions
	wire   agent.Transport
	player *agent.Player // nil: not a replay
	tasks  []workload
	runs   map[string][]liveRun // by task and arm
	spent  int                  // requests made
	usage  modelapi.Usage
}

// liveRun is one run of one task in one arm.
type liveRun struct {
	success, capped bool
	requests        int
	usage           modelapi.Usage
	millis          float64
	scripts         int // programs that failed
	failure         string
}

func (l *live) connect() error {
	if l.opts.Replay != nil {
		player, err := agent.NewPlayer(l.opts.Replay)
		if err != nil {
			return err
		}
		player.Redact = l.opts.Redact
		l.wire, l.player = player, player
		return nil
	}
	l.wire = &stopwatch{l.opts.Transport}
	if l.opts.Record != nil {
		l.wire = &agent.Recorder{Transport: l.wire, W: l.opts.Record, Redact: l.opts.Redact}
	}
	return nil
}

// run interleaves: each round has every task in every arm, and each round and
// task begins with another arm, so that no arm always has the warm cache.
func (l *live) run(ctx context.Context) error {
	wanted := map[string]*played{}
	for _, w := range l.tasks {
		p, err := l.play(ctx, w, sequential)
		if err != nil {
			return err
		}
		wanted[w.title()] = p
	}
	for round := range l.opts.Runs {
		for i, w := range l.tasks {
			for k := range liveArms {
				a := liveArms[(k+round+i)%len(liveArms)]
				l.bench.opts.Progress(fmt.Sprintf("%s, %s, run %d of %d", w.title(), a.name, round+1, l.opts.Runs))
				r, err := l.one(ctx, w, a, wanted[w.title()])
				if err != nil {
					return err
				}
				key := w.title() + " " + a.name
				l.runs[key] = append(l.runs[key], r)
			}
		}
	}
	if l.player != nil && l.player.Left() > 0 {
		return fmt.Errorf("%d exchanges of the cassette were not used: it was recorded with other options", l.player.Left())
	}
	return nil
}

// one is one run. The error is ctx's or the cassette's.
func (l *live) one(ctx context.Context, w workload, a arm, want *played) (liveRun, error) {
	world := w.open()
	s, err := newStage(world, a, l.runtime)
	if err != nil {
		return liveRun{}, err
	}
	till := &till{live: l}
	loop := &agent.Loop{API: l.opts.API, Transport: till, Model: l.opts.Model, System: System, MaxSteps: l.opts.MaxSteps, MaxTokens: l.opts.MaxTokens, Pipeline: s.pipeline, CodeMode: s.codemode}
	result, runErr := loop.Run(ctx, w.turns[0].prompt)
	switch {
	case ctx.Err() != nil:
		return liveRun{}, context.Cause(ctx)
	case till.broken != nil:
		return liveRun{}, till.broken
	}
	r := till.run
	r.usage, r.scripts = result.Usage, s.failed
	r.capped = errors.Is(runErr, errCap) || result.Stop == agent.StopSteps
	switch {
	case runErr != nil:
		r.failure = runErr.Error()
	case result.Err() != nil:
		r.failure = result.Err().Error()
	case world.state() != want.state:
		r.failure = fmt.Sprintf("the tools end in another state than they should; the answer is %.100q", result.Text)
	case !holds(result.Text, want.answer):
		r.failure = fmt.Sprintf("the answer is %.100q and should be %q", result.Text, want.answer)
	default:
		r.success = true
	}
	return r, nil
}

var betweenDigits = regexp.MustCompile(`(\d)[,_\x{00a0}\x{202f} ](\d{3})\b`)

// holds reports whether an answer has the wanted value as a word of its own, with
// or without separators of thousands.
func holds(answer, want string) bool {
	for prev := ""; prev != answer; {
		prev, answer = answer, betweenDigits.ReplaceAllString(answer, "$1$2")
	}
	return regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(want) + `($|[^\w.-]|[.](\W|$))`).MatchString(answer)
}

var errCap = errors.New("a cap of the benchmark is reached")

// till passes requests on as long as the caps allow, and counts.
type till struct {
	live   *live
	run    liveRun
	broken error // the cassette does not fit
}

// Send implements agent.Transport.
func (t *till) Send(ctx context.Context, request tools.JSON) (string, error) {
	l := t.live
	if why := l.over(); why != "" {
		return "", fmt.Errorf("%w: %s", errCap, why)
	}
	t.run.requests++
	l.spent++
	body, err := l.wire.Send(ctx, request)
	if err != nil {
		t.broken = err
		return "", err
	}
	if answer, err := l.opts.API.Answer(body); err == nil {
		l.usage = l.usage.Add(answer.Usage)
	}
	t.run.millis += stampOf(body)
	return body, nil
}

// over says which cap is reached; "" if none is.
func (l *live) over() string {
	switch {
	case l.spent >= l.opts.Requests:
		return fmt.Sprintf("%d requests", l.opts.Requests)
	case l.opts.Tokens > 0 && l.usage.Input+l.usage.Output >= l.opts.Tokens:
		return fmt.Sprintf("%d tokens", l.opts.Tokens)
	case l.opts.Money > 0 && l.opts.Prices.of(l.usage) >= l.opts.Money:
		return fmt.Sprintf("%v of money", l.opts.Money)
	}
	return ""
}

// stopwatch writes into every answer how long it took, and makes an answer of
// every failure, so that a cassette holds both.
type stopwatch struct{ agent.Transport }

// stampName is the member that a stopwatch adds to an answer.
const stampName = "runcode_bench_ms"

// Send implements agent.Transport.
func (s *stopwatch) Send(ctx context.Context, request tools.JSON) (string, error) {
	began := time.Now()
	body, err := s.Transport.Send(ctx, request)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	answer, jsonErr := tools.ParseJSON(body)
	switch {
	case err != nil:
		answer = failure(err)
	case jsonErr != nil || answer.Kind() != '{':
		answer = failure(errors.New("the answer is no JSON object"))
	}
	var members []tools.Member
	eachMember(answer, func(name string, value tools.JSON) { members = append(members, tools.Member{Name: name, Value: value}) })
	stamp := tools.MustJSON(strconv.FormatFloat(ms(time.Since(began)), 'f', -1, 64))
	return tools.ComposeObject(append(members, tools.Member{Name: stampName, Value: stamp})...).String(), nil
}

// failure is an error in the form in which the APIs write theirs.
func failure(err error) tools.JSON {
	return made(obj{"error": obj{"type": "transport", "message": err.Error()}})
}

func stampOf(body string) float64 {
	var stamp struct {
		Ms float64 `json:"runcode_bench_ms"`
	}
	if text, err := tools.ParseJSON(body); err == nil {
		_ = text.Unmarshal(&stamp) // a cassette without stamps has no times
	}
	return stamp.Ms
}

func (l *live) report() *LiveReport {
	r := &LiveReport{API: l.opts.API.Name(), Model: l.opts.Model, Runs: l.opts.Runs, Prices: l.opts.Prices}
	all := map[string][]liveRun{}
	for _, w := range l.tasks {
		task := LiveTask{Workload: w.title()}
		for _, a := range liveArms {
			runs := l.runs[w.title()+" "+a.name]
			all[a.name] = append(all[a.name], runs...)
			task.Arms = append(task.Arms, l.summary(a.name, runs))
		}
		r.Tasks = append(r.Tasks, task)
	}
	for _, a := range liveArms {
		r.All = append(r.All, l.summary(a.name, all[a.name]))
	}
	return r
}

// maxErrors is how many different failures an arm lists.
const maxErrors = 3

func (l *live) summary(name string, runs []liveRun) LiveArm {
	of := func(value func(liveRun) float64) Interval {
		list := make([]float64, len(runs))
		for i, r := range runs {
			list[i] = value(r)
		}
		return bootstrap(list)
	}
	a := LiveArm{
		Name: name, Runs: len(runs),
		Success: of(func(r liveRun) float64 {
			if r.success {
				return 1
			}
			return 0
		}),
		Requests: of(func(r liveRun) float64 { return float64(r.requests) }),
		Input:    of(func(r liveRun) float64 { return float64(r.usage.Input) }),
		Cached:   of(func(r liveRun) float64 { return float64(r.usage.Cached) }),
		Output:   of(func(r liveRun) float64 { return float64(r.usage.Output) }),
		Seconds:  of(func(r liveRun) float64 { return r.millis / 1000 }),
		Money:    of(func(r liveRun) float64 { return l.opts.Prices.of(r.usage) }),
	}
	for _, r := range runs {
		a.ScriptFailures += r.scripts
		if r.scripts > 0 && r.success {
			a.Repaired++
		}
		if r.capped {
			a.Capped++
		}
		if r.failure != "" && len(a.Errors) < maxErrors && !slices.Contains(a.Errors, r.failure) {
			a.Errors = append(a.Errors, r.failure)
		}
	}
	return a
}

// table writes the live part of a report; nothing for nil.
func (r *LiveReport) table(b *strings.Builder) {
	if r == nil {
		return
	}
	fmt.Fprintf(b, "\n%s, %s: means of %d runs a task, in brackets 95 %% of resampled means. Tokens as billed.\n\n", r.API, r.Model, r.Runs)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "task\tarm\tsuccess\trequests\ttokens in\tof it cached\tout\tseconds\tmoney\tfailed programs\trepaired\tcapped")
	row := func(task string, a LiveArm) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\n", task, a.Name, a.Success.text(2), a.Requests.text(1), a.Input.text(0), a.Cached.text(0),
			a.Output.text(0), a.Seconds.text(2), a.Money.text(4), a.ScriptFailures, a.Repaired, a.Capped)
	}
	for _, task := range r.Tasks {
		for _, a := range task.Arms {
			row(task.Workload, a)
		}
	}
	for _, a := range r.All {
		row("all", a)
	}
	t.Flush()
	for _, task := range r.Tasks {
		for _, a := range task.Arms {
			for _, e := range a.Errors {
				fmt.Fprintf(b, "%s, %s: %s\n", task.Workload, a.Name, oneLine(e))
			}
		}
	}
}
