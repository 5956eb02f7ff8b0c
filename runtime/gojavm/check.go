package gojavm

import (
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"
)

// maxUnboundNotes bounds the notes about calls of unknown members.
const maxUnboundNotes = 20

// unboundCalls says which calls in the program text name no member of a
// namespace. They are notes and no failure: a program may test first what it
// has.
func (r *run) unboundCalls() []string {
	spaces := map[string]*node{}
	for _, b := range r.req.Bindings {
		bound := boundNamespace{binding: b}
		spaces[bound.global()] = bound.tree()
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
func (r *run) unboundCall(spaces map[string]*node, call *ast.CallExpression) string {
	path, object := memberPath(call.Callee)
	if object == nil {
		return ""
	}
	at := spaces[object.Name.String()]
	for _, name := range path {
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

// memberPath takes tools.a["b"] apart; object is nil for any other expression.
func memberPath(x ast.Expression) (path []string, object *ast.Identifier) {
	for {
		switch at := x.(type) {
		case *ast.DotExpression:
			path = append(path, at.Identifier.Name.String())
			x = at.Left
		case *ast.BracketExpression:
			key, ok := at.Member.(*ast.StringLiteral)
			if !ok {
				return nil, nil
			}
			path = append(path, key.Value.String())
			x = at.Left
		case *ast.Identifier:
			slices.Reverse(path)
			return path, at
		default:
			return nil, nil
		}
	}
}
