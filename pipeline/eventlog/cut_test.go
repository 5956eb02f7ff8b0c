package eventlog_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/tools"
)

var update = flag.Bool("update", false, "write the golden files anew")

// emitted is the data of an event as the log has it.
func emitted(t *testing.T, opts eventlog.Options, data tools.JSON) tools.JSON {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	log, err := eventlog.Open(path, &opts)
	if err != nil {
		t.Fatal(err)
	}
	err = log.Emit(pipeline.Event{Type: pipeline.EventToolCall, Data: data})
	mustClose(t, log)
	if err != nil {
		t.Fatal(err)
	}
	c, err := eventlog.ReadFile(path, nil)
	if err != nil || len(c.Events) != 1 {
		t.Fatalf("read back %d events, error = %v", len(c.Events), err)
	}
	return c.Events[0].Data
}

// shelf is a store in memory.
type shelf []string

func (s *shelf) put(_ context.Context, text string) (string, error) {
	*s = append(*s, text)
	return fmt.Sprintf("/spill/%d.txt", len(*s)), nil
}

func object(members ...any) tools.JSON {
	var list []tools.Member
	for i := 0; i < len(members); i += 2 {
		value, err := tools.ToJSON(members[i+1])
		if err != nil {
			panic(err)
		}
		list = append(list, tools.Member{Name: members[i].(string), Value: value})
	}
	return tools.ComposeObject(list...)
}

func many(n int, v any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = v
	}
	return list
}

type block = map[string]any

// TestCut shows what is left of data that is too large; runs of one character
// are counted in the golden files.
func TestCut(t *testing.T) {
	x, y := strings.Repeat("x", 10_000), strings.Repeat("y", 6_000)
	full := func(context.Context, string) (string, error) { return "", errors.New("the disk is full") }
	var put shelf
	for _, tt := range []struct {
		name  string
		spill func(context.Context, string) (string, error)
		data  tools.JSON
	}{
		{"call", put.put, object("turn", 1, "step", 2, "callId", "c1", "name", "write", "arguments", `{"file_path":"a","content":"`+x+`"}`)},
		{"dispatch", put.put, object("subCallId", "c1:code:1", "name", "read", "arguments", block{"file_path": "a"}, "isError", false,
			"content", many(1, block{"type": "text", "text": x}), "state", "done")},
		{"result", put.put, object("turn", 1, "message", block{"id": "m1", "role": "user", "content": many(1, block{
			"type": "tool-result", "toolCallId": "c1", "content": []any{block{"type": "text", "text": y}, block{"type": "image", "data": x}}, "isError": true})})},
		{"two-are-large", put.put, object("subCallId", "c1", "arguments", block{"a": x, "b": "small"}, "content", many(1, block{"type": "text", "text": y}))},
		{"many-arguments", put.put, object("subCallId", "c1", "arguments", many(5000, 7), "state", "done")},
		{"many-blocks", put.put, object("subCallId", "c1", "content", many(200, block{"type": "text", "text": strings.Repeat("z", 100)}), "state", "done")},
		{"no-store", nil, object("callId", "c1", "arguments", x, "value", many(5000, 7))},
		{"store-fails", full, object("callId", "c1", "arguments", x, "value", many(5000, 7))},
		{"own-cut", nil, object("cut", true, "cut2", "x", "text", x)},
		{"string", put.put, tools.StringJSON(x)},
		{"wide", put.put, object("a", 1, x, 2)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			put = nil
			got := emitted(t, eventlog.Options{MaxBody: 4096, Spill: tt.spill}, tt.data)
			if got.Len() > 4096 {
				t.Errorf("%d bytes of data are left, want at most 4096", got.Len())
			}
			golden(t, tt.name, runs(got.String())+"\n")
		})
	}
}

func runs(s string) string {
	return regexp.MustCompile(`x{20,}|y{20,}|z{20,}|(?:7,){20,}`).ReplaceAllStringFunc(s, func(run string) string {
		return fmt.Sprintf("<%d bytes of %s>", len(run), run[:1])
	})
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "cut", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "data", got, read(t, path))
}

