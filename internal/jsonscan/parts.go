package jsonscan

import "strings"

// Part is a member of an object or, without a Key, an element of an array, both as
// canonical JSON spells them.
type Part struct{ Key, Raw string }

// Name is the member's name, "" of an element.
func (p Part) Name() string {
	if p.Key == "" {
		return ""
	}
	return Unquote(p.Key)
}

// Split takes a canonical object or array apart, one level deep; nil for anything
// else. The parts share the text.
func Split(text string) []Part {
	var parts []Part
	var p Part
	s := New(text)
	start := 0
	for {
		tok, err := s.Next()
		if err != nil || tok.Kind == EOF {
			return parts // canonical text has no errors
		}
		switch tok.Kind {
		case ObjectStart, ArrayStart:
			if s.Depth() == 2 {
				start = tok.Offset
			}
			continue
		case Key:
			if s.Depth() == 1 {
				p.Key = tok.Raw
			}
			continue
		case ObjectEnd, ArrayEnd:
		default:
			if s.Depth() == 1 {
				start = tok.Offset
			}
		}
		if s.Depth() == 1 {
			p.Raw = text[start:s.Offset()]
			parts = append(parts, p)
		}
	}
}

// Join is the inverse of Split; kind is the value's first character.
func Join(kind byte, parts []Part) string {
	var b strings.Builder
	b.WriteByte(kind)
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		if p.Key != "" {
			b.WriteString(p.Key)
			b.WriteByte(':')
		}
		b.WriteString(p.Raw)
	}
	b.WriteByte(kind + 2) // '}' after '{', ']' after '['
	return b.String()
}
