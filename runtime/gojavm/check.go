package gojavm

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dop251/goja/ast"
)

// maxUnboundNotes bounds the notes about calls of unknown members.
const maxUnboundNotes = 20

// unboundCalls says which calls in the program text name no member of a
// namespace. They are notes and no failure: a program may test first what it
// has.
func (r *run) unboundCalls() []string {
	spaces := map[string]func() *node{}
	for _, b := range r.req.Bindings {
		bound := boundNamespace{binding: b}
		spaces[bound.global()] = sync.OnceValue(bound.tree)
	}
	var notes []string
	eachNodeOf(r.prog.tree.Body, func(x any) bool {
		call, ok := x.(*ast.CallExpression)
		if !ok || len(notes) == maxUnboundNotes {
			return true
		}
		if note := r.unboundCall(spaces, call); note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
		return true
	})
	return notes
}

// unboundCall is the note about tools.a.b(...) with an unknown a or b.
func (r *run) unboundCall(spaces map[string]func() *node, call *ast.CallExpression) string {
	object := memberObject(call.Callee)
	if object == nil {
		return ""
	}
	space := spaces[object.Name.String()]
	if space == nil {
		return ""
	}
	at := space()
	for _, name := range memberPath(call.Callee) {
		if at == nil || at.function[name] != "" {
			return ""
		}
		if at.inner[name] == nil {
			return fmt.Sprintf("line %d: %s", r.prog.siteOf(call).Line, at.unknown(name))
		}
		at = at.inner[name]
	}
	return ""
}

// memberObject is tools in tools.a["b"], or nil for any other expression.
func memberObject(x ast.Expression) *ast.Identifier {
	for {
		switch at := x.(type) {
		case *ast.DotExpression:
			x = at.Left
		case *ast.BracketExpression:
			if _, ok := at.Member.(*ast.StringLiteral); !ok {
				return nil
			}
			x = at.Left
		case *ast.Identifier:
			return at
		default:
			return nil
		}
	}
}

// memberPath are a and b in tools.a["b"], of which memberObject knows tools.
func memberPath(x ast.Expression) (path []string) {
	for {
		switch at := x.(type) {
		case *ast.DotExpression:
			path = append(path, at.Identifier.Name.String())
			x = at.Left
		case *ast.BracketExpression:
			path = append(path, at.Member.(*ast.StringLiteral).Value.String())
			x = at.Left
		default:
			slices.Reverse(path)
			return path
		}
	}
}
