package policy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/pipeline/policy"
	"github.com/runcode-go/runcode/pipeline/spill"
	"github.com/runcode-go/runcode/tools"
)

// shelf is a store that remembers.
type shelf struct {
	locator string
	err     error
	saved   map[string]string // by call
}

func (s *shelf) save(_ context.Context, callID, text string) (string, error) {
	if s.saved == nil {
		s.saved = map[string]string{}
	}
	s.saved[callID] = text
	return s.locator, s.err
}

func blocks(b ...tools.Content) body {
	return func(context.Context, *tools.Run) (tools.Result, error) {
		return tools.Result{Value: tools.StringJSON("v"), Content: b}, nil
	}
}

func TestSpill(t *testing.T) {
	big := strings.Repeat("h", 100) + strings.Repeat("m", 100) + strings.Repeat("t", 100)
	bigText := tools.TextContent(big)
	const notice = "(Omitted 226 bytes. Full formatted result stored at: /s/1. Use read.)"
	preview := strings.Repeat("h", 50) + "\n...\n" + strings.Repeat("t", 24) + "\n\n" + notice
	tests := []struct {
		name  string
		tool  string
		body  body
		inner *pipeline.PostDecision // of a listener further in
		shelf shelf
		want  string
		saved string
	}{
		{"too large", "x", blocks(bigText), nil, shelf{locator: "/s/1"}, preview, big},
		{"large enough", "x", blocks(tools.TextContent(big[:150])), nil, shelf{locator: "/s/1"}, big[:150], ""},
		{"several blocks", "x", blocks(tools.TextContent(big[:100]), tools.TextContent(big[101:])), nil, shelf{locator: "/s/1"},
			preview, big[:100] + "\n" + big[101:]},
		{"a failure", "x", func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, errors.New(big[7:]) }, nil, shelf{locator: "/s/1"},
			"Error: " + preview[7:], "Error: " + big[7:]},
		{"read", "read", blocks(bigText), nil, shelf{locator: "/s/1"}, big, ""},
		{"an image", "x", blocks(bigText, tools.ImageContent("image/png", "")), nil, shelf{locator: "/s/1"}, big + "\n[image content]", ""},
		{"blocked", "x", blocks(tools.TextContent("v")), new(pipeline.Block([]tools.Content{bigText})), shelf{locator: "/s/1"}, big, ""},
		{"another value", "x", blocks(tools.TextContent("v")), new(pipeline.AcceptValue(tools.StringJSON(big))), shelf{locator: "/s/1"}, big, ""},
		{"another value of a large result", "x", blocks(bigText), new(pipeline.AcceptValue(tools.StringJSON("v"))), shelf{locator: "/s/1"}, "v", ""},
		{"no blocks in its place", "x", blocks(bigText), new(pipeline.AcceptContent(nil)), shelf{locator: "/s/1"}, "", ""},
		{"small blocks in its place", "x", blocks(bigText), new(pipeline.AcceptContent([]tools.Content{tools.TextContent("v")})), shelf{locator: "/s/1"}, "v", ""},
		{"large blocks in place of small ones", "x", blocks(tools.TextContent("v")), new(pipeline.AcceptContent([]tools.Content{bigText})), shelf{locator: "/s/1"},
			preview, big},
		{"large blocks in place of large ones", "x", blocks(tools.TextContent(big + "secret")), new(pipeline.AcceptContent([]tools.Content{bigText})), shelf{locator: "/s/1"},
			preview, big},
		{"an image in its place", "x", blocks(bigText), new(pipeline.AcceptContent([]tools.Content{bigText, tools.ImageContent("image/png", "")})), shelf{locator: "/s/1"},
			big + "\n[image content]", ""},
		{"a store that fails", "x", blocks(bigText), nil, shelf{err: errors.New("full")}, big, big},
		{"a store without a word", "x", blocks(bigText), nil, shelf{}, big, big},
		{"a place that does not fit", "x", blocks(bigText), nil, shelf{locator: "/s/" + strings.Repeat("1", 100)}, big, big},
		{"a place that fits alone", "x", blocks(bigText), nil, shelf{locator: strings.Repeat("1", 82)},
			"(Omitted 300 bytes. Full formatted result stored at: " + strings.Repeat("1", 82) + ". Use read.)", big},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pipelinetest.New(t, nil, pipelinetest.Tool(tt.tool, tt.body))
			p.PostExecute.Use("inner", func(ctx context.Context, _ pipeline.Settled, next postNext) (pipeline.PostDecision, error) {
				d, err := next(ctx)
				if tt.inner != nil {
					d = *tt.inner
				}
				return d.WithContexts(tools.ContextMessage("inner", "kept")), err
			})
			logger := &logBuffer{}
			p.PostExecute.Prepend("spill", policy.Spill(tt.shelf.save, &policy.SpillOptions{MaxBytes: 150, Hint: "Use read.", Logger: logger.logger()}))
			o := exec(p, tt.tool)
			check(t, "text", o.Text(), tt.want)
			check(t, "saved", tt.shelf.saved["c1"], tt.saved)
			check(t, "contexts", texts(o.Contexts()), []string{"kept"})
			check(t, "logged", logger.String() != "", tt.saved != "" && o.Text() == tt.saved)
		})
	}
}

