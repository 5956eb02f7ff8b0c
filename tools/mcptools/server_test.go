package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/tools"
)

func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent mailbox
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{call: func(s *script, r request) {
			sent.put(string(r.Params))
			s.reply(r, `{"content":[],"structuredContent":{"z":1.0,"big":9007199254740993,"a":-0,"s":"\ud800"}}`)
		}})})
		defer c.Close()
		reg := register(t, c)
		got := callTool(t.Context(), reg, "mcp__s__echo", `{"z":9007199254740993,"a":-0,"s":"\ud800<"}`)
		if want := (answer{Value: `{"z":1.0,"big":9007199254740993,"a":-0,"s":"\ud800"}`}); got != want {
			t.Errorf("answer = %+v\nwant     %+v", got, want)
		}
		if want := []string{`{"_meta":{"progressToken":"1"},"name":"echo","arguments":{"z":9007199254740993,"a":-0,"s":"\ud800<"}}`}; !cmp.Equal(sent.all(), want) {
			t.Errorf("the server was sent %s\nwant %s", sent.all(), want)
		}
		if got, want := statusOf(t, c, "s"), (Status{Server: "s", State: Ready, Tools: []string{"mcp__s__echo"}}); !cmp.Equal(got, want) {
			t.Errorf("status:\n%s", cmp.Diff(want, got))
		}
	})
}

