package fstools

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/runcode-go/runcode/tools"
)

const (
	defaultMatches = 200     // that one grep returns
	maxMatches     = 10_000  // that it returns if asked
	maxContext     = 50      // lines before and after a match
	maxPattern     = 4_096   // bytes of a regular expression
	maxFound       = 4 << 20 // bytes of paths and text in one answer
)

type grepIn struct {
	Pattern    string `json:"pattern" jsonschema:"the regular expression (RE2), matched against each line"`
	Path       string `json:"path,omitzero" jsonschema:"the directory or file to search; default: the root directory"`
	Glob       string `json:"glob,omitzero" jsonschema:"which files to search: without a slash a pattern for names, such as *.{ts,tsx}, else for paths below path; a leading ! inverts it"`
	IgnoreCase bool   `json:"ignore_case,omitzero" jsonschema:"match letters of either case"`
	Context    int    `json:"context,omitzero" jsonschema:"how many lines to return before and after each match; default 0"`
	Limit      int    `json:"limit,omitzero" jsonschema:"how many matches to return; default 200"`
}

// grepOut is the canonical value of grep.
type grepOut struct {
	Matches   []grepMatch `json:"matches"` // by path and line
	Files     int         `json:"files"`   // files that have a match
	Total     int         `json:"total"`   // lines that match
	Truncated bool        `json:"truncated"`
	Note      string      `json:"note,omitempty" jsonschema:"what was cut or left out, and why"`
}

// grepMatch is one line that matches. Long lines are cut around the match, with
// the number of characters left out.
type grepMatch struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

func (s *Set) grep(ctx context.Context, run *tools.Run, in grepIn) (grepOut, error) {
	search, err := newSearch(in)
	if err != nil {
		return grepOut{}, err
	}
	search.ctx, search.set, search.left = ctx, s, s.opts.ScanBytes
	search.opener.set = s
	defer search.opener.close()
	base, err := judged(s, "grep", run, in, s.grepSubjects)
	if err != nil {
		return grepOut{}, err
	}
	var notes notes
	if s.isFile(base) {
		if s.hidesWay(base, base, false) {
			return grepOut{}, s.notFound("grep", base.rel, nil)
		}
		if err := search.file(base, true); err != nil {
			return grepOut{}, err
		}
	} else if notes, err = search.tree(base); err != nil {
		return grepOut{}, err
	}
	return search.result(notes), nil
}

// grepSubjects is the tree or file a grep searches.
func (s *Set) grepSubjects(in grepIn) ([]tools.Subject, error) {
	tree, err := s.subject("grep", tools.AccessRead, in.Path, true)
	return []tools.Subject{tree}, err
}

// tree searches every wanted file below base.
func (g *search) tree(base place) (notes, error) {
	w := g.set.walker(g.ctx, "grep", base, nil)
	if g.filter != nil {
		plain := g.set.walker(g.ctx, "grep", base, g.filter)
		w.keep = func(rel string) bool { return plain.keep(rel) != g.invert }
		if !g.invert {
			w.into = plain.into
		}
	}
	if err := w.walk(); err != nil {
		return nil, err
	}
	g.cut = g.cut || w.full
	searched := 0
	for _, f := range w.files {
		// A file inside the tree is found under its own name as well.
		if f.link {
			continue
		}
		if g.left <= 0 {
			g.outOfBytes = true
			break
		}
		searched++
		if err := g.file(f.place, false); err != nil {
			return nil, err
		}
	}
	notes := w.notes()
	switch {
	case searched == 0 && g.filter != nil:
		notes.add("no file below %q matches the glob", base.rel)
	case searched == 0:
		notes.add("there is no file to search below %q", base.rel)
	}
	if g.total == 0 {
		w.excludedNote(&notes)
	}
	return notes, nil
}

func newSearch(in grepIn) (*search, error) {
	switch {
	case in.Context < 0:
		return nil, badArgs("grep", "context", "is %d; give a number of lines, 0 to %d", in.Context, maxContext)
	case in.Context > maxContext:
		return nil, badArgs("grep", "context", "is %d; at most %d lines are returned, read the file for more", in.Context, maxContext)
	case in.Limit < 0:
		return nil, badArgs("grep", "limit", "is %d; give the number of matches wanted, 1 or more", in.Limit)
	}
	re, err := compileSearch(in.Pattern, in.IgnoreCase)
	if err != nil {
		return nil, err
	}
	g := &search{re: re, context: in.Context, limit: min(cmp.Or(in.Limit, defaultMatches), maxMatches)}
	g.literal = []byte(literalOf(re))
	if in.Glob == "" {
		return g, nil
	}
	glob, inverted := strings.CutPrefix(in.Glob, "!")
	if g.filter, err = compileFilter(strings.TrimPrefix(glob, "./")); err != nil {
		return nil, badArgs("grep", "glob", "%v", err)
	}
	g.invert = inverted
	return g, nil
}