func TestSpillLeavesNestedAlone(t *testing.T) {
	big := strings.Repeat("x", 1000)
	var p *pipeline.Pipeline
	var s shelf
	var inner pipeline.Outcome
	p = pipelinetest.New(t, nil, pipelinetest.Text("inner", big), pipelinetest.Tool("outer", func(ctx context.Context, run *tools.Run) (tools.Result, error) {
		inner = p.Execute(ctx, pipeline.Request{Name: "inner", Parent: run})
		return text("ok")
	}))
	p.PostExecute.Prepend("spill", policy.Spill(s.save, &policy.SpillOptions{MaxBytes: 10}))
	exec(p, "outer")
	check(t, "inner", inner.Text(), big)
	check(t, "saved", len(s.saved), 0)
}

func TestSpillKeepsTheValue(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	p := pipelinetest.New(t, nil, pipelinetest.Text("x", big))
	s := shelf{locator: "/s/1"}
	p.PostExecute.Prepend("spill", policy.Spill(s.save, nil))
	o := exec(p, "x")
	check(t, "value", o.Value() == tools.StringJSON(big), true)
	check(t, "bytes of text", len(o.Text()) <= 64<<10 && len(o.Text()) > 60<<10, true)
	check(t, "no hint", strings.HasSuffix(o.Text(), "/s/1.)"), true)
}

func TestSpillCrash(t *testing.T) {
	logger := &logBuffer{}
	p := pipelinetest.New(t, nil, pipelinetest.Text("x", "long text"))
	p.PostExecute.Use("spill", policy.Spill(func(context.Context, string, string) (string, error) { panic("disk") },
		&policy.SpillOptions{MaxBytes: 3, Logger: logger.logger()}))
	check(t, "end", endOf(exec(p, "x")), end{"long text", "", pipeline.StateDone})
	check(t, "logged", strings.Contains(logger.String(), "save crashed: disk"), true)
}

func TestSpillToStore(t *testing.T) {
	store, err := spill.Open(filepath.Join(t.TempDir(), "spill"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	big := strings.Repeat("x", 1000)
	p := pipelinetest.New(t, nil, pipelinetest.Text("x", big))
	p.PostExecute.Prepend("spill", policy.Spill(store.Save, &policy.SpillOptions{MaxBytes: 900}))
	_, place, _ := strings.Cut(exec(p, "x").Text(), "stored at: ")
	kept, err := os.ReadFile(strings.TrimSuffix(place, ".)"))
	check(t, "error", err, nil)
	check(t, "kept", string(kept), big)
}

func TestSpillOptions(t *testing.T) {
	check(t, "no save", panics(func() { policy.Spill(nil, nil) }), true)
	check(t, "negative", panics(func() { policy.Spill((&shelf{}).save, &policy.SpillOptions{MaxBytes: -1}) }), true)
}

// A preview is never larger than allowed, splits no character, and tells the
// truth about what it leaves out.
func FuzzSpill(f *testing.F) {
	f.Add("hello world", 5, "/s/1")
	for most := range 8 {
		f.Add(strings.Repeat("é日", 100), 150+most, "/s/1")
	}
	f.Add(strings.Repeat("x", 300), 71, "")
	f.Fuzz(func(t *testing.T, content string, most int, locator string) {
		if most <= 0 || !utf8.ValidString(content) || !utf8.ValidString(locator) {
			t.Skip()
		}
		p := pipelinetest.New(t, nil, pipelinetest.Text("x", content))
		p.PostExecute.Prepend("spill", policy.Spill((&shelf{locator: locator}).save,
			&policy.SpillOptions{MaxBytes: most, Logger: (&logBuffer{}).logger()}))
		got := exec(p, "x").Text()
		if got == content {
			return
		}
		if len(got) > most || !utf8.ValidString(got) {
			t.Errorf("%d bytes of %q, at most %d: %q", len(got), content, most, got)
		}
		notice := got[strings.LastIndex(got, "(Omitted "):]
		if strings.Contains(locator, "(Omitted ") {
			return
		}
		var omitted int
		if _, err := fmt.Sscanf(notice, "(Omitted %d bytes.", &omitted); err != nil {
			t.Fatalf("%q: %v", got, err)
		}
		shown := max(len(got)-len(notice)-len("\n...\n\n\n"), 0)
		if omitted+shown != len(content) {
			t.Errorf("%d bytes of %q are shown: %q", shown, content, got)
		}
	})
}
