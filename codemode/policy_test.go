package codemode_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// policyCase is one policy, set up on a pipeline of its own.
type policyCase struct {
	name  string
	args  string // of read_file; empty: {"path":"/vault/key"}
	tool  string // empty: read_file
	agent any    // who acts, nil for none
	setup func(p *pipeline.Pipeline)
	opts  pipeline.Options
	want  string // the decision in short: "done", or the error's code and text
}

// seen is what a policy and a log reader can tell about one call, less what
// must differ between a direct and a nested one: ids, parent link, times.
type seen struct {
	Stages  []string
	State   pipeline.State
	Code    string
	Message string
	IsError bool
	Content string
	Error   string // the log's error object
}

// TestOnePolicyInsideAndOut makes the same call directly and in five ways from
// a program, under many policies, and finds the same decision, the same codes
// and the same log each time.
func TestOnePolicyInsideAndOut(t *testing.T) {
	readsVault := func(c tools.Call) bool {
		return c.Name() == "read_file" && strings.Contains(c.Args().String(), "/vault")
	}
	pre := func(name string, l pipeline.Listener[tools.Call, pipeline.Decision]) func(*pipeline.Pipeline) {
		return func(p *pipeline.Pipeline) {
			p.PreExecute.Use(name, func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if c.IsTransport() {
					return next(ctx)
				}
				return l(ctx, c, next)
			})
		}
	}
	cases := []policyCase{
		{name: "nobody minds", want: "done"},
		{name: "a listener denies", want: "DENIED_BY_POLICY vault is closed",
			setup: pre("vault", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if readsVault(c) {
					return pipeline.Deny("vault is closed"), nil
				}
				return next(ctx)
			})},
		{name: "a guard denies", want: "DENIED_BY_GUARD guarded path",
			setup: func(p *pipeline.Pipeline) {
				p.Guards.Use("vault", func(c tools.Call) string {
					if readsVault(c) {
						return "guarded path"
					}
					return ""
				})
			}},
		{name: "a guard denies what a hostile listener allows", want: "DENIED_BY_GUARD guarded path",
			setup: func(p *pipeline.Pipeline) {
				p.PreExecute.Prepend("hostile", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
					return pipeline.Allow(), nil
				})
				p.Guards.Use("vault", func(c tools.Call) string {
					if readsVault(c) {
						return "guarded path"
					}
					return ""
				})
			}},
		{name: "a guard of the agent's parent denies", want: "DENIED_BY_GUARD not for this crew", agent: "sailor",
			opts: pipeline.Options{ParentOf: func(agent any) any {
				if agent == "sailor" {
					return "captain"
				}
				return nil
			}},
			setup: func(p *pipeline.Pipeline) {
				p.Guards.For("captain").Use("crew", func(c tools.Call) string {
					if readsVault(c) {
						return "not for this crew"
					}
					return ""
				})
			}},
		{name: "a listener of another agent", want: "done", agent: "sailor",
			setup: func(p *pipeline.Pipeline) {
				p.PreExecute.For("cook").Use("kitchen", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
					return pipeline.Deny("stay in the kitchen"), nil
				})
			}},
		{name: "a guard panics", want: "DENIED_BY_GUARD *",
			setup: func(p *pipeline.Pipeline) {
				p.Guards.Use("shaky", func(c tools.Call) string {
					if readsVault(c) {
						panic("guard bug")
					}
					return ""
				})
			}},
		{name: "a listener fails", want: " policy store unreachable",
			setup: pre("store", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				return pipeline.Allow(), errors.New("policy store unreachable")
			})},
		{name: "asked, nobody to ask", want: "APPROVAL_UNAVAILABLE *",
			setup: pre("ask", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				return pipeline.Ask("reads a secret"), nil
			})},
		{name: "asked and rejected", want: `APPROVAL_REJECTED the user rejected tool "read_file"`,
			opts: pipeline.Options{Approver: answer(pipeline.Rejected)},
			setup: pre("ask", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				return pipeline.Ask("reads a secret"), nil
			})},
		{name: "asked and allowed once", want: "done",
			opts: pipeline.Options{Approver: answer(pipeline.AllowedOnce)},
			setup: pre("ask", func(context.Context, tools.Call, pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				return pipeline.Ask("reads a secret"), nil
			})},
		{name: "the result is blocked", want: " secrets stay here",
			setup: func(p *pipeline.Pipeline) {
				p.PostExecute.Use("dlp", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
					if readsVault(s.Call) {
						return pipeline.Block([]tools.Content{tools.TextContent("secrets stay here")}), nil
					}
					return next(ctx)
				})
			}},
		{name: "the result is replaced", want: "done",
			setup: func(p *pipeline.Pipeline) {
				p.PostExecute.Use("mask", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
					if readsVault(s.Call) {
						return pipeline.AcceptValue(tools.MustJSON(`"masked"`)), nil
					}
					return next(ctx)
				})
			}},
		{name: "the arguments are wrong", args: `{"file":"/vault/key"}`, want: "INVALID_ARGS *"},
		{name: "the tool is unknown to everybody", tool: "read_fil", want: "UNKNOWN_TOOL *"},
	}
	for _, pc := range cases {
		t.Run(pc.name, func(t *testing.T) {
			direct := observe(t, pc, "", codemode.IsolationInProcess)
			if got := decision(direct); !matches(pc.want, got) {
				t.Fatalf("direct call: decision %q, want %q", got, pc.want)
			}
			for form, program := range forms(pc) {
				for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
					t.Run(form+"/"+isolation.String(), func(t *testing.T) {
						if diff := cmp.Diff(direct, observe(t, pc, program, isolation)); diff != "" {
							t.Errorf("nested call differs from the direct one (-direct +nested):\n%s", diff)
						}
					})
				}
			}
		})
	}
}

