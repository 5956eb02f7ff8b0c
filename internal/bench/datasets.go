package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// dataset is a set of recorded conversations in a folder of Options.Data.
type dataset struct {
	name, folder, about string
	load                func(dir string) ([]recording, error)
}

var datasets = []dataset{
	{"bfcl-base", "bfcl-multi-turn", "multi-turn tasks, short turns and short results", func(dir string) ([]recording, error) { return loadBFCL(dir, "traces.jsonl") }},
	{"bfcl-long", "bfcl-multi-turn", "the same with long results", func(dir string) ([]recording, error) { return loadBFCL(dir, "traces_long_context.jsonl") }},
	{"tau2-retail", "tau2-retail", "customer service, one program a task: an upper bound; tools declared by their use", loadTau2},
	{"nestful", "nestful", "nested calls with explicit references; results are made up from the specifications", loadNestful},
}

// recorded replays the data sets there are.
func (b *bench) recorded(ctx context.Context) error {
	for _, set := range datasets {
		if !b.wanted(set.name) {
			continue
		}
		dir := filepath.Join(b.opts.Data, set.folder)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			b.report.note("%s is not in %s: %s is left out", set.folder, b.opts.Data, set.name)
			continue
		}
		b.opts.Progress(set.name)
		list, err := set.load(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", set.name, err)
		}
		if b.opts.Quick && len(list) > quickConversations {
			list = list[:quickConversations]
			b.report.note("%s: the first %d conversations alone", set.name, quickConversations)
		}
		if err := b.replay(ctx, set.name, set.about, list); err != nil {
			return err
		}
	}
	return nil
}

// quickConversations is how many conversations of a set Options.Quick takes.
const quickConversations = 10

// replay plays recordings and sums them up. One that disagrees refuses them all.
func (b *bench) replay(ctx context.Context, name, about string, list []recording) error {
	c := Comparison{Workload: name, Family: name, About: about, Conversations: len(list)}
	arms := []arm{sequential, batched, code, codeAll, codeSearch}
	sums := make([]Tokens, len(arms))
	for _, r := range list {
		all, refused, err := b.playAll(ctx, r.workload(), arms)
		if err != nil {
			return err
		}
		if refused != "" {
			c.Refused = r.id + ": " + refused
			b.report.add(c)
			return nil
		}
		for i, p := range all {
			sums[i] = sums[i].plus(p.tokens)
		}
	}
	for i, a := range arms {
		c.Arms = append(c.Arms, b.arm(a.name, sums[i]))
	}
	b.report.add(c)
	return nil
}

