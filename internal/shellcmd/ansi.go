package shellcmd

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// decodeANSI decodes what stands between $' and '. As in bash, a NUL ends the
// text. It is not exact if what bash makes of it depends on the locale.
func decodeANSI(quoted string) (text string, exact bool) {
	var b strings.Builder
	exact = true
	for i := 0; i < len(quoted); {
		if quoted[i] != '\\' || i+1 == len(quoted) {
			b.WriteByte(quoted[i])
			i++
			continue
		}
		c, n := ansiEscape(quoted[i+1:])
		if n == 0 { // not an escape: the backslash stays
			b.WriteByte('\\')
			i++
			continue
		}
		i += 1 + n
		switch {
		case c == 0:
			return b.String(), exact
		case c < utf8.RuneSelf:
			b.WriteByte(byte(c))
		case strings.IndexByte("uU", quoted[i-n]) >= 0:
			b.WriteRune(c)
			exact = false
		default:
			b.WriteByte(byte(c))
		}
	}
	return b.String(), exact
}

// ansiEscape reads one escape from what follows its backslash: the character
// (of \x and octal escapes a byte), and the bytes it takes, 0 if it is none.
func ansiEscape(s string) (c rune, n int) {
	if i := strings.IndexByte(`abeEfnrtv\'"?`, s[0]); i >= 0 {
		return rune("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[i]), 1
	}
	switch s[0] {
	case '0', '1', '2', '3', '4', '5', '6', '7':
		c, n = digits(s, 3, 8)
		return c & 0xff, n
	case 'x':
		if strings.HasPrefix(s, "x{") {
			return bracedHex(s)
		}
		c, n = digits(s[1:], 2, 16)
	case 'u':
		c, n = digits(s[1:], 4, 16)
	case 'U':
		c, n = digits(s[1:], 8, 16)
	case 'c':
		return control(s)
	}
	if n == 0 {
		return 0, 0
	}
	return c, n + 1
}

// bracedHex reads x{...}: any number of digits, of which the last two count; no
// digits are a NUL.
func bracedHex(s string) (c rune, n int) {
	c, n = digits(s[2:], len(s), 16)
	n += 2
	if n < len(s) && s[n] == '}' {
		n++
	}
	return c & 0xff, n
}

// control reads cX.
func control(s string) (c rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	if n = 2; strings.HasPrefix(s, `c\\`) {
		n = 3
	}
	if s[1] == '?' {
		return 0x7f, n
	}
	return rune(s[1] & 0x1f), n
}

// digits reads at most so many digits. A number too large for a rune keeps its
// low bits, which is enough to see that it is not a plain character.
func digits(s string, most, base int) (c rune, n int) {
	var value uint32
	for n < len(s) && n < most {
		d, err := strconv.ParseUint(s[n:n+1], base, 8)
		if err != nil {
			break
		}
		value = value*uint32(base) + uint32(d)
		n++
	}
	return rune(value & 0x7fffffff), n
}