// TestBadPeers: each server misbehaves in its way, gets one clear error, and
// leaves the others alone.
func TestBadPeers(t *testing.T) {
	refuse := func(s *script, r request) {
		s.send(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32602,"message":"no such thing"}}`)
	}
	tests := []struct {
		name   string
		server behaviour
		want   answer // of a call
		state  State  // after it
		reason string
	}{
		{"never answers a call", behaviour{call: func(*script, request) {}},
			answer{Code: tools.CodeToolTimeout, Err: `MCP server "bad" did not answer within 5m0s`}, Ready, ""},
		{"answers twice", behaviour{call: func(s *script, r request) { s.reply(r, textResult("first")); s.reply(r, textResult("second")) }},
			answer{Value: `"first"`}, Ready, ""},
		{"answers another call", behaviour{call: func(s *script, r request) {
			s.send(`{"jsonrpc":"2.0","id":99,"result":{}}`)
			s.reply(r, textResult("right"))
		}}, answer{Value: `"right"`}, Ready, ""},
		{"sends 50 MB", behaviour{call: func(s *script, r request) { s.reply(r, textResult(strings.Repeat("x", 50<<20))) }},
			answer{Code: CodeConnectionLost, Err: `MCP server "bad" sent a message of more than 16 MiB; whether the call had an effect is not known`},
			Down, "it sent a message of more than 16 MiB"},
		{"closes while it is called", behaviour{call: func(s *script, _ request) { _ = s.out.(interface{ Close() error }).Close() }},
			answer{Code: CodeConnectionLost, Err: `MCP server "bad" ended the connection; whether the call had an effect is not known`},
			Down, "it ended the connection"},
		{"sends what is no JSON", behaviour{call: func(s *script, _ request) { s.send(`{"jsonrpc":"2.0",`) }},
			answer{Code: CodeConnectionLost, Err: `MCP server "bad" sent a line of 17 bytes that is no message; whether the call had an effect is not known`},
			Down, `it sent a line of 17 bytes that is no message`},
		{"prints text that is no message", behaviour{call: func(s *script, r request) { s.send("working on it"); s.reply(r, textResult("done")) }},
			answer{Value: `"done"`}, Ready, ""},
		{"refuses the call", behaviour{call: refuse},
			answer{Code: CodeRefused, Err: `MCP server "bad" answered with the error -32602: no such thing`}, Ready, ""},
		{"sends no result", behaviour{call: func(s *script, r request) { s.reply(r, `17`) }},
			answer{Code: CodeBadAnswer, Err: `MCP server "bad" sent a result that is no object with content blocks`}, Ready, ""},
		{"gives a name twice", behaviour{call: func(s *script, r request) { s.reply(r, `{"content":[],"structuredContent":{"a":1,"a":2}}`) }},
			answer{Code: CodeBadAnswer, Err: `MCP server "bad" sent a result that cannot be read: invalid JSON at byte 41 (/structuredContent/a): the property name is given twice; send it once`}, Ready, ""},
		{"sends a block that is none", behaviour{call: func(s *script, r request) { s.reply(r, `{"content":[null]}`) }},
			answer{Code: CodeBadAnswer, Err: `MCP server "bad" sent a content block that is none`}, Ready, ""},
		{"says that the tool failed", behaviour{call: func(s *script, r request) {
			s.reply(r, `{"isError":true,"content":[{"type":"text","text":"no such file"},{"type":"text","text":"try another"}]}`)
		}}, answer{Code: CodeToolFailed, Err: "no such file\ntry another"}, Ready, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"bad": always(tt.server), "good": always(behaviour{})})
				defer c.Close()
				reg := register(t, c)
				begun := time.Now()
				if got := callTool(t.Context(), reg, "mcp__bad__echo", `{}`); got != tt.want {
					t.Errorf("answer = %+v\nwant     %+v", got, tt.want)
				}
				if took := time.Since(begun); tt.want.Code == tools.CodeToolTimeout && took != defaultCall {
					t.Errorf("the call took %v, want its time limit %v", took, defaultCall)
				}
				synctest.Wait()
				if got := statusOf(t, c, "bad"); got.State != tt.state || got.Reason != tt.reason {
					t.Errorf("status = %s (%s)\nwant     %s (%s)", got.State, got.Reason, tt.state, tt.reason)
				}
				if got := callTool(t.Context(), reg, "mcp__good__echo", `{}`); got.Value != `"called"` {
					t.Errorf("the other server answers %+v", got)
				}
			})
		})
	}
}

// TestBadStarts: what is wrong before there is any tool.
func TestBadStarts(t *testing.T) {
	ignore := func(*script, request) {}
	page := func(next string) func(*script, request) {
		return func(s *script, r request) { s.reply(r, `{"tools":[`+echoTool+`],"nextCursor":`+next+`}`) }
	}
	pages := 0
	tests := []struct {
		name   string
		server func() (*peer, error)
		reason string
	}{
		{"cannot be started", func() (*peer, error) { return nil, errors.New("no such program") }, "it failed: no such program"},
		{"never answers", always(behaviour{other: map[string]func(*script, request){"initialize": ignore}}),
			"it did not say within 30s what tools it has; see startTimeout"},
		{"never lists", always(behaviour{other: map[string]func(*script, request){"tools/list": ignore}}),
			"it did not say within 30s what tools it has; see startTimeout"},
		{"reads nothing", func() (*peer, error) {
			block := make(chan struct{})
			p := pipePeer(func(*script) { <-block })
			end := p.end
			p.end = func(d time.Duration) string { close(block); return end(d) }
			return p, nil
		}, "it did not say within 30s what tools it has; see startTimeout"},
		{"leaves at once", func() (*peer, error) { return pipePeer(func(*script) {}), nil }, "it ended the connection"},
		{"speaks of the future", always(behaviour{other: map[string]func(*script, request){"initialize": func(s *script, r request) {
			s.reply(r, strings.Replace(welcome, "2025-11-25", "2199-01-01", 1))
		}}}), `it failed: unsupported protocol version: "2199-01-01"`},
		{"lists 5,000 tools", always(behaviour{tools: func() string { return manyTools(5000) }}), "it lists more than 2000 tools; have it offer fewer"},
		{"lists endless pages", always(behaviour{other: map[string]func(*script, request){"tools/list": func(s *script, r request) {
			pages++
			page(`"`+strings.Repeat("x", pages%200+1)+`"`)(s, r)
		}}}), "it spreads its list of tools over more than 200 pages"},
		{"lists the same page for ever", always(behaviour{other: map[string]func(*script, request){"tools/list": page(`"again"`)}}),
			"it sends the same page of its list of tools again and again"},
		{"lists 20 MB", always(behaviour{other: map[string]func(*script, request){"tools/list": func(s *script, r request) {
			pages++
			s.reply(r, fmt.Sprintf(`{"tools":[{"name":"t","description":"%s"}],"nextCursor":"%d"}`, strings.Repeat("x", 1<<20), pages))
		}}}), "it sent a list of tools of more than 16 MiB"},
		{"lists no list", always(behaviour{other: map[string]func(*script, request){"tools/list": func(s *script, r request) { s.reply(r, `{"tools":7}`) }}}),
			"it sent a list of tools that is none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"bad": tt.server, "good": always(behaviour{})})
				defer c.Close()
				if took := time.Since(begun); strings.Contains(tt.reason, "did not say within") && took != defaultStart {
					t.Errorf("the start took %v, want its time limit %v", took, defaultStart)
				}
				want := Status{Server: "bad", State: Down, Reason: tt.reason, Again: time.Second}
				if got := statusOf(t, c, "bad"); !cmp.Equal(got, want) {
					t.Errorf("status (-want +got):\n%s", cmp.Diff(want, got))
				}
				reg := register(t, c)
				if got := names(reg); !cmp.Equal(got, []string{"mcp__good__echo"}) {
					t.Errorf("tools = %v, want the other server's", got)
				}
				if got := callTool(t.Context(), reg, "mcp__good__echo", `{}`); got.Value != `"called"` {
					t.Errorf("the other server answers %+v", got)
				}
			})
		})
	}
}

// TestComesBack: a server that dies is started again, after 1, 2, 4, ... 60
// seconds, and calls fail meanwhile.
func TestComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var starts []time.Duration
		const failures = 9
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": func() (*peer, error) {
			starts = append(starts, time.Since(begun))
			if n := len(starts); n > 1 && n <= failures {
				return nil, errors.New("not yet")
			}
			return pipePeer(behaviour{call: func(s *script, r request) {
				if len(starts) == 1 {
					_ = s.out.(interface{ Close() error }).Close()
					return
				}
				s.reply(r, textResult("back"))
			}}.serve), nil
		}})
		defer c.Close()
		reg := register(t, c)
		before := reg.Lookup("mcp__s__echo")
		callTool(t.Context(), reg, "mcp__s__echo", `{}`)
		synctest.Wait()
		want := answer{Code: CodeServerDown, Err: `MCP server "s" is down: it ended the connection; it is started again after 1s`}
		if got := callTool(t.Context(), reg, "mcp__s__echo", `{}`); got != want {
			t.Errorf("a call meanwhile: %+v\nwant %+v", got, want)
		}
		time.Sleep(10 * time.Minute) // of the bubble's clock
		synctest.Wait()
		var waits []time.Duration
		for i := range starts[1:] {
			waits = append(waits, starts[i+1]-starts[i])
		}
		s := time.Second
		if diff := cmp.Diff([]time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s, 60 * s}, waits); diff != "" {
			t.Errorf("waits between starts (-want +got):\n%s", diff)
		}
		if got := callTool(t.Context(), reg, "mcp__s__echo", `{}`); got.Value != `"back"` {
			t.Errorf("a call after it is back: %+v", got)
		}
		if reg.Lookup("mcp__s__echo") != before {
			t.Error("a tool that is declared as before was replaced")
		}
	})
}

// TestDelayStartsAnew: a server that was well for a while is started again soon.
func TestDelayStartsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var starts []time.Duration
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": func() (*peer, error) {
			starts = append(starts, time.Since(begun))
			switch len(starts) {
			case 1, 2, 3:
				return nil, errors.New("not yet")
			}
			p := pipePeer(behaviour{}.serve)
			time.AfterFunc(2*time.Minute, func() { p.end(0) })
			return p, nil
		}})
		time.Sleep(7*time.Second + 2*time.Minute + 1500*time.Millisecond)
		c.Close()
		s := time.Second
		if diff := cmp.Diff([]time.Duration{0, s, 3 * s, 7 * s, 2*time.Minute + 8*s}, starts); diff != "" {
			t.Errorf("starts (-want +got):\n%s", diff)
		}
	})
}

func TestCancelIsForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cancelled mailbox
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{
			call:  func(*script, request) {},
			other: map[string]func(*script, request){"notifications/cancelled": func(_ *script, r request) { cancelled.put(string(r.Params)) }},
		})})
		defer c.Close()
		reg := register(t, c)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("the person left")) })
		begun := time.Now()
		if got := callTool(ctx, reg, "mcp__s__echo", `{}`); got.Err != "the person left" {
			t.Errorf("answer = %+v, want the reason of the context", got)
		}
		if took := time.Since(begun); took != time.Second {
			t.Errorf("the call took %v, want 1s", took)
		}
		synctest.Wait()
		if got := cancelled.all(); len(got) != 1 || !strings.Contains(got[0], `"requestId":3`) {
			t.Errorf("the server was told %v, want one cancellation of request 3", got)
		}
		if got := statusOf(t, c, "s").State; got != Ready {
			t.Errorf("state = %s, want ready: one cancelled call must not end the session", got)
		}
	})
}

func TestProgressIsForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan struct{})
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{call: func(s *script, r request) {
			s.notify("notifications/progress", `{"progressToken":"nobody","progress":9}`)
			s.notify("notifications/progress", `{"progressToken":"1","progress":1,"total":4,"message":"first"}`)
			<-seen
			s.reply(r, textResult("done"))
			time.Sleep(time.Second)
			s.notify("notifications/progress", `{"progressToken":"1","progress":4}`)
		}})})
		defer c.Close()
		reg := register(t, c)
		var got []tools.Progress
		answered := callWith(t.Context(), reg, "mcp__s__echo", `{}`, tools.RunHooks{Progress: func(p tools.Progress) { got = append(got, p); close(seen) }})
		time.Sleep(2 * time.Second) // progress after the answer goes nowhere
		synctest.Wait()
		if diff := cmp.Diff([]tools.Progress{{Done: 1, Total: 4, Message: "first"}}, got); diff != "" || answered.Value != `"done"` {
			t.Errorf("progress (-want +got):\n%s\nanswer: %+v", diff, answered)
		}
	})
}

// TestProgressThatCameIsReported: also what comes together with the answer.
func TestProgressThatCameIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen chan struct{}
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{call: func(s *script, r request) {
			var params struct {
				Meta struct {
					Token string `json:"progressToken"`
				} `json:"_meta"`
			}
			_ = json.Unmarshal(r.Params, &params)
			s.notify("notifications/progress", `{"progressToken":"`+params.Meta.Token+`","progress":1}`)
			<-seen
			s.notify("notifications/progress", `{"progressToken":"`+params.Meta.Token+`","progress":2}`)
			time.Sleep(time.Second)
			s.reply(r, textResult("done"))
		}})})
		defer c.Close()
		reg := register(t, c)
		for range 10 { // each time either could be looked at first
			seen = make(chan struct{})
			reports := 0
			callWith(t.Context(), reg, "mcp__s__echo", `{}`, tools.RunHooks{Progress: func(tools.Progress) {
				if reports++; reports == 1 {
					close(seen)
					time.Sleep(time.Minute) // until both are there
				}
			}})
			if reports != 2 {
				t.Fatalf("%d reports, want 2", reports)
			}
		}
	})
}

// TestOddMessages: messages that mean nothing are passed over, and none of them
// ends this process.
func TestOddMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var odd []string
		for _, method := range []string{"notifications/progress", "notifications/cancelled", "notifications/tools/list_changed", "notifications/message",
			"notifications/resources/updated", "notifications/elicitation/complete", "notifications/subscriptions/acknowledged", "notifications/unheard/of",
			"roots/list", "sampling/createMessage", "elicitation/create", "ping", "tools/call", ""} {
			for _, params := range []string{``, `,"params":null`, `,"params":{}`, `,"params":[]`, `,"params":7`, `,"params":{"_meta":7}`, `,"params":{"progressToken":{},"progress":"x"}`, `,"params":{"requestId":{}}`, `,"params":{"requestId":3}`} {
				odd = append(odd, `{"jsonrpc":"2.0","method":"`+method+`"`+params+`}`, `{"jsonrpc":"2.0","id":"x","method":"`+method+`"`+params+`}`)
			}
		}
		odd = append(odd, `{"jsonrpc":"2.0","id":77,"result":null}`, `{"jsonrpc":"2.0","id":78,"error":{"code":1,"message":"x"}}`)
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": func() (*peer, error) {
			return pipePeer(func(s *script) {
				drained := make(chan struct{})
				behaviour{call: func(s *script, r request) {
					go func() { // the answers are not wanted
						defer close(drained)
						for {
							if _, err := s.in.ReadByte(); err != nil {
								return
							}
						}
					}()
					for _, line := range odd {
						s.send(line)
					}
					s.reply(r, textResult("done"))
					<-drained
				}}.serve(s)
			}), nil
		}})
		defer c.Close()
		if got := callTool(t.Context(), register(t, c), "mcp__s__echo", `{}`); got.Value != `"done"` {
			t.Errorf("answer = %+v, want done", got)
		}
	})
}

// TestOddHandshakes: answers that are hardly any.
func TestOddHandshakes(t *testing.T) {
	tests := []struct {
		name, initialize, discover string
		state                      State
	}{
		{"null", `null`, ``, Down},
		{"number", `7`, ``, Down},
		{"empty", `{}`, ``, Down},
		{"no capabilities", `{"protocolVersion":"2025-11-25"}`, ``, Ready},
		{"null capabilities", `{"protocolVersion":"2025-11-25","capabilities":null,"serverInfo":null}`, ``, Ready},
		{"no tools", `{"protocolVersion":"2025-11-25","capabilities":{"tools":null}}`, ``, Ready},
		{"newest, null", ``, `null`, Down},
		{"newest, empty", ``, `{}`, Down},
		{"newest, nothing but the version", ``, `{"supportedVersions":["2026-07-28"]}`, Ready},
		{"newest, null capabilities", ``, `{"supportedVersions":["2026-07-28"],"capabilities":null,"_meta":{"io.modelcontextprotocol/serverInfo":7}}`, Ready},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reply := func(result string) func(*script, request) {
					return func(s *script, r request) {
						if result == "" {
							s.send(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32601,"message":"no such method"}}`)
							return
						}
						s.reply(r, result)
					}
				}
				c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{other: map[string]func(*script, request){
					"initialize": reply(tt.initialize), "server/discover": reply(tt.discover)}})})
				defer c.Close()
				if got := statusOf(t, c, "s"); got.State != tt.state || len(got.Tools) > 0 {
					t.Errorf("status = %+v, want %s without tools", got, tt.state)
				}
			})
		})
	}
}

