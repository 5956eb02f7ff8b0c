package bindings

import (
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// printer writes shapes. Indentation stops growing at maxIndent levels, so that
// the text of a deep type is linear in its size.
type printer struct{ strings.Builder }

const maxIndent = 10

func (p *printer) line(indent int, text string) {
	p.indent(indent)
	p.WriteString(text)
	p.WriteByte('\n')
}

func (p *printer) indent(level int) {
	for range min(level, maxIndent) {
		p.WriteString("  ")
	}
}

// comment writes the doc line of what follows, if there is one.
func (p *printer) comment(indent int, d doc) {
	if text := d.line(); text != "" {
		p.line(indent, "/** "+text+" */")
	}
}

// member writes a property with its comment.
func (p *printer) member(indent int, f field) {
	p.comment(indent, f.doc)
	p.indent(indent)
	p.WriteString(quoteKey(f.key))
	if !f.required {
		p.WriteByte('?')
	}
	p.WriteString(": ")
	p.shape(indent, f.typ)
	p.WriteString(";\n")
}

// quoteKey writes a property name, bare where that is possible.
func quoteKey(key string) string {
	if isIdentifier(key) {
		return key
	}
	return string(jsonscan.AppendQuote(nil, key))
}

// shape writes a type whose first line stands at the given indentation.
func (p *printer) shape(indent int, s *shape) {
	switch s.form {
	case wordForm:
		p.WriteString(s.text)
	case nameForm:
		p.WriteString(s.named.name)
	case unionForm:
		p.joined(indent, s.parts, " | ", nil)
	case bothForm:
		p.joined(indent, s.parts, " & ", func(part *shape) bool { return part.form == unionForm })
	case listForm:
		p.wrapped(indent, s.parts[0], s.parts[0].isCompound())
		p.WriteString("[]")
	case tupleForm:
		p.tuple(indent, s)
	case objectForm:
		p.object(indent, s)
	}
}

func (p *printer) joined(indent int, parts []*shape, separator string, wrap func(*shape) bool) {
	for i, part := range parts {
		if i > 0 {
			p.WriteString(separator)
		}
		p.wrapped(indent, part, wrap != nil && wrap(part))
	}
}

func (p *printer) wrapped(indent int, s *shape, wrap bool) {
	if wrap {
		p.WriteByte('(')
	}
	p.shape(indent, s)
	if wrap {
		p.WriteByte(')')
	}
}

// isCompound reports whether s is written with | or & at its top.
func (s *shape) isCompound() bool {
	return s.form == unionForm || s.form == bothForm ||
		s.form == objectForm && len(s.fields) > 0 && s.extra != nil && !s.quiet
}

func (p *printer) tuple(indent int, s *shape) {
	p.WriteByte('[')
	for i, part := range s.parts {
		if i > 0 {
			p.WriteString(", ")
		}
		missing := i >= s.optional
		p.wrapped(indent, part, missing && part.isCompound())
		if missing {
			p.WriteByte('?')
		}
	}
	if s.rest != nil {
		p.WriteString(", ...")
		p.wrapped(indent, s.rest, s.rest.isCompound())
		p.WriteString("[]")
	}
	p.WriteByte(']')
}

func (p *printer) object(indent int, s *shape) {
	if len(s.fields) == 0 {
		p.record(indent, s.extra, false)
		return
	}
	p.WriteString("{\n")
	for _, f := range s.fields {
		p.member(indent+1, f)
	}
	p.indent(indent)
	p.WriteByte('}')
	if s.extra != nil && !s.quiet {
		p.WriteString(" & ")
		p.record(indent, s.extra, !s.extra.isAny() && !s.fieldsAre(s.extra))
	}
}

// fieldsAre reports whether every declared property has that one type. An index
// type that does not cover the declared ones would make the object unusable, so
// JsonValue is added to it then.
func (s *shape) fieldsAre(typ *shape) bool {
	for _, f := range s.fields {
		if f.typ.form != typ.form || typ.form != wordForm && typ.form != nameForm || f.typ.text != typ.text || f.typ.named != typ.named {
			return false
		}
	}
	return true
}

// record writes the type of an object by what its properties are. A Record of a
// named type would count as circular inside that type; an index signature does
// not.
func (p *printer) record(indent int, typ *shape, widen bool) {
	start, end := "Record<string, ", ">"
	switch {
	case typ == nil:
		p.WriteString("Record<string, never>")
		return
	case typ.mentionsName():
		start, end = "{ [key: string]: ", " }"
	}
	p.WriteString(start)
	p.shape(indent, typ)
	if widen {
		p.WriteString(" | JsonValue")
	}
	p.WriteString(end)
}
