package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/tools"
)

// recording is a conversation whose calls and results are known.
type recording struct {
	id     string
	system string
	defs   []*tools.Definition // their handlers are not used
	turns  []recordedTurn
}

type recordedTurn struct {
	prompt  string
	calls   []recordedCall
	returns tools.JSON // what the task wants; zero: the result of the last call
}

type recordedCall struct {
	Name    string          `json:"name"`
	Args    tools.JSON      `json:"arguments"`
	Value   tools.JSON      `json:"result"`
	Failure string          `json:"error"` // not empty: the call failed with this text
	Content []tools.Content `json:"-"`     // nil: the value, rendered
}

// text is what the task's reader finds in the result.
func (c recordedCall) text() string {
	if text, ok := c.Value.Text(); ok {
		return text
	}
	return c.Failure + c.Value.String() // one of the two is empty
}

// player answers the calls of a recording in their order, and no other call.
type player struct {
	mu    sync.Mutex
	calls []recordedCall
	next  int
	wrong string // the first call that is not the recorded one
}

func (r recording) open() *world {
	p := &player{}
	for _, t := range r.turns {
		p.calls = append(p.calls, t.calls...)
	}
	w := &world{state: p.state, fault: p.fault}
	for _, def := range r.defs {
		d := *def
		d.Handler = p.answer
		d.Concurrent, d.Render, d.Finalize, d.Subjects, d.Preview = nil, nil, nil, nil, nil
		w.defs = append(w.defs, &d)
	}
	return w
}

func (p *player) answer(_ context.Context, run *tools.Run) (tools.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, args := run.Call().Name(), sorted(run.Args())
	if p.next == len(p.calls) {
		return tools.Result{}, p.reject("call %d is %s %.300s and only %d were recorded", p.next+1, name, args, len(p.calls))
	}
	c := p.calls[p.next]
	if name != c.Name || args != sorted(c.Args) {
		return tools.Result{}, p.reject("call %d is %s %.300s; recorded is %s %.300s", p.next+1, name, args, c.Name, sorted(c.Args))
	}
	p.next++
	if c.Failure != "" {
		return tools.Result{}, &tools.Error{Message: c.Failure}
	}
	return tools.Result{Value: c.Value, Content: c.Content}, nil
}

// reject keeps the first reason; mu is held.
func (p *player) reject(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if p.wrong == "" {
		p.wrong = text
	}
	return fmt.Errorf("not the recorded call: %s", text)
}

func (p *player) state() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d of %d recorded calls made", p.next, len(p.calls))
}

func (p *player) fault() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrong == "" && p.next < len(p.calls) {
		return fmt.Sprintf("%d of %d recorded calls were made", p.next, len(p.calls))
	}
	return p.wrong
}

// workload is the conversation as direct calls and as one program a turn.
func (r recording) workload() workload {
	w := workload{name: r.id, system: r.system, open: r.open}
	for _, t := range r.turns {
		w.turns = append(w.turns, t.turn())
		for _, c := range t.calls {
			w.uses = append(w.uses, c.Name)
		}
	}
	slices.Sort(w.uses)
	w.uses = slices.Compact(w.uses)
	return w
}

// done is what the model says at the end of a recorded turn, in every arm: what
// it would say to its user was not recorded.
const done = "Done."

func (t recordedTurn) turn() turn {
	f := newFlow(t)
	out := turn{prompt: t.prompt, said: done, value: lastOf, direct: func(ask ask) answer {
		last := seen{}
		for _, group := range f.groups() {
			results := ask(group...)
			last = results[len(results)-1]
		}
		if !t.returns.IsZero() {
			return answer{done, t.returns.String()}
		}
		return answer{done, last.text}
	}}
	if len(t.calls) > 0 {
		out.program, out.every = f.program(false), f.program(true)
	}
	return out
}

// lastOf is the answer in the result of a program.
func lastOf(result string, every bool) string {
	if !every {
		return result
	}
	var all []tools.JSON
	text, err := tools.ParseJSON(result)
	if err != nil || text.Unmarshal(&all) != nil || len(all) == 0 {
		return result
	}
	if s, ok := all[len(all)-1].Text(); ok {
		return s
	}
	return all[len(all)-1].String()
}

// flow is which arguments of a turn's calls are results of earlier ones. It is
// found by value: an argument that equals a part of an earlier result, and is not
// in the user's words, was taken from there.
type flow struct {
	turn    recordedTurn
	sources map[string]place // by the value's canonical text
	uses    [][]int          // the calls each call takes from
	args    []string         // as the program writes them
	returns string
}

// place is a part of a result.
type place struct {
	call int // from 0
	path string
}

func newFlow(t recordedTurn) *flow {
	f := &flow{turn: t, sources: map[string]place{}}
	for i, c := range t.calls {
		text, uses := f.write(c.Args)
		f.args, f.uses = append(f.args, text), append(f.uses, uses)
		if c.Failure == "" {
			f.learn(i, "", c.Value)
		}
	}
	if !t.returns.IsZero() {
		f.returns, _ = f.write(t.returns)
	}
	return f
}

