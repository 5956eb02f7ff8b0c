package fstools

import (
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

func (t tool[In, Out]) presentCall(args tools.JSON) tools.Card {
	var in In
	if err := args.Unmarshal(&in); err != nil {
		return tools.Card{}
	}
	return t.call(in)
}

// presentResult is the card of a success. A failure has a generic one, with what
// the card of its call says in any case.
func (t tool[In, Out]) presentResult(args tools.JSON, outcome tools.Final) tools.Card {
	var in In
	if err := args.Unmarshal(&in); err != nil {
		return tools.Card{}
	}
	var out Out
	if outcome.IsError || outcome.Value.Unmarshal(&out) != nil {
		call := t.call(in)
		return tools.Card{Title: call.Title, Action: call.Action, Locations: call.Locations}
	}
	return t.result(in, out, outcome)
}

func at(path string) []tools.Location { return []tools.Location{{Path: path}} }

func readCard(in readIn) tools.Card {
	return tools.Card{Type: tools.CardRead, Action: "read", Path: in.FilePath, StartLine: max(in.Offset, 1), Locations: at(in.FilePath)}
}

func readResult(_ readIn, v readOut, _ tools.Final) tools.Card {
	return tools.Card{Type: tools.CardRead, Action: "read", Path: v.Path, StartLine: v.StartLine, Text: v.Content, TotalLines: v.TotalLines}
}

func searchCard(tool, pattern string) tools.Card {
	return tools.Card{Type: tools.CardSearch, Title: fmt.Sprintf("%s %q", tool, pattern), Action: "search"}
}

func globCard(in globIn) tools.Card { return searchCard("glob", in.Pattern) }

func globResultCard(in globIn, v globOut, _ tools.Final) tools.Card {
	card := globCard(in)
	card.Paths, card.Total, card.Truncated = v.Paths, v.Total, v.Truncated
	return card
}

func grepCard(in grepIn) tools.Card { return searchCard("grep", in.Pattern) }

func grepResultCard(in grepIn, v grepOut, _ tools.Final) tools.Card {
	card := grepCard(in)
	card.Total, card.Truncated = v.Total, v.Truncated
	for _, m := range v.Matches {
		card.Matches = append(card.Matches, tools.Match{Path: m.Path, Line: m.Line, Text: m.Text})
	}
	return card
}

// writeCard says how much is written; what it replaces is not known yet.
func writeCard(in writeIn) tools.Card {
	return tools.Card{
		Type: tools.CardGeneric, Title: "write " + in.FilePath, Action: "edit", Locations: at(in.FilePath),
		Content: []tools.Content{tools.TextContent(bytesText(int64(len(in.Content))))},
	}
}

func writeResult(in writeIn, v writeOut, outcome tools.Final) tools.Card {
	return diffCard(writeCard(in), v.Path, outcome)
}

func editCard(in editIn) tools.Card {
	return tools.Card{
		Type: tools.CardDiff, Action: "edit", Locations: at(in.FilePath),
		Diffs: []tools.Diff{{Path: in.FilePath, Fragment: true, Old: in.OldString, New: in.NewString}},
	}
}

func editResult(in editIn, v editOut, outcome tools.Final) tools.Card {
	return diffCard(editCard(in), v.Path, outcome)
}

// diffCard shows the change the body has kept. On replay, and of files that are
// no text or very large, there is none.
func diffCard(call tools.Card, path string, outcome tools.Final) tools.Card {
	card := tools.Card{Type: tools.CardGeneric, Title: call.Title, Action: call.Action, Locations: at(path)}
	if diff, ok := outcome.Detail.(tools.Diff); ok {
		card.Type, card.Title, card.Diffs = tools.CardDiff, "", []tools.Diff{diff}
	}
	return card
}
