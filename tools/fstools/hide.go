package fstools

// hideFunc is Options.Hide.
type hideFunc func(base, path string, dir bool) bool

// SetHide replaces Options.Hide, for a policy that is made after the tools it
// judges. It may be called at any time; a search that runs may go on with the
// old function. Nil hides nothing.
func (s *Set) SetHide(hide func(base, path string, dir bool) bool) {
	f := hideFunc(hide)
	s.hide.Store(&f)
}

// hides asks the host about a path from the root, under the name it was found
// by and under its real one.
func (s *Set) hides(base string, p place, dir bool) bool {
	hide := *s.hide.Load()
	if hide == nil {
		return false
	}
	lexical, real := absolute(s.names[0], p.rel), absolute(s.realRoot(), p.real)
	return hide(base, lexical, dir) || real != lexical && hide(base, real, dir)
}

// hidesWay is hides for a path no walk has led to: what lies in a hidden
// directory is hidden.
func (s *Set) hidesWay(base string, p place, dir bool) bool {
	return s.hidesBelow(s.names[0], base, p.rel, dir) || s.hidesBelow(s.realRoot(), base, p.real, dir)
}

func (s *Set) hidesBelow(root, base, rel string, dir bool) bool {
	hide := *s.hide.Load()
	if hide == nil || rel == "." {
		return false
	}
	for i, c := range rel {
		if c == '/' && hide(base, absolute(root, rel[:i]), true) {
			return true
		}
	}
	return hide(base, absolute(root, rel), dir)
}
