package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/internal/agent"
	"github.com/runcode-go/runcode/internal/terminal"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/tools"
)

// agentFlags are the flags of `runcode agent`.
type agentFlags struct {
	sessionFlags
	api, model, baseURL, keyEnv string
	system                      string
	maxSteps, maxTokens         count
	record, replay              string
}

// endpoints are where an API is by default, and the variable that holds its key.
var endpoints = map[string]struct{ url, key string }{
	modelapi.OpenAIChat.Name():      {"https://api.openai.com/v1", "OPENAI_API_KEY"},
	modelapi.OpenAIResponses.Name(): {"https://api.openai.com/v1", "OPENAI_API_KEY"},
	modelapi.Anthropic.Name():       {"https://api.anthropic.com", "ANTHROPIC_API_KEY"},
}

func newAgentCommand(s *streams) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent TASK|-",
		Short: "Let a model work on a task with tools (- reads the task from standard input)",
		Long: "agent asks a model, makes the calls it wants, and asks again, until it calls nothing more.\n" +
			"Its last words go to standard output. Every call, direct or from a program, goes through the\n" +
			"same rules, questions and log as in runcode run.\n\n" +
			"The key is read from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, or the variable that\n" +
			"--key-env names) and sent to the base URL alone. Any server that speaks one of the APIs will\n" +
			"do; local ones need no key.\n\n" +
			"Exit status: 0 the model is done, 1 the task failed or did not end, 2 usage or configuration.",
		Example: "  runcode agent --model gpt-5 'How many TODO comments are in docs/?'\n" +
			"  runcode agent --api anthropic --model claude-sonnet-4-5 --mode both 'Rename Foo to Bar'\n" +
			"  runcode agent --api-url http://127.0.0.1:11434/v1 --model qwen3 'List the largest files'\n" +
			"  runcode agent --replay task.cassette --model gpt-5 'How many TODO comments are in docs/?'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
				return fmt.Errorf("agent takes one task, got %d arguments; quote it, or use - to read it from standard input", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAgent(commandContext(cmd), s, &f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.api, "api", modelapi.OpenAIChat.Name(), "the model `API`: openai, openai-responses or anthropic")
	flags.StringVar(&f.model, "model", "", "the `model`'s name")
	flags.StringVar(&f.baseURL, "api-url", "", "the `URL` before the API's path (default the API's own)")
	flags.StringVar(&f.keyEnv, "key-env", "", "the `variable` of the environment that holds the key")
	flags.StringVar(&f.system, "system", "", "instructions for the model, as `text` or @FILE")
	flags.Var(&f.maxSteps, "max-steps", "most requests to the model (default 50)")
	flags.Var(&f.maxTokens, "max-tokens", "most tokens of one answer (default the API's)")
	flags.StringVar(&f.record, "record", "", "write requests and answers to this new `file`, to replay them (with --events also what runcode replay needs)")
	flags.StringVar(&f.replay, "replay", "", "take the answers from this `file` and send nothing")
	f.registerTools(flags)
	flags.StringVar(&f.mode, "mode", "code", "the `mode` in which tools are presented: code, both or native")
	f.registerRest(flags)
	return cmd
}

func runAgent(ctx context.Context, s *streams, f *agentFlags, task string) error {
	api, err := f.check()
	if err != nil {
		return err
	}
	if task, err = readTask(s.in, task); err != nil {
		return err
	}
	system, err := readSystem(f.system)
	if err != nil {
		return err
	}
	key, err := f.key()
	if err != nil {
		return err
	}
	f.secrets = append(f.secrets, redact.Secret{Name: f.keyVariable(), Value: key})
	programs := &programs{code: map[string]string{}}
	ses, err := readSession(s, &f.sessionFlags)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx, ses.interrupted)
	defer stop()
	if err := ses.open(ctx, audience{source: programs.source}); err != nil {
		return err
	}
	transport, err := f.transport(ses, api, key)
	if err != nil {
		return errors.Join(err, ses.close())
	}
	ses.pipeline.Execution.Use("programs", programs.keep)
	loop := &agent.Loop{
		API: api, Transport: transport, Model: f.model, System: system, MaxTokens: int(f.maxTokens), MaxSteps: int(f.maxSteps),
		Pipeline: ses.pipeline, CodeMode: ses.codemode, Agent: actor{}, OnAnswer: ses.showAnswer,
	}
	result, runErr := loop.Run(ctx, task)
	if runErr == nil {
		runErr = result.Err()
		if flag := raising[result.Stop]; flag != "" {
			runErr = fmt.Errorf("%w (%s)", runErr, flag)
		}
	}
	closeErr := ses.close()
	printErr := ses.printTask(result, runErr)
	if err := errors.Join(runErr, printErr, closeErr); err != nil {
		return &programFailed{err}
	}
	return nil
}

// readTask is the task as it was given, or what standard input holds.
func readTask(stdin io.Reader, given string) (string, error) {
	if given != "-" {
		return given, nil
	}
	text, err := readBounded(stdin, maxScriptFile)
	if err == nil && strings.TrimSpace(text) == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the task from standard input: %w", err)
	}
	return text, nil
}

// readSystem is a text, or what a file holds if it begins with @.
func readSystem(given string) (string, error) {
	name, ok := strings.CutPrefix(given, "@")
	if !ok {
		return given, nil
	}
	text, err := readFile(name, maxScriptFile)
	if err != nil {
		return "", fmt.Errorf("--system: cannot read the file: %w", err)
	}
	return text, nil
}

