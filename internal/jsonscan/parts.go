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
// else. The parts share the text. Since canonical text has neither errors nor white
// space, it looks for the ends of values and at nothing in them.
func Split(text string) (parts []Part) {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return nil
	}
	for i := 1; i < len(text) && text[i] != '}' && text[i] != ']'; i++ { // the comma
		var p Part
		if text[0] == '{' {
			end := stringEnd(text, i)
			p.Key, i = text[i:end], min(end+1, len(text)) // the colon
		}
		end := valueEnd(text, i)
		p.Raw = text[i:end]
		parts = append(parts, p)
		i = end
		if i < len(text) && text[i] != ',' {
			break
		}
	}
	return parts
}

// valueEnd is the end of the canonical value that begins at i.
func valueEnd(text string, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i // of a number or literal, behind it
			}
			depth--
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return len(text)
}

// stringEnd is the end of the string that begins at i.
func stringEnd(text string, i int) int {
	for end := i + 1; end < len(text); end++ {
		n := strings.IndexByte(text[end:], '"')
		if n < 0 {
			break
		}
		end += n
		escapes := 0
		for text[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end + 1
		}
	}
	return len(text)
}

// Join is the inverse of Split; kind is the value's first character.
func Join(kind byte, parts []Part) string {
	size := len("{}")
	for _, p := range parts {
		size += len(p.Key) + len(p.Raw) + len(":,")
	}
	var b strings.Builder
	b.Grow(size)
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
