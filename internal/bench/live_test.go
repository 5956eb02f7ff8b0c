package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/internal/agent"
	"github.com/runcode-go/runcode/tools"
)

// stub is a model on loopback that speaks both dialects and works as the scripted
// one does, but for what its faults say.
type stub struct {
	*httptest.Server
	t         *testing.T
	anthropic bool
	tasks     map[string]workload // by prompt
	faults    map[string]string   // by task and arm: wrong, crash, refuse, talk, pretend
	order     []string            // the conversations, as they began
	model     *model              // of the conversation under way
	key       string
	requests  int
}

func newStub(t *testing.T, api modelapi.API, faults map[string]string) *stub {
	s := &stub{t: t, anthropic: api == modelapi.Anthropic, tasks: map[string]workload{}, faults: faults}
	for _, w := range suite(0, liveSizes) {
		s.tasks[w.turns[0].prompt] = w
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *stub) client(api modelapi.API) *agent.Client {
	return &agent.Client{API: api, BaseURL: s.URL, Key: "secret-key-123", HTTP: s.Client(), Wait: func(context.Context, time.Duration) error { return nil }}
}

// wireRequest is what both dialects have in common, content as it came.
type wireRequest struct {
	System   any `json:"system"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
}

// texts is a content of either dialect as texts, one a block.
func texts(content json.RawMessage) (list []seen) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []seen{{text, strings.HasPrefix(text, "Error: ")}}
	}
	var blocks []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return nil
	}
	for _, b := range blocks {
		if b.Content == nil {
			list = append(list, seen{b.Text, false})
			continue
		}
		for _, inner := range texts(b.Content) {
			list = append(list, seen{inner.text, b.IsError})
		}
	}
	return list
}

func (s *stub) serve(w http.ResponseWriter, r *http.Request) {
	s.requests++
	body, err := io.ReadAll(r.Body)
	var req wireRequest
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	messages := req.Messages
	if messages[0].Role == "system" {
		messages = messages[1:]
	}
	task := s.tasks[texts(messages[0].Content)[0].text]
	a := liveArms[0]
	if name := req.Tools[len(req.Tools)-1]; name.Name+name.Function.Name == codemode.ToolName {
		a = code
		if strings.Contains(string(body), "The list of tools below is incomplete") {
			a = codeSearch
		}
	}
	if len(messages) == 1 {
		s.begin(task, a)
	}
	s.model.read = nil
	for _, m := range messages[len(messages)-1:] {
		s.model.read = texts(m.Content)
	}
	if !s.anthropic { // each result is a message
		s.model.read = nil
		for _, m := range messages {
			switch m.Role {
			case "tool":
				s.model.read = append(s.model.read, texts(m.Content)...)
			default:
				s.model.read = nil
			}
		}
	}
	for i := range s.model.read {
		s.model.read[i].text = strings.TrimPrefix(s.model.read[i].text, "Error: ")
	}
	if s.faults[s.key] == "refuse" {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"type":"invalid_request_error","message":"no such model"}}`)
		return
	}
	calls, err := s.model.decide()
	if err != nil {
		s.t.Error(err)
	}
	text := ""
	if len(calls) == 0 {
		text = "The result is **" + s.model.end.said + "**."
		if s.faults[s.key] == "wrong" {
			text = "About 7."
		}
	}
	io.WriteString(w, s.say(text, calls, len(body)))
}

// begin starts a conversation with the plan of the task, or a fault.
func (s *stub) begin(w workload, a arm) {
	if s.model != nil {
		s.model.stop()
	}
	s.key = w.title() + " " + a.name
	s.order = append(s.order, s.key)
	s.model = &model{}
	p := a.plan(w, 0)
	switch s.faults[s.key] {
	case "crash": // once, then it is repaired
		good := p
		p = func(ask ask) answer {
			ask(runCode("throw new Error('oh')", "Try"))
			return good(ask)
		}
	case "pretend": // the right answer, and nothing done
		p = func(ask) answer { return number(50) }
	case "talk": // for ever
		p = func(ask ask) answer {
			for {
				ask(runCode("return 1", "Try"))
			}
		}
	}
	s.model.begin(p)
}

