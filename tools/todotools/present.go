package todotools

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// render is the text a model reads: how many items there are. It has just
// written the items itself.
func render(_, value tools.JSON) ([]tools.Content, error) {
	var out listOut
	if err := value.Unmarshal(&out); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("Updated todo list: %d pending, %d in progress, %d completed.", out.Counts.Pending, out.Counts.InProgress, out.Counts.Completed)
	return []tools.Content{tools.TextContent(text)}, nil
}

// presentCall is the list as it would be.
func presentCall(args tools.JSON) tools.Card { return card(args) }

// presentResult is the list as it is now.
func presentResult(_ tools.JSON, outcome tools.Final) tools.Card {
	if outcome.IsError {
		return tools.Card{Type: tools.CardGeneric, Title: title}
	}
	return card(outcome.Value)
}

const title = "Todo list"

// card is a checklist of what holds todos: arguments or a value.
func card(of tools.JSON) tools.Card {
	var list struct {
		Todos []item `json:"todos"`
	}
	if of.Unmarshal(&list) != nil {
		return tools.Card{}
	}
	lines := make([]string, len(list.Todos))
	for i, it := range list.Todos {
		lines[i] = box(it.Status) + " " + strings.TrimSpace(it.Content)
	}
	if len(lines) == 0 {
		lines = []string{"(empty)"}
	}
	return tools.Card{Type: tools.CardGeneric, Title: title, Content: []tools.Content{tools.TextContent(strings.Join(lines, "\n"))}}
}

func box(status string) string {
	switch status {
	case inProgress:
		return "[>]"
	case completed:
		return "[x]"
	}
	return "[ ]"
}
