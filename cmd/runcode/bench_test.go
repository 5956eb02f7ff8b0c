package main

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runBenchCommand runs the command as a program would.
func runBenchCommand(t *testing.T, stdin string, args ...string) (stdout string, err error) {
	t.Helper()
	var out, said bytes.Buffer
	cmd := newBenchCommand(&streams{in: strings.NewReader(stdin), out: &out, err: &said})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"--in-process", "--quick", "--repeat", "0"}, args...))
	err = cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestBenchCommand(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	page := file("page.html", "")
	table, err := runBenchCommand(t, "", "--only", "single,chain-8", "--details", "--html", page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"single    loses", "chain-8   wins", "direct-sequential"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
	if text, err := os.ReadFile(page); err != nil || !bytes.Contains(text, []byte("<td>chain-8</td>")) {
		t.Errorf("the page: %v", err)
	}

	report, err := runBenchCommand(t, "", "--only", "single", "--json")
	if err != nil {
		t.Fatal(err)
	}
	same, err := runBenchCommand(t, "", "--only", "single", "--compare", file("same.json", report))
	if err != nil || !strings.HasSuffix(same, "no figure changed\n") {
		t.Errorf("%v; compared with itself it prints\n%s", err, same)
	}
	slack := strings.Replace(report, `"requests": 2`, `"requests": 3`, 1)
	better, err := runBenchCommand(t, "", "--only", "single", "--compare", file("slack.json", slack), "--fail-over", "0%")
	if err != nil || !strings.Contains(better, "×0.67") || strings.Contains(better, "worse") {
		t.Errorf("%v; compared with more requests it prints\n%s", err, better)
	}
	worse := strings.Replace(report, `"requests": 2`, `"requests": 1`, 1)
	changed, err := runBenchCommand(t, "", "--only", "single", "--compare", file("worse.json", worse), "--fail-over", "50%")
	if err == nil || !strings.Contains(err.Error(), "by more than 50%") || !strings.Contains(changed, "worse") {
		t.Errorf("%v; compared with fewer requests it prints\n%s", err, changed)
	}
}

// TestBenchLive: a live run over either dialect, and its cassette, which gives the
// same report byte for byte and holds no key.
func TestBenchLive(t *testing.T) {
	for _, tt := range []struct{ api, header, answer string }{
		{"openai", "Authorization", `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"8"}}],"usage":{"prompt_tokens":100,"completion_tokens":2}}`},
		{"anthropic", "X-Api-Key", `{"stop_reason":"end_turn","content":[{"type":"text","text":"8"}],"usage":{"input_tokens":100,"output_tokens":2}}`},
	} {
		t.Run(tt.api, func(t *testing.T) {
			const key = "secret-of-the-bench"
			t.Setenv("BENCH_KEY", key)
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests++
				if !strings.HasSuffix(r.Header.Get(tt.header), key) {
					t.Errorf("the key is not in %s", tt.header)
				}
				_, _ = w.Write([]byte(strings.Replace(tt.answer, "{", `{"echo":"`+key+`",`, 1))) // some servers say what they got
			}))
			defer server.Close()
			tape := filepath.Join(t.TempDir(), "tape")
			args := []string{"--live", tt.api, "--model", "m", "--key-env", "BENCH_KEY", "--only", "single", "--runs", "2", "--price-in", "1", "--json"}
			live, err := runBenchCommand(t, "", append(args, "--api-url", server.URL, "--record", tape)...)
			if err != nil {
				t.Fatal(err)
			}
			if requests != 6 || strings.Count(live, `"runs": 2`) != 7 || !strings.Contains(live, `"mean": 0.0001`) {
				t.Errorf("%d requests, want two runs in three arms at 100 tokens each:\n%s", requests, live)
			}
			replayed, err := runBenchCommand(t, "", append(args, "--replay", tape)...)
			if err != nil || replayed != live || requests != 6 {
				t.Errorf("%v; %d requests; replayed:\n%s\nlive:\n%s", err, requests, replayed, live)
			}
			if text, err := os.ReadFile(tape); err != nil || bytes.Contains(text, []byte(key)) {
				t.Errorf("%v; the cassette holds the key, or there is none", err)
			}
			table, err := runBenchCommand(t, "", append(args[:len(args)-1:len(args)-1], "--replay", tape)...)
			if err != nil || !strings.Contains(table, "1.00 [1.00, 1.00]") || strings.Contains(table, "direct-batched") {
				t.Errorf("%v; the table is not of the live runs alone:\n%s", err, table)
			}
		})
	}
}