func (s *stub) Close() {
	if s.model != nil {
		s.model.stop()
	}
	s.Server.Close()
}

// say writes an answer; its usage is a tenth of the request's bytes and ten tokens.
func (s *stub) say(text string, calls []modelapi.Call, size int) string {
	if !s.anthropic {
		message, err := chatAnswer(text, calls)
		if err != nil {
			s.t.Error(err)
		}
		return fmt.Sprintf(`{"choices":[{"finish_reason":"stop","message":%s}],"usage":{"prompt_tokens":%d,"completion_tokens":10,"prompt_tokens_details":{"cached_tokens":5}}}`, message, size/10)
	}
	var parts []string
	if text != "" {
		parts = append(parts, fmt.Sprintf(`{"type":"text","text":%s}`, tools.StringJSON(text)))
	}
	for _, c := range calls {
		parts = append(parts, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, c.ID, c.Name, c.Args))
	}
	return fmt.Sprintf(`{"stop_reason":"end_turn","content":[%s],"usage":{"input_tokens":%d,"cache_read_input_tokens":5,"output_tokens":10}}`, strings.Join(parts, ","), size/10-5)
}

// TestLive: both dialects against a stub, every kind of failure in the report,
// and a cassette that gives the same report.
func TestLive(t *testing.T) {
	faults := map[string]string{"single direct": "wrong", "chain-5 code": "crash", "fan-out-5 code-search": "refuse", "paginate-3 code": "talk", "conditional-write direct": "pretend"}
	for _, api := range []modelapi.API{modelapi.OpenAIChat, modelapi.Anthropic} {
		t.Run(api.Name(), func(t *testing.T) {
			s := newStub(t, api, faults)
			var tape bytes.Buffer
			opts := LiveOptions{API: api, Model: "m", Transport: s.client(api), Record: &tape, Runs: 2, MaxSteps: 9, Isolation: codemode.IsolationInProcess, Prices: Prices{Input: 2, Cached: 1, Output: 8},
				Redact: func(v tools.JSON) tools.JSON {
					return tools.MustJSON(strings.ReplaceAll(v.String(), `"model":"m"`, `"model":"[hidden]"`))
				}}
			r, err := Live(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, task := range r.Live.Tasks {
				for _, a := range task.Arms {
					want := LiveArm{Runs: 2, Success: Interval{1, 1, 1}}
					failure := ""
					switch faults[task.Workload+" "+a.Name] {
					case "wrong":
						want.Success, failure = Interval{}, `the answer is "About 7." and should be "8"`
					case "pretend":
						want.Success, failure = Interval{}, "the tools end in another state than they should"
					case "crash":
						want.ScriptFailures, want.Repaired = 2, 2
					case "refuse":
						want.Success, failure = Interval{}, "request 1 to the model: "+api.Name()+" answers with an error (transport): the model API answers 400 Bad Request: no such model"
					case "talk":
						want.Success, want.Capped, failure = Interval{}, 2, "the task did not end: "
					}
					if a.Runs != want.Runs || a.Success != want.Success || a.ScriptFailures != want.ScriptFailures || a.Repaired != want.Repaired || a.Capped != want.Capped {
						t.Errorf("%s, %s: %+v, want %+v", task.Workload, a.Name, a, want)
					}
					if (len(a.Errors) == 0) != (failure == "") || failure != "" && !strings.HasPrefix(a.Errors[0], failure) {
						t.Errorf("%s, %s: errors %q, want %q", task.Workload, a.Name, a.Errors, failure)
					}
					if want.Success.Mean == 1 && (a.Requests.Mean < 2 || a.Input.Mean < 10 || a.Output.Mean != 10*a.Requests.Mean || a.Cached.Mean != 5*a.Requests.Mean || a.Seconds.Mean <= 0 || a.Money.Mean <= 0) {
						t.Errorf("%s, %s: figures %+v", task.Workload, a.Name, a)
					}
				}
			}
			if diff := cmp.Diff([]string{"single direct", "single code", "single code-search", "chain-5 code", "chain-5 code-search", "chain-5 direct"}, s.order[:6]); diff != "" {
				t.Errorf("the arms are not interleaved (-want +got):\n%s", diff)
			}
			if strings.Contains(tape.String(), "secret-key-123") || strings.Contains(tape.String(), `"model":"m"`) || !strings.Contains(tape.String(), `"model":"[hidden]"`) {
				t.Error("the cassette holds the key, or what is to be redacted")
			}

			made := s.requests
			opts.Transport, opts.Record, opts.Replay = nil, nil, bytes.NewReader(tape.Bytes())
			again, err := Live(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(asJSON(t, r)), string(asJSON(t, again))); diff != "" {
				t.Errorf("the replayed report differs:\n%s", diff)
			}
			if s.requests != made {
				t.Error("a replay sends requests")
			}
			opts.Replay, opts.Runs = bytes.NewReader(tape.Bytes()), 1
			if _, err := Live(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "exchanges of the cassette were not used") {
				t.Errorf("error %v for a cassette of more runs", err)
			}
			opts.Replay, opts.Seed = bytes.NewReader(tape.Bytes()), 3
			if _, err := Live(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "is not the recorded one") {
				t.Errorf("error %v for a cassette of other tasks", err)
			}
		})
	}
}

// TestPrices: what a cache gave has a price of its own.
func TestPrices(t *testing.T) {
	p := Prices{Input: 3, Cached: 0.5, Output: 11}
	if got, want := p.of(modelapi.Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}), 0.6*3+0.4*0.5+0.1*11; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCaps: what meets a cap, and all that would follow it, is a failure and not
// missing.
func TestCaps(t *testing.T) {
	api := modelapi.OpenAIChat
	for _, tt := range []struct {
		name     string
		cap      func(o *LiveOptions)
		requests int // that are sent; the task takes 2, 2 and 3
		capped   []int
		why      string
	}{
		{"none", func(*LiveOptions) {}, 14, []int{0, 0, 0}, ""},
		{"requests", func(o *LiveOptions) { o.Requests = 4 }, 4, []int{1, 1, 2}, "a cap of the benchmark is reached: 4 requests"},
		{"tokens", func(o *LiveOptions) { o.Tokens = 1 }, 1, []int{2, 2, 2}, "a cap of the benchmark is reached: 1 tokens"},
		{"money", func(o *LiveOptions) { o.Money, o.Prices.Output = 0.000025, 1 }, 3, []int{1, 2, 2}, "a cap of the benchmark is reached: 2.5e-05 of money"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStub(t, api, nil)
			o := LiveOptions{API: api, Model: "m", Transport: s.client(api), Runs: 2, Only: []string{"single"}, Isolation: codemode.IsolationInProcess}
			tt.cap(&o)
			r, err := Live(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var capped []int
			text := ""
			for _, a := range r.Live.All {
				capped = append(capped, a.Capped)
				if a.Runs != 2 || a.Success.Mean != 1-float64(a.Capped)/2 {
					t.Errorf("%s: %d runs, success %v with %d capped", a.Name, a.Runs, a.Success.Mean, a.Capped)
				}
				text += strings.Join(a.Errors, "\n")
			}
			if diff := cmp.Diff(tt.capped, capped); diff != "" || s.requests != tt.requests {
				t.Errorf("%d requests, want %d; capped (-want +got):\n%s", s.requests, tt.requests, diff)
			}
			if !strings.Contains(text, tt.why) {
				t.Errorf("errors %s, want %s", text, tt.why)
			}
		})
	}
}

func TestLiveOptions(t *testing.T) {
	ok := LiveOptions{API: modelapi.OpenAIChat, Model: "m", Transport: &agent.Player{}}
	for _, tt := range []struct {
		name   string
		change func(o *LiveOptions)
		want   string
	}{
		{"no model", func(o *LiveOptions) { o.Model = "" }, "a live benchmark needs an API and a model"},
		{"nothing to ask", func(o *LiveOptions) { o.Transport = nil }, "a live benchmark needs either a transport or a cassette to replay"},
		{"both", func(o *LiveOptions) { o.Replay = strings.NewReader("") }, "a live benchmark needs either a transport or a cassette to replay"},
		{"record a replay", func(o *LiveOptions) { o.Transport, o.Replay, o.Record = nil, strings.NewReader(""), io.Discard }, "a replay sends nothing"},
		{"negative", func(o *LiveOptions) { o.Requests = -1 }, "a number of a live benchmark is negative"},
		{"money without prices", func(o *LiveOptions) { o.Money = 1 }, "a cap of money needs prices"},
		{"no task", func(o *LiveOptions) { o.Only = []string{"x"} }, "no task is called x"},
		{"no cassette", func(o *LiveOptions) { o.Transport, o.Replay = nil, strings.NewReader("x") }, "line 1 of the cassette is no exchange"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := ok
			o.Isolation = codemode.IsolationInProcess
			tt.change(&o)
			if _, err := Live(t.Context(), o); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	for _, tt := range []struct {
		answer, want string
		holds        bool
	}{
		{"8", "8", true}, {"It is **8**.", "8", true}, {"8 °C", "8", true}, {"18", "8", false}, {"8.5", "8", false}, {"-8", "8", false}, {"8,500", "8", false},
		{"The sum is 1,234,567 cents.", "1234567", true}, {"1 234 567", "1234567", true}, {"12345678", "1234567", false},
		{"P-10422", "P-10422", true}, {"`P-10422`", "P-10422", true}, {"P-104221", "P-10422", false}, {"", "8", false},
	} {
		if got := holds(tt.answer, tt.want); got != tt.holds {
			t.Errorf("%q holds %q: %v, want %v", tt.answer, tt.want, got, tt.holds)
		}
	}
}

// oddTransport answers what no API does.
type oddTransport struct {
	body string
	err  error
}

func (o oddTransport) Send(context.Context, tools.JSON) (string, error) { return o.body, o.err }

// TestStopwatch: every answer, and every failure, becomes one JSON object with a
// time, so that a cassette holds them all.
func TestStopwatch(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"an answer", `{"a":1}`, `{"a":1,"runcode_bench_ms":`},
		{"a page", `<html>`, `{"error":{"message":"the answer is no JSON object","type":"transport"},"runcode_bench_ms":`},
		{"a list", `[]`, `{"error":{"message":"the answer is no JSON object","type":"transport"},"runcode_bench_ms":`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := (&stopwatch{oddTransport{body: tt.body}}).Send(t.Context(), tools.MustJSON(`{}`))
			if err != nil || !strings.HasPrefix(body, tt.want) {
				t.Errorf("%s, %v; want %s", body, err, tt.want)
			}
		})
	}
	body, err := (&stopwatch{oddTransport{err: os.ErrDeadlineExceeded}}).Send(t.Context(), tools.MustJSON(`{}`))
	if err != nil || !strings.Contains(body, `"message":"i/o timeout"`) {
		t.Errorf("%s, %v; want the failure as an answer", body, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&stopwatch{oddTransport{err: os.ErrDeadlineExceeded}}).Send(ctx, tools.MustJSON(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after a cancellation", err)
	}
	if got := stampOf(`{"runcode_bench_ms":12.5}`); got != 12.5 {
		t.Errorf("the stamp reads %v", got)
	}
}
