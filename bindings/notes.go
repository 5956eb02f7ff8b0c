package bindings

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// doc is the comment above a declaration: a description and what the type
// cannot say.
type doc struct {
	text  string
	notes []string
}

func (d doc) with(other doc) doc {
	if d.text == "" || d.text == other.text {
		d.text, other.text = other.text, ""
	}
	notes := make([]string, 0, len(d.notes)+len(other.notes)+1)
	notes = append(notes, d.notes...)
	if other.text != "" {
		notes = append(notes, other.text)
	}
	return doc{d.text, append(notes, other.notes...)}
}

// all is the text and the notes.
func (d doc) all() []string {
	if d.text == "" {
		return d.notes
	}
	return append([]string{d.text}, d.notes...)
}

// line is the comment's text on one line, "" for none.
func (d doc) line() string {
	text := oneLine(d.text)
	notes := oneLine(strings.Join(d.notes, "; "))
	switch {
	case notes == "":
		return text
	case text == "":
		return notes
	}
	return text + " (" + notes + ")"
}

// oneLine collapses white space and control characters, so that the text cannot
// leave the line comment it stands in.
func oneLine(text string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	return strings.Join(words, " ")
}

// docAt is the comment where the schema of a property is referred to: none for
// a named type, which has it above its declaration. A title stands in for a
// description, unless it only says the property's name.
func (c *converter) docAt(key string, n *node) doc {
	if c.named[n] != nil {
		return doc{}
	}
	d := c.docOf(n)
	if title := n.str("title"); d.text == "" && !sameLetters(title, key) {
		d.text = title
	}
	return d
}

// docOf is the comment about a schema.
func (c *converter) docOf(n *node) doc {
	text := c.description(n)
	notes := c.notes(n, noteDepth)
	return doc{text, slices.DeleteFunc(notes, func(note string) bool { return note == text })}
}

// description is the schema's own, or else that of what it refers to, unless a
// named type shows it already, or else that of its only described branch.
func (c *converter) description(n *node) string {
	if text := n.str("description"); text != "" {
		return text
	}
	for _, l := range c.links[n] {
		if l.target != nil && c.named[l.target] == nil {
			if text := l.target.str("description"); text != "" {
				return text
			}
		}
	}
	return c.onlyBranch(n).str("description")
}

// onlyBranch is the only branch of n that has a description and is none of
// several literals, as in "an object or null"; nil if there is no such one.
func (c *converter) onlyBranch(n *node) *node {
	var only *node
	for _, keyword := range []string{"anyOf", "oneOf"} {
		for _, branch := range n.elements(keyword) {
			if branch.str("description") == "" || c.named[branch] != nil {
				continue
			}
			if only != nil || branch.has("const") {
				return nil
			}
			only = branch
		}
	}
	return only
}

// noteDepth is how many levels of elements and branches without a line of their
// own a comment speaks for. Behind it stands "…" where more would follow.
const noteDepth = 8

// notes are the constraints that no type expresses, in few words each, and what
// is said of parts that have no line of their own.
func (c *converter) notes(n *node, depth int) []string {
	if !n.is(jsonscan.ObjectStart) || len(n.names) == 0 || len(n.names) == 1 && n.names[0] == "type" {
		return nil
	}
	if depth == 0 {
		return []string{"…"}
	}
	notes := annotations(n)
	notes = append(notes, bounds(n)...)
	notes = append(notes, rules(n)...)
	for _, l := range c.links[n] {
		if l.target == nil {
			notes = append(notes, "see "+shorten(l.reference, ruleWidth))
			continue
		}
		notes = append(notes, c.remarks(l.target, depth-1)...)
	}
	for _, sub := range n.elements("allOf") {
		notes = append(notes, c.remarks(sub, depth-1)...)
	}
	return append(notes, c.partNotes(n, depth-1)...)
}

// partNotes speak of elements, branches and properties without a name.
func (c *converter) partNotes(n *node, depth int) []string {
	var notes []string
	about := func(label string, part *node) {
		notes = append(notes, prefixed(label, c.remarks(part, depth))...)
	}
	for _, keyword := range []string{"prefixItems", "items"} {
		for i, item := range n.elements(keyword) {
			about(fmt.Sprintf("item %d: ", i+1), item)
		}
	}
	about("each: ", n.object("items"))
	about("further items: ", n.object("additionalItems"))
	if patterns := n.object("patternProperties"); patterns != nil {
		for i, pattern := range patterns.names {
			notes = append(notes, "names match: "+shorten(pattern, valueWidth))
			about("those: ", patterns.kids[i])
		}
	}
	about("other properties: ", n.object("additionalProperties"))
	lifted := c.liftedBranch(n)
	for _, keyword := range []string{"anyOf", "oneOf"} {
		for _, branch := range n.elements(keyword) {
			switch {
			case branch == lifted && c.named[branch] == nil:
				notes = append(notes, prefixed(branchLabel(branch), c.notes(branch, depth))...)
			default:
				about(branchLabel(branch), branch)
			}
		}
	}
	return notes
}

// liftedBranch is the branch whose description stands for all of n.
func (c *converter) liftedBranch(n *node) *node {
	if only := c.onlyBranch(n); only != nil && c.description(n) == only.str("description") {
		return only
	}
	return nil
}