func compileSearch(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, badArgs("grep", "pattern", "is empty and would match every line; give a regular expression")
	case len(pattern) > maxPattern:
		return nil, badArgs("grep", "pattern", "has %d bytes; at most %d are allowed, search for less", len(pattern), maxPattern)
	}
	text := pattern
	if ignoreCase {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, badArgs("grep", "pattern", "is not a regular expression in RE2 syntax: %v; %s", reasonRE(err), adviceRE(pattern, err))
	}
	return re, nil
}

// literalOf is a text every match of re contains, "" if none is known. Looking
// for it first is much cheaper than matching each line.
func literalOf(re *regexp.Regexp) string {
	parsed, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	return requiredText(parsed)
}

func requiredText(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		// U+FFFD also matches bytes that are not UTF-8.
		hazy := func(r rune) bool {
			return r == utf8.RuneError || re.Flags&syntax.FoldCase != 0 && unicode.SimpleFold(r) != r
		}
		if !slices.ContainsFunc(re.Rune, hazy) {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredText(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredText(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if text := requiredText(sub); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	}
	return ""
}

// reasonRE drops the words the error of package regexp begins with.
func reasonRE(err error) error {
	var syntaxErr *syntax.Error
	if errors.As(err, &syntaxErr) {
		return errors.New(syntaxErr.Code.String() + " at " + quoted(syntaxErr.Expr))
	}
	return err
}

func quoted(text string) string { return `"` + shorten(text, 60) + `"` }

// adviceRE says what to write instead.
func adviceRE(pattern string, err error) string {
	var syntaxErr *syntax.Error
	if !errors.As(err, &syntaxErr) {
		return "simplify it"
	}
	switch syntaxErr.Code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidNamedCapture:
		return "RE2 has no lookahead and no lookbehind; match more and filter the lines afterwards"
	case syntax.ErrInvalidEscape:
		if strings.ContainsAny(syntaxErr.Expr, "123456789") {
			return "RE2 has no back-references; match more and filter the lines afterwards"
		}
		return `write \\ for a backslash`
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return `write \( and \) for parentheses in the text`
	case syntax.ErrMissingBracket:
		return `write \[ for a bracket in the text`
	case syntax.ErrMissingRepeatArgument, syntax.ErrInvalidRepeatOp:
		return `write \* \+ \? for these characters in the text`
	case syntax.ErrInvalidRepeatSize, syntax.ErrLarge, syntax.ErrNestingDepth:
		return "use smaller repetition counts, at most 1000 in all"
	}
	return "write a backslash before characters that stand for themselves"
}

// renderGrep is the text a model reads: path:line:text, with lines of context
// as path-line-text and "--" between groups, as grep prints them.
func renderGrep(v grepOut) string {
	var b strings.Builder
	last := lineAt{}
	for i, m := range v.Matches {
		first := m.Line - len(m.Before)
		if i > 0 && (len(m.Before) > 0 || len(v.Matches[i-1].After) > 0) && !last.joins(m.Path, first) {
			b.WriteString("--\n")
		}
		for k, text := range m.Before {
			last.write(&b, m.Path, first+k, '-', text)
		}
		last.write(&b, m.Path, m.Line, ':', m.Text)
		for k, text := range m.After {
			at := m.Line + 1 + k
			if i+1 < len(v.Matches) && v.Matches[i+1].Path == m.Path && v.Matches[i+1].Line <= at {
				break // the match itself follows
			}
			last.write(&b, m.Path, at, '-', text)
		}
	}
	var notes notes
	switch {
	case v.Total == 0:
		notes.add("no match")
	case v.Total > len(v.Matches):
		notes.add("%d of %d matches in %s", len(v.Matches), v.Total, count(v.Files, "file", "files"))
	case v.Truncated:
		notes.add("the search is not complete")
	}
	if v.Note != "" {
		notes.add("%s", v.Note)
	}
	b.WriteString(notes.line())
	return strings.TrimSuffix(b.String(), "\n")
}
