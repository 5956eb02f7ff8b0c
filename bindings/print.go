package bindings

import (
	"slices"
	"strings"
)

// printer writes shapes. It spends nothing on looks: no indentation, and an
// object whose properties have no comments stands on one line.
type printer struct {
	strings.Builder
	uses []*namedType // the types whose names were written, in that order
}

// piece is a printed declaration and the named types it mentions.
type piece struct {
	text string
	uses []*namedType
}

func (p *printer) piece() piece { return piece{p.String(), p.uses} }

// comment writes the doc line of what follows, if there is one.
func (p *printer) comment(d doc) {
	if text := d.line(); text != "" {
		if text[0] == '@' {
			text = ": " + text // "// @ts-expect-error" would speak to the compiler
		}
		p.WriteString("// " + text + "\n")
	}
}

// quoteKey writes a property name, bare where that is possible.
func quoteKey(key string) string {
	if isIdentifier(key) {
		return key
	}
	return quoteName(key)
}

func (p *printer) shape(s *shape) {
	switch s.form {
	case wordForm:
		p.WriteString(s.text)
	case nameForm:
		p.WriteString(s.named.name)
		p.uses = append(p.uses, s.named)
	case unionForm:
		p.joined(s.parts, " | ", nil)
	case bothForm:
		p.joined(s.parts, " & ", func(part *shape) bool { return part.form == unionForm })
	case listForm:
		p.wrapped(s.parts[0], s.parts[0].isCompound())
		p.WriteString("[]")
	case tupleForm:
		p.tuple(s)
	case objectForm:
		p.object(s)
	}
}

func (p *printer) joined(parts []*shape, separator string, wrap func(*shape) bool) {
	for i, part := range parts {
		if i > 0 {
			p.WriteString(separator)
		}
		p.wrapped(part, wrap != nil && wrap(part))
	}
}

func (p *printer) wrapped(s *shape, wrap bool) {
	if wrap {
		p.WriteByte('(')
	}
	p.shape(s)
	if wrap {
		p.WriteByte(')')
	}
}

// isCompound reports whether s is written with | or & at its top.
func (s *shape) isCompound() bool { return s.form == unionForm || s.form == bothForm }

func (p *printer) tuple(s *shape) {
	p.WriteByte('[')
	for i, part := range s.parts {
		if i > 0 {
			p.WriteString(", ")
		}
		missing := i >= s.optional
		p.wrapped(part, missing && part.isCompound())
		if missing {
			p.WriteByte('?')
		}
	}
	if s.rest != nil {
		p.WriteString(", ...")
		p.wrapped(s.rest, s.rest.isCompound())
		p.WriteString("[]")
	}
	p.WriteByte(']')
}

// object writes the declared properties and, where the schema speaks of others,
// an index signature. That must cover the declared ones too, hence "or unknown":
// the type before it still tells a reader what the others are.
func (p *printer) object(s *shape) {
	if len(s.fields) == 0 {
		p.record(s.extra)
		return
	}
	start, separator, end := "{ ", "; ", " }"
	if slices.ContainsFunc(s.fields, func(f field) bool { return f.doc.line() != "" }) {
		start, separator, end = "{\n", ";\n", ";\n}"
	}
	p.WriteString(start)
	for i, f := range s.fields {
		if i > 0 {
			p.WriteString(separator)
		}
		p.member(f)
	}
	if s.extra != nil && !s.extra.implied {
		p.WriteString(separator + "[key: string]: ")
		p.shape(s.extra)
		if !s.extra.isAny() {
			p.WriteString(" | unknown")
		}
	}
	p.WriteString(end)
}

// member writes a property with its comment.
func (p *printer) member(f field) {
	p.comment(f.doc)
	p.WriteString(quoteKey(f.key))
	if !f.required {
		p.WriteByte('?')
	}
	p.WriteString(": ")
	p.shape(f.typ)
}

// record writes the type of an object by what its properties are. A Record of a
// named type would count as circular inside that type; an index signature does
// not.
func (p *printer) record(typ *shape) {
	start, end := "Record<string, ", ">"
	switch {
	case typ == nil:
		p.WriteString("Record<string, never>")
		return
	case typ.mentionsName():
		start, end = "{ [key: string]: ", " }"
	}
	p.WriteString(start)
	p.shape(typ)
	p.WriteString(end)
}