// forms are the ways a program can spell the call.
func forms(pc policyCase) map[string]string {
	name, args := pc.call()
	if name != "read_file" {
		// A name that is no member cannot be spelled as one: the program's own
		// error says so and nothing is dispatched, which another test covers.
		return nil
	}
	return map[string]string{
		"plain":                  `await tools.read_file(` + args + `)`,
		"name built at run time": `await tools[["read", "file"].join("_")](` + args + `)`,
		"destructured":           `const { read_file } = tools; await read_file(` + args + `)`,
		"from Promise.all":       `await Promise.all([tools.read_file(` + args + `)])`,
		"from a timer":           `await new Promise((ok, no) => setTimeout(() => tools.read_file(` + args + `).then(ok, no), 1))`,
	}
}

func (pc policyCase) call() (name, args string) {
	name, args = "read_file", `{"path":"/vault/key"}`
	if pc.tool != "" {
		name = pc.tool
	}
	if pc.args != "" {
		args = pc.args
	}
	return name, args
}

// observe makes the call in a fresh pipeline, directly if program is empty.
func observe(t *testing.T, pc policyCase, program string, isolation codemode.Isolation) seen {
	t.Helper()
	var mu sync.Mutex
	var got seen
	stage := func(c tools.Call, name string) {
		if !c.IsTransport() {
			mu.Lock()
			got.Stages = append(got.Stages, name)
			mu.Unlock()
		}
	}
	opts := pc.opts
	opts.Logger = slog.New(slog.DiscardHandler) // one case panics on purpose
	opts.Sink = pipeline.SinkFunc(func(e pipeline.Event) error {
		var data struct {
			IsError bool            `json:"isError"`
			Content []tools.Content `json:"content"`
			Error   tools.JSON      `json:"error"`
			Message struct {
				Content []struct {
					IsError bool            `json:"isError"`
					Content []tools.Content `json:"content"`
				} `json:"content"`
			} `json:"message"`
		}
		if err := e.Data.Unmarshal(&data); err != nil {
			t.Errorf("event %s: %v", e.Type, err)
		}
		switch {
		case e.Type == pipeline.EventCodeDispatch:
			got.IsError, got.Content, got.Error = data.IsError, tools.ContentString(data.Content), data.Error.String()
		case e.Type == pipeline.EventToolResult && program == "":
			result := data.Message.Content[0]
			got.IsError, got.Content, got.Error = result.IsError, tools.ContentString(result.Content), data.Error.String()
		}
		return nil
	})
	readFile := tools.Define("read_file", "Read a file.", func(_ context.Context, in struct {
		Path string `json:"path"`
	}) (string, error) {
		return "contents of " + in.Path, nil
	})
	readFile.Finalize = func(c tools.Call, f tools.Final) ([]tools.Content, bool) {
		stage(c, "finalize")
		return append(f.Content, tools.TextContent("read by read_file")), true
	}
	p := pipeline.New(registry(t, readFile), &opts)
	p.PreExecute.Use("trace", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
		stage(c, "pre")
		return next(ctx)
	})
	if pc.setup != nil {
		pc.setup(p)
	}
	p.Execution.Use("trace", func(ctx context.Context, d pipeline.Dispatch, next pipeline.Next[pipeline.Result]) (pipeline.Result, error) {
		stage(d.Call, "execute")
		return next(ctx)
	})
	p.PostExecute.Use("trace", func(ctx context.Context, s pipeline.Settled, next pipeline.Next[pipeline.PostDecision]) (pipeline.PostDecision, error) {
		stage(s.Call, "post")
		return next(ctx)
	})
	p.OnResult("trace", func(o pipeline.Outcome) {
		c := o.Call()
		stage(c, "result")
		if c.IsTransport() {
			return
		}
		if nested := c.Origin() == tools.OriginScript; nested != (program != "") || nested == c.Parent().IsZero() {
			t.Errorf("origin is %v and the parent token zero: %v, for a call made by program %q", c.Origin(), c.Parent().IsZero(), program)
		}
		got.State, got.Code = o.State(), o.Info().Code
		if o.Err() != nil {
			got.Message = o.Err().Error()
		}
	})
	name, args := pc.call()
	if program == "" {
		p.Execute(t.Context(), pipeline.Request{ID: "call", Name: name, Args: args, Agent: pc.agent})
		return got
	}
	cm := open(t, p, &codemode.Options{Isolation: isolation})
	// The program catches, so that the same error is seen once more from inside.
	out := cm.Run(t.Context(), codemode.Program{ID: "call", Agent: pc.agent, Code: `try { ` + program + `; return null } catch (e) {
		return { is: e instanceof ToolCallError && e instanceof Error, code: e.code ?? "", message: e.message, tool: e.toolName } }`})
	if out.Err() != nil {
		t.Fatalf("the program failed: %v", out.Err())
	}
	var inside struct {
		Result *struct {
			Is      bool   `json:"is"`
			Code    string `json:"code"`
			Message string `json:"message"`
			Tool    string `json:"tool"`
		} `json:"result"`
	}
	if err := out.Value().Unmarshal(&inside); err != nil {
		t.Fatal(err)
	}
	if r := inside.Result; r != nil && (!r.Is || r.Code != got.Code || r.Message != got.Message || r.Tool != name) {
		t.Errorf("the program caught %+v, the pipeline settled with code %q and message %q", *r, got.Code, got.Message)
	}
	return got
}

func decision(s seen) string {
	if !s.IsError {
		return string(s.State)
	}
	return s.Code + " " + s.Message
}

// matches compares a decision with what is wanted; a final * stands for any
// text that is not empty.
func matches(want, got string) bool {
	if prefix, any := strings.CutSuffix(want, "*"); any {
		return strings.HasPrefix(got, prefix) && len(got) > len(prefix)
	}
	return want == got
}

func answer(a pipeline.Answer) pipeline.Approver {
	return pipeline.ApproverFunc(func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) { return a, nil })
}

func registry(t testing.TB, defs ...*tools.Definition) *tools.Registry {
	t.Helper()
	reg, err := tools.NewRegistry(defs...)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// open makes an in-process code mode unless opts say otherwise.
func open(t testing.TB, p *pipeline.Pipeline, opts *codemode.Options) *codemode.CodeMode {
	t.Helper()
	if opts == nil {
		opts = &codemode.Options{Isolation: codemode.IsolationInProcess}
	}
	cm, err := codemode.New(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cm.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return cm
}
