package gojavm

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
)

// precheck refuses program texts that would exhaust the stack of a recursive
// parser, before any parser sees them: a Go stack overflow cannot be recovered.
// It is linear in the text, and knows strings, comments, templates and regular
// expressions well enough not to count what they hold.
func precheck(source string, lim runtime.Limits) *runtime.Failure {
	if len(source) > lim.Source {
		return &runtime.Failure{
			Kind:    runtime.InvalidInput,
			Message: fmt.Sprintf("the program is %d bytes long; the source limit is %d bytes", len(source), lim.Source),
			Hint:    "pass large data as tool results or files instead of literals",
		}
	}
	c := newChecker(source, lim)
	problem := c.scan()
	if problem == "" {
		return nil
	}
	site := runtime.Site{Line: c.line, Column: utf8.RuneCountInString(source[c.lineStart:min(c.tokenStart, len(source))]) + 1}
	return &runtime.Failure{
		Kind:    runtime.InvalidInput,
		Message: fmt.Sprintf("%s on line %d", problem, c.line),
		Site:    site,
		Hint:    "split the program into functions and statements",
	}
}

// unpaired is a bracket or a template without its partner.
type unpaired struct {
	why  string
	site runtime.Site
}

// unbalanced is the first closing bracket that closes nothing, or the last opening
// one or template that is not closed (opens); zero: all have partners.
func unbalanced(source string, lim runtime.Limits) (odd unpaired, opens bool) {
	c := newChecker(source, lim)
	if c.scan() != "" {
		return unpaired{}, false
	}
	if c.excess >= 0 {
		return unpaired{fmt.Sprintf("this %c has no opening bracket", source[c.excess]), siteOfOffset(source, c.excess)}, false
	}
	at, what := c.top().at, string(c.top().open)
	switch {
	case c.unclosed >= 0:
		at, what = c.unclosed, "template"
	case c.top().open == 0:
		return unpaired{}, false
	case c.top().open == '$':
		what = "${"
	}
	site := siteOfOffset(source, at)
	return unpaired{fmt.Sprintf("the %s on line %d is not closed", what, site.Line), site}, true
}

func newChecker(source string, lim runtime.Limits) *checker {
	return &checker{
		src: source, line: 1, excess: -1, unclosed: -1, nesting: lim.Nesting, chain: lim.Chain, levels: []level{{}},
		mostAgain: readAgain*len(source) + shortAgain, mostTypes: maxTypeSteps,
	}
}

// What parsers read more than once. The engine's takes what is in parentheses for an
// expression until it meets an arrow, and reads it again as parameters: an arrow in
// the parameters of an arrow in the parameters of an arrow is read eight times. So
// it does with what yield is given and cannot be. esbuild takes each < for the
// beginning of types as far as what follows could be types.
const (
	// readAgain is how often a program's text may be read again.
	readAgain = 4
	// shortAgain is how many bytes may be read again in any text.
	shortAgain = 256 << 10
	// maxTypeSteps is how many words and marks may be taken for types.
	maxTypeSteps = 2_000_000
)

// manyAgain is what is said of a text of which too much would be read again.
const manyAgain = "more than can be read again of arrow functions in the parameters of arrow functions, or of yields in the operand of yield"

// overread is where an output of esbuild is too much for the engine's parser, which
// cannot be stopped, or the line 0. No types in it hide which parentheses are whose.
func overread(js string) (line, column int) {
	if rareArrows(js) <= manyRareArrows {
		return 0, 0
	}
	c := newChecker(js, runtime.Limits{Nesting: len(js), Chain: len(js)})
	c.mostTypes = len(js) * len(js) // the engine knows none
	if c.scan() == "" {
		return 0, 0
	}
	return c.line, c.tokenStart - c.lineStart + 1
}

// level is one open bracket. Its counters belong to the expression around what
// is being read, at that depth.
type level struct {
	open    byte // ( [ { or $ for a template's substitution; 0 at the top
	control bool // the parenthesis of if, for, while or with
	literal bool // a brace where an expression may stand
	chain   int  // operators since the last boundary
	arrows  int  // arrows since the last boundary, each nests what follows
	elses   int  // else after else
	commas  int  // of a comma expression or a list of declarations
	list    bool // commas part elements, as in an array or a call
	yields  bool // a yield since the last boundary may read again what follows
	angles  int  // < since the last mark that can be in no type
	again   int  // bytes inside that a parser reads again
	at      int  // offset where it was opened
}

