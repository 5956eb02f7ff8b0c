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

// hides asks the host about a path, under the name it was found by and under its
// real one, for a search that begins at base.
func (s *Set) hides(base, p place, dir bool) bool {
	hide := *s.hide.Load()
	if hide == nil {
		return false
	}
	lexical, real := absolute(s.names[0], p.rel), absolute(s.realRoot(), p.real)
	return hide(absolute(s.names[0], base.rel), lexical, dir) || real != lexical && hide(absolute(s.realRoot(), base.real), real, dir)
}

// hidesWay is hides for a path no walk has led to: what lies in a hidden
// directory is hidden.
func (s *Set) hidesWay(base, p place, dir bool) bool {
	return s.hidesBelow(s.names[0], base.rel, p.rel, dir) || s.hidesBelow(s.realRoot(), base.real, p.real, dir)
}

// hidesBelow asks about every directory on the way to rel. It and base are paths
// from the root, which has this name here.
func (s *Set) hidesBelow(root, base, rel string, dir bool) bool {
	hide := *s.hide.Load()
	if hide == nil || rel == "." {
		return false
	}
	base = absolute(root, base)
	for i, c := range rel {
		if c == '/' && hide(base, absolute(root, rel[:i]), true) {
			return true
		}
	}
	return hide(base, absolute(root, rel), dir)
}
