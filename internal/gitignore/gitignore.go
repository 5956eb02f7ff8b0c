// Package gitignore decides which files of a tree the .gitignore files in it
// leave out, byte for byte as git does: comments, negation, patterns for
// directories only, anchored patterns, "**", character classes, and nested
// files whose rules win over those further up. A Pattern selects files by one
// such pattern alone, in any case if need be.
//
// Matching costs at most the length of the pattern times the length of the
// path, whatever the pattern, so that a hostile .gitignore cannot stall a walk.
package gitignore

import "strings"

// The bounds on one file. What goes beyond them is not a rule.
const (
	maxRules   = 10_000
	maxPattern = 4_096
)

// File holds the rules of one .gitignore. It is immutable; the nil File has no
// rules.
type File struct {
	rules []rule // in the order of the file: the last match decides
}

// rule is one line of a .gitignore.
type rule struct {
	negative bool   // a leading "!": what matches is kept
	dirOnly  bool   // a trailing "/"
	basename bool   // no other "/": compared with the last element, at any depth
	literal  string // what the pattern begins with before the first wildcard
	suffix   bool   // the pattern is "*" and literal, nothing else
	rest     glob   // the part from the first wildcard on
}

// Parse reads the text of a .gitignore. No text is an error: as in git, a
// pattern that cannot be understood matches nothing.
func Parse(text string) *File {
	f := &File{}
	text = strings.TrimPrefix(text, "\uFEFF")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" || line[0] == '#' || len(line) > maxPattern {
			continue
		}
		if len(f.rules) == maxRules {
			break
		}
		if r, ok := parseRule(trimSpaces(line), byBytes); ok {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

// trimSpaces removes the spaces a line ends with, except an escaped one.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) {
			i++
			end = i + 1
			continue
		}
		if line[i] != ' ' {
			end = i + 1
		}
	}
	return line[:end]
}

// reading is how a pattern compares texts.
type reading uint8

const (
	byBytes      reading = iota // as git does: a wildcard for one character stands for one byte
	byCharacters                // such a wildcard stands for a whole character
	folded                      // as byCharacters, for text made by Fold
)

// parseRule reads one pattern.
func parseRule(pattern string, how reading) (rule, bool) {
	var r rule
	if rest, ok := strings.CutPrefix(pattern, "!"); ok {
		r.negative, pattern = true, rest
	}
	if rest, ok := strings.CutSuffix(pattern, "/"); ok {
		r.dirOnly, pattern = true, rest
	}
	if pattern == "" {
		return rule{}, false
	}
	r.basename = !strings.Contains(pattern, "/")
	if rest, ok := strings.CutPrefix(pattern, "*"); ok && r.basename && wildcard(rest) == len(rest) {
		r.suffix, r.literal = true, foldIf(how == folded, rest)
		return r, true
	}
	pattern = strings.TrimPrefix(pattern, "/")
	start := wildcard(pattern)
	r.literal = foldIf(how == folded, pattern[:start])
	var ok bool
	r.rest, ok = compile(pattern[start:], r.basename, how)
	return r, ok
}

// wildcard is where the first character with a meaning of its own stands.
func wildcard(pattern string) int {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return i
	}
	return len(pattern)
}

// match reports whether the rule speaks about a path, given relative to the
// directory of its file.
func (r *rule) match(path string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.basename {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	if r.suffix {
		return strings.HasSuffix(path, r.literal)
	}
	rest, ok := strings.CutPrefix(path, r.literal)
	return ok && r.rest.match(rest)
}

// verdict is what one file says about a path.
type verdict uint8

const (
	silent verdict = iota
	ignored
	kept
)

func (f *File) decide(path string, dir bool) verdict {
	if f == nil {
		return silent
	}
	for i := len(f.rules) - 1; i >= 0; i-- {
		if r := &f.rules[i]; r.match(path, dir) {
			if r.negative {
				return kept
			}
			return ignored
		}
	}
	return silent
}

// Chain is the .gitignore files that hold in one directory: its own and those
// of the directories above it. It is immutable and may be shared; the nil Chain
// ignores nothing.
type Chain struct {
	above *Chain
	dir   string // the directory of file, slash-separated, "" for the top
	file  *File
}

// With returns the chain that holds inside dir, which has the rules of file. A
// file without rules changes nothing.
func (c *Chain) With(dir string, file *File) *Chain {
	if file == nil || len(file.rules) == 0 {
		return c
	}
	if dir == "." {
		dir = ""
	}
	return &Chain{above: c, dir: dir, file: file}
}

// Ignores reports whether the entry at path, a slash-separated path from the
// top, is left out; dir says that it is a directory. It asks about this entry
// alone: what lies in an ignored directory is ignored too, and a caller that
// walks a tree from the top does not enter one.
func (c *Chain) Ignores(path string, dir bool) bool {
	for ; c != nil; c = c.above {
		rel := path
		if c.dir != "" {
			var ok bool
			if rel, ok = strings.CutPrefix(path, c.dir+"/"); !ok {
				continue
			}
		}
		switch c.file.decide(rel, dir) {
		case ignored:
			return true
		case kept:
			return false
		}
	}
	return false
}
