package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/agent"
	"github.com/runcode-go/runcode/internal/bench"
	"github.com/runcode-go/runcode/internal/terminal"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline/redact"
)

// benchFlags are the flags of `runcode bench`. Those of an agent serve --live,
// those of a session --script.
type benchFlags struct {
	agentFlags
	options        bench.Options
	details        bool
	html, compare  string
	failOver       percent
	script, prompt string
	runs           count
	maxRequests    count
	maxSpent       count
	maxMoney       float64
	prices         bench.Prices
}

func newBenchCommand(s *streams) *cobra.Command {
	f := benchFlags{failOver: 0.05}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Compare programs with direct tool calls: tokens, requests, time",
		Long: "bench plays tasks in several ways: direct calls one by one, direct calls sent together where\n" +
			"none needs another's result, and one program. Everything really runs, but the model, which is\n" +
			"scripted: tokens are the same on every run, and nothing is sent anywhere. Ways that do not end\n" +
			"in the same state with the same answer are not compared.\n\n" +
			"With --script it compares a program of yours with its calls made directly. The program runs\n" +
			"once with your tools, under your rules; the rest is played from what they returned.\n\n" +
			"With --live a model works on the tasks, several times in each way; this sends requests and\n" +
			"costs money. A recorded run replays to the same report.\n\n" +
			"Exit status: 0 compared, 1 a comparison is refused or, with --compare, worse, 2 usage.",
		Example: "  runcode bench\n" +
			"  runcode bench --quick --html report.html\n" +
			"  runcode bench --json > new.json && runcode bench --compare old.json --fail-over 5%\n" +
			"  runcode bench --script report.ts --mock tools.json\n" +
			"  runcode bench --live openai --model gpt-5 --max-money 2 --price-in 1.25 --price-out 10",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBench(commandContext(cmd), s, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&f.options.Only, "only", nil, "the workloads whose name begins with one of these `names`")
	flags.BoolVar(&f.options.Quick, "quick", false, "few and small workloads")
	flags.StringVar(&f.options.Data, "data", "", "the `directory` of recorded conversations (bfcl-multi-turn, tau2-retail, nestful) and tool lists (mcp-tools)")
	flags.Uint64Var(&f.options.Seed, "seed", 0, "the `number` the workloads' data comes from")
	flags.IntVar(&f.options.Repeat, "repeat", 5, "how often programs are timed; 0: not at all")
	flags.Float64Var(&f.options.RequestSeconds, "request-seconds", 1, "modelled: `seconds` before an answer begins")
	flags.Float64Var(&f.options.TokensPerSecond, "tokens-per-second", 60, "modelled: the `rate` of an answer")
	flags.BoolVar(&f.details, "details", false, "print every figure of every way")
	flags.StringVar(&f.html, "html", "", "write a report with plots to this `file`")
	flags.StringVar(&f.compare, "compare", "", "print what changed since the report in this `file` (made with --json)")
	flags.Var(&f.failOver, "fail-over", "with --compare: fail if a number of tokens or requests grew by more than this `share`")
	flags.StringVar(&f.script, "script", "", "compare the program in this `file`, or - for standard input")
	flags.StringVar(&f.prompt, "prompt", "", "with --script: the task, in a user's `words`")
	flags.StringVar(&f.api, "live", "", "let a model work, over this `API`: openai, openai-responses or anthropic")
	flags.StringVar(&f.model, "model", "", "with --live: the `model`'s name")
	flags.StringVar(&f.baseURL, "api-url", "", "with --live: the `URL` before the API's path (default the API's own)")
	flags.StringVar(&f.keyEnv, "key-env", "", "with --live: the `variable` of the environment that holds the key")
	flags.Var(&f.runs, "runs", "with --live: runs of each task in each way (default 5)")
	flags.Var(&f.maxSteps, "max-steps", "with --live: most requests of one run (default 25)")
	flags.Var(&f.maxTokens, "max-tokens", "with --live: most tokens of one answer (default the API's)")
	flags.Var(&f.maxRequests, "max-requests", "with --live: most requests in all (default 1000)")
	flags.Var(&f.maxSpent, "max-spent-tokens", "with --live: most tokens in all (default no limit)")
	flags.Float64Var(&f.maxMoney, "max-money", 0, "with --live: most `money` in all, in the currency of the prices (default no limit)")
	flags.Float64Var(&f.prices.Input, "price-in", 0, "with --live: `price` of a million input tokens")
	flags.Float64Var(&f.prices.Cached, "price-cached", 0, "with --live: `price` of a million cached input tokens")
	flags.Float64Var(&f.prices.Output, "price-out", 0, "with --live: `price` of a million output tokens")
	flags.StringVar(&f.record, "record", "", "with --live: write requests and answers to this new `file`, to replay them")
	flags.StringVar(&f.replay, "replay", "", "with --live: take the answers from this `file` and send nothing")
	f.registerTools(flags)
	f.mode = codemode.ModeCode.String()
	f.registerRest(flags)
	return cmd
}

// percent is a flag value such as 5% or 0.05.
type percent float64

func (p *percent) Set(text string) error {
	number, isPercent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 {
		return errors.New("give a share such as 5% or 0.05")
	}
	if isPercent {
		v /= 100
	}
	*p = percent(v)
	return nil
}

func (p *percent) String() string { return fmt.Sprintf("%v%%", float64(*p)*100) }
func (*percent) Type() string     { return "share" }