// What fits is not touched, down to the byte.
func TestNothingIsCutThatFits(t *testing.T) {
	data := object("callId", "c1", "text", strings.Repeat("x", eventlog.DefaultMaxBody-len(`{"callId":"c1","text":""}`)))
	check(t, "length", data.Len(), eventlog.DefaultMaxBody)
	check(t, "data", emitted(t, eventlog.Options{}, data).String() == data.String(), true)
}

type cutEntry struct {
	Path       string `json:"path"`
	Bytes      int    `json:"bytes"`
	SHA256     string `json:"sha256"`
	Locator    string `json:"locator"`
	SpillError string `json:"spillError"`
}

// cutsOf checks the list of cuts against what was stored.
func cutsOf(t *testing.T, data tools.JSON, stored []string) []cutEntry {
	t.Helper()
	var list struct {
		Cut []cutEntry `json:"cut"`
	}
	if err := data.Unmarshal(&list); err != nil {
		t.Fatal(err)
	}
	check(t, "number of cuts", len(list.Cut), len(stored))
	for i, c := range list.Cut {
		sum := sha256.Sum256([]byte(stored[i]))
		check(t, "cut", c, cutEntry{c.Path, len(stored[i]), hex.EncodeToString(sum[:]), fmt.Sprintf("/spill/%d.txt", i+1), ""})
	}
	return list.Cut
}

func TestCutOfLargeEvents(t *testing.T) {
	deep := tools.MustJSON(strings.Repeat(`{"a":[`, 4_000) + `"` + strings.Repeat("x", 100_000) + `"` + strings.Repeat(`]}`, 4_000))
	for _, tt := range []struct {
		name string
		data tools.JSON
		cuts int
	}{
		{"5 MB of text", object("callId", "c1", "content", many(1, block{"type": "text", "text": strings.Repeat("ü\n\"", 1<<20)})), 1},
		{"escapes", object("callId", "c1", "text", strings.Repeat("\x01", 1<<18)), 1},
		{"a long number", tools.MustJSON(`{"callId":"c1","n":` + strings.Repeat("1", 1<<18) + `}`), 1},
		{"surrogates", tools.MustJSON(`{"callId":"c1","s":"` + strings.Repeat(`\ud800`, 1<<16) + `"}`), 1},
		{"1,000 large strings", object("callId", "c1", "value", many(1000, strings.Repeat("x", 5_000))), 1},
		{"twenty large members", object("callId", "c1", "value", block{"a": many(20, strings.Repeat("x", 10_000))}), 20},
		{"nested deep", tools.ComposeObject(tools.Member{Name: "callId", Value: tools.StringJSON("c1")}, tools.Member{Name: "arguments", Value: deep}), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var put shelf
			got := emitted(t, eventlog.Options{Spill: put.put}, tt.data)
			if got.Len() > eventlog.DefaultMaxBody || got.Len() < eventlog.DefaultMaxBody/2 {
				t.Errorf("%d bytes are left, want most of %d", got.Len(), eventlog.DefaultMaxBody)
			}
			check(t, "cuts", len(cutsOf(t, got, put)), tt.cuts)
			if !strings.HasPrefix(got.String(), `{"callId":"c1",`) {
				t.Errorf("the id was touched: %.100s", got)
			}
		})
	}
}