// checker scans one program.
type checker struct {
	src            string
	pos            int
	tokenStart     int
	line           int
	lineStart      int
	nesting, chain int // limits
	mostAgain      int // limit of bytes read again
	mostTypes      int // limit of words and marks taken for types

	levels    []level
	arrows    int    // of all levels
	angles    int    // of all levels
	typeSteps int    // words and marks that esbuild may take for types
	parens    int    // bytes that were read in the parentheses just closed, or 0
	operand   bool   // the last token ends an operand, so that / divides and ( calls
	last      string // the last token, one of the words and marks below, or ""
	control   bool   // the next parenthesis belongs to if, for, while or with
	excess    int    // offset of the first closing bracket that closes nothing, or negative
	unclosed  int    // offset of the template that the text ends in, or negative
}

// scan returns what is wrong, or "".
func (c *checker) scan() string {
	for c.blanks(); c.pos < len(c.src); c.blanks() {
		c.tokenStart = c.pos
		if problem := c.token(); problem != "" {
			return problem
		}
		if top := c.top(); top.chain > c.chain || top.elses > c.chain || top.commas > c.chain {
			return fmt.Sprintf("more than %d operators in a row (the chain limit)", c.chain)
		}
		if c.top().again > c.mostAgain {
			return manyAgain
		}
		if c.typeSteps += c.angles; c.typeSteps > c.mostTypes {
			return fmt.Sprintf("more than %d words and marks behind comparisons with <, each of which could begin types", c.mostTypes)
		}
		if len(c.levels)-1+c.arrows > c.nesting {
			return fmt.Sprintf("more than %d brackets or functions inside one another (the nesting limit)", c.nesting)
		}
	}
	return ""
}

func (c *checker) top() *level { return &c.levels[len(c.levels)-1] }

func (c *checker) token() string {
	switch b := c.src[c.pos]; {
	case b < utf8.RuneSelf && wordBytes[b]:
		c.word()
	case b == ' ' || b == '\t':
		c.blanks()
	case c.lineEnd() > 0:
		c.nextLine()
	case b == '/' && c.at("//"):
		c.comment()
	case b == '/' && c.at("/*"):
		c.pos += 2
		c.skipTo("*/")
		c.pos = min(c.pos+2, len(c.src))
	case b == '"' || b == '\'':
		c.quoted(b)
		c.value()
	case b == '`':
		if c.operand {
			c.top().chain++ // a tag
		} else {
			c.value()
		}
		c.pos++
		c.template()
	case wordBytes[b]:
		c.word()
	case b == '(' || b == '[' || b == '{':
		c.open(b)
	case b == ')' || b == ']' || b == '}':
		c.close()
	case b == '/' && !c.divides():
		return c.regexp()
	default:
		c.operator()
	}
	return ""
}

// blanks steps over those here, which mean nothing.
func (c *checker) blanks() {
	for c.pos < len(c.src) && (c.src[c.pos] == ' ' || c.src[c.pos] == '\t') {
		c.pos++
	}
}

func (c *checker) at(text string) bool { return strings.HasPrefix(c.src[c.pos:], text) }

// lineTerminators end a line, and with it a comment that begins with two
// slashes (ECMA-262, LineTerminator).
const lineTerminators = "\n\r\u2028\u2029"

// lineEnd is the length of the line's end here, 0 if there is none.
func (c *checker) lineEnd() int {
	if b := c.src[c.pos]; b != '\n' && b != '\r' && b != lineTerminators[2] {
		return 0
	}
	return c.lineEndHere()
}

// lineEndHere is lineEnd where a line may end.
func (c *checker) lineEndHere() int {
	switch {
	case c.src[c.pos] == '\n':
		return 1
	case c.at("\r\n"):
		return 2
	}
	r, n := utf8.DecodeRuneInString(c.src[c.pos:])
	if strings.ContainsRune(lineTerminators, r) {
		return n
	}
	return 0
}

// nextLine steps over the line's end here.
func (c *checker) nextLine() {
	c.pos += c.lineEnd()
	c.line++
	c.lineStart = c.pos
}

// comment moves to the end of the line.
func (c *checker) comment() {
	end := strings.IndexAny(c.src[c.pos:], lineTerminators)
	if end < 0 {
		end = len(c.src) - c.pos
	}
	c.pos += end
}

// skipTo moves to the next occurrence of text, or to the end, counting lines.
func (c *checker) skipTo(text string) {
	end := strings.Index(c.src[c.pos:], text)
	if end < 0 {
		end = len(c.src) - c.pos
	}
	for end += c.pos; c.pos < end; {
		if plainText[c.src[c.pos]] {
			c.pos++
		} else {
			c.character()
		}
	}
}

// plainText are the bytes that mean nothing in a string, a template or a comment. None ends a line.
var plainText = func() (set [256]bool) {
	for b := range set {
		set[b] = strings.IndexByte("\n\r\"'`\\$", byte(b)) < 0 && byte(b) != lineTerminators[2]
	}
	return set
}()

