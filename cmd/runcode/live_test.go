package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// screen is a terminal that knows what the view uses: carriage return, line
// feed and clearing to the end of the line. Longer lines wrap, as they do.
type screen struct {
	columns int
	lines   [][]rune
	column  int
}

func (s *screen) Write(p []byte) (int, error) {
	if len(s.lines) == 0 {
		s.lines = [][]rune{nil}
	}
	for text := string(p); text != ""; {
		last := len(s.lines) - 1
		if rest, ok := strings.CutPrefix(text, "\x1b[K"); ok {
			s.lines[last] = s.lines[last][:min(s.column, len(s.lines[last]))]
			text = rest
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch {
		case r == '\r':
			s.column = 0
		case r == '\n':
			s.lines, s.column = append(s.lines, nil), 0
		case s.column >= s.columns:
			s.lines, s.column = append(s.lines, []rune{r}), 1
		default:
			s.lines[last] = append(s.lines[last][:s.column], r)
			s.column++
		}
	}
	return len(p), nil
}

func (s *screen) String() string {
	var lines []string
	for _, line := range s.lines {
		lines = append(lines, string(line))
	}
	return strings.Join(lines, "\n")
}

func newTestView(columns int) (*liveView, *screen) {
	s := &screen{columns: columns}
	return &liveView{w: s, terminal: true, width: func() int { return columns }}, s
}

func started(id int, name, args string) pipeline.Event {
	return pipeline.Event{Type: pipeline.EventCodeDispatchStart, Data: tools.MustJSON(fmt.Sprintf(`{"subCallId":"r:code:%d","name":%s,"arguments":%s}`, id, tools.StringJSON(name), args))}
}

func settled(id int, name, args string, state pipeline.State, ms float64) pipeline.Event {
	return pipeline.Event{Type: pipeline.EventCodeDispatch, Data: tools.MustJSON(fmt.Sprintf(`{"subCallId":"r:code:%d","name":%s,"arguments":%s,"state":%q,"durationMs":%g}`, id, tools.StringJSON(name), args, state, ms))}
}

func TestLiveView(t *testing.T) {
	for _, tc := range []struct {
		name    string
		columns int
		events  []pipeline.Event
		want    string // what the screen shows before the run ends
		end     string // and after it, if that differs
	}{
		{
			name: "a running call", columns: 60,
			events: []pipeline.Event{started(1, "read", `{"file_path":"a.txt"}`)},
			want:   `  … read {"file_path":"a.txt"}`,
			end:    "",
		},
		{
			name: "a settled call stays", columns: 60,
			events: []pipeline.Event{started(1, "read", `{"file_path":"a.txt"}`), settled(1, "read", `{"file_path":"a.txt"}`, pipeline.StateDone, 0.25)},
			want:   "  ✓ read {\"file_path\":\"a.txt\"}  250µs\n",
			end:    "  ✓ read {\"file_path\":\"a.txt\"}  250µs\n",
		},
		{
			name: "every state", columns: 60,
			events: []pipeline.Event{
				started(1, "a", `{}`), settled(1, "a", `{}`, pipeline.StateDone, 1),
				started(2, "b", `{}`), settled(2, "b", `{}`, pipeline.StateFailed, 12.34),
				started(3, "c", `{}`), settled(3, "c", `{}`, pipeline.StateAborted, 1234),
				started(4, "d", `{}`), settled(4, "d", `{}`, pipeline.StateNotStarted, 0),
			},
			want: "  ✓ a {}  1.0ms\n  ✗ b {}  failed  12.3ms\n  ■ c {}  aborted  1.23s\n  ⊘ d {}  not started  0µs\n",
			end:  "  ✓ a {}  1.0ms\n  ✗ b {}  failed  12.3ms\n  ■ c {}  aborted  1.23s\n  ⊘ d {}  not started  0µs\n",
		},
		{
			name: "overlapping calls", columns: 60,
			events: []pipeline.Event{
				started(1, "slow", `{}`), started(2, "slower", `{}`), started(3, "quick", `{}`),
				settled(3, "quick", `{}`, pipeline.StateDone, 1),
			},
			want: "  ✓ quick {}  1.0ms\n  … slower {}  and 1 more",
			end:  "  ✓ quick {}  1.0ms\n",
		},
		{
			name: "cut to the width", columns: 30,
			events: []pipeline.Event{
				started(1, "read", `{"file_path":"a/long/path/to/somewhere.txt"}`), settled(1, "read", `{"file_path":"a/long/path/to/somewhere.txt"}`, pipeline.StateFailed, 1),
				started(2, "read", `{"file_path":"a/long/path/to/somewhere.txt"}`),
			},
			want: "  ✗ read {\"fi…  failed  1.0ms\n  … read {\"file_path\":\"a/lon…",
			end:  "  ✗ read {\"fi…  failed  1.0ms\n",
		},
		{
			name: "wide characters count twice", columns: 24,
			events: []pipeline.Event{started(1, "f", `{"q":"日本語日本語日本語"}`)},
			want:   `  … f {"q":"日本語日本…`,
		},
		{
			name: "narrower than anything", columns: 3,
			events: []pipeline.Event{settled(1, "read", `{}`, pipeline.StateDone, 1)},
			want:   "  ✓\n … \n 1.\n0ms\n",
			end:    "  ✓\n … \n 1.\n0ms\n",
		},
		{
			name: "hostile text", columns: 100,
			events: []pipeline.Event{started(1, "x\x1b[2J", `{"a":"\u001b]0;t\u0007\n\u202e"}`), started(2, "y", "{\"a\":\"\x7f\u202e\u009b2J\"}")},
			want:   `  … y {"a":"\x7f\u{202e}\x9b2J"}  and 1 more`,
		},
		{
			name: "other events", columns: 60,
			events: []pipeline.Event{{Type: pipeline.EventToolCall, Data: tools.MustJSON(`{"name":"run_code"}`)}, {Type: pipeline.EventCodeDispatch, Data: tools.MustJSON(`[1]`)}},
			want:   "",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v, s := newTestView(tc.columns)
			for _, e := range tc.events {
				if err := v.Emit(e); err != nil {
					t.Errorf("Emit = %v, want nil always", err)
				}
			}
			if diff := cmp.Diff(tc.want, s.String()); diff != "" {
				t.Errorf("the screen differs (-want +got):\n%s", diff)
			}
			v.finish()
			if diff := cmp.Diff(tc.end, s.String()); diff != "" {
				t.Errorf("the screen differs at the end (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLiveViewOfManyCalls shows that a long run does not flood the screen.
func TestLiveViewOfManyCalls(t *testing.T) {
	v, s := newTestView(60)
	for i := range 1_000 {
		_ = v.Emit(started(i, "grep", `{}`))
		_ = v.Emit(settled(i, "grep", `{}`, pipeline.StateDone, 1))
	}
	want := strings.Repeat("  ✓ grep {}  1.0ms\n", maxLiveLines)
	if diff := cmp.Diff(want+"  … 1000 calls", s.String()); diff != "" {
		t.Errorf("the screen differs (-want +got):\n%s", diff)
	}
	v.finish()
	if diff := cmp.Diff(want+"  … and 900 more\n", s.String()); diff != "" {
		t.Errorf("the screen differs at the end (-want +got):\n%s", diff)
	}
}

// TestLiveViewBoundsArguments shows that megabytes of arguments are not looked
// through for the few characters that are shown.
func TestLiveViewBoundsArguments(t *testing.T) {
	v, s := newTestView(40)
	_ = v.Emit(started(1, "write", `{"content":"`+strings.Repeat("é", 2<<20)+`"}`))
	if got, want := s.String(), `  … write {"content":"`+strings.Repeat("é", 16)+"…"; got != want {
		t.Errorf("the screen shows %.200q, want %q", got, want)
	}
}

// TestNotATerminal shows that nothing but the summary is written elsewhere.
func TestNotATerminal(t *testing.T) {
	var b bytes.Buffer
	v := newLiveView(&b)
	_ = v.Emit(started(1, "grep", `{}`))
	_ = v.Emit(settled(1, "grep", `{}`, pipeline.StateDone, 1))
	v.finish()
	if b.Len() > 0 {
		t.Errorf("got %q, want nothing", b.String())
	}
}

func TestTally(t *testing.T) {
	calls := func(states ...pipeline.State) (list []codemode.CallRecord) {
		for _, s := range states {
			list = append(list, codemode.CallRecord{Name: "x", State: s})
		}
		return list
	}
	for _, tc := range []struct {
		calls []codemode.CallRecord
		want  string
	}{
		{nil, "0 calls"},
		{calls(pipeline.StateDone), "1 call"},
		{calls(pipeline.StateDone, pipeline.StateDone), "2 calls"},
		{calls(pipeline.StateNotStarted), "1 call (1 not started)"},
		{calls(pipeline.StateAborted, pipeline.StateNotStarted, pipeline.StateFailed, pipeline.StateDone, pipeline.StateFailed), "5 calls (2 failed, 1 aborted, 1 not started)"},
	} {
		if got := tally(tc.calls); got != tc.want {
			t.Errorf("tally = %q, want %q", got, tc.want)
		}
	}
}

func TestShortDuration(t *testing.T) {
	for _, tc := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0µs"},
		{999 * time.Microsecond, "999µs"},
		{1500 * time.Microsecond, "1.5ms"},
		{999949 * time.Microsecond, "999.9ms"},
		{999950 * time.Microsecond, "1.00s"},
		{1234 * time.Millisecond, "1.23s"},
		{90 * time.Second, "1m30s"},
	} {
		if got := shortDuration(tc.d); got != tc.want {
			t.Errorf("shortDuration(%v) = %q, want %q", tc.d, got, tc.want)
		}
	}
}
