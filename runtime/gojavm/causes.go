package gojavm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"
)

const (
	// maxCauses is how many causes of causes a failure shows.
	maxCauses = 5
	// maxErrors is how many errors of an AggregateError a failure shows.
	maxErrors = 5
	// shownReason is how many characters of each are shown.
	shownReason = 500
)

// reasons lists what is behind an error, a line each: the errors of an
// AggregateError, and the chain of causes.
//
//	AggregateError: all failed
//	  [error 1] Error: a
//	  [cause] TypeError: b
func (r *run) reasons(object *goja.Object) string {
	var b strings.Builder
	r.listErrors(&b, object)
	seen := []*goja.Object{object}
	for range maxCauses {
		cause := r.peek(object, "cause")
		if cause == nil {
			return b.String()
		}
		next, isObject := cause.(*goja.Object)
		if isObject && slices.Contains(seen, next) {
			b.WriteString("\n  [cause] [Circular]")
			return b.String()
		}
		r.writeReason(&b, "[cause]", cause)
		if !isObject || !r.isError(next) {
			return b.String()
		}
		object = next
		seen = append(seen, next)
	}
	if r.peek(object, "cause") != nil {
		b.WriteString("\n  and further causes")
	}
	return b.String()
}

func (r *run) listErrors(b *strings.Builder, object *goja.Object) {
	list, ok := r.peek(object, "errors").(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		return
	}
	length := int(r.lengthOf(list))
	for i := range min(length, maxErrors) {
		if v := r.peek(list, fmt.Sprint(i)); v != nil {
			r.writeReason(b, fmt.Sprintf("[error %d]", i+1), v)
		}
	}
	if rest := length - maxErrors; rest > 0 {
		fmt.Fprintf(b, "\n  and %d more errors", rest)
	}
}

func (r *run) writeReason(b *strings.Builder, label string, v goja.Value) {
	b.WriteString("\n  " + label + " " + shorten(r.thrownText(v), shownReason))
}

// peek reads a property that may be anything or throw; nil is undefined.
func (r *run) peek(object *goja.Object, name string) (v goja.Value) {
	if ex := r.vm.Try(func() { v = object.Get(name) }); ex != nil || v == nil || goja.IsUndefined(v) {
		return nil
	}
	return v
}
