package todotools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/tools"
)

// What a list may hold.
const (
	maxItems   = 200
	maxContent = 1_000 // characters
)

// The statuses of an item.
const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
)

// listIn is a list that nobody has looked at yet. A content is the JSON it came
// as, to tell whether it can be kept as it is.
type listIn struct {
	Todos []struct {
		Content tools.JSON `json:"content"`
		Status  string     `json:"status"`
	} `json:"todos"`
}

// item is one thing to do.
type item struct {
	Content string `json:"content"`
	Status  string `json:"status" jsonschema:"pending, in_progress or completed"`
}

// counts is how many items have each status.
type counts struct {
	Pending    int `json:"pending"`
	InProgress int `json:"inProgress"`
	Completed  int `json:"completed"`
}

// listOut is the canonical value of todo_write.
type listOut struct {
	Todos  []item `json:"todos"`
	Counts counts `json:"counts"`
}

// data is the list as the event has it.
func (l listOut) data() tools.JSON {
	items := make([]tools.JSON, len(l.Todos))
	for i, it := range l.Todos {
		items[i] = tools.ComposeObject(
			tools.Member{Name: "content", Value: tools.StringJSON(it.Content)},
			tools.Member{Name: "status", Value: tools.StringJSON(it.Status)},
		)
	}
	return tools.ComposeObject(tools.Member{Name: "todos", Value: tools.ComposeArray(items...)})
}

// check is the list with its contents trimmed, or everything that is wrong with
// it.
func check(in listIn, parallel bool) (out listOut, problems []tools.Problem) {
	refuse := func(pointer, format string, args ...any) {
		problems = append(problems, tools.Problem{Pointer: pointer, Text: fmt.Sprintf(format, args...)})
	}
	if n := len(in.Todos); n > maxItems {
		refuse("/todos", `"todos" has %d items; give at most %d and put what belongs together into one`, n, maxItems)
		return listOut{}, problems
	}
	first := map[string]int{} // where a content stands
	for i, it := range in.Todos {
		content, problem := contentOf(it.Content)
		if at, twice := first[content]; twice && problem == "" {
			problem = fmt.Sprintf("is the same as that of todos[%d]; name each item once", at)
		}
		if problem != "" {
			refuse(fmt.Sprintf("/todos/%d/content", i), `"todos[%d].content" %s`, i, problem)
		} else {
			first[content] = i
		}
		if !out.Counts.add(it.Status) {
			refuse(fmt.Sprintf("/todos/%d/status", i), `"todos[%d].status" is %q; it must be %q, %q or %q`, i, it.Status, pending, inProgress, completed)
		}
		out.Todos = append(out.Todos, item{content, it.Status})
	}
	if n := out.Counts.InProgress; n > 1 && !parallel {
		refuse("/todos", `"todos" has %d items that are in_progress; at most one may be, so set the others to pending or completed`, n)
	}
	return out, problems
}

// contentOf trims the content of an item and says what is wrong with it, "" for
// nothing.
func contentOf(raw tools.JSON) (content, problem string) {
	text, isText := raw.Text()
	content = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(content); {
	case !isText:
		return "", "must be a text"
	case tools.StringJSON(text) != raw:
		return "", `holds half of a character (an unpaired surrogate such as \ud800); remove it`
	case n == 0:
		return "", "is empty; say what is to be done, or leave the item out"
	case n > maxContent:
		return "", fmt.Sprintf("has %d characters; use at most %d", n, maxContent)
	}
	return content, ""
}

// add counts a status, if it is one.
func (c *counts) add(status string) bool {
	switch status {
	case pending:
		c.Pending++
	case inProgress:
		c.InProgress++
	case completed:
		c.Completed++
	default:
		return false
	}
	return true
}
