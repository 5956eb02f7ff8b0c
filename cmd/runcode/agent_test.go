package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// modelStub is a model on loopback that calls run_code once and then answers with
// what it got.
func modelStub(t *testing.T, api string) (url string, requests *[]*http.Request) {
	requests = new([]*http.Request)
	program := `{"code":"// a-key-of-no-form\nconst {content} = await tools.read({file_path: 'a.txt'}); try { await tools.write({file_path: 'b.txt', content}) } catch (e) { return e.code }","description":"Copy a.txt"}`
	first, last := `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":"I copy it.","tool_calls":[{"id":"c1","function":{"name":"run_code","arguments":%q}}]}}],"usage":{"prompt_tokens":1000,"completion_tokens":50}}`,
		`{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"It was denied."}}],"usage":{"prompt_tokens":1100,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":900}}}`
	if api == "anthropic" {
		first, last = `{"stop_reason":"tool_use","content":[{"type":"text","text":"I copy it."},{"type":"tool_use","id":"c1","name":"run_code","input":%s}],"usage":{"input_tokens":1000,"output_tokens":50}}`,
			`{"stop_reason":"end_turn","content":[{"type":"text","text":"It was denied."}],"usage":{"input_tokens":200,"cache_read_input_tokens":900,"output_tokens":5}}`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if !bytes.Contains(body, []byte("c1")) {
			fmt.Fprintf(w, first, program)
			return
		}
		if !bytes.Contains(body, []byte("APPROVAL_UNAVAILABLE")) {
			t.Errorf("the result the model got is not the code of the denial:\n%s", body)
		}
		io.WriteString(w, last)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func TestAgent(t *testing.T) {
	for _, tt := range []struct{ api, header, value string }{
		{"openai", "Authorization", "Bearer a-key-of-no-form"},
		{"openai", "Authorization", ""},
		{"anthropic", "X-Api-Key", "a-key-of-no-form"},
	} {
		t.Run(tt.api+"/"+tt.value, func(t *testing.T) {
			url, requests := modelStub(t, tt.api)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("text\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) (stdout, stderr string, err error) {
				cmd := exec.Command("runcode", append([]string{"agent", "--api", tt.api, "--model", "m", "--events", "log.jsonl", "Copy a.txt to b.txt."}, args...)...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=", "MY_MODEL=a-key-of-no-form")
				var out, said bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &said
				err = cmd.Run()
				return out.String(), weaker.ReplaceAllString(said.String(), ""), err
			}
			args := []string{"--api-url", url, "--record", "tape"}
			if tt.value != "" {
				args = append(args, "--key-env", "MY_MODEL")
			}
			stdout, stderr, err := run(args...)
			const summary = "runcode: done, 2 requests, 1 call, 2100 tokens in (900 cached), 55 out\n"
			if err != nil || stdout != "It was denied.\n" || !strings.HasSuffix(stderr, summary) {
				t.Fatalf("%v: printed %q and %q, want the answer and %q", err, stdout, stderr, summary)
			}
			for _, r := range *requests {
				if got := r.Header.Get(tt.header); got != tt.value {
					t.Errorf("a request has %s %q, want %q", tt.header, got, tt.value)
				}
			}
			for _, name := range []string{"tape", "log.jsonl"} {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || tt.value != "" && bytes.Contains(text, []byte("a-key-of-no-form")) || !bytes.Contains(text, []byte("Copy a.txt")) {
					t.Errorf("%s: %v: it must hold the call and not the key", name, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, "b.txt")); err == nil {
				t.Error("the file was written without an approval")
			}

			// Replayed, nothing is sent, and no key is needed.
			*requests = nil
			again, said, err := run("--replay", "tape", "--json")
			want := `{"isError":false,"text":"It was denied.","stop":"done","steps":2,"calls":1,"usage":{"input":2100,"cached":900,"output":55}}` + "\n"
			if err != nil || len(*requests) > 0 {
				t.Fatalf("%v: %d requests were sent, %s", err, len(*requests), said)
			}
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("replayed (-want +got):\n%s", diff)
			}
		})
	}
}
