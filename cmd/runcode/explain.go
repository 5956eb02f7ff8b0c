package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
)

// explainFlags are the flags of `runcode explain`.
type explainFlags struct {
	tools       toolFlags
	config      configFlags
	around      policyFlags
	servers     serverFlags
	start, json bool
}

func newExplainCommand(s *streams) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain TOOL [ARGUMENTS|@FILE]",
		Short: "Say what policy would do with a call, and why",
		Long: "explain lists what a call would touch and what every rule, listener and guard says about\n" +
			"it, in the order in which the call meets them; of a call that may run also what stands\n" +
			"around the tool, such as its time limit, and who sees the result. Nothing runs: a hook or\n" +
			"another listener with effects is listed as not evaluated. It is the same for a direct call\n" +
			"and for one that a program makes.\n\n" +
			"A tool mcp__server__tool is explained without its server: what rules say does not depend on\n" +
			"it. With --servers the servers are started, so that the arguments are checked too.\n\n" +
			"Exit status: 0 however the call would fare, 2 usage or configuration.",
		Example: "  runcode explain read '{\"file_path\":\".env\"}'\n" +
			"  runcode explain --tools shell --config policy.json bash '{\"command\":\"git status\",\"description\":\"look\"}'\n" +
			"  runcode explain --mcp servers.json mcp__github__create_issue",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("explain takes a tool and its arguments as JSON, got %d arguments; for example: runcode explain read '{\"file_path\":\"a.txt\"}'", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			req := pipeline.Request{Name: args[0], Agent: actor{}}
			if len(args) == 2 {
				input, err := readValue("ARGUMENTS", args[1])
				if err != nil {
					return err
				}
				req.Args = input.String()
			}
			return explain(commandContext(cmd), s, &f, req)
		},
	}
	f.tools.register(cmd.Flags())
	f.config.register(cmd.Flags())
	f.around.register(cmd.Flags())
	f.servers.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.start, "servers", false, "start the MCP servers, to know the tool as they declare it")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object")
	cmd.ValidArgsFunction = completeTools(&f.tools)
	return cmd
}

func explain(ctx context.Context, s *streams, f *explainFlags, req pipeline.Request) error {
	if err := f.around.check(); err != nil {
		return err
	}
	set, err := f.tools.open(false)
	if err != nil {
		return err
	}
	defer set.close()
	cfg, err := f.config.load(f.tools.root)
	if err != nil {
		return err
	}
	if err := f.addServers(ctx, set, req.Name); err != nil {
		return err
	}
	p := pipeline.New(set.registry, nil)
	policy, closeHooks, err := cfg.install(p, ownFiles(), slog.New(slog.DiscardHandler), nil)
	defer closeHooks()
	if err != nil {
		return err
	}
	f.around.install(p)
	if req.Name == codemode.ToolName { // which nothing else needs to be explained
		cm, err := codemode.New(p, &codemode.Options{Isolation: codemode.IsolationInProcess})
		if err != nil {
			return err
		}
		defer cm.Close()
	}
	e := newExplained(set.root, p.Explain(req), policy, &f.around, cfg)
	if missing := f.tools.missing(req.Name); missing != "" && e.Problem != "" {
		e.Problem += "; " + missing
	}
	redactor := ownSecrets()
	text, escape := redactor.Known(e.text()), termtext.Escape
	if f.json {
		doc, err := encode(e)
		if err != nil {
			return err
		}
		text, escape = withoutSecrets(redactor, doc)+"\n", termtext.EscapeJSON
	}
	if err := s.print(text, escape); err != nil {
		return fmt.Errorf("cannot write the explanation: %w", err)
	}
	for _, note := range slices.Concat(set.notes, cfg.notes) {
		fmt.Fprintf(s.err, "note: %s\n", termtext.Escape(redactor.Known(note)))
	}
	return nil
}

// addServers adds the tools of the MCP servers or, where these are not to be
// started, a stand-in for the one that is asked about.
func (f *explainFlags) addServers(ctx context.Context, set *toolset, name string) error {
	cfg, notes, err := f.servers.load(f.tools.root, !f.config.ignore)
	if err != nil {
		return err
	}
	set.notes = append(set.notes, notes...)
	if f.start {
		return set.connect(ctx, cfg, false)
	}
	imported, ok := strings.CutPrefix(name, "mcp__")
	server, tool, _ := strings.Cut(imported, "__")
	if !ok || tool == "" || set.has(server) {
		return nil
	}
	if _, known := cfg.Servers[server]; !known {
		set.notes = append(set.notes, fmt.Sprintf("there is no MCP server %q; a file of servers is named with --mcp", server))
		return nil
	}
	set.notes = append(set.notes, fmt.Sprintf("MCP server %s is not started here, so of the tool nothing but its name is known; --servers starts it", server))
	_, err = set.registry.Add(&tools.Definition{
		Name: name, Annotations: tools.Annotations{Destructive: true, OpenWorld: true}, // as of a server that is not trusted
		Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, errors.ErrUnsupported },
	})
	return err
}

// has says whether the tools are among those of a server or document of that name.
func (s *toolset) has(server string) bool {
	return slices.ContainsFunc(s.defs, func(d *tools.Definition) bool { return strings.HasPrefix(d.Name, "mcp__"+server+"__") })
}

