package fstools

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The bounds on a glob pattern. Braces become alternatives of one regular
// expression and are never multiplied out, so that the cost of a pattern grows
// with its length only.
const (
	maxGlobBytes    = 1_024
	maxAlternatives = 64
	maxBraceDepth   = 8
)

// globPattern is a compiled glob. Matching is linear in the path.
type globPattern struct {
	text     string // as it was written
	re       *regexp.Regexp
	basename bool     // compared with the last path element only
	leading  []string // directories a match must lie in
	depth    int      // how many slashes a match has, -1 if that varies
}

// compileGlob compiles a pattern for whole paths; the error says what is wrong
// with it, as the end of a sentence that names it.
//
// A "*" stands for any characters but "/", "**" as a whole path element for any
// number of directories, or at the end for all files below; "?" and "[a-z]",
// "[!a-z]" stand for one character, "{a,b}" for one of several patterns; a
// backslash takes the next character literally.
func compileGlob(pattern string) (*globPattern, error) {
	switch {
	case pattern == "":
		return nil, fmt.Errorf("is empty; give a pattern such as %q", "**/*.go")
	case len(pattern) > maxGlobBytes:
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed, use several calls", len(pattern), maxGlobBytes)
	case !utf8.ValidString(pattern) || strings.ContainsRune(pattern, 0):
		return nil, fmt.Errorf("holds bytes no file name can hold; write it in UTF-8 without NUL")
	}
	c := globCompiler{pattern: pattern}
	c.out.WriteString(`(?s)\A(?:`)
	if err := c.compile(); err != nil {
		return nil, err
	}
	c.out.WriteString(`)\z`)
	re, err := regexp.Compile(c.out.String())
	if err != nil {
		return nil, fmt.Errorf("is not a usable pattern (%w); simplify it", err)
	}
	g := &globPattern{text: pattern, re: re, depth: c.slashes}
	if c.varies {
		g.depth = -1
	}
	elements := strings.Split(pattern, "/")
	for _, e := range elements[:len(elements)-1] {
		if strings.ContainsAny(e, `*?[{}\,`) {
			break
		}
		g.leading = append(g.leading, e)
	}
	return g, nil
}

// compileFilter compiles a pattern that selects files: without a "/" it is
// compared with the name alone, as in .gitignore and ripgrep's --glob.
func compileFilter(pattern string) (*globPattern, error) {
	g, err := compileGlob(pattern)
	if err == nil && !strings.Contains(pattern, "/") {
		g.basename, g.leading, g.depth = true, nil, -1
	}
	return g, err
}

// matches reports whether a slash-separated path matches.
func (g *globPattern) matches(rel string) bool {
	if g.basename {
		rel = path.Base(rel)
	}
	return g.re.MatchString(rel)
}

// mayHold reports whether a match can lie somewhere below a directory.
func (g *globPattern) mayHold(dir string) bool {
	elements := strings.Split(dir, "/")
	if g.depth >= 0 && len(elements) > g.depth {
		return false
	}
	for i, e := range elements[:min(len(elements), len(g.leading))] {
		if e != g.leading[i] {
			return false
		}
	}
	return true
}

// globCompiler writes the regular expression.
type globCompiler struct {
	pattern string
	at      int
	out     strings.Builder

	braces       []bool // the open ones: whether each began a path element
	alternatives int
	slashes      int
	varies       bool // the number of slashes depends on the text
	element      bool // what follows begins a path element
}

func (c *globCompiler) compile() error {
	c.element = true
	for c.at < len(c.pattern) {
		begins := c.element
		c.element = false
		var err error
		switch ch := c.pattern[c.at]; ch {
		case '*':
			c.stars(begins)
		case '?':
			c.out.WriteString(`[^/]`)
			c.at++
		case '[':
			err = c.class()
		case '{':
			err = c.openBrace(begins)
		case ',', '}':
			err = c.inBrace(ch)
		case '\\':
			err = c.escape()
		default:
			c.literal()
		}
		if err != nil {
			return err
		}
	}
	if len(c.braces) > 0 {
		return fmt.Errorf("has a { without }; close it, or write \\{ for the character itself")
	}
	return nil
}

// literal copies one character that stands for itself.
func (c *globCompiler) literal() {
	_, size := utf8.DecodeRuneInString(c.pattern[c.at:])
	text := c.pattern[c.at : c.at+size]
	c.out.WriteString(regexp.QuoteMeta(text))
	c.at += size
	if text == "/" {
		c.slash()
	}
}

