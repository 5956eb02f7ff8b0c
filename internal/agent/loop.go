package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Transport carries one request to a model and brings back the body of the
// answer.
type Transport interface {
	Send(ctx context.Context, request tools.JSON) (answer string, err error)
}

// Loop is one agent. The fields are set before Run and not changed.
type Loop struct {
	API       modelapi.API
	Transport Transport
	Model     string
	System    string // instructions; the prompt of code mode follows them
	MaxTokens int    // of one answer; zero is the API's default
	MaxSteps  int    // requests to the model; zero is DefaultMaxSteps

	Pipeline *pipeline.Pipeline
	CodeMode *codemode.CodeMode
	Agent    any // who acts, for the pipeline

	// OnAnswer is told each answer before its calls are made. It may be nil.
	OnAnswer func(step int, answer modelapi.Answer)
}

// DefaultMaxSteps is how many requests one task may take.
const DefaultMaxSteps = 50

// Stop says why a loop ended.
type Stop string

const (
	StopDone      Stop = "done"      // the model called nothing more
	StopSteps     Stop = "max-steps" // it went on calling
	StopCut       Stop = "cut"       // its answer ended at the token limit and called nothing
	StopConcluded Stop = "concluded" // a tool concluded the task
)

// Result is how a task ended.
type Result struct {
	Text  string         `json:"text"`           // of the last answer
	Stop  Stop           `json:"stop,omitempty"` // empty beside an error
	Steps int            `json:"steps"`          // requests made
	Calls int            `json:"calls"`          // calls of the model's own, those inside programs not counted
	Usage modelapi.Usage `json:"usage"`          // the sum over all requests
}

// Run works on a task until the model is done or a limit is reached; the Result
// holds what there was so far also beside an error, which is the transport's, the
// API's or ctx's.
func (l *Loop) Run(ctx context.Context, task string) (Result, error) {
	r := &turn{Loop: l, messages: []tools.JSON{l.API.User(task)}, ids: map[string]bool{}}
	steps := l.MaxSteps
	if steps <= 0 {
		steps = DefaultMaxSteps
	}
	for range steps {
		if err := context.Cause(ctx); err != nil {
			return r.result, err
		}
		over, err := r.step(ctx)
		if over || err != nil {
			return r.result, err
		}
	}
	r.result.Stop = StopSteps
	return r.result, nil
}

// turn is one task under way.
type turn struct {
	*Loop
	messages []tools.JSON
	result   Result
	ids      map[string]bool // of calls made
}

// step is one request, its answer and the calls of that.
func (r *turn) step(ctx context.Context) (over bool, err error) {
	answer, err := r.ask(ctx)
	if err != nil {
		return false, err
	}
	r.messages = append(r.messages, answer.Messages...)
	r.result.Text = answer.Text
	if r.OnAnswer != nil {
		r.OnAnswer(r.result.Steps, answer)
	}
	switch {
	case len(answer.Calls) > 0 && answer.Cut:
		r.refuse(answer)
	case len(answer.Calls) > 0:
		return r.call(ctx, answer.Calls), nil
	case answer.Cut:
		r.result.Stop = StopCut
		return true, nil
	default:
		r.result.Stop = StopDone
		return true, nil
	}
	return false, nil
}

func (r *turn) ask(ctx context.Context) (modelapi.Answer, error) {
	p, err := r.CodeMode.PresentFor(r.Agent)
	if err != nil {
		return modelapi.Answer{}, err
	}
	request, err := r.API.Request(modelapi.Request{Model: r.Model, System: r.System, Presentation: p, Messages: r.messages, MaxTokens: r.MaxTokens})
	if err != nil {
		return modelapi.Answer{}, err
	}
	r.result.Steps++
	body, err := r.Transport.Send(ctx, request)
	if err != nil {
		return modelapi.Answer{}, fmt.Errorf("request %d to the model: %w", r.result.Steps, err)
	}
	answer, err := r.API.Answer(body)
	if err != nil {
		return answer, fmt.Errorf("request %d to the model: %w", r.result.Steps, err)
	}
	r.result.Usage = r.result.Usage.Add(answer.Usage)
	return answer, nil
}

// refuse answers the calls of an answer that was cut: the last may lack its end,
// and those before it may only make sense together with it.
func (r *turn) refuse(answer modelapi.Answer) {
	var results []modelapi.Result
	for _, c := range answer.Calls {
		results = append(results, modelapi.Refuse(c, "your answer was cut at its token limit, so none of its calls was made; make the call again with less text"))
	}
	r.messages = append(r.messages, r.API.Results(results, nil)...)
}

// call makes the calls of one answer and says whether a tool concluded the task.
// The contexts follow all results, in the order of the calls.
func (r *turn) call(ctx context.Context, calls []modelapi.Call) (over bool) {
	requests := make([]pipeline.Request, len(calls))
	for i, c := range calls {
		requests[i] = c.Request(r.Agent)
		requests[i].ID = r.fresh(c.ID)
		requests[i].Turn, requests[i].Step = 1, r.result.Steps
	}
	batch := r.Pipeline.Batch(ctx, requests)
	results := make([]modelapi.Result, len(calls))
	for i, o := range batch.Outcomes {
		results[i] = modelapi.ResultOf(calls[i], o)
		over = over || o.Concludes()
	}
	r.result.Calls += len(calls)
	r.messages = append(r.messages, r.API.Results(results, batch.Contexts)...)
	if over = over && len(batch.Contexts) == 0; over { // contexts are for the model to read, as in DSH
		r.result.Stop = StopConcluded
	}
	return over
}

// fresh is a call's id for the log, where it names one call alone. Some servers
// give none, or the same one again, and a model may make up any.
func (r *turn) fresh(id string) string {
	for n := 1; !plainID(id) || r.ids[id]; n++ {
		id = fmt.Sprintf("call_%d_%d", r.result.Steps, len(r.ids)+n)
	}
	r.ids[id] = true
	return id
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9_.:|-]{1,128}$`)

// plainID reports whether an id can stand in the log as it is: it is short, prints,
// and is no sub-call's.
func plainID(id string) bool {
	return idForm.MatchString(id) && !strings.Contains(id, ":code:")
}

// ErrStopped is the error of Result.Err for a loop that a limit ended.
var ErrStopped = errors.New("the task did not end")

// Err is nil for a task that ended, and otherwise says which limit ended it and
// what to do.
func (r Result) Err() error {
	switch r.Stop {
	case StopSteps:
		return fmt.Errorf("%w: the model still called tools after %d requests; raise the limit of steps or give a smaller task", ErrStopped, r.Steps)
	case StopCut:
		return fmt.Errorf("%w: the model's last answer was cut at its token limit; raise it", ErrStopped)
	}
	return nil
}
