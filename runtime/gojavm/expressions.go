package gojavm

import (
	"slices"
	"strings"
	"unicode"

	"github.com/runcode-go/runcode/runtime"
)

// The engine says where an error arose and not what the author wrote there. What
// follows reads that from the author's text, backwards from the place.

const (
	// shownExpression is how many characters of an expression a message shows.
	shownExpression = 60
	// chainLines is how many lines before a place may belong to its expression.
	chainLines = 5
	// unnamed is what V8 calls an expression it does not show.
	unnamed = "(intermediate value)"
)

// around is the author's text on one line up to the end of the line of a place,
// and the index of the place in it; false: there is no such place.
func (p *program) around(site runtime.Site) (text []rune, at int, ok bool) {
	if site.Line < 1 || site.Line > len(p.lines) {
		return nil, 0, false
	}
	for _, line := range p.lines[max(site.Line-1-chainLines, 0) : site.Line-1] {
		text = append(append(text, []rune(line)...), ' ')
	}
	at = len(text) + site.Column - 1
	text = append(text, []rune(p.lines[site.Line-1])...)
	return text, at, at >= 0 && at < len(text)
}

// operandAt is the expression that ends with the word or the bracket at a place:
//
//	rows[0].load   at load
//
// rest is what follows it on the line.
func (p *program) operandAt(site runtime.Site) (expression, rest string) {
	text, at, ok := p.around(site)
	if !ok {
		return "", ""
	}
	end := at + 1
	for isNameRune(text[at]) && end < len(text) && isNameRune(text[end]) {
		end++
	}
	return operandBefore(text, end), string(text[end:])
}

// objectAt is the expression whose member name is read at a place:
//
//	rows[0]   for rows[0].name at name, and for rows[0]["name"] at ]
func (p *program) objectAt(site runtime.Site, name string) string {
	text, at, ok := p.around(site)
	if !ok {
		return ""
	}
	if strings.HasPrefix(string(text[at:]), name) {
		if dot := beforeSpace(text, at); dot > 0 && text[dot-1] == '.' {
			return operandBefore(text, beforeDot(text, dot))
		}
	}
	expression, rest := p.operandAt(site)
	if strings.TrimSpace(rest) == "" && site.Line < len(p.lines) {
		rest = p.lines[site.Line]
	}
	rest = strings.TrimLeft(rest, " \t!?.")
	if strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, name) {
		return expression
	}
	return ""
}

// operandBefore is the expression that ends before the index end, with the
// arguments of calls left out.
func operandBefore(text []rune, end int) string {
	shown := ""
	for end = beforeSpace(text, end); end > 0; end = beforeSpace(text, end) {
		start, piece, goesOn := pieceBefore(text, end)
		if start == end {
			return shorten(shown, shownExpression)
		}
		shown, end = piece+shown, start
		if goesOn {
			continue
		}
		dot := beforeSpace(text, end)
		if dot == 0 || text[dot-1] != '.' || dot > 1 && text[dot-2] == '.' {
			break
		}
		shown, end = "."+shown, beforeDot(text, dot)
	}
	return shorten(shown, shownExpression)
}

// pieceBefore is the part of an expression that ends before end, up to a dot:
// a name, a text, or a pair of brackets, which goes on with what is called or
// indexed. start is end if there is none.
func pieceBefore(text []rune, end int) (start int, piece string, goesOn bool) {
	switch c := text[end-1]; {
	case isNameRune(c):
		for start = end; start > 0 && isNameRune(text[start-1]); start-- {
		}
		piece = string(text[start:end])
		if slices.Contains(operatorWords, piece) {
			return end, "", false
		}
		return start, piece, false
	case c == ')' || c == ']':
		start = openingBefore(text, end-1)
		if start < 0 {
			return 0, unnamed, false
		}
		before := beforeSpace(text, start)
		goesOn = before > 0 && (isNameRune(text[before-1]) || strings.ContainsRune(")]!?", text[before-1])) && !endsInOperator(text, before)
		switch {
		case c == ')' && goesOn:
			piece = "(...)"
		case c == ')':
			piece = unnamed
		default:
			piece = string(text[start:end])
		}
		return start, piece, goesOn
	case c == '"' || c == '\'' || c == '`':
		for start = end - 2; start > 0 && text[start] != c; start-- {
		}
		return max(start, 0), string(text[max(start, 0):end]), false
	case c == '}':
		return end - 1, unnamed, false
	}
	return end, "", false
}

// operatorWords may stand before an expression and are no part of it.
var operatorWords = []string{"return", "await", "yield", "new", "typeof", "void", "delete", "in", "of", "throw", "case", "do", "else", "instanceof"}

// endsInOperator says whether the text before an index ends in such a word.
func endsInOperator(text []rune, end int) bool {
	start := end
	for start > 0 && isNameRune(text[start-1]) {
		start--
	}
	return slices.Contains(operatorWords, string(text[start:end]))
}

// openingBefore is the index of the bracket that the one at an index closes, or
// negative. Brackets in texts are counted as well.
func openingBefore(text []rune, at int) int {
	depth := 0
	for i := at; i >= 0; i-- {
		switch text[i] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// beforeSpace is end without the space before it.
func beforeSpace(text []rune, end int) int {
	for end > 0 && unicode.IsSpace(text[end-1]) {
		end--
	}
	return end
}

// beforeDot is where the expression before a dot ends, which may be ?. or !.
func beforeDot(text []rune, dot int) int {
	end := dot - 1
	for end > 0 && (text[end-1] == '?' || text[end-1] == '!') {
		end--
	}
	return beforeSpace(text, end)
}

func isNameRune(c rune) bool {
	return c == '_' || c == '$' || c == '#' || unicode.IsLetter(c) || unicode.IsDigit(c)
}
