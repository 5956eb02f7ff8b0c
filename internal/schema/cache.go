package schema

import (
	"runtime"
	"sync"
	"weak"
)

// compiled holds the schemas that somebody uses, by their texts: a *Schema is
// large, and imported tools share many. It keeps none of them alive.
var compiled sync.Map // of weak.Pointer[Schema]

// Compile compiles the text of a schema: draft 2020-12 unless $schema names
// another. References may lead anywhere inside the schema and to the
// metaschemas of the drafts; any other is an error, since nothing is loaded.
// The keyword format annotates and is not checked, as 2020-12 says. Errors are
// of type *Error. A text that has been compiled before may give the same
// *Schema.
func Compile(text string) (*Schema, error) {
	if known, ok := compiled.Load(text); ok {
		if s := known.(weak.Pointer[Schema]).Value(); s != nil {
			return s, nil
		}
	}
	s, err := compile(text)
	if err != nil {
		return nil, err
	}
	held := weak.Make(s)
	compiled.Store(text, held)
	runtime.AddCleanup(s, func(text string) { compiled.CompareAndDelete(text, held) }, text)
	return s, nil
}