func runBench(ctx context.Context, s *streams, f *benchFlags) error {
	if f.script != "" && f.api != "" {
		return errors.New("--script and --live exclude each other: a model writes programs of its own")
	}
	old, err := f.older()
	if err != nil {
		return err
	}
	if f.inProcess {
		f.options.Isolation = codemode.IsolationInProcess
	}
	if isTerminal(s.err) && !f.quiet {
		f.options.Progress = func(title string) { fmt.Fprintf(s.err, "runcode: %s\n", termtext.Escape(title)) }
	}
	var report *bench.Report
	switch {
	case f.script != "":
		report, err = benchScript(ctx, s, f)
	case f.api != "":
		report, err = benchLive(ctx, f)
	default:
		var stop func()
		ctx, stop = interruptible(ctx, func() {})
		defer stop()
		if report, err = bench.Run(ctx, &f.options); err != nil && ctx.Err() != nil {
			err = &programFailed{context.Cause(ctx)}
		}
	}
	if err != nil {
		return err
	}
	return f.print(s, report, old)
}

// older is the report to compare with, nil for none. It is read first: a wrong
// file should not be found out after the work.
func (f *benchFlags) older() (*bench.Report, error) {
	if f.compare == "" {
		return nil, nil
	}
	file, err := os.Open(f.compare)
	if err != nil {
		return nil, fmt.Errorf("--compare: %w", err)
	}
	defer file.Close()
	old, err := bench.ReadReport(file)
	if err != nil {
		return nil, fmt.Errorf("--compare %s: %w", f.compare, err)
	}
	return old, nil
}

// benchScript runs a person's program in a session, and compares it.
func benchScript(ctx context.Context, s *streams, f *benchFlags) (_ *bench.Report, err error) {
	code, err := readScript(s.in, f.script)
	if err != nil {
		return nil, err
	}
	code = withoutHashbang(code)
	name := "standard input"
	if f.script != "-" {
		name = filepath.Base(f.script)
	}
	ses, err := readSession(s, &f.sessionFlags)
	if err != nil {
		return nil, err
	}
	ctx, stop := interruptible(ctx, ses.interrupted)
	defer stop()
	if err := ses.open(ctx, audience{source: terminal.SourceOf(name, code)}); err != nil {
		return nil, err
	}
	report, err := bench.RunScript(ctx, bench.Script{
		Name: name, Code: code, Prompt: f.prompt,
		Pipeline: ses.pipeline, CodeMode: ses.codemode, Tools: ses.tools.registry.All(), Agent: actor{},
	}, &f.options)
	if err != nil {
		err = &programFailed{err}
	}
	return report, errors.Join(err, ses.close())
}

func benchLive(ctx context.Context, f *benchFlags) (_ *bench.Report, err error) {
	api, err := f.check()
	if err != nil {
		return nil, err
	}
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	f.secrets = append(f.secrets, redact.Secret{Name: f.keyVariable(), Value: key})
	o := bench.LiveOptions{
		API: api, Model: f.model, Redact: withSecrets(f.secrets).JSON, Runs: int(f.runs), Only: f.options.Only, Seed: f.options.Seed, Isolation: f.options.Isolation,
		MaxSteps: int(f.maxSteps), MaxTokens: int(f.maxTokens), Requests: int(f.maxRequests), Tokens: int(f.maxSpent), Money: f.maxMoney, Prices: f.prices, Progress: f.options.Progress,
	}
	switch {
	case f.replay != "":
		file, err := os.Open(f.replay)
		if err != nil {
			return nil, fmt.Errorf("--replay: %w", err)
		}
		defer file.Close()
		o.Replay = file
	default:
		o.Transport = &agent.Client{API: api, BaseURL: f.baseURL, Key: key}
	}
	if f.record != "" {
		file, openErr := os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if openErr != nil {
			return nil, fmt.Errorf("--record: %w", openErr)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		o.Record = file
	}
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	report, err := bench.Live(ctx, o)
	if err != nil {
		return nil, &programFailed{err}
	}
	return report, nil
}

// print writes the report where it is wanted. What the report finds wrong is the
// error.
func (f *benchFlags) print(s *streams, report, old *bench.Report) error {
	var out bytes.Buffer
	redactor, escape := withSecrets(f.secrets), termtext.Escape
	switch {
	case f.json:
		escape = termtext.EscapeJSON
		if err := report.JSON(&out); err != nil {
			return err
		}
	default:
		if err := report.Table(&out); err != nil {
			return err
		}
		if f.details {
			out.WriteString("\n")
			if err := report.Details(&out); err != nil {
				return err
			}
		}
	}
	if f.html != "" {
		if err := writeHTML(f.html, report, redactor); err != nil {
			return err
		}
	}
	var failed error
	if old != nil {
		diff, err := bench.Compare(old, report, float64(f.failOver))
		if err != nil {
			return fmt.Errorf("--compare: %w", err)
		}
		to := io.Writer(&out)
		if f.json {
			to = s.err
		}
		fmt.Fprintf(to, "\nSince %s:\n", f.compare)
		if err := diff.Table(to); err != nil {
			return err
		}
		if diff.Failed {
			failed = fmt.Errorf("the report is worse than %s by more than %s", f.compare, &f.failOver)
		}
	}
	if err := s.print(redactor.Known(out.String()), escape); err != nil {
		return &programFailed{fmt.Errorf("cannot write the report: %w", err)}
	}
	if refused := report.Refused(); len(refused) > 0 {
		failed = errors.Join(fmt.Errorf("%s: the ways to do it disagree, so they are not compared: %s", refused[0].Workload, refused[0].Refused), failed)
	}
	if failed != nil {
		return &programFailed{failed}
	}
	return nil
}

func writeHTML(path string, report *bench.Report, redactor *redact.Redactor) error {
	var page bytes.Buffer
	if err := report.HTML(&page); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	if err := os.WriteFile(path, []byte(redactor.Known(page.String())), 0o600); err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	return nil
}
