package schema

// evalInPlace applies the rules that look at the same value again.
func (c *checking) evalInPlace(r *rule, v *value, at *path, rep *report, m *marks) bool {
	ok := true
	and := func(holds bool) bool {
		ok = ok && holds
		return (ok || rep.wantsMore()) && !c.stopped()
	}
	if r.ref != nil && !and(c.sub(r.ref, v, at, rep, m)) {
		return false
	}
	if r.dynamic != nil && !and(c.sub(c.resolve(r.dynamic), v, at, rep, m)) {
		return false
	}
	for _, d := range r.dependent {
		if d.rule != nil && v.isObject() && v.find(d.name) >= 0 && !and(c.sub(d.rule, v, at, rep, m)) {
			return false
		}
	}
	if r.not != nil && c.eval(r.not, v, nil, nil, nil) && !c.stopped() && !and(rep.excluded(r.not, v, at)) {
		return false
	}
	for _, sub := range r.allOf {
		if !and(c.sub(sub, v, at, rep, m)) {
			return false
		}
	}
	if r.anyOf != nil && !and(c.evalAnyOf(r.anyOf, v, at, rep, m)) {
		return false
	}
	if r.oneOf != nil && !and(c.evalOneOf(r.oneOf, v, at, rep, m)) {
		return false
	}
	if r.when == nil || r.then == nil && r.otherwise == nil && m == nil {
		return ok
	}
	if c.sub(r.when, v, nil, nil, m) {
		if r.then != nil {
			and(c.sub(r.then, v, at, rep, m))
		}
	} else if r.otherwise != nil && !c.stopped() {
		and(c.sub(r.otherwise, v, at, rep, m))
	}
	return ok
}

// sub applies a rule to the same value; only what succeeds leaves marks.
func (c *checking) sub(r *rule, v *value, at *path, rep *report, m *marks) bool {
	if m == nil {
		return c.eval(r, v, at, rep, nil)
	}
	own := &marks{}
	if !c.eval(r, v, at, rep, own) {
		return false
	}
	m.merge(own)
	return true
}

func (c *checking) evalAnyOf(branches []*rule, v *value, at *path, rep *report, m *marks) bool {
	if len(branches) == 1 {
		return c.sub(branches[0], v, at, rep, m)
	}
	matched := 0
	for _, b := range branches {
		if c.sub(b, v, nil, nil, m) {
			if matched++; m == nil {
				return true
			}
		}
		if c.stopped() {
			return false
		}
	}
	return matched > 0 || c.noBranch(branches, "anyOf", v, at, rep)
}

func (c *checking) evalOneOf(branches []*rule, v *value, at *path, rep *report, m *marks) bool {
	if len(branches) == 1 {
		return c.sub(branches[0], v, at, rep, m)
	}
	matched := 0
	for _, b := range branches {
		if c.sub(b, v, nil, nil, m) {
			matched++
		}
		if c.stopped() || matched > 1 && rep == nil {
			return false
		}
	}
	switch matched {
	case 1:
		return true
	case 0:
		return c.noBranch(branches, "oneOf", v, at, rep)
	default:
		return rep.manyBranches(matched, v, at)
	}
}

// noBranch reports that no branch fits, with the reason of the one that nearly
// did.
func (c *checking) noBranch(branches []*rule, keyword string, v *value, at *path, rep *report) bool {
	if rep == nil {
		return false
	}
	if rep.nested == mostNested {
		return rep.noBranch(branches, keyword, -1, nil, v, at)
	}
	best, score := -1, 0
	var closest *report
	for i, b := range branches {
		if c.stopped() {
			return false
		}
		try := &report{c: c, root: rep.root, nested: rep.nested + 1}
		c.eval(b, v, at, try, nil)
		if s := try.badness(at); best < 0 || s < score {
			best, score, closest = i, s, try
		}
	}
	if c.stopped() {
		return false
	}
	return rep.noBranch(branches, keyword, best, closest, v, at)
}

// resolve finds the rule a dynamic reference means here: that of the outermost
// resource on the way which has the anchor (JSON Schema core, 8.2.3.2).
func (c *checking) resolve(d *dynamicRef) *rule {
	target := d.target
	if target.place == nil {
		return target
	}
	if d.recursive {
		if !target.place.recursive || target.place.root != target {
			return target
		}
		for s := c.scope; s != nil; s = s.parent {
			if s.place != nil && s.place.recursive && s.place.root != nil {
				target = s.place.root
			}
		}
		return target
	}
	if d.anchor == "" || target.place.anchors[d.anchor] != target {
		return target
	}
	for s := c.scope; s != nil; s = s.parent {
		if s.place != nil && s.place.anchors[d.anchor] != nil {
			target = s.place.anchors[d.anchor]
		}
	}
	return target
}