// TestBenchCaps: each cap stops a live benchmark after two requests of 102 tokens.
func TestBenchCaps(t *testing.T) {
	for _, cap := range [][]string{{"--max-requests", "2"}, {"--max-spent-tokens", "150"}, {"--max-money", "0.00015", "--price-in", "1"}} {
		t.Run(cap[0], func(t *testing.T) {
			requests := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests++
				_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"8"}}],"usage":{"prompt_tokens":100,"completion_tokens":2}}`))
			}))
			defer server.Close()
			args := append([]string{"--live", "openai", "--model", "m", "--api-url", server.URL, "--only", "single", "--runs", "2"}, cap...)
			table, err := runBenchCommand(t, "", args...)
			if err != nil || requests != 2 || !strings.Contains(table, "a cap of the benchmark is reached") {
				t.Errorf("%v; %d requests, want 2:\n%s", err, requests, table)
			}
		})
	}
}

// TestBenchRefused: a comparison that is refused has no figures and is a failure.
func TestBenchRefused(t *testing.T) {
	mock := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(mock, []byte(`{"tools":[{"name":"size","readOnly":true,"result":7}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := runBenchCommand(t, `return await tools.size({id: String(Math.random())});`, "--script", "-", "--tools", "none", "--mock", mock, "--quiet")
	var failed *programFailed
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "standard input: the ways to do it disagree, so they are not compared: ") {
		t.Errorf("error %v, want that the comparison is refused", err)
	}
	if !strings.Contains(table, "refused") || strings.Contains(table, "×") && strings.Contains(table, "→") {
		t.Errorf("a refused comparison has figures:\n%s", table)
	}
}

// TestBenchKeepsTheKey: an answer that has the key is shown without it, in the table and
// in the page, whatever the key's variable is called.
func TestBenchKeepsTheKey(t *testing.T) {
	const key = "secret-of-the-bench"
	t.Setenv("BENCH_KEY", key)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"` + key + ` is the key"}}]}`))
	}))
	defer server.Close()
	page := filepath.Join(t.TempDir(), "page.html")
	args := []string{"--live", "openai", "--model", "m", "--api-url", server.URL, "--key-env", "BENCH_KEY", "--only", "single", "--runs", "1", "--html", page}
	table, err := runBenchCommand(t, "", args...)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, report := range map[string]string{"table": table, "page": string(text)} {
		if strings.Contains(report, key) || !strings.Contains(report, "is the key") {
			t.Errorf("the %s holds the key, or lacks the answer:\n%s", name, report)
		}
	}
}

func TestBenchScript(t *testing.T) {
	mock := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(mock, []byte(`{"tools":[{"name":"ids","readOnly":true,"result":["item-1","item-2"]},{"name":"size","readOnly":true,"result":7}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := runBenchCommand(t, `let sum = 0; for (const id of await tools.ids({})) sum += await tools.size({id}); return sum;`,
		"--script", "-", "--tools", "none", "--mock", mock, "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table, "standard input  ") || !strings.Contains(table, "3 → 2") {
		t.Errorf("the table does not have the program with 3 requests against 2:\n%s", table)
	}
}

func TestBenchUsage(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"script and live", []string{"--script", "x.ts", "--live", "openai"}, "--script and --live exclude each other"},
		{"no such report", []string{"--compare", "none.json"}, "--compare: "},
		{"share", []string{"--fail-over", "much"}, "give a share such as 5% or 0.05"},
		{"no model", []string{"--live", "openai"}, "--model is needed"},
		{"workload", []string{"--only", "nothing"}, "no workload is called nothing"},
		{"arguments", []string{"x"}, "bench takes no arguments"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := runBenchCommand(t, "", tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
