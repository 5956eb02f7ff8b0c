package fstools

import (
	"path/filepath"

	"github.com/runcode-go/runcode/tools"
)

// subject is what one access touches. A path that locate refuses is an error;
// one that leads out of the root is a subject like any other, so that rules
// about its target meet it, and is refused when it is opened.
func (s *Set) subject(op string, access tools.Access, spelling string, tree bool) (tools.Subject, error) {
	rel, err := s.locate(op, spelling)
	if err != nil {
		return tools.Subject{}, err
	}
	return tools.Subject{Access: access, Path: absolute(s.names[0], rel), Real: s.resolve(rel).real, Tree: tree}, nil
}

// judged is the place the call's subjects name: the one policy saw, even if the
// path leads elsewhere by now. A call that carries no subjects is judged now, by
// find.
func judged[In any](s *Set, op string, run *tools.Run, in In, find func(In) ([]tools.Subject, error)) (place, error) {
	list, err := run.Call().Subjects()
	if err == nil && len(list) == 0 {
		list, err = find(in)
	}
	if err != nil {
		return place{}, err
	}
	rel, ok := s.fromRoot(list[0].Path)
	if !ok {
		return place{}, fail(codeSandbox, nil, "%s %q: it lies outside the root directory %s", op, list[0].Path, s.names[0])
	}
	rel = filepath.ToSlash(rel)
	real, ok := below(s.realRoot(), list[0].Real)
	if !ok {
		return place{}, fail(codeSandbox, nil, "%s %q: a symbolic link on the way leads out of the root directory; only files inside it can be used", op, rel)
	}
	return place{rel: rel, real: filepath.ToSlash(real)}, nil
}
