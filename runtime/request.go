package runtime

import (
	"fmt"
	"reflect"
)

// MaxParallel is the largest number of calls that may be out at once.
const MaxParallel = 256

// Validate reports misuse: a binding without a namespace or a function, a
// global or error class that two bindings share, Parallel out of range, a Trust
// that cannot be compared. Every
// Runtime calls it before anything runs. The limits are Limits.WithDefaults's.
func (r *Request) Validate() error {
	owner := map[string]string{}
	claim := func(name, what string) error {
		if other, ok := owner[name]; ok {
			return fmt.Errorf("%s %q is taken by a %s; globals and error classes must be unique in a run", what, name, other)
		}
		owner[name] = what
		return nil
	}
	for i, b := range r.Bindings {
		if b.Namespace == nil {
			return fmt.Errorf("binding %d has no namespace; make one with NewNamespace", i)
		}
		if b.Call == nil {
			return fmt.Errorf("binding %q has no Call function", b.Namespace.Global())
		}
		if err := claim(b.Namespace.Global(), "global"); err != nil {
			return err
		}
	}
	for _, b := range r.Bindings {
		if class := b.Namespace.Class().Name; class != "" {
			if err := claim(class, "error class"); err != nil {
				return err
			}
		}
	}
	if r.Parallel < 0 || r.Parallel > MaxParallel {
		return fmt.Errorf("parallel is %d; it must be between 0 and %d (zero means one call at a time)", r.Parallel, MaxParallel)
	}
	if r.Trust != nil && !reflect.ValueOf(r.Trust).Comparable() {
		return fmt.Errorf("trust is a %T that cannot be compared; use a pointer or a string", r.Trust)
	}
	return nil
}
