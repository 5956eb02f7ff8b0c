package mocktools

import (
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// subset reports whether want is contained in have: objects may have further
// members at every level, everything else is equal.
func subset(want, have tools.JSON) bool {
	w, h := parseTree(want.String()), parseTree(have.String())
	if w == nil || h == nil {
		return false
	}
	c := comparison{want.String(), have.String()}
	return c.contained(w, h)
}

// comparison holds the texts two trees were made of.
type comparison struct{ want, have string }

func (c comparison) contained(want, have *value) bool {
	if want.kind != jsonscan.ObjectStart || have.kind != jsonscan.ObjectStart {
		return c.equal(want, have)
	}
	return c.membersMatch(want, have, c.contained)
}

// equal compares as JSON values: the order of members does not count, nor how a
// number is written.
func (c comparison) equal(want, have *value) bool {
	if want.kind != have.kind || len(want.kids) != len(have.kids) {
		return false
	}
	switch want.kind {
	case jsonscan.ObjectStart:
		return c.membersMatch(want, have, c.equal)
	case jsonscan.ArrayStart:
		for i, kid := range want.kids {
			if !c.equal(kid, have.kids[i]) {
				return false
			}
		}
		return true
	}
	a, b := c.want[want.start:want.end], c.have[have.start:have.end]
	return a == b || want.kind == jsonscan.Number && decimal(a) == decimal(b)
}

func (c comparison) membersMatch(want, have *value, match func(want, have *value) bool) bool {
	if len(want.names) == 0 {
		return true
	}
	index := make(map[string]*value, len(have.names))
	for i, name := range have.names {
		index[name] = have.kids[i]
	}
	for i, name := range want.names {
		found := index[name]
		if found == nil || !match(want.kids[i], found) {
			return false
		}
	}
	return true
}

// decimal writes a JSON number as digits and exponent, so that numbers of one
// value have one text: 1, 1.0 and 10e-1 are "1e0". Nothing is rounded.
func decimal(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0" // also of -0
	}
	power := 0
	if exponent != "" {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil || power > 1<<30 || power < -1<<30 {
			return sign + text // beyond any number worth comparing but by its text
		}
	}
	return sign + trimmed + "e" + strconv.Itoa(power+len(digits)-len(trimmed)-len(fraction))
}
