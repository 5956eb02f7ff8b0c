package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// patternTime is the longest one backtracking match may take.
const patternTime = 250 * time.Millisecond

// pattern is a compiled regular expression. Most run on the linear-time engine
// of the standard library; what only ECMAScript has (lookaround, back
// references) runs on a backtracking one with a time limit.
type pattern struct {
	source string
	linear *regexp.Regexp
	size   int // instructions of linear
	back   *regexp2.Regexp
}

// Limits of patterns. A counted repetition is compiled to as many copies, so a
// few characters can ask for gigabytes.
const (
	longestPattern = 8 << 10
	largestPattern = 50_000  // instructions of one
	largestSum     = 500_000 // instructions of all patterns of a schema, each counted twice
)

// patternError says why a pattern is not accepted.
type patternError struct{ problem string }

func (e *patternError) Error() string { return e.problem }

// patternCompiler is the validator library's regular expression engine for one
// schema.
type patternCompiler struct {
	left    int // instructions
	refused *patternError
}

func (pc *patternCompiler) compile(source string) (jsonschema.Regexp, error) {
	if pc.refused != nil { // the library goes on to the next
		return nil, pc.refused
	}
	if len(source) > longestPattern {
		return nil, pc.refuse(fmt.Sprintf("the pattern has %d characters; at most %d are accepted", len(source), longestPattern))
	}
	if tree, err := syntax.Parse(source, syntax.Perl); err == nil {
		size, room := instructions(tree), classes(tree)
		if size > largestPattern {
			return nil, pc.refuse(fmt.Sprintf("the repetitions of the pattern %s are too large", short(source, 80)))
		}
		if room > largestPattern {
			return nil, pc.refuse(fmt.Sprintf("the pattern %s names too many characters", short(source, 80)))
		}
		if pc.left -= size + room; pc.left < 0 {
			return nil, pc.refuse("the patterns of the schema are too large together")
		}
		re, err := regexp.Compile(source)
		if err != nil {
			return nil, err
		}
		return &pattern{source: source, linear: re, size: size}, nil
	}
	// JSON Schema asks for Unicode expressions; some have escapes only the
	// other kind permits.
	re, err := regexp2.Compile(source, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		re, err = regexp2.Compile(source, regexp2.ECMAScript)
	}
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTime
	return &pattern{source: source, back: re}, nil
}

func (pc *patternCompiler) refuse(problem string) error {
	pc.refused = &patternError{problem}
	return pc.refused
}

// instructions is about how many instructions a parsed expression compiles to,
// counted without expanding it.
func instructions(re *syntax.Regexp) int {
	sum := 1
	for _, sub := range re.Sub {
		sum = min(sum+instructions(sub), 2*largestPattern)
	}
	switch re.Op {
	case syntax.OpLiteral:
		sum += len(re.Rune)
	case syntax.OpRepeat:
		sum *= max(re.Min, re.Max, 1) + 1
	}
	return min(sum, 2*largestPattern)
}

// classes is the room the sets of characters take, in instructions: there are
// scripts and categories with hundreds of ranges behind a few letters.
func classes(re *syntax.Regexp) int {
	sum := 0
	if re.Op == syntax.OpCharClass {
		sum = len(re.Rune) / 8
	}
	for _, sub := range re.Sub {
		sum += classes(sub)
	}
	return sum
}

// String is the expression as written.
func (p *pattern) String() string { return p.source }

// MatchString serves the library's check of a schema against its metaschema,
// whose expressions are all linear.
func (p *pattern) MatchString(text string) bool {
	if p.linear != nil {
		return p.linear.MatchString(text)
	}
	ok, err := p.back.MatchString(text)
	return ok && err == nil
}

// match runs a pattern within the budget. A match that cannot be finished stops
// the check, which then fails.
func (c *checking) match(p *pattern, text string) bool {
	if p.linear != nil {
		// An instruction at one character takes a tenth of a step or less.
		if !c.spend(1 + len(text)*p.size/16) {
			return false
		}
		return p.linear.MatchString(text)
	}
	if !c.spend(1 + len(text)/8) {
		return false
	}
	started := time.Now()
	ok, err := p.back.MatchString(text)
	if err != nil {
		c.stop("checking the pattern " + short(p.source, 80) + " took too long; send a shorter text")
		return false
	}
	return c.spend(int(time.Since(started)/(50*time.Nanosecond))) && ok
}