func TestDescribed(t *testing.T) {
	tests := []struct{ name, err, want string }{
		{"session", `standalone SSE request failed (session ID: secret): Gone`, "failed: standalone SSE request failed: Gone"},
		{"alias", `calling "runcode/tools/call": no`, `failed: calling "tools/call": no`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := described(errors.New(tt.err)); got != tt.want {
				t.Errorf("described = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNothingIsOffered: a server that asks for sampling, elicitation or roots is
// refused, and told beforehand.
func TestNothingIsOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got mailbox
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{
			other: map[string]func(*script, request){"initialize": func(s *script, r request) {
				got.put(string(r.Params))
				s.reply(r, welcome)
			}},
			call: func(s *script, r request) {
				for _, method := range []string{"roots/list", "sampling/createMessage", "elicitation/create", "ping"} {
					s.send(`{"jsonrpc":"2.0","id":"` + method + `","method":"` + method + `","params":{"messages":[],"maxTokens":1,"message":"?","requestedSchema":{"type":"object"}}}`)
					line, _ := s.in.ReadString('\n')
					got.put(strings.TrimSpace(line))
				}
				s.reply(r, textResult("done"))
			},
		})})
		defer c.Close()
		callTool(t.Context(), register(t, c), "mcp__s__echo", `{}`)
		want := []string{
			`{"clientInfo":{"name":"runcode","version":"` + moduleVersion() + `"},"protocolVersion":"2025-11-25","capabilities":{}}`,
			`{"jsonrpc":"2.0","id":"roots/list","error":{"code":-32601,"message":"method not found: \"roots/list\""}}`,
			`{"jsonrpc":"2.0","id":"sampling/createMessage","error":{"code":-32601,"message":"method not found: \"sampling/createMessage\""}}`,
			`{"jsonrpc":"2.0","id":"elicitation/create","error":{"code":-32601,"message":"method not found: \"elicitation/create\""}}`,
			`{"jsonrpc":"2.0","id":"ping","result":{}}`,
		}
		if diff := cmp.Diff(want, got.all()); diff != "" {
			t.Errorf("what the server received (-want +got):\n%s", diff)
		}
	})
}

