package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/internal/agent"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// The arms.
const (
	Sequential = "direct-sequential" // one call an answer
	Batched    = "direct-batched"    // calls that do not need each other's results together: the fair baseline
	Code       = "code"              // one program, all declarations in the prompt
	CodeAll    = "code-all"          // the same, and every result is returned; recorded conversations only
	CodeSearch = "code-search"       // names in the prompt; the model looks tools up before it writes
)

// arm is a way to hold a conversation.
type arm struct {
	name   string
	mode   codemode.Mode
	serial bool
	every  bool
	search bool
}

var (
	sequential = arm{name: Sequential, mode: codemode.ModeNative, serial: true}
	batched    = arm{name: Batched, mode: codemode.ModeNative}
	code       = arm{name: Code, mode: codemode.ModeCode}
	codeAll    = arm{name: CodeAll, mode: codemode.ModeCode, every: true}
	codeSearch = arm{name: CodeSearch, mode: codemode.ModeCode, search: true}
)

// listBudget is how many tokens the list of tools may take in the arm that looks
// tools up.
const listBudget = 1_000

// maxText lets every result through whole, as a direct call's is: a cut one would
// make arms answer differently, and programs look better than they are.
const maxText = 16 << 20

// stage is a world with its pipeline, as one arm finds it.
type stage struct {
	world    *world
	pipeline *pipeline.Pipeline
	codemode *codemode.CodeMode

	mu     sync.Mutex
	logged int               // calls the log holds, run_code itself not
	direct []time.Duration   // of settled direct calls
	nested []time.Duration   // of settled calls of programs
	runs   []codemode.Report // of programs
	failed int               // programs that failed
	kept   int               // bytes programs used, less what they gave back
}

// shared is a runtime that outlives the stages which use it.
type shared struct{ runtime.Runtime }

// Close leaves the runtime open.
func (shared) Close() error { return nil }

// newStage sets a workload up for an arm. The CodeMode needs no closing: it only
// borrows the runtime.
func newStage(w *world, a arm, rt runtime.Runtime) (*stage, error) {
	reg, err := w.registry()
	if err != nil {
		return nil, err
	}
	budget, err := a.budget(reg)
	if err != nil {
		return nil, err
	}
	s := &stage{world: w}
	messages := 0
	s.pipeline = pipeline.New(reg, &pipeline.Options{Sink: pipeline.SinkFunc(s.log), NewID: func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		messages++
		return fmt.Sprintf("m%d", messages)
	}})
	s.pipeline.Guards.Use("bench", w.guardOrNone)
	s.pipeline.OnResult("bench", s.settled)
	s.codemode, err = codemode.New(s.pipeline, &codemode.Options{Mode: a.mode, Runtime: shared{rt}, PromptBudget: budget, MaxText: maxText})
	return s, err
}

// budget is what the prompt may take: everything, or less than the declarations.
func (a arm) budget(reg *tools.Registry) (int, error) {
	if !a.search {
		return 1 << 30, nil
	}
	catalog, _, err := bindings.New(reg.All())
	if err != nil {
		return 0, err
	}
	return max(1, min(listBudget, len(catalog.Declarations())/4-1)), nil
}

// log is the sink: it counts what the log must hold.
func (s *stage) log(e pipeline.Event) error {
	var data struct {
		Name string `json:"name"`
	}
	switch e.Type {
	case pipeline.EventToolCall:
		if err := e.Data.Unmarshal(&data); err != nil || data.Name == codemode.ToolName {
			return err
		}
	case pipeline.EventCodeDispatch:
	default:
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logged++
	return nil
}

// settled observes every outcome.
func (s *stage) settled(o pipeline.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !o.Call().Parent().IsZero():
		s.nested = append(s.nested, o.Took())
	case !o.Call().IsTransport():
		s.direct = append(s.direct, o.Took())
	default:
		if o.IsError() {
			s.failed++
		}
		if r := codemode.ReportOf(o); r != nil {
			s.runs = append(s.runs, *r)
			s.kept += max(0, int(r.Usage.BytesIn)-len(o.Text()))
		}
	}
}

