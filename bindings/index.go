package bindings

import (
	"fmt"
	"strings"
)

// summaryWidth is the width, in characters, at which the list of tools cuts
// descriptions.
const summaryWidth = 100

// index is the text that stands for declarations which are too long: TypeScript
// with a list of the tools in comments, of at most that many bytes beyond what
// never changes.
func (c *Catalog) index(most int) string {
	head := frame(false) + searchDeclarations + "declare const " + Global + ": { [name: string]: any };\n" +
		fmt.Sprintf("// INCOMPLETE: %d tools; %s has their arguments and results\n", len(c.names), SearchGlobal)
	groups := groups(c.names, c.paths)
	if text := c.summaries(groups, most); text != "" {
		return head + text
	}
	return head + c.bareNames(groups, most)
}

// summaries is a line for every tool, "" if that is more than most bytes.
func (c *Catalog) summaries(groups []toolGroup, most int) string {
	var b strings.Builder
	for _, g := range groups {
		b.WriteString(g.heading() + "\n")
		for _, tool := range g.tools {
			b.WriteString("// " + c.shortKey(tool))
			if summary := shorten(c.pieces.tools[tool].summary, summaryWidth); summary != "" {
				b.WriteString(": " + summary)
			}
			b.WriteByte('\n')
			if b.Len() > most {
				return ""
			}
		}
	}
	return b.String()
}

// bareNames is a line of names for every group. Where they are more than most
// bytes each group has its share, and what is left out is counted.
func (c *Catalog) bareNames(groups []toolGroup, most int) string {
	var b strings.Builder
	for i, g := range groups {
		share := (most - b.Len()) / (len(groups) - i)
		line := g.heading() + ":"
		if len(line) > share {
			b.WriteString(bareGroups(groups[i:], most-b.Len()))
			break
		}
		separator := " "
		for j, tool := range g.tools {
			key := c.shortKey(tool)
			if len(line)+len(separator)+len(key) > share {
				line += fmt.Sprintf("%s… and %d more", separator, len(g.tools)-j)
				break
			}
			line += separator + key
			separator = ", "
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// bareGroups is a line without names for every group while most bytes have room,
// and one that counts the others.
func bareGroups(groups []toolGroup, most int) string {
	var b strings.Builder
	for i, g := range groups {
		line := fmt.Sprintf("%s: … and %d more\n", g.heading(), len(g.tools))
		if b.Len()+len(line) <= most {
			b.WriteString(line)
			continue
		}
		left := 0
		for _, g := range groups[i:] {
			left += len(g.tools)
		}
		fmt.Fprintf(&b, "// … and %d tools of %d more groups\n", left, len(groups)-i)
		break
	}
	return b.String()
}

// heading is the line above a group.
func (g *toolGroup) heading() string {
	if g.server == "" {
		return fmt.Sprintf("// %s (%d)", Global, len(g.tools))
	}
	return fmt.Sprintf("// %s%s (%d)", Global, access(g.server), len(g.tools))
}

// shortKey is a tool's name in its group.
func (c *Catalog) shortKey(tool int) string {
	return quoteKey(c.ownName(c.names[tool]))
}