// TestCallsOverlap: answers in another order reach their own calls.
func TestCallsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held []request
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{call: func(s *script, r request) {
			if held = append(held, r); len(held) == 2 {
				for _, r := range []request{held[1], held[0]} {
					s.reply(r, `{"structuredContent":`+string(r.Params)+`}`)
				}
			}
		}})})
		defer c.Close()
		reg := register(t, c)
		first := make(chan answer)
		go func() { first <- callTool(t.Context(), reg, "mcp__s__echo", `{"n":1}`) }()
		synctest.Wait()
		second := callTool(t.Context(), reg, "mcp__s__echo", `{"n":2}`)
		if got := <-first; !strings.Contains(got.Value, `"n":1`) || !strings.Contains(second.Value, `"n":2`) {
			t.Errorf("answers = %+v and %+v, want each its own arguments", got, second)
		}
	})
}

// explosive is what a hostile message may make of the SDK.
type explosive struct{}

func (explosive) Connect(context.Context) (mcp.Connection, error) { panic("boom") }

func TestPanicIsContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": func() (*peer, error) {
			return &peer{transport: explosive{}, stderr: func() string { return "" }, end: func(time.Duration) string { return "" }}, nil
		}})
		defer c.Close()
		if got := statusOf(t, c, "s"); got.State != Down || got.Reason != "it sent a message that could not be handled" {
			t.Errorf("status = %+v, want down", got)
		}
	})
}