// remarks are a part's description and notes, none where a named type has them.
func (c *converter) remarks(n *node, depth int) []string {
	if n == nil || c.named[n] != nil {
		return nil
	}
	notes := c.notes(n, depth)
	if text := c.description(n); text != "" {
		notes = append([]string{text}, notes...)
	} else if title := n.str("title"); title != "" && n.has("const") {
		notes = append([]string{title}, notes...) // an enumeration with explained values
	}
	return notes
}

func prefixed(label string, notes []string) []string {
	if len(notes) == 0 {
		return nil
	}
	return []string{label + strings.Join(notes, ", ")}
}

func branchLabel(n *node) string {
	switch {
	case n.has("const"):
		return shorten(n.get("const").text, valueWidth) + ": "
	case n.str("title") != "":
		return n.str("title") + ": "
	case n.get("type").is(jsonscan.String):
		return n.str("type") + ": "
	}
	return ""
}

// The width, in characters, at which quoted values and rules are cut.
const (
	valueWidth = 80
	ruleWidth  = 160
)

// fewExamples is how many examples are quoted.
const fewExamples = 3

func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	for i := range text {
		if width == 0 {
			return text[:i] + "…"
		}
		width--
	}
	return text
}

// annotations say how a value is meant.
func annotations(n *node) []string {
	var notes []string
	if value := n.get("default"); value != nil {
		notes = append(notes, "default: "+shorten(value.text, valueWidth))
	}
	if examples := n.elements("examples"); len(examples) > 0 {
		var texts []string
		for _, e := range examples[:min(len(examples), fewExamples)] {
			texts = append(texts, shorten(e.text, valueWidth))
		}
		if rest := len(examples) - fewExamples; rest > 0 {
			texts = append(texts, fmt.Sprintf("… (%d more)", rest))
		}
		notes = append(notes, "for example: "+strings.Join(texts, ", "))
	} else if example := n.get("example"); example != nil { // OpenAPI
		notes = append(notes, "for example: "+shorten(example.text, valueWidth))
	}
	for _, flag := range []struct{ keyword, text string }{
		{"deprecated", "deprecated"}, {"readOnly", "read-only"}, {"writeOnly", "write-only"}, {"uniqueItems", "no duplicates"},
	} {
		if n.get(flag.keyword).is(jsonscan.True) {
			notes = append(notes, flag.text)
		}
	}
	for _, label := range []string{"format", "pattern", "contentEncoding", "contentMediaType"} {
		if text := n.str(label); text != "" {
			notes = append(notes, label+": "+shorten(text, ruleWidth))
		}
	}
	return notes
}

// bounds say how large a value may be.
func bounds(n *node) []string {
	var notes []string
	for _, b := range []struct{ least, most, one, many string }{
		{"minimum", "maximum", "", ""},
		{"minLength", "maxLength", " character", " characters"},
		{"minItems", "maxItems", " item", " items"},
		{"minProperties", "maxProperties", " property", " properties"},
	} {
		least, most := number(n, b.least), number(n, b.most)
		unit := b.many
		if most == "1" && (least == "" || least == "1") || most == "" && least == "1" {
			unit = b.one
		}
		if b.least == "minimum" { // in draft-04 and OpenAPI 3.0 a boolean excludes the limit
			if least != "" && n.get("exclusiveMinimum").is(jsonscan.True) {
				notes, least = append(notes, "more than "+least), ""
			}
			if most != "" && n.get("exclusiveMaximum").is(jsonscan.True) {
				notes, most = append(notes, "less than "+most), ""
			}
		}
		switch {
		case least != "" && least == most:
			notes = append(notes, "exactly "+least+unit)
		case least != "" && most != "":
			notes = append(notes, least+" to "+most+unit)
		case least != "":
			notes = append(notes, "at least "+least+unit)
		case most != "":
			notes = append(notes, "at most "+most+unit)
		}
	}
	for _, b := range []struct{ keyword, text string }{
		{"exclusiveMinimum", "more than "}, {"exclusiveMaximum", "less than "}, {"multipleOf", "multiple of "},
	} {
		if value := number(n, b.keyword); value != "" {
			notes = append(notes, b.text+value)
		}
	}
	return notes
}

func number(n *node, keyword string) string {
	if value := n.get(keyword); value.is(jsonscan.Number) {
		return shorten(value.text, valueWidth)
	}
	return ""
}

// rules quote the keywords that have no plainer words, shortened.
func rules(n *node) []string {
	var notes []string
	for _, keyword := range []string{"propertyNames", "contains", "minContains", "maxContains", "not", "dependentRequired",
		"dependentSchemas", "dependencies", "if", "then", "else", "contentSchema"} {
		if rule := n.get(keyword); rule != nil {
			notes = append(notes, keyword+": "+shorten(rule.text, ruleWidth))
		}
	}
	for _, keyword := range []string{"unevaluatedProperties", "unevaluatedItems"} {
		if rule := n.object(keyword); rule != nil {
			notes = append(notes, keyword+": "+shorten(rule.text, ruleWidth))
		}
	}
	return notes
}