func TestStoresThatMisbehave(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spill func(context.Context, string) (string, error)
		want  string
	}{
		{"crashes", func(context.Context, string) (string, error) { panic("x") }, "the store crashed: x"},
		{"says nothing", func(context.Context, string) (string, error) { return "", nil }, "the store gave no locator"},
		{"says too much", func(context.Context, string) (string, error) { return strings.Repeat("/", 600), nil },
			"the store gave a locator of 600 bytes, too long for the log"},
		{"fails at length", func(context.Context, string) (string, error) { return "/x", errors.New(strings.Repeat("e", 1_000_000)) },
			strings.Repeat("e", 160)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := emitted(t, eventlog.Options{Spill: tt.spill, MaxBody: 4096}, object("callId", "c1", "text", strings.Repeat("x", 10_000)))
			var list struct {
				Cut []cutEntry `json:"cut"`
			}
			if err := got.Unmarshal(&list); err != nil {
				t.Fatal(err)
			}
			check(t, "cuts", len(list.Cut), 1)
			check(t, "reason", list.Cut[0].SpillError, tt.want)
			check(t, "locator", list.Cut[0].Locator, "")
			if got.Len() > 4096 {
				t.Errorf("%d bytes are left, want at most 4096", got.Len())
			}
		})
	}
}

// What a store says gets into the log as well: its own credentials may be in it.
func TestStoresThatTell(t *testing.T) {
	hide := func(v tools.JSON) tools.JSON {
		return tools.MustJSON(strings.ReplaceAll(v.String(), "hunter2", "[hidden]"))
	}
	for _, tt := range []struct {
		name  string
		spill func(context.Context, string) (string, error)
		want  string
	}{
		{"in an error", func(context.Context, string) (string, error) { return "", errors.New("no s3://me:hunter2@bucket") }, `"spillError":"no s3://me:[hidden]@bucket"`},
		{"in a panic", func(context.Context, string) (string, error) { panic("hunter2") }, `"spillError":"the store crashed: [hidden]"`},
		{"where an error is cut", func(context.Context, string) (string, error) {
			return "", errors.New(strings.Repeat("e", 156) + "hunter2")
		}, `"spillError":"` + strings.Repeat("e", 156) + `[hid"`},
		{"in a locator", func(context.Context, string) (string, error) { return "/home/hunter2/1.txt", nil }, `"locator":"/home/[hidden]/1.txt"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := emitted(t, eventlog.Options{Redact: hide, Spill: tt.spill, MaxBody: 4096}, object("text", strings.Repeat("x", 10_000))).String()
			if !strings.Contains(got, tt.want) || strings.Contains(got, "hunter2") {
				t.Errorf("the data ends with %s, want %s in it", got[len(got)-400:], tt.want)
			}
		})
	}
}

func TestMaxBodyRefused(t *testing.T) {
	for _, n := range []int{-1, 100} {
		_, err := eventlog.Open(filepath.Join(t.TempDir(), "log.jsonl"), &eventlog.Options{MaxBody: n})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("MaxBody is %d; give at least 4096", n)) {
			t.Errorf("MaxBody %d: error = %v", n, err)
		}
	}
}

// FuzzCut: whatever the data, the line can be read, is small enough, and says of
// everything that was cut how much it was.
func FuzzCut(f *testing.F) {
	f.Add(`{"callId":"c1","arguments":{"a":"?","b":["?",{"type":"text","text":"?"}]}}`, 5_000)
	f.Add(`{"content":[{"type":"text","text":"?"},{"type":"?"}],"cut":"?"}`, 3_000)
	f.Add(`["?","?"]`, 9_000)
	f.Add(`{"?":{"?":1}}`, 5_000)
	f.Add(`{"a/b~c":{"":{"":[[[[[[[["?"]]]]]]]]}}}`, 5_000)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(0, min(n, 20_000))
		// The mark is blown up, so that small inputs make large data.
		data, err := tools.ParseJSON(strings.ReplaceAll(text, "?", strings.Repeat("\\n ü", n/4)))
		if err != nil {
			return
		}
		var put shelf
		got := emitted(t, eventlog.Options{Spill: put.put, MaxBody: 4096}, data)
		if data.Len() <= 4096 {
			check(t, "data", got.String(), data.String())
			return
		}
		if got.Len() > 4096 {
			t.Errorf("%d bytes are left of %d", got.Len(), data.Len())
		}
		if len(put) == 0 || strings.Count(got.String(), `"locator":"/spill/`) < len(put) {
			t.Errorf("%d texts are stored, and the data names others: %s", len(put), got)
		}
	})
}
