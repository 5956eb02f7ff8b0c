package schema

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// path leads from the root, which is nil, to a place in a value. Quick checks
// pass none.
type path struct {
	parent *path
	key    string
	index  int  // -1: key counts
	name   bool // the place is the name key itself, not its value
	depth  int
}

func (p *path) level() int {
	if p == nil {
		return 0
	}
	return p.depth
}

// child is the place of the i-th member or element of v, which stands at p.
func (p *path) child(v *value, i int) *path {
	if v.isObject() {
		return &path{parent: p, key: v.names[i], index: -1, depth: p.level() + 1}
	}
	return &path{parent: p, index: i, depth: p.level() + 1}
}

// missing is the place a member of that name would have.
func (p *path) missing(name string) *path {
	return &path{parent: p, key: name, index: -1, depth: p.level() + 1}
}

// nameOf is the place of the i-th member's name.
func (p *path) nameOf(v *value, i int) *path {
	return &path{parent: p, key: v.names[i], index: -1, name: true, depth: p.level() + 1}
}

// tokenOf is the RFC 6901 token of the i-th child of v.
func tokenOf(v *value, i int) string {
	if v.isObject() {
		return escapeToken(v.names[i])
	}
	return strconv.Itoa(i)
}

func escapeToken(name string) string {
	if strings.ContainsAny(name, "~/") {
		name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

func (p *path) list() []*path {
	list := make([]*path, p.level())
	for ; p != nil; p = p.parent {
		list[p.depth-1] = p
	}
	return list
}

// pointer is the RFC 6901 pointer of p.
func (p *path) pointer() string {
	var b strings.Builder
	for _, step := range p.list() {
		b.WriteByte('/')
		if step.index >= 0 {
			b.WriteString(strconv.Itoa(step.index))
		} else {
			b.WriteString(escapeToken(step.key))
		}
	}
	return b.String()
}

// longestPath is how many steps of a path texts show at each end.
const longestPath = 12

// dotted is p as programs write it: a.b[1]['odd name'].
func (p *path) dotted() string {
	list := p.list()
	var b strings.Builder
	for i, step := range list {
		if len(list) > 2*longestPath && i >= longestPath && i < len(list)-longestPath {
			if i == longestPath {
				b.WriteString("...")
			}
			continue
		}
		switch {
		case step.index >= 0:
			b.WriteString("[" + strconv.Itoa(step.index) + "]")
		case i == 0 && !strings.ContainsAny(step.key, ".[]'"):
			b.WriteString(shown(step.key))
		case isPlain(step.key):
			b.WriteString("." + shown(step.key))
		default:
			b.WriteString("['" + shown(step.key) + "']")
		}
	}
	return b.String()
}

func isPlain(key string) bool {
	for _, r := range key {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' && r != '-' {
			return false
		}
	}
	return key != ""
}

// shown is a name for people: shortened, on one line, with nothing hidden.
func shown(key string) string {
	const longest = 64
	quoted := string(jsonscan.AppendQuote(nil, cut(key, longest)))
	return visible(quoted[1 : len(quoted)-1])
}

// cut shortens text to about n characters.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	end := n
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}

// short is cut for text that may hold line breaks.
func short(text string, n int) string { return visible(strings.ToValidUTF8(cut(text, n), "\uFFFD")) }

// visible replaces what a terminal or a reader could not see.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return '\uFFFD'
		}
		return r
	}, text)
}

// subject names the place in a sentence; root is the name of the root.
func (p *path) subject(root string) string {
	switch {
	case p == nil:
		return `"` + root + `"`
	case p.name && p.parent == nil:
		return `property name "` + shown(p.key) + `"`
	case p.name:
		return `property name "` + shown(p.key) + `" of "` + p.parent.dotted() + `"`
	default:
		return `"` + p.dotted() + `"`
	}
}
