package gojavm

import (
	"slices"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// globalNames are the globals of the engine and of the library: all that a name may
// mean where no variable of that name is in scope, but for what the host defines.
// True are constructors and objects such as Math, of which the library may have
// changed something.
var globalNames = sync.OnceValue(func() map[unistring.String]bool {
	names := map[unistring.String]bool{}
	for _, name := range slices.Concat(jslib.Scripted, []string{
		"console", "queueMicrotask", "setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate",
	}) {
		names[unistring.NewFromString(name)] = false
	}
	engine := goja.New().GlobalObject()
	for _, name := range engine.GetOwnPropertyNames() {
		_, object := engine.Get(name).(*goja.Object)
		names[unistring.NewFromString(name)] = object && 'A' <= name[0] && name[0] <= 'Z' && name != "Boolean"
	}
	return names
})

// isHeld says whether a name is one of those constructors and objects. They all begin
// with a capital letter, as most names of a program do not.
func isHeld(name unistring.String) bool {
	return name != "" && 'A' <= name[0] && name[0] <= 'Z' && globalNames()[name]
}

func isGlobal(name unistring.String) bool {
	_, global := globalNames()[name]
	return global
}

// looseUses counts how a program names objects of the language. Most are called,
// constructed, or asked for a property by its name, and so lead to nothing that is
// not in the text; one that is held as a value may go anywhere.
type looseUses struct {
	held    int // names of constructors and of objects such as Math, where nothing is done with them
	console int // of the console
	reads   int // of its properties
	prints  int // calls of its methods that show no hidden property
	assign  int // names of Object.assign
	copies  int // its calls with a target of their own
}

// use is a name anywhere.
func (l *looseUses) use(name unistring.String) {
	switch {
	case name == "console":
		l.console++
	case isHeld(name):
		l.held++
	}
}

// tied is the use of a name that does something with it at once.
func (l *looseUses) tied(x ast.Expression) {
	id, ok := x.(*ast.Identifier)
	switch {
	case !ok:
	case id.Name == "console":
		l.reads++
	case isHeld(id.Name):
		l.held--
	}
}

// written is a property that is set. A function that is given to such an object may
// return it.
func (l *looseUses) written(x ast.Expression) {
	switch x := x.(type) {
	case *ast.DotExpression:
		l.use(nameOf(x.Left))
	case *ast.BracketExpression:
		l.use(nameOf(x.Left))
	}
}

// nameOf is the name that an expression is, or nothing.
func nameOf(x ast.Expression) unistring.String {
	if id, ok := x.(*ast.Identifier); ok {
		return id.Name
	}
	return ""
}

// plainPrint says whether a call of the console shows no hidden property of any
// value, as the format %o and an option of dir do. Both are looked for elsewhere
// where they are written out.
func plainPrint(method string, arguments []ast.Expression) bool {
	at, ok := formatAt[method]
	if !ok {
		return false
	}
	for i, x := range arguments {
		if _, spread := x.(*ast.SpreadElement); spread {
			return false
		}
		if i == at {
			return len(arguments) == at+1 && method != "dir" || isWritten(x)
		}
	}
	return true
}

// formatAt is which argument of a method may be a format for those behind it, or
// options.
var formatAt = map[string]int{
	"log": 0, "info": 0, "warn": 0, "error": 0, "debug": 0, "trace": 0, "group": 0, "groupCollapsed": 0, "dir": 1,
	"assert": 1, "timeLog": 1, "count": 1, "countReset": 1, "time": 1, "timeEnd": 1, "groupEnd": 1,
}

// isWritten says whether a format or options are all there in the text.
func isWritten(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral:
		return true
	case *ast.TemplateLiteral:
		return x.Tag == nil && len(x.Elements) == 1
	case *ast.ObjectLiteral:
		return !slices.ContainsFunc(x.Value, func(p ast.Property) bool {
			keyed, ok := p.(*ast.PropertyKeyed)
			return !ok || keyed.Computed
		})
	}
	return false
}
