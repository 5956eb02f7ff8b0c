package shelltools

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func TestCards(t *testing.T) {
	set, dir := newSet(t, nil)
	tool := toolOf(t, set)
	args := tools.MustJSON(`{"command":"make test","description":"run the tests","workdir":"src/../lib","timeoutMs":500}`)
	zero, two := 0, 2
	before := tools.Card{Type: tools.CardTerminal, Title: "run the tests", Action: "execute", Description: "run the tests", Command: "make test", Dir: filepath.Join(dir, "lib")}
	after := func(change func(*tools.Card)) tools.Card {
		card := before
		change(&card)
		return card
	}
	if diff := cmp.Diff(before, tool.PresentCall(args)); diff != "" {
		t.Errorf("card of the call (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		name    string
		outcome tools.Final
		want    tools.Card
	}{
		{"success", tools.Final{Value: tools.MustJSON(`{"exitCode":0,"stdout":"ok\n","stderr":"","timedOut":false,"truncated":false}`)},
			after(func(c *tools.Card) { c.Output, c.ExitCode = "ok\n", &zero })},
		{"both streams", tools.Final{Value: tools.MustJSON(`{"exitCode":2,"stdout":"ok","stderr":"bad\n","timedOut":false,"truncated":false}`)},
			after(func(c *tools.Card) { c.Output, c.ExitCode = "ok\nbad\n", &two })},
		{"signal", tools.Final{Value: tools.MustJSON(`{"exitCode":null,"signal":"SIGTERM","stdout":"","stderr":"bad","timedOut":false,"truncated":false}`)},
			after(func(c *tools.Card) { c.Output, c.Signal = "bad", "SIGTERM" })},
		{"timeout", tools.Final{Value: tools.MustJSON(`{"exitCode":null,"stdout":"begun","stderr":"","timedOut":true,"truncated":false}`)},
			after(func(c *tools.Card) {
				c.Output = "begun\ntimed out after 500 ms, and everything it started was ended; timeoutMs may be up to 600000"
			})},
		{"denied", tools.Final{IsError: true, Err: errors.New("no"), Content: []tools.Content{tools.TextContent("Error: no")}},
			after(func(c *tools.Card) { c.Output = "Error: no" })},
	} {
		if diff := cmp.Diff(tt.want, tool.PresentResult(args, tt.outcome)); diff != "" {
			t.Errorf("%s: card of the result (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := tool.PresentCall(tools.MustJSON(`{"command":"make","description":"d","workdir":"` + filepath.ToSlash(dir) + `/x"}`)).Dir; got != filepath.Join(dir, "x") {
		t.Errorf("directory %q, want the absolute one that was given", got)
	}
	if got := tool.PresentCall(tools.MustJSON(`{"command":1}`)); got.Type != tools.CardGeneric || got.Title != toolName {
		t.Errorf("card of arguments that do not fit: %+v, want the generic one", got)
	}
}
