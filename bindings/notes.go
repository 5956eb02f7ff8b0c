package bindings

import (
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

// oneLine collapses white space and control characters and keeps the text from
// closing the comment it stands in.
func oneLine(text string) string {
	words := strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	})
	return strings.ReplaceAll(strings.Join(words, " "), "*/", `*\/`)
}

// docOf is the comment of a property with that schema.
func (c *converter) docOf(n *node) doc {
	return doc{text: c.description(n), notes: c.notes(n, noteDepth)}
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
// own a comment speaks for.
const noteDepth = 3

// notes are the constraints that no type expresses, in few words each.
func (c *converter) notes(n *node, depth int) []string {
	if !n.is(jsonscan.ObjectStart) || depth == 0 {
		return nil
	}
	notes := annotations(n)
	notes = append(notes, bounds(n)...)
	notes = append(notes, rules(n)...)
	for _, l := range c.links[n] {
		switch {
		case l.target == nil:
			notes = append(notes, "see "+shorten(l.reference, ruleWidth))
		case c.named[l.target] == nil:
			notes = append(notes, c.notes(l.target, depth-1)...)
		}
	}
	for _, sub := range n.elements("allOf") {
		if c.named[sub] == nil {
			notes = append(notes, c.notes(sub, depth-1)...)
		}
	}
	return append(notes, c.partNotes(n, depth-1)...)
}

// partNotes speak of elements and branches.
func (c *converter) partNotes(n *node, depth int) []string {
	var notes []string
	if items := n.object("items"); items != nil && c.named[items] == nil {
		notes = append(notes, prefixed("each: ", c.remarks(items, depth))...)
	}
	lifted := c.liftedBranch(n)
	for _, keyword := range []string{"anyOf", "oneOf"} {
		for _, branch := range n.elements(keyword) {
			switch {
			case c.named[branch] != nil:
			case branch == lifted:
				notes = append(notes, prefixed(branchLabel(branch), c.notes(branch, depth))...)
			default:
				notes = append(notes, prefixed(branchLabel(branch), c.remarks(branch, depth))...)
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

// remarks are a part's description and notes.
func (c *converter) remarks(n *node, depth int) []string {
	if depth == 0 {
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
		for _, e := range examples[:min(len(examples), 3)] {
			texts = append(texts, shorten(e.text, valueWidth))
		}
		notes = append(notes, "for example: "+strings.Join(texts, ", "))
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
	for _, keyword := range []string{"propertyNames", "contains", "not", "dependentRequired", "dependentSchemas",
		"dependencies", "if", "then", "else"} {
		if rule := n.get(keyword); rule != nil {
			notes = append(notes, keyword+": "+shorten(rule.text, ruleWidth))
		}
	}
	if patterns := n.object("patternProperties"); patterns != nil {
		for _, pattern := range patterns.names[:min(len(patterns.names), 3)] {
			notes = append(notes, "names match: "+shorten(pattern, valueWidth))
		}
	}
	return notes
}
