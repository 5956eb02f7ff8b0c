package gitignore

import (
	"strings"
	"unicode/utf8"
)

// glob is a compiled pattern: a list of steps run over the text with a set of
// positions, so that no pattern makes it backtrack.
type glob []step

type step struct {
	kind  kind
	char  byte       // of kind char
	class *[256]bool // of kind class
}

type kind uint8

const (
	char    kind = iota // one given byte
	class               // one byte of a set
	star                // any bytes but "/"
	anyPath             // any bytes
	trail               // any bytes that continue a character
	fork                // reads nothing; the two steps that follow may be left out
)

// compile reads a pattern from its first wildcard on. It reports false for a
// pattern that matches nothing. With basename, "**" has no meaning of its own;
// since no name holds a "/" that needs no further care.
//
// Git looks at the part after the literal beginning by itself, so that a "**"
// right at its start counts as a whole path element; that is kept.
func compile(pattern string, basename bool, how reading) (glob, bool) {
	var g glob
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '*':
			end := i
			for end < len(pattern) && pattern[end] == '*' {
				end++
			}
			g, i = appendStars(g, pattern, i, end, basename)
		case '?':
			g = appendOne(g, anyButSlash, how)
			i++
		case '[':
			set, next, ok := parseClass(pattern, i+1, how)
			if !ok {
				return nil, false
			}
			g = appendOne(g, set, how)
			i = next
		case '\\':
			if i++; i == len(pattern) {
				return nil, false
			}
			g, i = appendChar(g, pattern, i, how)
		default:
			g, i = appendChar(g, pattern, i, how)
		}
	}
	return g, true
}

// appendOne adds a wildcard for one character.
func appendOne(g glob, set *[256]bool, how reading) glob {
	g = append(g, step{kind: class, class: set})
	if how != byBytes {
		g = append(g, step{kind: trail})
	}
	return g
}

// appendChar adds the byte pattern[i], or folded the character that begins
// there, and returns where to read on.
func appendChar(g glob, pattern string, i int, how reading) (glob, int) {
	n := 1
	if how == folded {
		_, n = utf8.DecodeRuneInString(pattern[i:])
	}
	for _, c := range []byte(foldIf(how == folded, pattern[i:i+n])) {
		g = append(g, step{kind: char, char: c})
	}
	return g, i + n
}

// appendStars adds what the run of stars pattern[start:end] means and returns
// where to read on.
func appendStars(g glob, pattern string, start, end int, basename bool) (glob, int) {
	whole := end-start > 1 && !basename && (start == 0 || pattern[start-1] == '/')
	tail := pattern[end:]
	switch {
	case whole && tail == "":
		return append(g, step{kind: anyPath}), end
	case whole && tail[0] == '/':
		// Nothing at all, or whole directories.
		return append(g, step{kind: fork}, step{kind: anyPath}, step{kind: char, char: '/'}), end + 1
	case whole && strings.HasPrefix(tail, `\/`):
		return append(g, step{kind: anyPath}), end
	}
	return append(g, step{kind: star}), end
}

var anyButSlash = func() *[256]bool {
	var set [256]bool
	for i := range set {
		set[i] = i != '/'
	}
	return &set
}()

// named are the POSIX classes.
var named = map[string]func(c byte) bool{
	"alnum":  func(c byte) bool { return isAlpha(c) || isDigit(c) },
	"alpha":  isAlpha,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7F },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return ' ' < c && c < 0x7F },
	"lower":  func(c byte) bool { return 'a' <= c && c <= 'z' },
	"print":  func(c byte) bool { return ' ' <= c && c < 0x7F },
	"punct":  func(c byte) bool { return ' ' < c && c < 0x7F && !isAlpha(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
	"upper":  func(c byte) bool { return 'A' <= c && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' },
}

func isAlpha(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// parseClass reads a character class after its "[" and returns where to read
// on. It reports false for one that is not closed or names an unknown set, and
// for one that holds characters that are no single bytes if those count.
func parseClass(pattern string, i int, how reading) (*[256]bool, int, bool) {
	negate := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negate {
		i++
	}
	var set [256]bool
	low := -1 // the character a "-" would continue
	for first := true; ; first = false {
		if i >= len(pattern) {
			return nil, 0, false
		}
		c := pattern[i]
		switch {
		case c >= utf8.RuneSelf && how != byBytes:
			return nil, 0, false
		case c == ']' && !first:
			if how == folded {
				foldSet(&set)
			}
			for b := range set {
				set[b] = set[b] != negate && b != '/'
			}
			return &set, i + 1, true
		case c == '-' && low >= 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			if i++; pattern[i] == '\\' {
				if i++; i == len(pattern) {
					return nil, 0, false
				}
			}
			for b := low; b <= int(pattern[i]); b++ {
				set[b] = true
			}
			low = -1
			i++
		case c == '[' && i+1 < len(pattern) && pattern[i+1] == ':':
			// git looks for the next "]"; without ":" before it the "[" stands
			// for itself.
			end := strings.IndexByte(pattern[i+2:], ']')
			if end < 0 {
				return nil, 0, false
			}
			name, closed := strings.CutSuffix(pattern[i+2:i+2+end], ":")
			if !closed {
				set['['], low = true, '['
				i++
				continue
			}
			in := named[name]
			if in == nil {
				return nil, 0, false
			}
			for b := range set {
				set[b] = set[b] || in(byte(b))
			}
			low = -1
			i += end + 3
		case c == '\\':
			if i++; i == len(pattern) {
				return nil, 0, false
			}
			set[pattern[i]], low = true, int(pattern[i])
			i++
		default:
			set[c], low = true, int(c)
			i++
		}
	}
}

// match reports whether the whole text matches.
func (g glob) match(text string) bool { return g.run(text, false) }

// run reports whether the whole text matches or, with above, also whether a
// part of it does that ends where a "/" begins.
func (g glob) run(text string, above bool) bool {
	const few = 63
	var room [2][few + 1]bool
	now, next := room[0][:], room[1][:]
	if len(g) > few {
		now, next = make([]bool, len(g)+1), make([]bool, len(g)+1)
	}
	// now[s] says that the steps before s can have read the text so far.
	now[0] = true
	g.spread(now)
	for i := 0; i < len(text); i++ {
		if above && text[i] == '/' && now[len(g)] {
			return true
		}
		clear(next)
		alive := false
		for s, st := range g {
			if !now[s] || !st.reads(text[i]) {
				continue
			}
			alive = true
			if st.repeats() {
				next[s] = true
			} else {
				next[s+1] = true
			}
		}
		if !alive {
			return false
		}
		g.spread(next)
		now, next = next, now
	}
	return now[len(g)]
}

// spread marks what can be reached without reading anything. Steps only ever
// lead forward, so that one pass does.
func (g glob) spread(now []bool) {
	for s, st := range g {
		if !now[s] {
			continue
		}
		if st.kind == fork {
			now[s+3] = true
		}
		if st.kind == fork || st.repeats() {
			now[s+1] = true
		}
	}
}

func (st *step) repeats() bool { return st.kind == star || st.kind == anyPath || st.kind == trail }

func (st *step) reads(c byte) bool {
	switch st.kind {
	case char:
		return c == st.char
	case class:
		return st.class[c]
	case star:
		return c != '/'
	case trail:
		return !utf8.RuneStart(c)
	}
	return st.kind == anyPath
}