// raising is the flag that raises the limit which ended a task.
var raising = map[agent.Stop]string{agent.StopSteps: "--max-steps", agent.StopCut: "--max-tokens"}

func (f *agentFlags) check() (modelapi.API, error) {
	api, err := modelapi.ByName(f.api)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--api: %w", err)
	case f.model == "":
		return nil, errors.New("--model is needed: the name of a model that the API serves")
	case f.record != "" && f.replay != "":
		return nil, errors.New("--record and --replay exclude each other: a replay sends nothing that could be recorded")
	}
	f.recording = f.record != "" && f.events != "" // the programs as well as the model
	if f.baseURL == "" {
		f.baseURL = endpoints[f.api].url
	}
	if err := agent.CheckURL(f.baseURL); err != nil {
		return nil, fmt.Errorf("--api-url: %w", err)
	}
	return api, nil
}

// transport is what carries requests: the network, or a cassette.
func (f *agentFlags) transport(ses *session, api modelapi.API, key string) (agent.Transport, error) {
	if f.replay != "" {
		file, err := os.Open(f.replay)
		if err != nil {
			return nil, fmt.Errorf("--replay: %w", err)
		}
		defer file.Close()
		player, err := agent.NewPlayer(file)
		if err != nil {
			return nil, fmt.Errorf("--replay %s: %w", f.replay, err)
		}
		player.Redact = ses.redactor.JSON
		return player, nil
	}
	client := &agent.Client{API: api, BaseURL: f.baseURL, Key: key}
	if f.record == "" {
		return client, nil
	}
	file, err := os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	ses.closers = append(ses.closers, file.Close)
	return &agent.Recorder{Transport: client, W: file, Redact: ses.redactor.JSON}, nil
}

// keyVariable is the variable that holds the API's key.
func (f *agentFlags) keyVariable() string { return cmp.Or(f.keyEnv, endpoints[f.api].key) }

// key is the API's key. A server of one's own may need none, and a replay does.
func (f *agentFlags) key() (string, error) {
	name := f.keyVariable()
	key := strings.TrimSpace(os.Getenv(name))
	if key == "" && f.replay == "" && (f.keyEnv != "" || f.baseURL == endpoints[f.api].url) {
		return "", fmt.Errorf("there is no key: set the variable %s of the environment (keys are not taken from flags, where other processes see them)", name)
	}
	if strings.ContainsAny(key, "\r\n") {
		return "", fmt.Errorf("the variable %s holds a line break, which no key has", name)
	}
	return key, nil
}

// programs knows the programs that run, so that a person sees the line a call
// comes from.
type programs struct {
	mu   sync.Mutex
	code map[string]string // by the id of the call of run_code
}

// keep is an execution wrapper.
func (p *programs) keep(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
	if !d.Call.IsTransport() {
		return next(ctx)
	}
	var args struct {
		Code string `json:"code"`
	}
	if d.Call.Args().Unmarshal(&args) == nil {
		p.mu.Lock()
		p.code[d.Call.ID()] = args.Code
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			delete(p.code, d.Call.ID())
			p.mu.Unlock()
		}()
	}
	return next(ctx)
}

func (p *programs) source(call tools.Call) string {
	p.mu.Lock()
	code, ok := p.code[call.ParentID()]
	p.mu.Unlock()
	if !ok {
		return ""
	}
	return terminal.SourceOf("program", code)(call)
}

// showAnswer tells the person what the model says and wants.
func (s *session) showAnswer(step int, a modelapi.Answer) {
	if s.live == nil || !s.live.terminal {
		return
	}
	if text, _, _ := strings.Cut(a.Text, "\n"); text != "" && len(a.Calls) > 0 {
		s.interject("[%d] %s", step, head(text))
	}
	for _, c := range a.Calls {
		var args struct {
			Description string `json:"description"`
		}
		shown := c.Args
		if json, err := tools.ParseJSON(c.Args); err == nil && c.Name == codemode.ToolName && json.Unmarshal(&args) == nil {
			shown = args.Description
		}
		s.interject("[%d] %s %s", step, c.Name, head(shown))
	}
}

// printedTask is what --json prints of a task.
type printedTask struct {
	IsError bool `json:"isError"`
	agent.Result
	Error *printedError `json:"error,omitempty"`
}

// printTask writes the model's last words to standard output, and what the task
// cost to standard error.
func (s *session) printTask(r agent.Result, failure error) error {
	if s.live != nil {
		s.live.finish()
	}
	text, escape := s.redactor.Known(r.Text), termtext.Escape
	if s.flags.json {
		printed := printedTask{IsError: failure != nil, Result: r}
		if failure != nil {
			printed.Error = &printedError{Message: failure.Error()}
		}
		doc, err := encode(printed)
		if err != nil {
			return err
		}
		text, escape = withoutSecrets(s.redactor, doc), termtext.EscapeJSON
	}
	if isTerminal(s.streams.out) {
		text = escape(text)
	}
	var err error
	if text != "" {
		_, err = io.WriteString(s.console.out, text+"\n")
	}
	if s.live != nil {
		s.unaskedNote()
		outcome := cmp.Or(string(r.Stop), "failed")
		fmt.Fprintf(s.console.err, "runcode: %s, %s, %s, %d tokens in (%d cached), %d out\n",
			outcome, counted(r.Steps, "request", "requests"), counted(r.Calls, "call", "calls"), r.Usage.Input, r.Usage.Cached, r.Usage.Output)
	}
	if err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	return nil
}
