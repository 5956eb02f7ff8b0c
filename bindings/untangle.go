package bindings

// visit is how far the untangling of a named type has come.
type visit uint8

const (
	notVisited visit = iota
	visiting
	visited
)

// untangle removes from named types what TypeScript refuses as circular: a type
// that is itself, or itself or something else. Such a part adds no value that
// the others do not allow. Recursion through a property or an element stays.
func (w *words) untangle(types []*namedType) {
	for _, t := range types {
		w.untangleType(t)
	}
}

func (w *words) untangleType(t *namedType) {
	if t.visited != notVisited {
		return
	}
	t.visited = visiting
	if t.shape = w.cut(t.shape); t.shape == nil {
		t.shape = w.any
	}
	t.visited = visited
}

// cut returns s without the parts that lead straight back to a type that is
// being visited, nil if nothing is left.
func (w *words) cut(s *shape) *shape {
	switch s.form {
	case nameForm:
		if s.named.visited == visiting {
			return nil
		}
		w.untangleType(s.named)
		return s
	case unionForm, bothForm:
		var left []*shape
		for _, part := range s.parts {
			if kept := w.cut(part); kept != nil {
				left = append(left, kept)
			}
		}
		switch len(left) {
		case 0:
			return nil
		case 1:
			return left[0]
		}
		rest := *s
		rest.parts = left
		return &rest
	}
	return s
}

// mentionsName reports whether a type alias that is this shape would be
// resolved through another alias.
func (s *shape) mentionsName() bool {
	switch s.form {
	case nameForm:
		return true
	case unionForm, bothForm:
		for _, part := range s.parts {
			if part.mentionsName() {
				return true
			}
		}
	case objectForm:
		return len(s.fields) == 0 && s.extra != nil && s.extra.mentionsName()
	}
	return false
}