// plain steps over bytes that mean nothing in a string or a template.
func (c *checker) plain() {
	for c.pos < len(c.src) && plainText[c.src[c.pos]] {
		c.pos++
	}
}

// quoted reads a string. An unterminated one ends with its line, so that one
// stray quote does not hide the rest of the program.
func (c *checker) quoted(quote byte) {
	for c.pos++; c.pos < len(c.src); {
		switch b := c.src[c.pos]; {
		case plainText[b]:
			c.plain()
		case b == quote:
			c.pos++
			return
		case b == '\n' || b == '\r':
			return
		case b == '\\':
			c.escape()
		default:
			c.character()
		}
	}
}

// escape steps over a backslash and what follows it.
func (c *checker) escape() {
	if c.pos++; c.pos < len(c.src) {
		c.character()
	}
}

// character steps over one byte or one end of a line.
func (c *checker) character() {
	if c.lineEnd() > 0 {
		c.nextLine()
	} else {
		c.pos++
	}
}

// template reads template text up to its end or to a substitution, whose end
// continues here.
func (c *checker) template() {
	start := c.pos - 1
	for c.pos < len(c.src) {
		switch b := c.src[c.pos]; {
		case plainText[b]:
			c.plain()
		case b == '`':
			c.pos++
			c.operand = true
			return
		case b == '\\':
			c.escape()
		case c.at("${"):
			c.push(level{open: '$'})
			c.pos += 2
			return
		default:
			c.character()
		}
	}
	c.unclosed = start
}

// regexp reads a regular expression literal. Its groups count as brackets, for
// its compiler recurses as well.
func (c *checker) regexp() string {
	depth, class := 0, false
	for c.pos++; c.pos < len(c.src); c.pos++ {
		switch b := c.src[c.pos]; {
		case c.lineEnd() > 0:
			c.value()
			return ""
		case b == '\\':
			if c.pos++; c.pos < len(c.src) && c.lineEnd() > 0 {
				c.pos--
			}
		case b == '[':
			class = true
		case b == ']':
			class = false
		case b == '(' && !class:
			depth++
		case b == ')' && !class:
			depth--
		case b == '/' && !class:
			c.pos++
			c.value()
			return ""
		}
		if depth > c.nesting {
			return fmt.Sprintf("more than %d groups inside one another in a regular expression (the nesting limit)", c.nesting)
		}
	}
	c.pos = min(c.pos, len(c.src)) // a backslash may have been the last character
	c.value()
	return ""
}

// divides says whether a slash here is an operator: it follows an operand. A
// brace that ends a block is none.
func (c *checker) divides() bool { return c.operand && c.last != "block" }

func (c *checker) push(l level) {
	l.at = c.pos
	c.levels = append(c.levels, l)
	c.operand, c.last, c.control = false, "", false
}

func (c *checker) open(b byte) {
	if c.operand && b != '{' {
		c.top().chain++ // a call or an access
	}
	literal := b == '{' && !c.operand && (c.last == "op" || c.last == "," || c.last == "word" || c.last == "" && c.top().open != 0 && c.top().open != '{')
	list := b == '[' || literal || b == '(' && c.operand
	c.push(level{open: b, control: b == '(' && c.control, literal: literal, list: list})
	c.pos++
}

func (c *checker) close() {
	b := c.src[c.pos]
	c.pos++
	if len(c.levels) == 1 {
		if c.excess < 0 {
			c.excess = c.tokenStart
		}
		return
	}
	closed := *c.top()
	c.boundary()
	c.noTypes()
	c.levels = c.levels[:len(c.levels)-1]
	c.readAgain(closed, b)
	c.operand, c.last, c.control = true, "", false
	switch {
	case closed.open == '$' && b == '}':
		c.template()
	case closed.control:
		c.operand, c.last = false, "control"
	case b == '}' && !closed.literal:
		c.last = "block"
	}
}

// readAgain counts what was read in a bracket that just ended.
func (c *checker) readAgain(closed level, end byte) {
	top, read := c.top(), c.pos-closed.at+closed.again
	top.again += closed.again
	if top.yields {
		top.again += read
	}
	if c.parens = 0; end == ')' {
		c.parens = read
	}
}

// boundary ends the expression at this depth, up to a comma.
func (c *checker) boundary() {
	top := c.top()
	c.arrows -= top.arrows
	top.arrows, top.chain, top.yields = 0, 0, false
}

// noTypes ends what could be types at this depth.
func (c *checker) noTypes() {
	top := c.top()
	c.angles -= top.angles
	top.angles = 0
}

func (c *checker) newStatement() {
	c.boundary()
	c.noTypes()
	c.top().commas, c.top().elses = 0, 0
}

