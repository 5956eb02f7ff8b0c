package fstools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func TestCards(t *testing.T) {
	set, _ := newSet(t, map[string]string{"a.txt": "one\ntwo\n", "b.bin": "\x00"}, nil)
	reg := registry(t, set)
	for _, tt := range []struct {
		name, tool, args string
		call, result     tools.Card
	}{
		{"read", "read", `{"file_path":"./a.txt","offset":2}`,
			tools.Card{Type: tools.CardRead, Title: "read", Action: "read", Path: "./a.txt", StartLine: 2, Locations: at("./a.txt")},
			tools.Card{Type: tools.CardRead, Title: "read", Action: "read", Path: "a.txt", StartLine: 2, Text: "two\n", TotalLines: 2}},
		{"glob", "glob", `{"pattern":"*.txt"}`,
			tools.Card{Type: tools.CardSearch, Title: `glob "*.txt"`, Action: "search"},
			tools.Card{Type: tools.CardSearch, Title: `glob "*.txt"`, Action: "search", Paths: []string{"a.txt"}, Total: 1}},
		{"grep", "grep", `{"pattern":"o","limit":1}`,
			tools.Card{Type: tools.CardSearch, Title: `grep "o"`, Action: "search"},
			tools.Card{Type: tools.CardSearch, Title: `grep "o"`, Action: "search", Matches: []tools.Match{{Path: "a.txt", Line: 1, Text: "one"}}, Total: 2, Truncated: true}},
		{"edit", "edit", `{"file_path":"a.txt","old_string":"one","new_string":"1"}`,
			tools.Card{Type: tools.CardDiff, Title: "edit", Action: "edit", Locations: at("a.txt"), Diffs: []tools.Diff{{Path: "a.txt", Fragment: true, Old: "one", New: "1"}}},
			tools.Card{Type: tools.CardDiff, Title: "edit", Action: "edit", Locations: at("a.txt"), Diffs: []tools.Diff{{Path: "a.txt", Old: "one\ntwo\n", New: "1\ntwo\n"}}}},
		{"write", "write", `{"file_path":"new","content":"x"}`,
			tools.Card{Type: tools.CardGeneric, Title: "write new", Action: "edit", Locations: at("new"), Content: []tools.Content{tools.TextContent("1 byte")}},
			tools.Card{Type: tools.CardDiff, Title: "write", Action: "edit", Locations: at("new"), Diffs: []tools.Diff{{Path: "new", Created: true, New: "x"}}}},
		{"write over what is no text", "write", `{"file_path":"b.bin","content":"x\n"}`,
			tools.Card{Type: tools.CardGeneric, Title: "write b.bin", Action: "edit", Locations: at("b.bin"), Content: []tools.Content{tools.TextContent("2 bytes")}},
			tools.Card{Type: tools.CardGeneric, Title: "write b.bin", Action: "edit", Locations: at("b.bin"), Content: []tools.Content{tools.TextContent("wrote 2 bytes to b.bin (replaced)")}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool, args := reg.Lookup(tt.tool), tools.MustJSON(tt.args)
			if diff := cmp.Diff(tt.call, tool.PresentCall(args)); diff != "" {
				t.Errorf("card of the call (-want +got):\n%s", diff)
			}
			result, err := tool.Definition().Handler(t.Context(), runOf(tool, nil, args))
			if err != nil {
				t.Fatal(err)
			}
			content, err := tool.Definition().Render(args, result.Value)
			if err != nil {
				t.Fatal(err)
			}
			final := tools.Final{Content: content, Value: result.Value, Detail: result.Detail}
			if diff := cmp.Diff(tt.result, tool.PresentResult(args, final)); diff != "" {
				t.Errorf("card of the result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCardsOfFailuresAndReplays has no value, or no detail, to show.
func TestCardsOfFailuresAndReplays(t *testing.T) {
	set, _ := newSet(t, nil, nil)
	reg := registry(t, set)
	text := []tools.Content{tools.TextContent("Error: no")}
	for _, tool := range allTools {
		args := tool.args("a")
		card := reg.Lookup(tool.name).PresentResult(args, tools.Final{IsError: true, Content: text})
		if card.Type != tools.CardGeneric || !strings.HasPrefix(card.Title, tool.name) || card.Action == "" || !cmp.Equal(card.Content, text) {
			t.Errorf("%s: card of a failure %+v", tool.name, card)
		}
	}
	args := tools.MustJSON(`{"file_path":"a","old_string":"x","new_string":"y"}`)
	card := reg.Lookup("edit").PresentResult(args, tools.Final{Content: text, Value: tools.MustJSON(`{"path":"a","replacements":1}`)})
	want := tools.Card{Type: tools.CardGeneric, Title: "edit", Action: "edit", Locations: at("a"), Content: text}
	if diff := cmp.Diff(want, card); diff != "" {
		t.Errorf("card on replay (-want +got):\n%s", diff)
	}
}
