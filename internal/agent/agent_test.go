package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/codemode/modelapi"
	"github.com/runcode-go/runcode/internal/agent"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// say writes answers of a model in an API's dialect.
func say(api modelapi.API, stop, text string, calls ...modelapi.Call) string {
	quote := func(s string) string { return tools.StringJSON(s).String() }
	var parts []string
	switch api {
	case modelapi.OpenAIChat:
		for _, c := range calls {
			parts = append(parts, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(c.ID), quote(c.Name), quote(c.Args)))
		}
		return fmt.Sprintf(`{"choices":[{"finish_reason":%s,"message":{"role":"assistant","content":%s,"tool_calls":[%s]}}],"usage":{"prompt_tokens":10,"completion_tokens":2}}`, quote(stop), quote(text), strings.Join(parts, ","))
	case modelapi.OpenAIResponses:
		parts = append(parts, fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%s}]}`, quote(text)))
		for _, c := range calls {
			parts = append(parts, fmt.Sprintf(`{"type":"function_call","call_id":%s,"name":%s,"arguments":%s}`, quote(c.ID), quote(c.Name), quote(c.Args)))
		}
		status := "completed"
		if stop == "length" {
			status = "incomplete"
		}
		return fmt.Sprintf(`{"status":%s,"output":[%s],"usage":{"input_tokens":10,"output_tokens":2}}`, quote(status), strings.Join(parts, ","))
	}
	parts = append(parts, fmt.Sprintf(`{"type":"text","text":%s}`, quote(text)))
	for _, c := range calls {
		parts = append(parts, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(c.ID), quote(c.Name), c.Args))
	}
	if stop == "length" {
		stop = "max_tokens"
	}
	return fmt.Sprintf(`{"stop_reason":%s,"content":[%s],"usage":{"input_tokens":10,"output_tokens":2}}`, quote(stop), strings.Join(parts, ","))
}

// stub is a model on loopback that gives its answers in turn and keeps what it
// was sent.
type stub struct {
	*httptest.Server
	answers  []string
	requests []string
	headers  []http.Header
}

func newStub(t *testing.T, answers ...string) *stub {
	s := &stub{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.requests, s.headers = append(s.requests, string(body)), append(s.headers, r.Header)
		if len(s.answers) == 0 {
			http.Error(w, `{"error":{"message":"no more answers"}}`, http.StatusBadRequest)
			return
		}
		answer := s.answers[0]
		s.answers = s.answers[1:]
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// loop is an agent with the tools echo, note (which leaves a context) and end
// (which concludes) in a mode.
func loop(t *testing.T, api modelapi.API, transport agent.Transport, mode codemode.Mode) (*agent.Loop, *pipelinetest.Recorder) {
	t.Helper()
	echo := tools.Define("echo", "Echo.", func(_ context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		return in.Text, nil
	})
	note := &tools.Definition{Name: "note", Description: "Note.", Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Defer(tools.ContextMessage("note", "remember "+run.Call().Args().String()))
		return tools.Result{Value: tools.MustJSON(`"noted"`)}, nil
	}}
	end := &tools.Definition{Name: "end", Description: "End.", Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
		run.Conclude()
		return tools.Result{Value: tools.MustJSON(`"over"`)}, nil
	}}
	reg, err := tools.NewRegistry(echo, note, end)
	if err != nil {
		t.Fatal(err)
	}
	rec := &pipelinetest.Recorder{}
	p := pipeline.New(reg, &pipeline.Options{Sink: rec})
	cm, err := codemode.New(p, &codemode.Options{Mode: mode, Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cm.Close() })
	return &agent.Loop{API: api, Transport: transport, Model: "m", Pipeline: p, CodeMode: cm}, rec
}

func client(s *stub, api modelapi.API) *agent.Client {
	return &agent.Client{API: api, BaseURL: s.URL + "/v1/", Key: "key-0123456789", HTTP: s.Client(), Wait: func(context.Context, time.Duration) error { return nil }}
}

const sum = `{"code":"return (await tools.echo({text: 'a'})) + 'b'","description":"Join"}`

func TestLoop(t *testing.T) {
	one := func(calls ...modelapi.Call) []modelapi.Call { return calls }
	tests := []struct {
		name  string
		mode  codemode.Mode
		steps int
		calls [][]modelapi.Call // of each answer; the last answer is the text "Done."
		stops []string
		want  agent.Result
		last  string // the request after the calls holds this
		log   []string
	}{
		{name: "a program", calls: [][]modelapi.Call{one(modelapi.Call{ID: "c1", Name: "run_code", Args: sum})}, last: `ab`,
			want: agent.Result{Text: "Done.", Stop: agent.StopDone, Steps: 2, Calls: 1, Usage: modelapi.Usage{Input: 20, Output: 4}},
			log:  []string{"tool/call c1", "tool/result c1"}},
		{name: "native calls side by side", mode: codemode.ModeNative, calls: [][]modelapi.Call{one(
			modelapi.Call{ID: "c1", Name: "note", Args: `{"n":1}`}, modelapi.Call{ID: "c2", Name: "echo", Args: `{"text":"hi"}`}, modelapi.Call{ID: "c3", Name: "note", Args: `{"n":2}`})},
			last: `remember {\"n\":1}`,
			want: agent.Result{Text: "Done.", Stop: agent.StopDone, Steps: 2, Calls: 3, Usage: modelapi.Usage{Input: 20, Output: 4}},
			log:  []string{"tool/call c1", "tool/result c1", "tool/call c2", "tool/result c2", "tool/call c3", "tool/result c3"}},
		{name: "native calls in code mode", steps: 2, calls: [][]modelapi.Call{one(modelapi.Call{ID: "c1", Name: "echo", Args: `{"text":"hi"}`}), one(modelapi.Call{ID: "c1", Name: "echo", Args: `{"text":"hi"}`})},
			want: agent.Result{Text: "", Stop: agent.StopSteps, Steps: 2, Calls: 2, Usage: modelapi.Usage{Input: 20, Output: 4}}, last: `run_code`,
			log: []string{"tool/call c1", "tool/result c1", "tool/call call_2_2", "tool/result call_2_2"}},
		{name: "cut in a call", calls: [][]modelapi.Call{one(modelapi.Call{ID: "c1", Name: "run_code", Args: `{}`})}, stops: []string{"length"},
			want: agent.Result{Text: "Done.", Stop: agent.StopDone, Steps: 2, Usage: modelapi.Usage{Input: 20, Output: 4}}, last: `your answer was cut at its token limit, so none of its calls was made`},
		{name: "cut without a call", calls: [][]modelapi.Call{nil}, stops: []string{"length"},
			want: agent.Result{Stop: agent.StopCut, Steps: 1, Usage: modelapi.Usage{Input: 10, Output: 2}}},
		{name: "a tool concludes", mode: codemode.ModeNative, calls: [][]modelapi.Call{one(modelapi.Call{ID: "c1", Name: "end", Args: `{}`})},
			want: agent.Result{Stop: agent.StopConcluded, Steps: 1, Calls: 1, Usage: modelapi.Usage{Input: 10, Output: 2}},
			log:  []string{"tool/call c1", "tool/result c1"}},
		{name: "a tool concludes and another leaves a context", mode: codemode.ModeNative, calls: [][]modelapi.Call{one(modelapi.Call{ID: "c1", Name: "end", Args: `{}`}, modelapi.Call{ID: "c2", Name: "note", Args: `{}`})},
			want: agent.Result{Text: "Done.", Stop: agent.StopDone, Steps: 2, Calls: 2, Usage: modelapi.Usage{Input: 20, Output: 4}}, last: "remember {}",
			log: []string{"tool/call c1", "tool/result c1", "tool/call c2", "tool/result c2"}},
		{name: "calls without an id", mode: codemode.ModeNative, calls: [][]modelapi.Call{one(modelapi.Call{Name: "echo", Args: `{"text":"x"}`}, modelapi.Call{Name: "echo", Args: `{"text":"y"}`})},
			want: agent.Result{Text: "Done.", Stop: agent.StopDone, Steps: 2, Calls: 2, Usage: modelapi.Usage{Input: 20, Output: 4}}, last: "y",
			log: []string{"tool/call call_1_1", "tool/result call_1_1", "tool/call call_1_2", "tool/result call_1_2"}},
		{name: "ids that are none", mode: codemode.ModeBoth, calls: [][]modelapi.Call{one(
			modelapi.Call{ID: "c1", Name: "run_code", Args: sum}, modelapi.Call{ID: "c1:code:1", Name: "echo", Args: `{"text":"x"}`},
			modelapi.Call{ID: "a\x1b[31m", Name: "echo", Args: `{"text":"y"}`}, modelapi.Call{ID: strings.Repeat("x", 200), Name: "echo", Args: `{"text":"z"}`})},
			want: agent.Result{Text: "Done.", Stop: agent.StopDone, Steps: 2, Calls: 4, Usage: modelapi.Usage{Input: 20, Output: 4}}, last: strings.Repeat("x", 200),
			log: []string{"tool/call c1", "tool/result c1", "tool/call call_1_2", "tool/result call_1_2", "tool/call call_1_3", "tool/result call_1_3", "tool/call call_1_4", "tool/result call_1_4"}},
	}
	for _, api := range modelapi.All() {
		for _, tt := range tests {
			t.Run(api.Name()+"/"+tt.name, func(t *testing.T) {
				var answers []string
				for i, calls := range tt.calls {
					stop := "tool_calls"
					if i < len(tt.stops) {
						stop = tt.stops[i]
					}
					answers = append(answers, say(api, stop, "", calls...))
				}
				s := newStub(t, append(answers, say(api, "stop", "Done."))...)
				l, rec := loop(t, api, client(s, api), tt.mode)
				l.MaxSteps = tt.steps
				var seen []int
				l.OnAnswer = func(step int, _ modelapi.Answer) { seen = append(seen, step) }
				got, err := l.Run(t.Context(), "Do it.")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("result (-want +got):\n%s", diff)
				}
				if len(seen) != got.Steps {
					t.Errorf("answers told for steps %v, want one for each of %d", seen, got.Steps)
				}
				if (got.Err() != nil) != (got.Stop == agent.StopSteps || got.Stop == agent.StopCut) {
					t.Errorf("%s has the error %v", got.Stop, got.Err())
				}
				if tt.last != "" && got.Stop != agent.StopSteps && !strings.Contains(s.requests[len(s.requests)-1], tt.last) {
					t.Errorf("the last request does not hold %q:\n%s", tt.last, s.requests[len(s.requests)-1])
				}
				if diff := cmp.Diff(tt.log, topLevel(rec)); diff != "" {
					t.Errorf("log (-want +got):\n%s", diff)
				}
				for _, problem := range pipelinetest.CheckLog(rec.Events()) {
					t.Error(problem)
				}
			})
		}
	}
}