// TestCallWhileServerEnds: between the end of the connection and that of the
// program.
func TestCallWhileServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": func() (*peer, error) {
			p := pipePeer(behaviour{call: func(s *script, _ request) { _ = s.out.(interface{ Close() error }).Close() }}.serve)
			end := p.end
			p.end = func(grace time.Duration) string { time.Sleep(time.Minute); return end(grace) }
			return p, nil
		}})
		defer c.Close()
		reg := register(t, c)
		callTool(t.Context(), reg, "mcp__s__echo", `{}`)
		synctest.Wait()
		want := answer{Code: CodeServerDown, Err: `MCP server "s" is down: it ended the connection; it is started again after 1s`}
		if got := callTool(t.Context(), reg, "mcp__s__echo", `{}`); got != want {
			t.Errorf("answer = %+v\nwant     %+v", got, want)
		}
	})
}

func TestConnectEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := newClient(Config{Servers: map[string]Server{"s": {Command: "scripted"}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.servers[0].dial = always(behaviour{other: map[string]func(*script, request){"initialize": func(*script, request) {}}})
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("no patience"))
		defer cancel()
		if err := c.start(ctx); err == nil || err.Error() != "cannot connect to MCP servers: no patience" {
			t.Errorf("start = %v, want the reason of the context", err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connectTo(t, Config{}, nil, map[string]func() (*peer, error){"s": always(behaviour{call: func(*script, request) {}})})
		reg := register(t, c)
		pending := make(chan answer)
		go func() { pending <- callTool(t.Context(), reg, "mcp__s__echo", `{}`) }()
		synctest.Wait()
		c.Close()
		if got := <-pending; got.Code != CodeConnectionLost {
			t.Errorf("a call that was pending: %+v, want %s", got, CodeConnectionLost)
		}
		want := answer{Code: CodeServerDown, Err: `MCP server "s" is down: its client is closed`}
		if got := callTool(t.Context(), reg, "mcp__s__echo", `{}`); got != want {
			t.Errorf("a call afterwards: %+v\nwant %+v", got, want)
		}
		if got := statusOf(t, c, "s").State; got != Closed {
			t.Errorf("state = %s, want closed", got)
		}
	})
}
