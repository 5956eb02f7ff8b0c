package runtime

import "slices"

// Namespace is a global object of functions that a program can call. It is
// immutable, so that one can serve many runs at once.
type Namespace struct {
	global  string
	members []Member
	class   ErrorClass
}

// Member is one function of a namespace.
type Member struct {
	Name string // any text, also "__proto__" or "then"; what Invocation.Member says
	// Path is where the member can also be reached: {"github", "search"} is
	// tools.github.search. Nil: only under its own name.
	Path []string
}

// ErrorClass is the class a failed call throws.
type ErrorClass struct {
	Name     string // the constructor's global name and the error's name
	Property string // own property that carries the member's name
}

// NewNamespace checks the names (see Request.Validate) and sorts the members.
func NewNamespace(global string, class ErrorClass, members []Member) (*Namespace, error) {
	n := &Namespace{global: global, class: class, members: slices.Clone(members)}
	return n, nil
}

// Global is the name of the global object.
func (n *Namespace) Global() string { return n.global }

// Class is the error class of failed calls.
func (n *Namespace) Class() ErrorClass { return n.class }

// Members lists the members in code-unit order of their names. The caller must
// not change the slice.
func (n *Namespace) Members() []Member { return n.members }
