package todotools

import (
	_ "embed"
	"errors"
	"reflect"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/tools"
)

const toolName = "todo_write"

// EventTodoWrite is the type of the event that holds an accepted list:
// {"todos": [{"content", "status"}]}.
const EventTodoWrite = "todo/write"

// Options says what lists may hold and where they are logged. The zero value is
// ready to use.
type Options struct {
	// AllowParallelInProgress lets more than one item be in progress. False:
	// such a list is refused.
	AllowParallelInProgress bool
	// Emit writes an event (see pipeline.Pipeline.Emit). It is called for one
	// list at a time, before that replaces the one before, and must not call
	// todo_write itself; an error fails the call, and the list before stays.
	// Nil: nothing is logged.
	Emit func(eventType string, data tools.JSON) error
}

// Lists is the todo lists of all agents. It is safe for concurrent use.
type Lists struct {
	opts Options

	// writing keeps the order of the log that of the lists. It is held while
	// Emit runs; mu is not, so that Emit may read the lists.
	writing sync.Mutex
	mu      sync.Mutex
	lists   map[any]tools.JSON // by agent, in the form of the event's data
}

// New makes an empty set of lists. Nil options mean the zero value.
func New(opts *Options) *Lists {
	l := &Lists{lists: map[any]tools.JSON{}}
	if opts != nil {
		l.opts = *opts
	}
	return l
}

var (
	//go:embed todo_write.md
	description string
	//go:embed todo_write.schema.json
	inputSchema string
)

// Tools returns the definition of todo_write.
func (l *Lists) Tools() []*tools.Definition {
	return []*tools.Definition{tools.DefineWith(tools.Definition{
		Name:          toolName,
		Description:   l.describe(),
		Input:         tools.MustJSON(inputSchema),
		Annotations:   tools.Annotations{Idempotent: true},
		Render:        render,
		Preview:       tools.HandlerOf(toolName, l.preview),
		PresentCall:   presentCall,
		PresentResult: presentResult,
	}, l.write)}
}

func (l *Lists) describe() string {
	text := strings.TrimSpace(description)
	if !l.opts.AllowParallelInProgress {
		text += " At most one item may be in_progress."
	}
	return text
}

// Todos is the list of an agent as the event's data has it, {"todos": [...]},
// or the zero JSON if it has not written any.
func (l *Lists) Todos(agent any) tools.JSON {
	if checkAgent(agent) != nil {
		return tools.JSON{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists[agent]
}

// Restore gives an agent the list of an event's data, which may have more than
// one item in progress whatever the options say. The zero JSON takes the
// agent's list away. An error leaves it as it was. Nothing is logged.
func (l *Lists) Restore(agent any, data tools.JSON) error {
	if err := checkAgent(agent); err != nil {
		return err
	}
	if data.IsZero() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.lists, agent)
		return nil
	}
	var in listIn
	if err := data.Unmarshal(&in); err != nil {
		return failRestore(err)
	}
	if in.Todos == nil {
		return failRestore(errors.New(`"todos" is missing`))
	}
	out, problems := check(in, true)
	if problems != nil {
		return failRestore(&tools.ArgsError{Tool: toolName, Problems: problems})
	}
	l.store(agent, out.data())
	return nil
}

func failRestore(err error) error {
	return &tools.Error{Name: "TodoError", Code: codeRestore, Err: err,
		Message: "cannot restore a todo list: " + err.Error() + "; give the data of an event " + EventTodoWrite}
}

func (l *Lists) store(agent any, data tools.JSON) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists[agent] = data
}

// The codes of failures.
const (
	codeNoAgent = "TODO_NO_AGENT"
	codeLog     = "TODO_LOG_FAILED"
	codeRestore = "TODO_RESTORE_FAILED"
)

// checkAgent refuses what no list can belong to.
func checkAgent(agent any) error {
	if agent != nil && reflect.ValueOf(agent).Comparable() {
		return nil
	}
	return &tools.Error{Name: "TodoError", Code: codeNoAgent,
		Message: toolName + ": the call is made by no agent, and a todo list belongs to one; make it for an agent (pipeline.Request.Agent)"}
}