// value takes an operand. One right after another begins a new statement.
func (c *checker) value() {
	if c.operand {
		c.newStatement()
	}
	c.notElse()
	c.operand, c.last, c.control, c.parens = true, "", false, 0
}

// notElse ends a row of else branches when a statement begins with anything
// else.
func (c *checker) notElse() {
	if c.last == "block" || c.last == ";" {
		c.top().elses = 0
	}
}

// wordKind is what a word does to the expression it stands in.
type wordKind byte

const (
	plainWord wordKind = iota
	elseWord
	nester // nests the statement after it
	unary  // takes an operand
	binder // joins two operands
	caster // joins two operands, and is a name elsewhere
	opener // begins a statement
)

func wordKindOf(word string) wordKind {
	switch word {
	case "else":
		return elseWord
	case "if", "for", "while", "with", "do", "try":
		return nester
	case "typeof", "void", "delete", "new", "await", "yield":
		return unary
	case "in", "instanceof":
		return binder
	case "as", "satisfies", "of", "is", "extends":
		return caster
	case "return", "throw", "case", "default", "var", "let", "const", "function", "class", "switch", "catch", "finally":
		return opener
	}
	return plainWord
}

func (c *checker) word() {
	start := c.pos
	for c.pos < len(c.src) && wordBytes[c.src[c.pos]] {
		c.pos++
	}
	word := c.src[start:c.pos]
	kind := wordKindOf(word)
	if c.last == "." {
		kind = plainWord
	}
	switch {
	case kind == elseWord:
		c.top().elses++
		c.operand, c.last = false, "else"
	case kind == nester:
		c.statement()
		c.top().chain++
		c.control = word != "do" && word != "try"
	case kind == unary:
		c.statement()
		c.top().chain++
		c.top().yields = c.top().yields || word == "yield"
		c.last = "op"
	case kind == binder, kind == caster && c.operand:
		c.top().chain++
		c.operand, c.last = false, "op"
	case kind == opener:
		c.statement()
	default:
		c.value()
	}
}

// statement takes a word that, after an operand, begins a new statement.
func (c *checker) statement() {
	if c.operand {
		c.newStatement()
	}
	c.notElse()
	c.operand, c.last, c.control = false, "word", false
}

// operatorLen is the length of the operator at the start of text, where its
// first character alone would mean something else.
func operatorLen(text string) int {
	if len(text) < 2 {
		return 1
	}
	switch text[:2] {
	case "..":
		if strings.HasPrefix(text, "...") {
			return 3
		}
		return 1
	case "==", "!=":
		if len(text) > 2 && text[2] == '=' {
			return 3
		}
		return 2
	case "=>", "?.", "++", "--", "**", "&&", "||", "??", "<=", ">=", "<<", ">>":
		return 2
	}
	return 1
}

func (c *checker) operator() {
	text := c.src[c.pos : c.pos+operatorLen(c.src[c.pos:])]
	c.pos += len(text)
	c.angle(text)
	switch text {
	case ";":
		c.boundary()
		c.noTypes()
		c.top().commas = 0
		c.operand, c.last, c.control = false, text, false
		return
	case ",":
		c.boundary()
		if top := c.top(); !top.list {
			top.commas++
		}
		c.operand, c.last, c.control = false, text, false
		return
	case "...":
		c.operand, c.last = false, "op"
		return
	case ".", "?.":
		c.last = "."
	case "=>":
		c.top().again += c.parens
		c.parens = 0
		c.top().arrows++
		c.arrows++
		c.last = "arrow"
	case "++", "--":
		c.top().chain++
		c.last = "op"
		return // an operand before stays one
	case "!":
		c.top().chain++
		c.last = "op"
		return // after an operand: TypeScript's assertion
	default:
		c.last = "op"
	}
	c.top().chain++
	c.operand = false
}

// angle counts what esbuild may take for types.
func (c *checker) angle(operator string) {
	switch operator {
	case "<":
		c.top().angles++
		c.angles++
	case ">", ">>":
		n := min(len(operator), c.top().angles)
		c.top().angles -= n
		c.angles -= n
	case "-":
		if c.operand { // else it may be the sign of a number, which is a type
			c.noTypes()
		}
	case "?.", "**", "&&", "||", "??", "<=", ">=", "==", "===", "!=", "!==", "+", "*", "/", "%", "^", "~", "=":
		c.noTypes()
	}
}

// wordBytes are the bytes of names, numbers and what may stand before them.
var wordBytes = func() (set [256]bool) {
	for b := range set {
		set[b] = isWord(byte(b)) || b == '#' || b == '@' || b == '\\'
	}
	return set
}()

func isWord(b byte) bool {
	return b == '_' || b == '$' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b >= utf8.RuneSelf
}