// explained is what --json prints.
type explained struct {
	Tool      string            `json:"tool"`
	Arguments tools.JSON        `json:"arguments"`
	Subjects  []tools.Subject   `json:"subjects"`
	Steps     []explainedStep   `json:"steps"`
	Rules     []permission.Line `json:"rules"`
	Problem   string            `json:"problem,omitempty"`
	Result    string            `json:"result"`
}

type explainedStep struct {
	Stage     string `json:"stage"`
	Name      string `json:"name"`
	Evaluated bool   `json:"evaluated"`
	Verdict   string `json:"verdict,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Effect    string `json:"effect,omitempty"` // what a wrapper of this command's own does for such a call
	// Hooks are those that such a call is put to.
	Hooks []explainedHook `json:"hooks,omitempty"`
}

type explainedHook struct {
	Place   string `json:"place"`
	Command string `json:"command"`
}

func newExplained(root string, e pipeline.Explanation, policy *permission.Policy, around *policyFlags, cfg *config) *explained {
	out := &explained{
		Tool: e.Call.Name(), Arguments: e.Call.Args(),
		Subjects: []tools.Subject{}, Steps: []explainedStep{}, Rules: policy.Explain(e.Call),
	}
	subjects, err := e.Call.Subjects()
	if err != nil {
		subjects = nil
	}
	for _, subject := range subjects {
		subject.Path, subject.Real = below(root, subject.Path), below(root, subject.Real)
		out.Subjects = append(out.Subjects, subject)
	}
	put := map[string][][]hooks.Hook{
		pipeline.StagePreExecute:  cfg.hooksFor(hooks.PreToolUse, out.Tool),
		pipeline.StagePostExecute: cfg.hooksFor(hooks.PostToolUse, out.Tool),
	}
	for _, f := range e.Findings {
		step := explainedStep{Stage: f.Stage, Name: f.Name, Evaluated: f.Evaluated}
		switch {
		case f.Evaluated:
			step.Verdict, step.Reason = f.Verdict.String(), f.Reason
		case f.Stage == pipeline.StageExecution && e.Verdict == pipeline.VerdictDeny:
			continue // a denied call does not come so far
		case f.Stage == pipeline.StageExecution:
			step.Effect = around.explain(f.Name, e.Call.Tool())
		case f.Name == hooks.Name:
			step.addHooks(put[f.Stage][0])
			put[f.Stage] = put[f.Stage][1:]
		}
		out.Steps = append(out.Steps, step)
	}
	switch {
	case e.Verdict == pipeline.VerdictDeny:
		out.Result = "denied"
	case e.Problem != nil:
		out.Result = "would fail"
	case e.Verdict == pipeline.VerdictAsk:
		out.Result = "asks"
	default:
		out.Result = "allowed"
	}
	if e.Problem != nil {
		out.Problem = e.Problem.Error()
	}
	return out
}

func (s *explainedStep) addHooks(list []hooks.Hook) {
	for _, h := range list {
		s.Hooks = append(s.Hooks, explainedHook{h.Place, h.Command})
	}
	if len(list) == 0 {
		s.Effect = "no hook for this tool"
	}
}

// below writes a path relative to the root where it lies in it.
func below(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func (e *explained) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", e.Tool, e.Arguments)
	for _, subject := range e.Subjects {
		fmt.Fprintf(&b, "  %s\n", describeSubject(subject))
	}
	for _, step := range e.Steps {
		fmt.Fprintf(&b, "%s %s: %s", step.Stage, step.Name, step.says())
		if step.Reason != "" {
			fmt.Fprintf(&b, " (%s)", step.Reason)
		}
		b.WriteString("\n")
		for _, hook := range step.Hooks {
			fmt.Fprintf(&b, "  hook at %s: %s\n", hook.Place, termtext.EscapeLine(hook.Command))
		}
		if step.Name == "permissions" {
			for _, line := range e.Rules {
				fmt.Fprintf(&b, "  %s: %s\n", line.Verdict, line.Text)
			}
		}
	}
	if e.Problem != "" {
		fmt.Fprintf(&b, "problem: %s\n", e.Problem)
	}
	fmt.Fprintf(&b, "result: %s", e.Result)
	if (e.Result == "allowed" || e.Result == "asks") && slices.ContainsFunc(e.Steps, func(s explainedStep) bool {
		return s.Stage == pipeline.StagePreExecute && s.Hooks != nil
	}) {
		b.WriteString(", unless a hook objects")
	}
	return b.String() + "\n"
}

// says is what the step does in a few words.
func (s *explainedStep) says() string {
	switch {
	case s.Evaluated:
		return s.Verdict
	case s.Effect != "":
		return s.Effect
	case s.Stage == pipeline.StageExecution:
		return "not evaluated: it runs around the tool"
	case s.Stage == pipeline.StagePostExecute:
		return "not evaluated: it sees the result"
	}
	return "not evaluated: it may have effects"
}

func describeSubject(s tools.Subject) string {
	switch s.Access {
	case tools.AccessExec:
		return fmt.Sprintf("runs %q in %s", s.Command, s.Path)
	case tools.AccessNet:
		return "connects to " + s.Host
	}
	text := string(s.Access) + "s " + s.Path
	if s.Tree {
		text += " and all below"
	}
	if s.Real != s.Path {
		text += ", which is " + s.Real
	}
	return text
}