// shortest is the length below which an equal value is taken for chance.
const shortest = 4

// learn notes the parts of a result that hold something the user did not say, and
// reports whether there are any. The first place of a value counts.
func (f *flow) learn(call int, path string, value tools.JSON) (news bool) {
	switch value.Kind() {
	case '[':
		var items []tools.JSON
		_ = value.Unmarshal(&items) // it is an array
		for i, item := range items {
			news = f.learn(call, fmt.Sprintf("%s[%d]", path, i), item) || news
		}
	case '{':
		eachMember(value, func(name string, member tools.JSON) { news = f.learn(call, path+access(name), member) || news })
	default:
		news = !f.said(value)
	}
	if key := sorted(value); news {
		if _, known := f.sources[key]; !known {
			f.sources[key] = place{call, path}
		}
	}
	return news
}

// said reports whether the user named a text or a number, or it is too short to
// tell. Other values are everybody's.
func (f *flow) said(value tools.JSON) bool {
	switch value.Kind() {
	case 't', 'f', 'n':
		return true
	}
	text, ok := value.Text()
	if !ok {
		text = value.String()
	}
	return len(text) < shortest || strings.Contains(f.turn.prompt, text)
}

// write is a value as a program writes it, and the calls it takes parts from.
func (f *flow) write(value tools.JSON) (text string, uses []int) {
	if from, ok := f.sources[sorted(value)]; ok {
		return fmt.Sprintf("r%d%s", from.call+1, from.path), []int{from.call}
	}
	var parts []string
	part := func(before string, v tools.JSON) {
		text, used := f.write(v)
		parts, uses = append(parts, before+text), append(uses, used...)
	}
	switch value.Kind() {
	case '[':
		var items []tools.JSON
		_ = value.Unmarshal(&items) // it is an array
		for _, item := range items {
			part("", item)
		}
		return "[" + strings.Join(parts, ", ") + "]", uses
	case '{':
		eachMember(value, func(name string, v tools.JSON) { part(property(name)+": ", v) })
		return "{" + strings.Join(parts, ", ") + "}", uses
	}
	if n, err := strconv.ParseFloat(value.String(), 64); err == nil && math.Abs(n) > maxExact && isInteger(value.String()) {
		return value.String() + "n", nil
	}
	return value.String(), nil
}

// eachMember goes through an object in its order.
func eachMember(object tools.JSON, do func(name string, value tools.JSON)) {
	d := json.NewDecoder(strings.NewReader(object.String()))
	_, _ = d.Token() // the brace of an object that is valid JSON
	for d.More() {
		name, _ := d.Token()
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return
		}
		value, err := tools.ParseJSON(string(raw))
		if err != nil {
			return
		}
		do(name.(string), value)
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func access(name string) string {
	if identifier.MatchString(name) {
		return "." + name
	}
	return "[" + tools.StringJSON(name).String() + "]"
}

func property(name string) string {
	if name == "__proto__" { // it would not be a property
		return `["__proto__"]`
	}
	if identifier.MatchString(name) {
		return name
	}
	return tools.StringJSON(name).String()
}

// groups are the calls that can be sent together: neighbours of which none takes
// from another. No call is moved.
func (f *flow) groups() (groups [][]call) {
	first := 0
	for i, c := range f.turn.calls {
		if i == 0 || slices.ContainsFunc(f.uses[i], func(from int) bool { return from >= first }) {
			first, groups = i, append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], call{c.Name, c.Args})
	}
	return groups
}

// program makes the calls and returns the answer, or every result and then the
// answer.
func (f *flow) program(every bool) string {
	last := len(f.turn.calls) - 1
	used := map[int]bool{}
	for _, uses := range f.uses {
		for _, i := range uses {
			used[i] = true
		}
	}
	var b strings.Builder
	for i, c := range f.turn.calls {
		expr := "await tools" + access(c.Name) + "(" + f.args[i] + ")"
		if c.Failure != "" {
			expr += ".catch(e => e.message)"
		}
		switch {
		case i == last && !every && f.returns == "":
			fmt.Fprintf(&b, "return %s;", expr)
		case every || used[i] || f.returns != "":
			fmt.Fprintf(&b, "const r%d = %s;\n", i+1, expr)
		default:
			fmt.Fprintf(&b, "%s;\n", expr)
		}
	}
	switch {
	case every:
		var names []string
		for i := range f.turn.calls {
			names = append(names, fmt.Sprintf("r%d", i+1))
		}
		if f.returns != "" {
			names = append(names, f.returns)
		}
		fmt.Fprintf(&b, "return [%s];", strings.Join(names, ", "))
	case f.returns != "":
		fmt.Fprintf(&b, "return %s;", f.returns)
	}
	return b.String()
}
