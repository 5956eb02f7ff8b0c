package jslib

import (
	"strings"
	"unicode"

	"github.com/dop251/goja"
)

// notDate is a text of which the engine makes no date.
var notDate goja.Value = goja.StringFromUTF16([]uint16{'-'})

// readable is a text from which the engine reads the date that Node reads, or
// none. Of itself the engine makes a date of what is none: of the digits of a
// timestamp, for one.
func (l *lib) readable(call goja.FunctionCall) goja.Value {
	s := l.toString(call.Argument(0))
	text := s.String()
	if misread(text) {
		return notDate
	}
	if strings.ContainsAny(text, "\t\n\v\f\r") {
		return l.vm.ToValue(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return ' ' // the only space that the engine knows
			}
			return r
		}, text))
	}
	return s
}

// misread says whether the engine would read another date in a text than what
// it says, or one where it says none. The numbers that are no time and no zone
// must be a date: year, month, day; month, day, year; or with the month's name.
func misread(text string) bool {
	if isISO(text) {
		return false
	}
	r := dateReader{text: text}
	for r.at < len(r.text) && !r.wrong {
		switch c := r.text[r.at]; {
		case isDigit(c):
			r.number()
		case isLetter(c):
			r.word()
		case c == '(':
			r.comment()
		default:
			r.at++
		}
	}
	return r.wrong || r.count > 0 && !r.isDate()
}

// isISO says whether a text begins with a date of the standard's format and is at
// its end or at the time then; the engine reads these well.
func isISO(text string) bool {
	if len(text) > 7 && (text[0] == '+' || text[0] == '-') {
		text = text[3:] // the year has two digits more
	}
	switch before, _, _ := strings.Cut(text, "T"); len(before) {
	case 4:
		return digits(before)
	case 7:
		return digits(before[:4]) && before[4] == '-' && digits(before[5:]) && before[5:] != "00"
	case 10:
		return digits(before[:4]) && before[4] == '-' && digits(before[5:7]) && before[5:7] != "00" &&
			before[7] == '-' && digits(before[8:]) && before[8:] != "00"
	}
	return false
}

func digits(text string) bool {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// dateReader goes through a text once.
type dateReader struct {
	text    string
	at      int
	numbers [3]int
	count   int
	named   bool // the month has a name
	zoned   bool // a sign begins a zone: a time or UTC came before
	garbage bool // the last word has no meaning
	wrong   bool
}

// before is the character n places back, or a space.
func (r *dateReader) before(n int) byte {
	if r.at < n {
		return ' '
	}
	return r.text[r.at-n]
}

// skipDigits gives the value of some digits, bounded.
func (r *dateReader) skipDigits() int {
	const most = 1 << 30
	n := 0
	for ; r.at < len(r.text) && isDigit(r.text[r.at]); r.at++ {
		n = min(10*n+int(r.text[r.at]-'0'), most)
	}
	return n
}

func (r *dateReader) number() {
	previous := r.before(1)
	signed := previous == '+' || previous == '-'
	stray := signed && !isDigit(r.before(2)) && !isLetter(r.before(2))
	start := r.at
	n := r.skipDigits()
	isTime := r.at < len(r.text) && r.text[r.at] == ':'
	switch {
	case isLetter(previous) && r.garbage:
		r.wrong = true
	case signed && r.zoned:
		r.skipTime()
	case signed && (isTime || stray):
		r.wrong = true
	case isTime:
		r.skipTime()
		r.zoned = true
	case r.count == len(r.numbers), r.at-start > 2 && n < 100 && !r.named:
		r.wrong = true
	default:
		r.numbers[r.count] = n
		r.count++
	}
}

// skipTime goes to the end of a time or a zone's distance.
func (r *dateReader) skipTime() {
	for r.at < len(r.text) && (isDigit(r.text[r.at]) || strings.IndexByte(":.,", r.text[r.at]) >= 0) {
		r.at++
	}
}

func (r *dateReader) word() {
	start := r.at
	for r.at < len(r.text) && isLetter(r.text[r.at]) {
		r.at++
	}
	word := strings.ToLower(r.text[start:r.at])
	r.garbage = false
	switch {
	case len(word) >= 3 && strings.Contains("jan feb mar apr may jun jul aug sep oct nov dec", word[:3]):
		r.named = true
	case word == "utc" || word == "gmt" || word == "ut" || word == "z":
		r.zoned = true
	default:
		r.garbage = true
	}
}

func (r *dateReader) comment() {
	for level := 0; r.at < len(r.text); {
		switch r.text[r.at] {
		case '(':
			level++
		case ')':
			level--
		}
		if r.at++; level == 0 {
			return
		}
	}
}

// isDate says whether the numbers are a year, a month and a day; what is missing
// is 1.
func (r *dateReader) isDate() bool {
	numbers := [...]int{1, 1, 1}
	copy(numbers[:], r.numbers[:r.count])
	month, day, year := numbers[0], numbers[1], numbers[2]
	if isDay := 1 <= month && month <= 31; r.named {
		month, day, year = 1, numbers[0], numbers[1]
		if !isDay {
			day, year = year, day
		}
	} else if !isDay {
		year, month, day = numbers[0], numbers[1], numbers[2]
	}
	const lastYear = 275760
	return 1 <= month && month <= 12 && 1 <= day && day <= 31 && year <= lastYear
}
