package bench

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// workload is one conversation that can be had in several ways.
type workload struct {
	name   string // the family: "chain"
	size   int    // of the family; zero if it has no sizes
	about  string // one line for the report
	system string // beside System
	find   string // what a model without declarations would search the catalog for; empty: it asks for uses by name
	uses   []string
	turns  []turn
	open   func() *world
}

// title is the name with the size.
func (w workload) title() string {
	if w.size == 0 {
		return w.name
	}
	return fmt.Sprintf("%s-%d", w.name, w.size)
}

// turn is one task of a user.
type turn struct {
	prompt string
	direct plan
	// program does the same as direct; its text is the answer. every, if not
	// empty, is a program that returns all results instead of the last.
	program, every string
	// value reads the answer out of a program's result. Nil: the result is it.
	value func(result string, every bool) string
	said  string // the model's words after the program; empty: the result
}

// world is the tools of one conversation and what they act on.
type world struct {
	defs  []*tools.Definition
	guard pipeline.Guard // nil: denies nothing
	state func() string  // the state now, as a text to compare
	fault func() string  // what a tool was asked that it could not answer; nil: never

	mu     sync.Mutex
	bodies []string // executed, with their arguments
}

// registry holds the world's tools, each of which notes that its body ran.
func (w *world) registry() (*tools.Registry, error) {
	noted := make([]*tools.Definition, len(w.defs))
	for i, def := range w.defs {
		d := *def
		body := d.Handler
		d.Handler = func(ctx context.Context, run *tools.Run) (tools.Result, error) {
			w.note(d.Name + " " + sorted(run.Args()))
			return body(ctx, run)
		}
		noted[i] = &d
	}
	return tools.NewRegistry(noted...)
}

func (w *world) note(body string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies = append(w.bodies, body)
}

func (w *world) ran() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.bodies)
}

// sorted is a value with its keys in order and its numbers in one form, for
// comparing: 1.0 and 1 are one value, and no two integers are.
func sorted(value tools.JSON) string {
	var parts []string
	switch value.Kind() {
	case '[':
		var items []tools.JSON
		_ = value.Unmarshal(&items) // it is an array
		for _, item := range items {
			parts = append(parts, sorted(item))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case '{':
		eachMember(value, func(name string, member tools.JSON) {
			parts = append(parts, tools.StringJSON(name).String()+":"+sorted(member))
		})
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	return plainNumber(value.String())
}

// plainNumber writes a number that is no integer token as its shortest form; any
// other token stays.
func plainNumber(token string) string {
	f, err := strconv.ParseFloat(token, 64)
	if err != nil || isInteger(token) {
		return token
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// maxExact is the largest integer up to which a double holds every one.
const maxExact = 1<<53 - 1

func isInteger(token string) bool { return !strings.ContainsAny(token, ".eE") }

// same is a text that compares equal for equal JSON values, and otherwise itself.
func same(text string) string {
	text = strings.TrimSpace(text)
	value, err := tools.ParseJSON(text)
	if err != nil {
		return text
	}
	return sorted(value)
}

// typed is tools.Define without concurrency, so that the bodies run in the order
// of the calls in every arm and can be compared.
func typed[In, Out any](name, description string, fn func(In) (Out, error)) *tools.Definition {
	return tools.Define(name, description, func(_ context.Context, in In) (Out, error) { return fn(in) })
}

// guardOrNone is the guard every conversation has.
func (w *world) guardOrNone(c tools.Call) string {
	if w.guard == nil {
		return ""
	}
	return w.guard(c)
}
