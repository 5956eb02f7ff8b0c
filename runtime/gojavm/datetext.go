package gojavm

import (
	"strings"
	"unicode"
)

// dateText reads the text of a date as V8 does: the standard form of ECMA-262
// first, and what has not that form word by word. The engine's own reading makes
// dates of texts that are none: of '1704067200000' one in the year 0.
type dateText struct {
	text []rune
	next dateToken

	day   []int // the numbers of the date, three at most
	month int   // by its name; zero: none
	iso   bool  // the year is as it stands there

	time []int // hour, minute, second, millisecond
	half int   // hours that am or pm adds, or noNumber

	sign, hours, minutes int // of the zone, or noNumber
}

// noNumber is a number that is not there.
const noNumber = -1 << 31

// dateFields are what a text says. A zone that is noNumber is the local one.
type dateFields struct {
	year, month, day, hour, minute, second, millisecond int
	zone                                                int // minutes
}

type dateKind int

const (
	dateEnd dateKind = iota
	dateNumber
	dateSymbol // one of : - + . )
	dateSpace
	dateOther // any other character, or what brackets hold
	dateWord  // none of these:
	dateMonth
	dateHalf // am, pm
	dateZone
	dateT // between date and time
	dateBad
)

// dateToken is a part of a text. Its number is that of what a word names.
type dateToken struct {
	kind           dateKind
	symbol         rune
	number, length int
}

// dateWords are known by at most three letters, and months however they go on.
var dateWords = map[string]dateToken{
	"jan": {kind: dateMonth, number: 1}, "feb": {kind: dateMonth, number: 2}, "mar": {kind: dateMonth, number: 3}, "apr": {kind: dateMonth, number: 4},
	"may": {kind: dateMonth, number: 5}, "jun": {kind: dateMonth, number: 6}, "jul": {kind: dateMonth, number: 7}, "aug": {kind: dateMonth, number: 8},
	"sep": {kind: dateMonth, number: 9}, "oct": {kind: dateMonth, number: 10}, "nov": {kind: dateMonth, number: 11}, "dec": {kind: dateMonth, number: 12},
	"am": {kind: dateHalf}, "pm": {kind: dateHalf, number: 12}, "t": {kind: dateT},
	"utc": {kind: dateZone}, "ut": {kind: dateZone}, "z": {kind: dateZone}, "gmt": {kind: dateZone},
	"est": {kind: dateZone, number: -5}, "edt": {kind: dateZone, number: -4}, "cst": {kind: dateZone, number: -6}, "cdt": {kind: dateZone, number: -5},
	"mst": {kind: dateZone, number: -7}, "mdt": {kind: dateZone, number: -6}, "pst": {kind: dateZone, number: -8}, "pdt": {kind: dateZone, number: -7},
}

// readDate says what date a text is, if it is one.
func readDate(text string) (dateFields, bool) {
	d := &dateText{text: []rune(text), half: noNumber, sign: noNumber, hours: noNumber, minutes: noNumber}
	d.take()
	rest := d.standard()
	if rest.kind == dateBad || rest.kind != dateEnd && !d.words(rest) {
		return dateFields{}, false
	}
	return d.fields()
}

// take is the next token; the one behind it becomes next.
func (d *dateText) take() dateToken {
	t := d.next
	d.next = d.scan()
	return t
}

