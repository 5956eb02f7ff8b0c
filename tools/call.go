package tools

import "github.com/runcode-go/runcode/internal/token"

// Token identifies one execution. Tokens are minted by the pipeline, compare
// with ==, and have no text form; the zero Token means none.
type Token = token.Token

// Origin says who asked for a call.
type Origin uint8

// The origins of a call.
const (
	OriginModel  Origin = iota // the model named the tool itself
	OriginScript               // another execution, in general a run_code program, made the call
)

// String is "model" or "script".
func (o Origin) String() string {
	if o == OriginScript {
		return "script"
	}
	return "model"
}

// Site is a place in the author's program: line and column are 1-based, the
// column counts characters. The zero Site is unknown.
type Site struct{ Line, Column int }

// Call is one tool call as policy, tool bodies and observers see it: a value
// nobody can change. Its arguments are the one canonical text that is judged,
// executed and logged.
type Call struct{ spec *CallSpec }

// CallSpec lists what a Call holds; see the accessors of Call.
type CallSpec struct {
	ID, RootID string
	ParentID   string // the enclosing call's ID
	Name       string
	Args       JSON
	Agent      any // comparable; the acting agent, nil for none
	Token      Token
	Parent     Token
	Transport  bool
	Site       Site
	Tool       *Tool // what Name meant to the agent, nil for nothing
	// Subjects finds what the call would touch; see SubjectsOf. It must always
	// give the same answer. Nil: the tool does not tell.
	Subjects func() ([]Subject, error)
}

// NewCall makes a Call. The pipeline is its normal user; tests of guards,
// listeners and handlers are the other. A Call made elsewhere carries no token
// the pipeline knows, so it opens nothing.
func NewCall(spec CallSpec) Call {
	if spec.RootID == "" {
		spec.RootID = spec.ID
	}
	return Call{spec: &spec}
}

var noCall CallSpec

func (c Call) get() *CallSpec {
	if c.spec == nil {
		return &noCall
	}
	return c.spec
}

// ID is the call's id: the provider's for a model's call, "<parent>:code:<n>"
// for the n-th sub-call a program started.
func (c Call) ID() string { return c.get().ID }

// RootID is the id of the model's call everything here serves.
func (c Call) RootID() string { return c.get().RootID }

// ParentID is the id of the enclosing call, "" for a model's call.
func (c Call) ParentID() string { return c.get().ParentID }

// Name is the tool's name as it was asked for; the tool may not exist.
func (c Call) Name() string { return c.get().Name }

// Tool is what the name meant to the agent when the call was made, nil if it
// meant nothing. A call whose tool is replaced before its body starts does not
// run, so this is the definition that runs.
func (c Call) Tool() *Tool { return c.get().Tool }

// Args is the canonical arguments. It is the zero JSON only when the arguments
// could not be read at all.
func (c Call) Args() JSON { return c.get().Args }

// Agent is the acting agent, nil for none.
func (c Call) Agent() any { return c.get().Agent }

// Token identifies this execution.
func (c Call) Token() Token { return c.get().Token }

// Parent identifies the enclosing execution; it is zero for a model's call.
func (c Call) Parent() Token { return c.get().Parent }

// Origin is OriginScript for a nested call.
func (c Call) Origin() Origin {
	if c.get().Parent.IsZero() {
		return OriginModel
	}
	return OriginScript
}

// IsTransport reports whether this is the call of run_code itself, whose
// arguments are a program: a policy that greps arguments should skip it, since
// every call of the program comes past it too.
func (c Call) IsTransport() bool { return c.get().Transport }

// Site is the place in the program that made a nested call, zero if unknown.
func (c Call) Site() Site { return c.get().Site }