// topLevel is the events of the model's own calls.
func topLevel(rec *pipelinetest.Recorder) (list []string) {
	for _, e := range rec.Events() {
		var d struct {
			CallID  string `json:"callId"`
			Message struct {
				Source struct {
					CallID string `json:"callId"`
				} `json:"source"`
			} `json:"message"`
		}
		if (e.Type == pipeline.EventToolCall || e.Type == pipeline.EventToolResult) && e.Data.Unmarshal(&d) == nil {
			list = append(list, e.Type+" "+d.CallID+d.Message.Source.CallID)
		}
	}
	return list
}

// TestMalformedArguments shows that arguments which are no JSON come back as a
// failed call and the loop goes on.
func TestMalformedArguments(t *testing.T) {
	api := modelapi.OpenAIChat
	s := newStub(t, say(api, "tool_calls", "", modelapi.Call{ID: "c1", Name: "run_code", Args: `{"code":`}), say(api, "stop", "Done."))
	l, _ := loop(t, api, client(s, api), codemode.ModeCode)
	if got, err := l.Run(t.Context(), "Do it."); err != nil || got.Stop != agent.StopDone {
		t.Fatalf("%+v, %v", got, err)
	}
	if !strings.Contains(s.requests[1], `"tool_call_id":"c1","content":"Error: `) && !strings.Contains(s.requests[1], `"content":"Error: `) {
		t.Errorf("the second request does not hold the failure:\n%s", s.requests[1])
	}
}

