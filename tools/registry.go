package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/schema"
)

// Tool is a registered definition: immutable, with its schemas compiled. Two
// Tools are the same definition exactly if the pointers are equal.
type Tool struct {
	def    Definition
	input  *schema.Schema // nil: any object
	output *schema.Schema // nil: any value
}

// Definition returns a copy of what was registered.
func (t *Tool) Definition() Definition { return t.def }

// Name is the registry key.
func (t *Tool) Name() string { return t.def.Name }

// CheckArgs validates arguments against the input schema; the error is an
// *ArgsError that lists every problem.
func (t *Tool) CheckArgs(args JSON) error {
	if problems := check(t.input, args, argsRoot); len(problems) > 0 {
		return &ArgsError{Tool: t.def.Name, Problems: problems}
	}
	return nil
}

// CheckOutput validates a value the tool's body returned; the error is an
// *OutputError. What Define returns is trusted by its Go type, and nothing is
// refused where the output schema only describes.
func (t *Tool) CheckOutput(value JSON) error {
	if !t.def.Output.IsZero() && t.def.Output == t.def.inferred {
		return nil
	}
	return t.CheckSubstitute(value)
}

// CheckSubstitute is CheckOutput for a value that the tool's body did not make,
// so that no Go type vouches for it.
func (t *Tool) CheckSubstitute(value JSON) error {
	if t.def.OutputDescribes {
		return nil
	}
	return t.CheckValue(value)
}

// CheckValue says whether a value fits the output schema, whether or not it
// must; the error is an *OutputError.
func (t *Tool) CheckValue(value JSON) error {
	if problems := check(t.output, value, valueRoot); len(problems) > 0 {
		return &OutputError{Tool: t.def.Name, Problems: problems}
	}
	return nil
}

// Concurrent reports whether a call with these arguments may overlap with
// others: only an exact true of the definition's classifier for valid arguments
// says so.
func (t *Tool) Concurrent(args JSON) (ok bool) {
	if t.def.Concurrent == nil || t.CheckArgs(args) != nil {
		return false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return t.def.Concurrent(args)
}

// Registry holds the tools of one pipeline. The zero Registry is empty and ready
// for use. It is safe for concurrent use; readers see copy-on-write snapshots
// and take no lock.
type Registry struct {
	mu   sync.Mutex // serialises writers
	snap atomic.Pointer[snapshot]
}

// snapshot is immutable once published.
type snapshot struct {
	byName map[string]*Tool
	sorted []*Tool // by name
}

// NewRegistry makes a registry of the given definitions; see Add for what it
// refuses.
func NewRegistry(defs ...*Definition) (*Registry, error) {
	r := &Registry{}
	if _, err := r.Add(defs...); err != nil {
		return nil, err
	}
	return r, nil
}

// Add registers definitions, all or none, and returns a function that removes
// exactly them again (it may be called twice). It refuses the reserved name
// run_code, no name, a name that is taken, is not valid UTF-8 or has more than 256
// bytes, a missing handler, a negative timeout and schemas that do not compile.
func (r *Registry) Add(defs ...*Definition) (remove func(), err error) {
	added := make([]*Tool, 0, len(defs))
	for _, def := range defs {
		tool, err := newTool(def)
		if err != nil {
			return nil, err
		}
		added = append(added, tool)
	}
	err = r.update(func(byName map[string]*Tool) error {
		for _, tool := range added {
			if byName[tool.Name()] != nil {
				return fmt.Errorf("tool %q is already registered here; remove it first, choose another name, or register this one for a single agent", tool.Name())
			}
			byName[tool.Name()] = tool
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return func() {
		_ = r.update(func(byName map[string]*Tool) error {
			for _, tool := range added {
				if byName[tool.Name()] == tool {
					delete(byName, tool.Name())
				}
			}
			return nil
		})
	}, nil
}

// Lookup finds a tool by name; nil if there is none.
func (r *Registry) Lookup(name string) *Tool { return r.current().byName[name] }

// All lists the tools in code-unit order of their names. The slice is the
// caller's.
func (r *Registry) All() []*Tool { return slices.Clone(r.current().sorted) }

func (r *Registry) current() *snapshot {
	if s := r.snap.Load(); s != nil {
		return s
	}
	return &snapshot{}
}

// update applies change to a copy of the current set and publishes it unless
// change fails.
func (r *Registry) update(change func(map[string]*Tool) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.current()
	next := &snapshot{byName: make(map[string]*Tool, len(old.byName)+1)}
	for name, tool := range old.byName {
		next.byName[name] = tool
	}
	if err := change(next.byName); err != nil {
		return err
	}
	for _, tool := range next.byName {
		next.sorted = append(next.sorted, tool)
	}
	slices.SortFunc(next.sorted, func(a, b *Tool) int { return strings.Compare(a.Name(), b.Name()) })
	r.snap.Store(next)
	return nil
}

// maxName is how long a tool's name may be. It stands in questions, logs and
// errors, and servers nobody here vouches for choose names.
const maxName = 256

func newTool(def *Definition) (*Tool, error) {
	if def != nil && def.Name == TransportName {
		return nil, fmt.Errorf("tool name %q is reserved for the Code Mode presentation transport and cannot be registered or shadowed", def.Name)
	}
	return NewTool(def)
}

// NewTool compiles a definition that stands in no registry, as the transport
// does. Registries call it for every definition they are given.
func NewTool(def *Definition) (*Tool, error) {
	if def == nil {
		return nil, errors.New("cannot register a nil tool definition")
	}
	if def.Name == "" {
		return nil, errors.New("a tool has no name; give it one")
	}
	if !utf8.ValidString(def.Name) {
		return nil, fmt.Errorf("tool name %q is not valid UTF-8, so no program and no log could spell it; rename the tool", def.Name)
	}
	if len(def.Name) > maxName {
		return nil, fmt.Errorf("the tool name that begins with %q has %d bytes; at most %d are accepted", strings.ToValidUTF8(def.Name[:40], ""), len(def.Name), maxName)
	}
	if def.Handler == nil {
		return nil, fmt.Errorf("tool %q has no handler", def.Name)
	}
	if def.Timeout < 0 {
		return nil, fmt.Errorf("tool %q has the timeout %v; a timeout is positive, or zero for none", def.Name, def.Timeout)
	}
	input, err := compileSchema(def.Input)
	if err != nil {
		return nil, fmt.Errorf("tool %q: input schema: %w", def.Name, err)
	}
	output, err := compileSchema(def.Output)
	if err != nil {
		return nil, fmt.Errorf("tool %q: output schema: %w", def.Name, err)
	}
	return &Tool{def: *def, input: input, output: output}, nil
}