// readLines reads the JSON values of a file, one a line.
func readLines[V any](file string) ([]V, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []V
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		text, err := tools.ParseJSON(lines.Text())
		var v V
		if err == nil {
			err = text.Unmarshal(&v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s line %d: %w", file, len(out)+1, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}

// fit loosens what the declarations of a set say and its recorded calls do not
// keep to: types of arguments, and of results.
func fit(list []recording) error {
	made := map[*tools.Definition]*tools.Tool{}
	for _, r := range list {
		named := map[string]*tools.Definition{}
		for _, d := range r.defs {
			named[d.Name] = d
		}
		for _, t := range r.turns {
			for _, c := range t.calls {
				if err := fitCall(made, named[c.Name], c); err != nil {
					return fmt.Errorf("%s: %w", r.id, err)
				}
			}
		}
	}
	return nil
}

func fitCall(made map[*tools.Definition]*tools.Tool, def *tools.Definition, c recordedCall) error {
	if def == nil {
		return fmt.Errorf("the tool %s is called and not declared", c.Name)
	}
	tool := made[def]
	if tool == nil {
		var err error
		if tool, err = newTool(def); err != nil {
			return err
		}
		made[def] = tool
	}
	if tool.CheckArgs(c.Args) != nil {
		def.Input, made[def] = loosened(def.Input), nil
	}
	if c.Failure == "" && tool.CheckOutput(c.Value) != nil {
		def.Output, made[def] = tools.JSON{}, nil
	}
	return nil
}

func newTool(def *tools.Definition) (*tools.Tool, error) {
	d := *def
	d.Handler = neverCalled
	return tools.NewTool(&d)
}

// loosened is a schema of arguments that keeps the names and descriptions alone.
func loosened(schema tools.JSON) tools.JSON {
	var s struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	_ = schema.Unmarshal(&s) // what is no such schema has no names to keep
	properties := obj{}
	for name, p := range s.Properties {
		properties[name] = obj{"description": p.Description}
	}
	return made(obj{"type": "object", "properties": properties})
}

// made is JSON that is made here of maps, slices and texts.
func made(v any) tools.JSON {
	text, err := tools.ToJSON(v)
	if err != nil {
		panic("bench: " + err.Error())
	}
	return text
}

// bfclFiles are the declarations of BFCL's tool families.
var bfclFiles = map[string]string{
	"GorillaFileSystem": "gorilla_file_system", "MathAPI": "math_api", "MessageAPI": "message_api", "TwitterAPI": "posting_api",
	"TicketAPI": "ticket_api", "TradingBot": "trading_bot", "TravelAPI": "travel_booking", "VehicleControlAPI": "vehicle_control",
}

// bfclTypes are the words of BFCL for types that are not those of JSON Schema.
var bfclTypes = strings.NewReplacer(`"type":"dict"`, `"type":"object"`, `"type":"float"`, `"type":"number"`, `"type":"tuple"`, `"type":"array"`, `"type":"any"`, `"description":""`)

func loadBFCL(dir, traces string) ([]recording, error) {
	families := map[string][]*tools.Definition{}
	for class, file := range bfclFiles {
		list, err := readLines[struct {
			Name        string     `json:"name"`
			Description string     `json:"description"`
			Parameters  tools.JSON `json:"parameters"`
			Response    tools.JSON `json:"response"`
		}](filepath.Join(dir, "func_doc", file+".jsonl"))
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			input, err := tools.ParseJSON(bfclTypes.Replace(d.Parameters.String()))
			if err != nil {
				return nil, err
			}
			output, err := tools.ParseJSON(bfclTypes.Replace(d.Response.String()))
			if err != nil {
				return nil, err
			}
			families[class] = append(families[class], &tools.Definition{Name: d.Name, Description: d.Description, Input: input, Output: output})
		}
	}
	questions, err := readLines[struct {
		Question [][]struct {
			Content string `json:"content"`
		} `json:"question"`
	}](filepath.Join(dir, "questions.jsonl"))
	if err != nil {
		return nil, err
	}
	entries, err := readLines[struct {
		ID      string           `json:"id"`
		Classes []string         `json:"classes"`
		Turns   [][]recordedCall `json:"turns"`
	}](filepath.Join(dir, traces))
	if err != nil {
		return nil, err
	}
	if len(questions) != len(entries) {
		return nil, fmt.Errorf("there are %d questions and %d traces", len(questions), len(entries))
	}
	var out []recording
	for i, e := range entries {
		r := recording{id: e.ID}
		for _, class := range e.Classes {
			r.defs = append(r.defs, families[class]...)
		}
		for n, calls := range e.Turns {
			if n >= len(questions[i].Question) {
				return nil, fmt.Errorf("%s has more turns than questions", e.ID)
			}
			var prompt []string
			for _, q := range questions[i].Question[n] {
				prompt = append(prompt, q.Content)
			}
			r.turns = append(r.turns, recordedTurn{prompt: strings.Join(prompt, "\n"), calls: calls})
		}
		out = append(out, r)
	}
	return out, fit(out)
}

func loadTau2(dir string) ([]recording, error) {
	entries, err := readLines[struct {
		ID    string         `json:"id"`
		Calls []recordedCall `json:"calls"`
	}](filepath.Join(dir, "traces.jsonl"))
	if err != nil {
		return nil, err
	}
	var tasks []struct {
		ID       string `json:"id"`
		Scenario struct {
			Instructions tools.JSON `json:"instructions"`
		} `json:"user_scenario"`
	}
	if err := readJSON(filepath.Join(dir, "tasks.json"), &tasks); err != nil {
		return nil, err
	}
	prompts := map[string]string{}
	for _, t := range tasks {
		prompts[t.ID] = userWords(t.Scenario.Instructions)
	}
	policy, err := os.ReadFile(filepath.Join(dir, "policy.md"))
	if err != nil {
		return nil, err
	}
	var all []recordedCall
	for _, e := range entries {
		all = append(all, e.Calls...)
	}
	defs := declaredByUse(all)
	var out []recording
	for _, e := range entries {
		out = append(out, recording{id: "task " + e.ID, system: string(policy), defs: defs, turns: []recordedTurn{{prompt: prompts[e.ID], calls: e.Calls}}})
	}
	return out, fit(out)
}

// userWords is what the simulated user knows and wants.
func userWords(instructions tools.JSON) string {
	var in map[string]*string
	if instructions.Unmarshal(&in) != nil {
		text, _ := instructions.Text()
		return text
	}
	var texts []string
	for _, name := range []string{"reason_for_call", "known_info", "task_instructions"} {
		if text := in[name]; text != nil {
			texts = append(texts, *text)
		}
	}
	return strings.Join(texts, "\n")
}

// declaredByUse declares the tools of calls by the arguments they were given: the
// set's own declarations have other names.
func declaredByUse(calls []recordedCall) []*tools.Definition {
	properties := map[string]obj{}
	for _, c := range calls {
		if properties[c.Name] == nil {
			properties[c.Name] = obj{}
		}
		eachMember(c.Args, func(name string, value tools.JSON) {
			properties[c.Name][name] = obj{"type": typeOf(value), "description": strings.ReplaceAll(name, "_", " ")}
		})
	}
	var defs []*tools.Definition
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		defs = append(defs, &tools.Definition{
			Name: name, Description: strings.ReplaceAll(name, "_", " ") + ".",
			Input: made(obj{"type": "object", "properties": properties[name]}),
		})
	}
	return defs
}

func typeOf(value tools.JSON) string {
	switch value.Kind() {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func loadNestful(dir string) ([]recording, error) {
	var specs []nestfulSpec
	if err := readJSON(filepath.Join(dir, "executable-spec.json"), &specs); err != nil {
		return nil, err
	}
	var entries []struct {
		Input  string        `json:"input"`
		Output []nestfulCall `json:"output"`
	}
	if err := readJSON(filepath.Join(dir, "executable-data.json"), &entries); err != nil {
		return nil, err
	}
	byName := map[string]nestfulSpec{}
	var defs []*tools.Definition
	for _, s := range specs {
		byName[s.Name] = s
		defs = append(defs, s.definition())
	}
	var out []recording
	for i, e := range entries {
		t := recordedTurn{prompt: e.Input}
		results := map[string]tools.JSON{}
		for _, c := range e.Output {
			args := resolve(c.Args, results)
			if c.Name == "var_result" {
				t.returns = args
				continue
			}
			value := byName[c.Name].answer(fmt.Sprintf("%d.%s", i+1, c.Label))
			results[c.Label] = value
			t.calls = append(t.calls, recordedCall{Name: wireName(c.Name), Args: args, Value: value})
		}
		out = append(out, recording{id: fmt.Sprintf("entry %d", i+1), defs: usedOf(defs, t.calls), turns: []recordedTurn{t}})
	}
	return out, fit(out)
}

type nestfulCall struct {
	Name  string     `json:"name"`
	Args  tools.JSON `json:"arguments"`
	Label string     `json:"label"`
}

type nestfulSpec struct {
	Name        string                  `json:"name"`
	Description string                  `json:"description"`
	Query       map[string]nestfulParam `json:"query_parameters"`
	Output      tools.JSON              `json:"output_parameters"`
}

type nestfulParam struct {
	Type        string `json:"type"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

var notWire = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// wireName is a name that model APIs accept.
func wireName(name string) string {
	name = notWire.ReplaceAllString(name, "_")
	return name[:min(len(name), 64)]
}

func (s nestfulSpec) definition() *tools.Definition {
	properties, required := obj{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(s.Query)) {
		p := s.Query[name]
		property := obj{"description": p.Description}
		if slices.Contains([]string{"string", "number", "integer", "boolean"}, p.Type) {
			property["type"] = p.Type
		}
		properties[name] = property
		if p.Required {
			required = append(required, name)
		}
	}
	return &tools.Definition{Name: wireName(s.Name), Description: s.Description, Input: made(obj{"type": "object", "properties": properties, "required": required})}
}

// answer makes up a result with the fields the specification names. Every text
// in it is used once, so that what takes it can be told.
func (s nestfulSpec) answer(label string) tools.JSON {
	members := []tools.Member{}
	eachMember(s.Output, func(name string, param tools.JSON) {
		members = append(members, tools.Member{Name: name, Value: tools.StringJSON(name + " " + label)})
	})
	return tools.ComposeObject(members...)
}

var reference = regexp.MustCompile(`^\$(var\d+)(?:\.(.+))?\$$`)

// resolve puts results in the place of references. A reference to what the
// made-up result does not have is the field that holds it, or stays as it is.
func resolve(value tools.JSON, results map[string]tools.JSON) tools.JSON {
	switch value.Kind() {
	case '"':
		text, _ := value.Text()
		m := reference.FindStringSubmatch(text)
		if m == nil || results[m[1]].IsZero() {
			return value
		}
		if m[2] == "" {
			return results[m[1]]
		}
		found := value
		first, _, _ := strings.Cut(m[2], ".")
		first, _, _ = strings.Cut(first, "[")
		eachMember(results[m[1]], func(name string, v tools.JSON) {
			if name == m[2] || name == first {
				found = v
			}
		})
		return found
	case '[':
		var items []tools.JSON
		_ = value.Unmarshal(&items) // it is an array
		for i, item := range items {
			items[i] = resolve(item, results)
		}
		return tools.ComposeArray(items...)
	case '{':
		var members []tools.Member
		eachMember(value, func(name string, v tools.JSON) {
			members = append(members, tools.Member{Name: name, Value: resolve(v, results)})
		})
		return tools.ComposeObject(members...)
	}
	return value
}

// usedOf is the definitions a conversation calls. NESTFUL offers each question
// the functions it needs.
func usedOf(defs []*tools.Definition, calls []recordedCall) (used []*tools.Definition) {
	for _, d := range defs {
		if slices.ContainsFunc(calls, func(c recordedCall) bool { return c.Name == d.Name }) {
			used = append(used, d)
		}
	}
	return used
}
