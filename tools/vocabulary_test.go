package tools_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/token"
	"github.com/runcode-go/runcode/tools"
)

func TestZeroCall(t *testing.T) {
	t.Parallel()
	var c tools.Call
	if c.ID() != "" || c.RootID() != "" || c.ParentID() != "" || c.Name() != "" || !c.Args().IsZero() || c.Agent() != nil ||
		!c.Token().IsZero() || !c.Parent().IsZero() || c.Origin() != tools.OriginModel || c.IsTransport() || c.Site() != (tools.Site{}) {
		t.Errorf("the zero Call is not empty: %+v", c)
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	own, parent := token.New(), token.New()
	spec := tools.CallSpec{ID: "1:code:2", RootID: "1", ParentID: "1", Name: "read", Args: tools.MustJSON(`{"path":"a"}`),
		Agent: "main", Token: own, Parent: parent, Transport: true, Site: tools.Site{Line: 3, Column: 4}}
	c := tools.NewCall(spec)
	spec.Name, spec.ID = "changed", "changed"
	if c.ID() != "1:code:2" || c.RootID() != "1" || c.ParentID() != "1" || c.Name() != "read" || c.Args().String() != `{"path":"a"}` || c.Agent() != "main" ||
		c.Token() != own || c.Parent() != parent || c.Origin() != tools.OriginScript || !c.IsTransport() || c.Site().Line != 3 {
		t.Errorf("the call is %+v", c)
	}
	if got := tools.NewCall(tools.CallSpec{ID: "7"}).RootID(); got != "7" {
		t.Errorf("a call without a root has the root %q, want its own id", got)
	}
	if got := fmt.Sprint(tools.OriginModel, tools.OriginScript); got != "model script" {
		t.Errorf("origins print as %q", got)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", own, own, own, own); strings.Contains(text, "0x") || !strings.Contains(text, "opaque") {
		t.Errorf("a token prints as %q", text)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	c := tools.NewCall(tools.CallSpec{ID: "1", Args: tools.MustJSON(`{}`)})
	silent := tools.NewRun(c, tools.RunHooks{})
	silent.Conclude()
	silent.Progress(tools.Progress{Done: 1})
	if silent.Defer(tools.ContextMessage("p", "x")) {
		t.Error("Defer without a hook reports true")
	}
	if silent.Call().ID() != "1" || silent.Args().String() != `{}` {
		t.Errorf("call %v, arguments %s", silent.Call(), silent.Args())
	}

	var got []string
	run := tools.NewRun(c, tools.RunHooks{
		Defer:    func(m tools.Message) bool { got = append(got, "defer "+tools.ContentString(m.Content)); return true },
		Conclude: func() { got = append(got, "conclude") },
		Progress: func(p tools.Progress) {
			got = append(got, fmt.Sprintf("progress %v/%v %s", p.Done, p.Total, p.Message))
		},
	})
	if !run.Defer(tools.ContextMessage("p", "x")) {
		t.Error("Defer does not report what its hook does")
	}
	run.Conclude()
	run.Progress(tools.Progress{Done: 1, Total: 2, Message: "half"})
	if d := cmp.Diff([]string{"defer x", "conclude", "progress 1/2 half"}, got); d != "" {
		t.Errorf("hooks (-want +got):\n%s", d)
	}
}

func TestContentString(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		blocks []tools.Content
		want   string
	}{
		{"none", nil, ""},
		{"text", []tools.Content{tools.TextContent("a\n")}, "a\n"},
		{"picture", []tools.Content{tools.ImageContent("image/png", "AAAA")}, "[image content]"},
		{"several", []tools.Content{tools.TextContent("a"), tools.ImageContent("image/png", "AAAA"), {Type: "resource", URI: "x:y"}, tools.TextContent("")}, "a\n[image content]\n[resource content]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tools.ContentString(tt.blocks); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	j, err := tools.ToJSON(tools.ImageContent("image/png", "AAAA"))
	if err != nil || j.String() != `{"type":"image","data":"AAAA","mimeType":"image/png"}` {
		t.Errorf("as JSON: %s, %v", j, err)
	}
	j, err = tools.ToJSON(tools.ContextMessage("policy", "slow down"))
	if want := `{"id":"","role":"user","content":[{"type":"text","text":"slow down"}],"source":{"kind":"plugin","plugin":"policy"}}`; err != nil || j.String() != want {
		t.Errorf("message %s, %v; want %s", j, err, want)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	cause := errors.New("disk")
	for _, tt := range []struct {
		name string
		err  error
		text string
		info tools.ErrorInfo
	}{
		{"plain", cause, "disk", tools.ErrorInfo{}},
		{"coded", &tools.Error{Name: "FSError", Code: "FS_NOT_FOUND", Message: "no such file", Err: cause}, "no such file", tools.ErrorInfo{Name: "FSError", Code: "FS_NOT_FOUND"}},
		{"wrapped", fmt.Errorf("read: %w", &tools.Error{Name: "FSError", Code: "X", Message: "m"}), "read: m", tools.ErrorInfo{Name: "FSError", Code: "X"}},
		{"not found", &tools.NotFoundError{Tool: "raed"}, `unknown tool "raed"`, tools.ErrorInfo{Name: "ToolNotFoundError", Code: "UNKNOWN_TOOL"}},
		{"not found, near", &tools.NotFoundError{Tool: "raed", Nearest: []string{"read", "grep"}}, `unknown tool "raed"; did you mean "read" or "grep"?`, tools.ErrorInfo{Name: "ToolNotFoundError", Code: "UNKNOWN_TOOL"}},
		{"not found, own text", &tools.NotFoundError{Tool: "x", Message: "call it from a script"}, `call it from a script`, tools.ErrorInfo{Name: "ToolNotFoundError", Code: "UNKNOWN_TOOL"}},
		{"arguments", &tools.ArgsError{Problems: []tools.Problem{{Text: "a"}, {Text: "b"}}}, `invalid arguments: a; b`, tools.ErrorInfo{Name: "ToolArgsError", Code: "INVALID_ARGS"}},
		{"panic", &tools.PanicError{Where: `tool "x"`, Value: "secret", Stack: []byte("stack")}, `tool "x" crashed`, tools.ErrorInfo{Name: "PanicError", Code: "TOOL_PANIC"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.err.Error(); got != tt.text {
				t.Errorf("text %q, want %q", got, tt.text)
			}
			if got := tools.InfoOf(tt.err); got != tt.info {
				t.Errorf("identity %v, want %v", got, tt.info)
			}
		})
	}
	if !errors.Is(&tools.Error{Err: cause}, cause) {
		t.Error("an Error hides its cause")
	}
}