func (c *globCompiler) slash() {
	c.element = true
	c.slashes++
	c.varies = c.varies || len(c.braces) > 0
}

func (c *globCompiler) escape() error {
	if c.at++; c.at == len(c.pattern) {
		return fmt.Errorf("ends in a backslash; write \\\\ for the character itself")
	}
	c.literal()
	return nil
}

// stars reads a run of stars.
func (c *globCompiler) stars(begins bool) {
	start := c.at
	for c.at < len(c.pattern) && c.pattern[c.at] == '*' {
		c.at++
	}
	tail := c.pattern[c.at:]
	ends := tail == "" || tail[0] == '/' || len(c.braces) > 0 && (tail[0] == ',' || tail[0] == '}')
	switch {
	case c.at-start == 1 || !begins || !ends:
		c.out.WriteString(`[^/]*`)
	case strings.HasPrefix(tail, "/"):
		c.out.WriteString(`(?:[^/]+/)*`)
		c.at++
		c.element, c.varies = true, true
	default:
		c.out.WriteString(`.*`)
		c.varies = true
	}
}

// openBrace begins a list of alternatives.
func (c *globCompiler) openBrace(begins bool) error {
	if len(c.braces) == maxBraceDepth {
		return fmt.Errorf("nests braces more than %d deep; use several calls", maxBraceDepth)
	}
	if err := c.alternative(); err != nil {
		return err
	}
	c.braces = append(c.braces, begins)
	c.out.WriteString(`(?:`)
	c.at++
	c.element = begins
	return nil
}

// alternative counts one more.
func (c *globCompiler) alternative() error {
	if c.alternatives++; c.alternatives > maxAlternatives {
		return fmt.Errorf("has more than %d alternatives in braces; use several calls or a wider pattern", maxAlternatives)
	}
	return nil
}

// inBrace reads a comma or a closing brace, which stand for themselves outside
// of braces.
func (c *globCompiler) inBrace(ch byte) error {
	if len(c.braces) == 0 {
		c.literal()
		return nil
	}
	c.at++
	begins := c.braces[len(c.braces)-1]
	if ch == ',' {
		c.out.WriteByte('|')
		c.element = begins
		return c.alternative()
	}
	c.braces = c.braces[:len(c.braces)-1]
	c.out.WriteByte(')')
	return nil
}

// class reads a set of characters. A slash is never in it: sets match within
// one path element.
func (c *globCompiler) class() error {
	in := c.pattern[c.at+1:]
	negate := strings.HasPrefix(in, "!") || strings.HasPrefix(in, "^")
	if negate {
		in = in[1:]
	}
	var set strings.Builder
	for first := true; ; first = false {
		if in == "" {
			return fmt.Errorf("has a [ without ]; close it, or write \\[ for the character itself")
		}
		if in[0] == ']' && !first {
			break
		}
		var low, high rune
		low, in = classChar(in)
		high = low
		if len(in) > 1 && in[0] == '-' && in[1] != ']' {
			high, in = classChar(in[1:])
		}
		if high < low {
			return fmt.Errorf("has the range %c-%c, which is empty; turn it round", low, high)
		}
		appendRange(&set, low, high)
	}
	c.at = len(c.pattern) - len(in) + 1
	switch {
	case negate:
		c.out.WriteString(`[^/` + set.String() + `]`)
	case set.Len() == 0:
		return fmt.Errorf("has the set [/], which matches nothing; write the slash outside of it")
	default:
		c.out.WriteString(`[` + set.String() + `]`)
	}
	return nil
}

// classChar reads one character of a set; in is not empty.
func classChar(in string) (rune, string) {
	if in[0] == '\\' && len(in) > 1 {
		in = in[1:]
	}
	r, size := utf8.DecodeRuneInString(in)
	return r, in[size:]
}

// appendRange writes a range without the slash.
func appendRange(set *strings.Builder, low, high rune) {
	if low <= '/' && '/' <= high {
		if low < '/' {
			appendRange(set, low, '/'-1)
		}
		if '/' < high {
			appendRange(set, '/'+1, high)
		}
		return
	}
	fmt.Fprintf(set, `\x{%X}-\x{%X}`, low, high)
}