// played is what became of one arm: the figures, and the evidence that it did
// what the others did.
type played struct {
	arm    string
	tokens Tokens
	stage  *stage
	state  string
	answer string
	bodies []string
}

// play holds a whole conversation with the scripted model.
func (b *bench) play(ctx context.Context, w workload, a arm) (*played, error) {
	world := w.open()
	s, err := newStage(world, a, b.runtime)
	if err != nil {
		return nil, err
	}
	m := &model{serial: a.serial, meter: meter{counter: b.counter}}
	loop := &agent.Loop{API: modelapi.OpenAIChat, Transport: m, Model: "scripted", System: strings.TrimSpace(System + "\n\n" + w.system), MaxSteps: 1 << 20, Pipeline: s.pipeline, CodeMode: s.codemode}
	var answers []string
	for i, t := range w.turns {
		m.begin(a.plan(w, i))
		_, err := loop.Run(ctx, t.prompt)
		m.stop()
		if err != nil {
			return nil, err
		}
		answers = append(answers, same(m.end.result()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &played{arm: a.name, tokens: m.meter.sum, stage: s, state: world.state(), answer: strings.Join(answers, "\n"), bodies: world.ran()}
	p.tokens.Calls = len(s.direct) + len(s.nested)
	p.tokens.KeptOut = s.kept
	return p, p.check()
}

// check finds what is wrong with an arm by itself.
func (p *played) check() error {
	switch {
	case p.stage.failed > 0:
		return fmt.Errorf("a program failed, and the answer is %.300s", p.answer)
	case p.stage.logged != p.tokens.Calls:
		return fmt.Errorf("the log has %d calls and %d were made", p.stage.logged, p.tokens.Calls)
	case p.stage.world.fault != nil && p.stage.world.fault() != "":
		return errors.New(p.stage.world.fault())
	}
	return nil
}

// agrees says where another arm did something else; "" if it did not.
func (p *played) agrees(o *played) string {
	switch {
	case p.state != o.state:
		return fmt.Sprintf("%s ends in the state %.200q and %s in %.200q", p.arm, p.state, o.arm, o.state)
	case p.answer != o.answer:
		return fmt.Sprintf("%s answers %.200q and %s %.200q", p.arm, p.answer, o.arm, o.answer)
	case len(p.bodies) != len(o.bodies):
		return fmt.Sprintf("%s executed %d bodies and %s %d", p.arm, len(p.bodies), o.arm, len(o.bodies))
	}
	for i := range p.bodies {
		if p.bodies[i] != o.bodies[i] {
			return fmt.Sprintf("body %d is %.200s in %s and %.200s in %s", i+1, p.bodies[i], p.arm, o.bodies[i], o.arm)
		}
	}
	return ""
}

// plan is what the model does in a turn of this arm.
func (a arm) plan(w workload, n int) plan {
	t := w.turns[n]
	if a.mode == codemode.ModeNative {
		return t.direct
	}
	program := t.program
	if a.every && t.every != "" {
		program = t.every
	}
	return func(ask ask) answer {
		if program == "" { // nothing to do in this turn
			return answer{said: t.said}
		}
		if a.search && n == w.firstProgram() {
			ask(runCode(w.lookUp(), "Look up the tools"))
		}
		result := ask(runCode(program, "Do the task"))[0]
		value := result.text
		if t.value != nil && !result.failed {
			value = t.value(value, a.every)
		}
		said := t.said
		if said == "" {
			said = value
		}
		return answer{said: said, value: value}
	}
}

func runCode(program, description string) call {
	return call{codemode.ToolName, struct {
		Code        string `json:"code"`
		Description string `json:"description"`
	}{program, description}}
}

// lookUp is the program with which a model learns the declarations it needs.
func (w workload) lookUp() string {
	if w.find != "" {
		return fmt.Sprintf("return await catalog.search(%q);", w.find)
	}
	return fmt.Sprintf("return await Promise.all(%s.map(name => catalog.describe(name)));", made(w.uses))
}

// firstProgram is the turn before which the declarations are looked up.
func (w workload) firstProgram() int {
	return slices.IndexFunc(w.turns, func(t turn) bool { return t.program != "" })
}