func TestFailures(t *testing.T) {
	api := modelapi.Anthropic
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		want   string
		tries  int
	}{
		{"bad key", func(w http.ResponseWriter) {
			w.WriteHeader(401)
			io.WriteString(w, `{"error":{"type":"authentication_error","message":"invalid key key-0123456789"}}`)
		}, "request 1 to the model: the model API answers 401 Unauthorized: invalid key [key]; check the key in the environment", 1},
		{"overloaded", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(529)
			io.WriteString(w, `{"error":{"type":"overloaded_error","message":"Overloaded"}}`)
		}, "request 1 to the model: the model API answers 529: Overloaded", 4},
		{"redirect", func(w http.ResponseWriter) { w.Header().Set("Location", "http://127.0.0.1:1/"); w.WriteHeader(307) },
			"request 1 to the model: the model API answers 307 Temporary Redirect; redirects are not followed, give the URL it leads to", 1},
		{"a stream", func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			io.WriteString(w, "data: {}\n\n")
		}, "request 1 to the model: the model API answers 200 OK: its body is a stream of events, which was not asked for", 1},
		{"a web page", func(w http.ResponseWriter) { io.WriteString(w, "<html>") }, "request 1 to the model: the answer of anthropic is not JSON: ", 1},
		{"not found", func(w http.ResponseWriter) { http.Error(w, "no\nsuch page", 404) }, "request 1 to the model: the model API answers 404 Not Found: no such page; check the base URL and the model", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tries := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tries++
				tt.answer(w)
			}))
			defer server.Close()
			var waits []time.Duration
			c := &agent.Client{API: api, BaseURL: server.URL, Key: "key-0123456789", Wait: func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			}}
			defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			l, _ := loop(t, api, c, codemode.ModeCode)
			_, err := l.Run(t.Context(), "Do it.")
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if tries != tt.tries {
				t.Errorf("%d tries, want %d", tries, tt.tries)
			}
			if tt.tries > 1 {
				if diff := cmp.Diff([]time.Duration{3 * time.Second, 3 * time.Second, 4 * time.Second}, waits); diff != "" {
					t.Errorf("waits (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	l, _ := loop(t, modelapi.OpenAIChat, &agent.Player{}, codemode.ModeCode)
	why := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if got, err := l.Run(ctx, "Do it."); !errors.Is(err, why) || got.Steps != 0 {
		t.Errorf("%+v, %v, want the reason and no request", got, err)
	}
}

// TestCassette records a task, plays it again, and refuses to play another.
func TestCassette(t *testing.T) {
	for _, api := range modelapi.All() {
		t.Run(api.Name(), func(t *testing.T) {
			s := newStub(t, say(api, "tool_calls", "", modelapi.Call{ID: "c1", Name: "run_code", Args: sum}), say(api, "stop", "Done."))
			var tape bytes.Buffer
			l, _ := loop(t, api, &agent.Recorder{Transport: client(s, api), W: &tape}, codemode.ModeCode)
			first, err := l.Run(t.Context(), "Do it.")
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tape.String(), "key-0123456789") {
				t.Error("the cassette holds the key")
			}
			player, err := agent.NewPlayer(strings.NewReader(tape.String()))
			if err != nil {
				t.Fatal(err)
			}
			l.Transport = player
			again, err := l.Run(t.Context(), "Do it.")
			if err != nil || again != first || player.Left() != 0 {
				t.Errorf("played %+v, %v (%d left), want %+v", again, err, player.Left(), first)
			}
			player, _ = agent.NewPlayer(strings.NewReader(tape.String()))
			l.Transport = player
			_, err = l.Run(t.Context(), "Do another.")
			if err == nil || !strings.Contains(err.Error(), "is not the recorded one: /") || !strings.Contains(err.Error(), `Do another.`) {
				t.Errorf("error %v, want where the request differs", err)
			}
		})
	}
}

func TestPlayerProblems(t *testing.T) {
	for _, tt := range []struct{ name, tape, want string }{
		{"not JSON", "{\"request\":1,\"answer\":2}\nx\n", "line 2 of the cassette is no exchange: "},
		{"no answer", `{"request":1}`, "line 1 of the cassette is no exchange: it must have request and answer"},
	} {
		if _, err := agent.NewPlayer(strings.NewReader(tt.tape)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	p, err := agent.NewPlayer(strings.NewReader("\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Send(t.Context(), tools.MustJSON(`1`)); err == nil || err.Error() != "the cassette ends after 0 requests and one more is made; record it again" {
		t.Errorf("error %v, want the end of the cassette", err)
	}
}

func TestCheckURL(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.example.com/v1": "",
		"http://127.0.0.1:8080":      "",
		"ftp://x":                    `the base URL "ftp://x" is not of the form https://host/path`,
		"api.example.com":            `the base URL "api.example.com" is not of the form https://host/path`,
		"https://u:p@x":              "the base URL holds credentials; give the key in the environment",
		"https://x?a=1":              "the base URL has a query or a fragment; give what comes before the API's path",
		"https://x\x00":              "the base URL cannot be read: net/url: invalid control character in URL",
	} {
		got := ""
		if err := agent.CheckURL(base); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("CheckURL(%q) = %q, want %q", base, got, want)
		}
	}
}

func FuzzPlayer(f *testing.F) {
	f.Add(`{"request":{"a":[1,2]},"answer":{}}`, `{"a":[1,3]}`)
	f.Add("\n\n[]", `1`)
	f.Fuzz(func(t *testing.T, tape, request string) {
		p, err := agent.NewPlayer(strings.NewReader(tape))
		if err != nil {
			return
		}
		r, err := tools.ParseJSON(request)
		if err != nil {
			return
		}
		left := p.Left()
		if _, err := p.Send(t.Context(), r); err == nil && p.Left() != left-1 {
			t.Errorf("an answer was given and %d of %d are left", p.Left(), left)
		}
	})
}
