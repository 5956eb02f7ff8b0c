package hooks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/hooks"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// seen is the line the hook of a rig has read, with the directory left out.
func (r *rig) seen() string {
	return strings.ReplaceAll(r.file("seen"), r.dir, "DIR")
}

func TestInput(t *testing.T) {
	tests := []struct {
		name, tool, args, want string
	}{
		{"a tool of our own", "echo", `{ "z": 1.0, "a": "é\ud800" }`,
			`{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"plan","hook_event_name":"PreToolUse","tool_name":"echo","tool_input":{"z":1.0,"a":"é\ud800"},"tool_use_id":"c1","runcode_tool_name":"echo"}`},
		{"Claude Code's name for a tool", "read", `{"file_path":"a"}`,
			`{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"plan","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"},"tool_use_id":"c1","runcode_tool_name":"read"}`},
		{"Claude Code's name for a parameter", "bash", `{"command":"ls","timeoutMs":5}`,
			`{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"plan","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","timeoutMs":5,"timeout":5},"tool_use_id":"c1","runcode_tool_name":"bash"}`},
		{"a parameter that is there under both names", "bash", `{"timeoutMs":5,"timeout":6}`,
			`{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"plan","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"timeoutMs":5,"timeout":6},"tool_use_id":"c1","runcode_tool_name":"bash"}`},
		{"no arguments and no such tool", "Grep", ``,
			`{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"plan","hook_event_name":"PreToolUse","tool_name":"Grep","tool_input":{},"tool_use_id":"c1","runcode_tool_name":"Grep"}`},
		{"arguments that are no JSON", "echo", `ls -l`,
			`{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"plan","hook_event_name":"PreToolUse","tool_name":"echo","tool_input":"ls -l","tool_use_id":"c1","runcode_tool_name":"echo"}`},
		{"grep", "grep", `{"pattern":"x","ignore_case":true,"context":2,"limit":9}`,
			`{"session_id":"s1","transcript_path":"t.jsonl","cwd":"DIR","permission_mode":"plan","hook_event_name":"PreToolUse","tool_name":"Grep","tool_input":{"pattern":"x","ignore_case":true,"context":2,"limit":9,"-i":true,"-C":2,"head_limit":9},"tool_use_id":"c1","runcode_tool_name":"grep"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, settings([]hook{{Command: "cat > seen"}}, nil), func(ho *hooks.Options, _ *pipeline.Options) {
				ho.Session = func(any) hooks.Session {
					return hooks.Session{ID: "s1", TranscriptPath: "t.jsonl", PermissionMode: "plan"}
				}
			})
			r.call(tt.tool, tt.args)
			check(t, "input", r.seen(), tt.want+"\n")
		})
	}
}

func TestToolResponse(t *testing.T) {
	tests := []struct {
		name, tool, args, want string
	}{
		{"an object", "echo", `{"stdout":"x"}`, `{"stdout":"x","text":"{\"stdout\":\"x\"}","is_error":false}`},
		{"an empty object", "echo", `{}`, `{"text":"{}","is_error":false}`},
		{"an object that says is_error itself", "echo", `{"is_error":true}`, `{"value":{"is_error":true},"text":"{\"is_error\":true}","is_error":false}`},
		{"no object", "list", `{}`, `{"value":[1],"text":"[1]","is_error":false}`},
		{"a failure", "broken", `{}`, `{"text":"Error: no such file","is_error":true,"error_code":"FS_NOT_FOUND"}`},
		{"no such tool", "nothing", `{}`, `{"text":"Error: unknown tool \"nothing\"","is_error":true,"error_code":"UNKNOWN_TOOL"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, settings(nil, []hook{{Command: "cat > seen"}}), nil)
			r.call(tt.tool, tt.args)
			_, response, _ := strings.Cut(r.seen(), `"tool_response":`)
			response, _, _ = strings.Cut(response, `,"runcode_tool_name"`)
			check(t, "response", response, tt.want)
		})
	}
}

// TestNestedCalls has a program's call judged like a direct one, and tells the
// hook who made it.
func TestNestedCalls(t *testing.T) {
	r := newRig(t, settings([]hook{
		{Matcher: "run_code", Command: "cat > outer"},
		{Matcher: "danger", Command: "cat > seen; echo no >&2; exit 2"},
	}, nil), nil)
	def := pipelinetest.Tool(tools.TransportName, func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		o := r.p.Execute(ctx, pipeline.Request{ID: "c1:code:1", Name: "danger", Parent: run})
		return tools.Result{Value: tools.StringJSON(o.Text())}, nil
	})
	tool, err := tools.NewTool(def)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.p.InstallTransport(pipeline.Transport{Tool: tool}); err != nil {
		t.Fatal(err)
	}
	check(t, "end", r.end(r.call(tools.TransportName, `{"code":"danger()"}`)), end{Text: "Error: no", Ran: []string{}})
	check(t, "sub-call", r.seen(), `{"session_id":"","transcript_path":"","cwd":"DIR","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"danger","tool_input":{},"tool_use_id":"c1:code:1","runcode_tool_name":"danger","parent_tool_use_id":"c1"}`+"\n")
	if outer := r.file("outer"); !strings.Contains(outer, `"tool_name":"run_code","tool_input":{"code":"danger()"},"tool_use_id":"c1"`) {
		t.Errorf("the hook of run_code read %s", outer)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("BASH_ENV", "/nowhere")
	r := newRig(t, settings([]hook{{Command: "env > seen"}}, nil), func(ho *hooks.Options, _ *pipeline.Options) {
		ho.ProjectDir, ho.Env = "/project", []string{"EXTRA=1", "TERM=vt100"}
	})
	r.call("echo", "")
	got := "\n" + r.seen()
	for _, want := range []string{"\nPATH=", "\nNO_COLOR=1\n", "\nTERM=vt100\n", "\nEXTRA=1\n", "\nCLAUDE_PROJECT_DIR=/project\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the environment lacks %q:\n%s", want, got)
		}
	}
	for _, refused := range []string{"ANTHROPIC_API_KEY", "BASH_ENV", "CLAUDE_PLUGIN_ROOT"} {
		if strings.Contains(got, "\n"+refused+"=") {
			t.Errorf("the environment has %s:\n%s", refused, got)
		}
	}
}