func (d *dateText) scan() dateToken {
	if len(d.text) == 0 {
		return dateToken{}
	}
	n := 1
	c := d.text[0]
	t := dateToken{kind: dateOther}
	switch {
	case isDigit(c):
		for n < len(d.text) && isDigit(d.text[n]) {
			n++
		}
		t.kind, t.number = dateNumber, leading(d.text[:n])
	case strings.ContainsRune(":-+.)", c):
		t.kind, t.symbol = dateSymbol, c
	case isDateSpace(c):
		t.kind = dateSpace
	case c >= 'A':
		for n < len(d.text) && d.text[n] >= 'A' && !isDateSpace(d.text[n]) {
			n++
		}
		t = dateToken{kind: dateWord}
		if known, ok := dateWords[strings.ToLower(string(d.text[:min(n, 3)]))]; ok && (n <= 3 || known.kind == dateMonth) {
			t = known
		}
	case c == '(':
		for depth := 1; n < len(d.text) && depth > 0; n++ {
			switch d.text[n] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
	}
	t.length, d.text = n, d.text[n:]
	return t
}

func isDigit(c rune) bool     { return c >= '0' && c <= '9' }
func isDateSpace(c rune) bool { return unicode.IsSpace(c) && c != '\u0085' || c == '\ufeff' }

// leading is the number of the first nine digits behind leading zeros.
func leading(digits []rune) int {
	n, taken := 0, 0
	for _, c := range digits {
		if taken == 0 && c == '0' {
			continue
		}
		if taken++; taken <= 9 {
			n = 10*n + int(c-'0')
		}
	}
	return n
}

func (t dateToken) is(symbol rune) bool { return t.kind == dateSymbol && t.symbol == symbol }
func (t dateToken) isSign() bool        { return t.is('+') || t.is('-') }

// fixed says whether a token is a number of so many digits, within bounds.
func (t dateToken) fixed(digits, least, most int) bool {
	return t.kind == dateNumber && t.length == digits && within(t.number, least, most)
}

func within(n, least, most int) bool { return n >= least && n <= most }

func (d *dateText) skip(symbol rune) bool {
	if !d.next.is(symbol) {
		return false
	}
	d.take()
	return true
}

// standard reads the form of ECMA-262. It returns the first token that is not of
// that form, dateEnd if all is, or dateBad where the rest cannot be a date.
func (d *dateText) standard() dateToken {
	switch {
	case d.next.isSign():
		sign := d.take()
		if !d.next.fixed(6, 0, 1e6) {
			return sign
		}
		year := d.take().number
		if sign.is('-') {
			if year = -year; year == 0 {
				return sign
			}
		}
		d.day = append(d.day, year)
	case d.next.fixed(4, 0, 9999):
		d.day = append(d.day, d.take().number)
	default:
		return d.take()
	}
	for _, most := range []int{12, 31} {
		if !d.skip('-') {
			break
		}
		if !d.next.fixed(2, 1, most) {
			return d.take()
		}
		d.day = append(d.day, d.take().number)
	}
	if d.next.kind != dateT {
		if d.next.kind != dateEnd {
			return d.take()
		}
	} else if d.take(); !d.standardTime() || !d.standardZone() || d.next.kind != dateEnd {
		return dateToken{kind: dateBad}
	}
	if len(d.time) == 0 && d.sign == noNumber {
		d.sign = 1 // a date alone is one of UTC
	}
	d.iso = true
	return dateToken{}
}

func (d *dateText) standardTime() bool {
	if !d.next.fixed(2, 0, 24) {
		return false
	}
	most := 59
	if d.next.number == 24 {
		most = 0
	}
	d.time = append(d.time, d.take().number)
	if !d.skip(':') || !d.next.fixed(2, 0, most) {
		return false
	}
	d.time = append(d.time, d.take().number)
	if !d.skip(':') {
		return true
	}
	if !d.next.fixed(2, 0, most) {
		return false
	}
	d.time = append(d.time, d.take().number)
	if !d.skip('.') {
		return true
	}
	if d.next.kind != dateNumber || most == 0 && d.next.number > 0 {
		return false
	}
	d.time = append(d.time, milliseconds(d.take()))
	return true
}

func (d *dateText) standardZone() bool {
	switch {
	case d.next.kind == dateZone && d.next.length == 1:
		d.take()
		d.sign = 1
	case d.next.isSign():
		d.setSign(d.take())
		if d.next.kind == dateNumber && d.next.length == 4 {
			n := d.take().number
			d.hours, d.minutes = n/100, n%100
			return d.hours <= 23 && d.minutes <= 59
		}
		if !d.next.fixed(2, 0, 23) {
			return false
		}
		d.hours = d.take().number
		if !d.skip(':') || !d.next.fixed(2, 0, 59) {
			return false
		}
		d.minutes = d.take().number
	}
	return true
}

func (d *dateText) setSign(t dateToken) {
	d.sign = 1
	if t.is('-') {
		d.sign = -1
	}
}

// milliseconds are the first three digits of a fraction.
func milliseconds(t dateToken) int {
	n, length := t.number, min(t.length, 9)
	for ; length < 3; length++ {
		n *= 10
	}
	for ; length > 3; length-- {
		n /= 10
	}
	return n
}

// words reads any other text from the token t on.
func (d *dateText) words(t dateToken) bool {
	numbers := len(d.day) > 0 // one was read
	for ; t.kind != dateEnd; t = d.take() {
		switch {
		case t.kind == dateNumber:
			numbers = true
			if !d.number(t.number) {
				return false
			}
		case t.kind == dateHalf && len(d.time) > 0:
			d.half = t.number
		case t.kind == dateMonth:
			d.month = t.number
			d.skip('-')
		case t.kind == dateZone && numbers:
			d.sign, d.hours, d.minutes = 1, t.number, 0
			if t.number < 0 {
				d.sign, d.hours = -1, -t.number
			}
		case t.kind >= dateWord:
			// Before the first number any word may stand, but not next to it.
			if numbers || d.next.kind == dateNumber {
				return false
			}
		case t.isSign() && (d.hours == 0 && d.minutes == 0 || len(d.time) > 0):
			numbers = true
			if !d.offset(t) {
				return false
			}
		case (t.isSign() || t.is(')')) && numbers:
			return false
		}
	}
	return true
}

// number takes a number for what the text has come to.
func (d *dateText) number(n int) bool {
	if d.skip(':') {
		return d.timeNumber(n)
	}
	dot := d.skip('.')
	switch {
	case dot && d.expects(n):
		d.time = append(d.time, n)
		if d.next.kind != dateNumber {
			return false
		}
		d.endTime(milliseconds(d.take()))
	case d.hours != noNumber && d.minutes == noNumber && within(n, 0, 59):
		d.minutes = n
	case d.expects(n):
		d.endTime(n)
		return d.next.kind == dateEnd || d.next.kind == dateSpace || d.next.kind == dateZone && d.next.length == 1 || d.next.isSign()
	default:
		if len(d.day) == 3 {
			return false
		}
		d.day = append(d.day, n)
		d.skip('-')
	}
	return true
}

// timeNumber takes a number before a colon, or two.
func (d *dateText) timeNumber(n int) bool {
	if d.skip(':') {
		if len(d.time) > 0 {
			return false
		}
		d.time = append(d.time, n, 0)
		return true
	}
	if len(d.time) == 4 {
		return false
	}
	d.time = append(d.time, n)
	d.skip('.')
	return true
}

// expects says whether a number may be the next of a time that was begun.
func (d *dateText) expects(n int) bool {
	return len(d.time) > 0 && len(d.time) < 4 && within(n, 0, []int{0, 59, 59, 999}[len(d.time)])
}

func (d *dateText) endTime(n int) {
	d.time = append(d.time, n)
	for len(d.time) < 4 {
		d.time = append(d.time, 0)
	}
}

// offset reads the number behind the sign of a zone.
func (d *dateText) offset(sign dateToken) bool {
	d.setSign(sign)
	n := dateToken{}
	if d.next.kind == dateNumber {
		n = d.take()
	}
	switch {
	case d.next.is(':'):
		d.hours, d.minutes = n.number, noNumber
	case n.length == 1 || n.length == 2:
		d.hours, d.minutes = n.number, 0
	case n.length == 3 || n.length == 4:
		d.hours, d.minutes = n.number/100, n.number%100
	default:
		return false
	}
	return true
}

// fields puts together what was read.
func (d *dateText) fields() (f dateFields, ok bool) {
	if len(d.day) == 0 {
		return f, false
	}
	for len(d.day) < 3 {
		d.day = append(d.day, 1)
	}
	a, b, c := d.day[0], d.day[1], d.day[2]
	first := within(a, 1, 31)
	switch {
	case d.month == 0 && (d.iso || !first):
		f.year, f.month, f.day = a, b, c
	case d.month == 0:
		f.month, f.day, f.year = a, b, c
	case !first:
		f.month, f.year, f.day = d.month, a, b
	default:
		f.month, f.day, f.year = d.month, a, b
	}
	switch {
	case d.iso:
	case within(f.year, 0, 49):
		f.year += 2000
	case within(f.year, 50, 99):
		f.year += 1900
	}
	for len(d.time) < 4 {
		d.time = append(d.time, 0)
	}
	f.hour, f.minute, f.second, f.millisecond = d.time[0], d.time[1], d.time[2], d.time[3]
	if d.half != noNumber {
		if f.hour > 12 {
			return f, false
		}
		f.hour = f.hour%12 + d.half
	}
	inDay := within(f.hour, 0, 23) && within(f.minute, 0, 59) && within(f.second, 0, 59) && within(f.millisecond, 0, 999) ||
		f.hour == 24 && f.minute == 0 && f.second == 0 && f.millisecond == 0
	f.zone = noNumber
	if d.sign != noNumber {
		f.zone = d.sign * (max(d.hours, 0)*60 + max(d.minutes, 0))
	}
	return f, inDay && within(f.month, 1, 12) && within(f.day, 1, 31) && within(f.year, -1<<30, 1<<30-1)
}
