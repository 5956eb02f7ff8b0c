package jslib

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// numberLocales are the locales whose numbers are written as in English.
var numberLocales = map[string]bool{
	"en": true, "en-US": true, "en-GB": true, "en-AU": true, "en-CA": true, "en-IE": true, "en-NZ": true,
}

// numberFormat is the options of Intl.NumberFormat, for English.
type numberFormat struct {
	locale                                  string
	style, notation, sign, grouping         string
	compactDisplay                          string
	currency, currencyDisplay, currencySign string
	unit, unitDisplay                       string
	roundingMode, trailingZero              string
	minInteger, minFraction, maxFraction    int
	minSignificant, maxSignificant          int  // 0: digits are counted after the point
	compactDigits                           bool // compact numbers have two digits, or the whole part
}

// part is one piece of a formatted text, as formatToParts names it.
type part struct{ kind, text string }

func joinParts(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String()
}

// partList is parts as formatToParts gives them.
func (l *lib) partList(parts []part) goja.Value {
	list := make([]any, len(parts))
	for i, p := range parts {
		o := l.vm.NewObject()
		_ = o.Set("type", p.kind)
		_ = o.Set("value", p.text)
		list[i] = o
	}
	return l.vm.NewArray(list...)
}

func (l *lib) numberFormat(locale, options goja.Value) *numberFormat {
	name := l.locale(locale)
	if !numberLocales[name] {
		l.unsupported("formatting numbers for the locale", name, "use en-US")
	}
	s := l.settings(options)
	s.only("numberingSystem", "latn")
	s.only("roundingPriority", "auto")
	if n := s.number("roundingIncrement", 1, 5000, 1); n != 1 {
		l.unsupported("the roundingIncrement", strconv.Itoa(n), "round the number first")
	}
	f := &numberFormat{
		locale:          name,
		style:           s.choice("style", "decimal", "percent", "currency", "unit"),
		currencyDisplay: s.choice("currencyDisplay", "symbol", "narrowSymbol", "code", "name"),
		currencySign:    s.choice("currencySign", "standard", "accounting"),
		unitDisplay:     s.choice("unitDisplay", "short", "narrow", "long"),
		notation:        s.choice("notation", "standard", "scientific", "engineering", "compact"),
		compactDisplay:  s.choice("compactDisplay", "short", "long"),
		sign:            s.choice("signDisplay", "auto", "always", "never", "exceptZero", "negative"),
		roundingMode:    s.choice("roundingMode", "halfExpand", "ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfTrunc", "halfEven"),
		trailingZero:    s.choice("trailingZeroDisplay", "auto", "stripIfInteger"),
	}
	f.grouping = f.groups(s)
	f.readCurrency(l, s)
	f.readUnit(l, s)
	f.digits(l, s)
	return f
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

func (f *numberFormat) readCurrency(l *lib, s settings) {
	code := strings.ToUpper(s.text("currency"))
	switch {
	case code == "" && f.style == "currency":
		panic(l.vm.NewTypeError("Currency code is required with currency style."))
	case code != "" && !currencyCode.MatchString(code):
		l.throw("RangeError", fmt.Sprintf("Invalid currency code : %s", code))
	}
	if f.style != "currency" {
		return
	}
	f.currency = code
	if _, ok := currencyNames[code]; f.currencyDisplay == "name" && !ok {
		l.unsupported("the name of the currency", code, `use currencyDisplay "code"`)
	}
}

func (f *numberFormat) readUnit(l *lib, s settings) {
	name := s.text("unit")
	if f.style != "unit" {
		return
	}
	if name == "" {
		panic(l.vm.NewTypeError("Required option \"unit\" must not be undefined"))
	}
	unit, per, compound := strings.Cut(name, "-per-")
	_, known := unitTexts[unit]
	if _, ok := unitTexts[per]; !known || compound && !ok {
		l.throw("RangeError", fmt.Sprintf("Invalid unit argument for Intl.NumberFormat() '%s'", name))
	}
	f.unit = name
}

// groups reads useGrouping, which is a boolean or a word.
func (f *numberFormat) groups(s settings) string {
	absent := "auto"
	if f.notation == "compact" {
		absent = "min2"
	}
	v := s.get("useGrouping")
	if v == nil {
		return absent
	}
	if _, ok := v.(goja.String); !ok {
		if v.ToBoolean() {
			return "always"
		}
		return "false"
	}
	switch word := s.text("useGrouping", "min2", "auto", "always", "true", "false", ""); word {
	case "true", "false":
		return absent // the words, as the standard has it
	case "":
		return "false"
	default:
		return word
	}
}

// digits reads how many digits to show.
func (f *numberFormat) digits(l *lib, s settings) {
	const most = 100
	fraction := [2]int{0, 3}
	switch {
	case f.style == "percent":
		fraction = [2]int{0, 0}
	case f.style == "currency" && f.notation == "standard":
		digits, ok := currencyDigits[f.currency]
		if !ok {
			digits = 2
		}
		fraction = [2]int{digits, digits}
	}
	f.minInteger = s.number("minimumIntegerDigits", 1, 21, 1)
	low, high := s.number("minimumFractionDigits", 0, most, -1), s.number("maximumFractionDigits", 0, most, -1)
	least := s.number("minimumSignificantDigits", 1, 21, 0)
	largest := s.number("maximumSignificantDigits", max(least, 1), 21, 0)
	if least > 0 || largest > 0 {
		f.minSignificant, f.maxSignificant = max(least, 1), largest
		if largest == 0 {
			f.maxSignificant = 21
		}
		return
	}
	switch {
	case low < 0 && high < 0:
		f.compactDigits = f.notation == "compact"
		low, high = fraction[0], fraction[1]
		if f.compactDigits {
			low, high = 0, 0
		}
	case low < 0:
		low = min(fraction[0], high)
	case high < 0:
		high = max(fraction[1], low)
	case low > high:
		l.throw("RangeError", "maximumFractionDigits value is out of range.")
	}
	f.minFraction, f.maxFraction = low, high
}

// decimal is a number that is to be formatted.
type decimal struct {
	negative bool
	digits   string // without a sign and an exponent
	special  string // "NaN" or "∞", then there are no digits
}

// numericText are the strings that are exact numbers.
var numericText = regexp.MustCompile(`^\s*([+-]?)(\d{1,400})(?:\.(\d{0,400}))?\s*$`)

// decimalOf reads what a format method got. A string keeps all its digits.
func (l *lib) decimalOf(v goja.Value) decimal {
	if o, ok := v.(*goja.Object); ok {
		v = l.primitive(o)
	}
	if goja.IsBigInt(v) {
		digits, negative := strings.CutPrefix(v.String(), "-")
		return decimal{negative: negative, digits: digits}
	}
	if s, ok := v.(goja.String); ok && s.Length() < 1000 {
		if m := numericText.FindStringSubmatch(s.String()); m != nil {
			return decimal{negative: m[1] == "-", digits: shift(m[2]+"."+m[3], 0)}
		}
	}
	n := v.ToFloat()
	switch {
	case math.IsNaN(n):
		return decimal{special: "NaN"}
	case math.IsInf(n, 0):
		return decimal{special: "∞", negative: n < 0}
	}
	return decimal{negative: math.Signbit(n), digits: strconv.FormatFloat(math.Abs(n), 'f', -1, 64)}
}

// primitive is an object as a number, a bigint or a string.
func (l *lib) primitive(o *goja.Object) goja.Value {
	switch kind(o) {
	case "BigInt":
		return l.vm.ToValue(o.Export())
	default:
		return o.ToNumber()
	}
}

func (f *numberFormat) format(d decimal) string { return joinParts(f.parts(d)) }

func (f *numberFormat) parts(d decimal) []part {
	number, suffix, one := f.numberParts(&d)
	number = append(number, suffix...)
	sign := f.signOf(d)
	switch f.style {
	case "percent":
		number = append(number, part{"percentSign", "%"})
	case "currency":
		return f.withCurrency(sign, number, one, d.special != "")
	case "unit":
		number = append(number, f.unitParts(one)...)
	}
	return append(sign, number...)
}

// numberParts is the number without its sign, what follows it, and whether it is
// the one of which a unit is singular. It rounds d.
func (f *numberFormat) numberParts(d *decimal) (number, suffix []part, one bool) {
	if d.special == "NaN" {
		return []part{{"nan", d.special}}, nil, false
	}
	if d.special != "" {
		return []part{{"infinity", d.special}}, nil, false
	}
	if f.style == "percent" {
		d.digits = shift(d.digits, 2)
	}
	round := rounding{f.roundingMode, d.negative}
	switch f.notation {
	case "compact":
		d.digits, suffix = f.compact(round, d.digits)
	case "scientific":
		d.digits, suffix = f.scientific(round, d.digits, 1)
	case "engineering":
		d.digits, suffix = f.scientific(round, d.digits, 3)
	default:
		d.digits = f.round(round, d.digits)
	}
	whole, fraction, _ := strings.Cut(d.digits, ".")
	if f.trailingZero == "stripIfInteger" && isZero(fraction) {
		fraction = ""
	}
	whole = strings.Repeat("0", max(f.minInteger-len(whole), 0)) + whole
	number = f.group(whole)
	if fraction != "" {
		number = append(number, part{"decimal", "."}, part{"fraction", fraction})
	}
	return number, suffix, whole == "1" && fraction == "" && suffix == nil
}

// round keeps the digits that are to be shown.
func (f *numberFormat) round(r rounding, digits string) string {
	if f.maxSignificant > 0 {
		return r.significant(digits, f.minSignificant, f.maxSignificant)
	}
	return r.fixed(digits, f.minFraction, f.maxFraction)
}

var compactWords = [...][2]string{{"", ""}, {"K", "thousand"}, {"M", "million"}, {"B", "billion"}, {"T", "trillion"}}

// compact shortens to thousands, millions, billions, trillions.
func (f *numberFormat) compact(r rounding, digits string) (string, []part) {
	power := min(max(magnitude(digits), 0)/3, len(compactWords)-1)
	rounded := f.compactRound(r, shift(digits, -3*power))
	if magnitude(rounded) >= 3 && power < len(compactWords)-1 {
		power++
		rounded = f.compactRound(r, shift(digits, -3*power))
	}
	switch {
	case power == 0:
		return rounded, nil
	case f.compactDisplay == "long":
		return rounded, []part{{"literal", " "}, {"compact", compactWords[power][1]}}
	default:
		return rounded, []part{{"compact", compactWords[power][0]}}
	}
}

func (f *numberFormat) compactRound(r rounding, digits string) string {
	switch {
	case !f.compactDigits:
		return f.round(r, digits)
	case magnitude(digits) < 1:
		return r.significant(digits, 1, 2)
	default:
		return r.fixed(digits, 0, 0)
	}
}

// scientific splits off an exponent that is a multiple of step.
func (f *numberFormat) scientific(r rounding, digits string, step int) (string, []part) {
	exponentOf := func(magnitude int) int { return int(math.Floor(float64(magnitude)/float64(step))) * step }
	exponent := exponentOf(magnitude(digits))
	rounded := f.round(r, shift(digits, -exponent))
	if over := exponentOf(magnitude(rounded)); over > 0 && !isZero(rounded) {
		exponent += over
		rounded = f.round(r, shift(digits, -exponent))
	}
	suffix := []part{{"exponentSeparator", "E"}}
	if exponent < 0 {
		suffix = append(suffix, part{"exponentMinusSign", "-"})
		exponent = -exponent
	}
	return rounded, append(suffix, part{"exponentInteger", strconv.Itoa(exponent)})
}

func (f *numberFormat) group(whole string) []part {
	if f.grouping == "false" || f.grouping == "min2" && len(whole) < 5 || len(whole) < 4 {
		return []part{{"integer", whole}}
	}
	lead := (len(whole)-1)%3 + 1
	parts := []part{{"integer", whole[:lead]}}
	for i := lead; i < len(whole); i += 3 {
		parts = append(parts, part{"group", ","}, part{"integer", whole[i : i+3]})
	}
	return parts
}

func (f *numberFormat) signOf(d decimal) []part {
	zero := d.special == "" && isZero(d.digits)
	switch {
	case f.sign == "never", f.sign == "exceptZero" && (zero || d.special == "NaN"), f.sign == "negative" && zero:
		return nil
	case d.negative:
		return []part{{"minusSign", "-"}}
	case f.sign == "always", f.sign == "exceptZero":
		return []part{{"plusSign", "+"}}
	}
	return nil
}

// symbol is what stands for the currency.
func (f *numberFormat) symbol() string {
	if f.currencyDisplay == "code" {
		return f.currency
	}
	if f.currencyDisplay == "narrowSymbol" {
		if s, ok := narrowSymbols[f.currency]; ok {
			return s
		}
	} else if f.locale == "en-AU" {
		if s, ok := map[string]string{"AUD": "$", "XPF": "CFP", "SCR": "Rs"}[f.currency]; ok {
			return s
		}
		return f.currency
	} else if s, ok := localSymbols[f.locale][f.currency]; ok {
		return s
	}
	if s, ok := currencySymbols[f.currency]; ok {
		return s
	}
	return f.currency
}

func (f *numberFormat) withCurrency(sign, number []part, one, special bool) []part {
	if f.currencyDisplay == "name" {
		name := currencyNames[f.currency][1]
		if one {
			name = currencyNames[f.currency][0]
		}
		return append(append(sign, number...), part{"literal", " "}, part{"currency", name})
	}
	symbol := f.symbol()
	head := []part{{"currency", symbol}}
	if last, _ := utf8.DecodeLastRuneInString(symbol); !special && (unicode.IsLetter(last) || last == '.') {
		head = append(head, part{"literal", "\u00a0"})
	}
	if f.currencySign == "accounting" && len(sign) > 0 && sign[0].kind == "minusSign" {
		parts := append([]part{{"literal", "("}}, head...)
		return append(append(parts, number...), part{"literal", ")"})
	}
	return append(append(sign, head...), number...)
}

func (f *numberFormat) unitParts(one bool) []part {
	name, per, compound := strings.Cut(f.unit, "-per-")
	text := unitTexts[name]
	var shown string
	switch {
	case f.unitDisplay == "long":
		if shown = " " + text.many; one {
			shown = " " + text.one
		}
		if compound {
			shown += " per " + unitTexts[per].one
		}
	case f.unitDisplay == "narrow":
		shown = text.narrow
	case one || compound:
		shown = text.short
	default:
		shown = text.shorts
	}
	if compound && f.unitDisplay != "long" {
		slash, ok := perUnits[per]
		if !ok {
			slash = strings.TrimSpace(unitTexts[per].short)
		}
		space := shown[:len(shown)-len(strings.TrimLeft(shown, " "))]
		if shown += "/" + slash; speeds[f.unit] != "" {
			shown = space + speeds[f.unit]
		}
	}
	kind := "unit"
	if f.unit == "percent" && f.unitDisplay != "long" {
		kind = "percentSign"
	}
	if bare, spaced := strings.CutPrefix(shown, " "); spaced {
		return []part{{"literal", " "}, {kind, bare}}
	}
	return []part{{kind, shown}}
}

// resolved is what resolvedOptions of a NumberFormat gives, in its order.
func (f *numberFormat) resolved() []setting {
	all := []setting{{"locale", f.locale}, {"numberingSystem", "latn"}, {"style", f.style}}
	switch f.style {
	case "currency":
		all = append(all, setting{"currency", f.currency}, setting{"currencyDisplay", f.currencyDisplay}, setting{"currencySign", f.currencySign})
	case "unit":
		all = append(all, setting{"unit", f.unit}, setting{"unitDisplay", f.unitDisplay})
	}
	all = append(all, f.resolvedDigits()...)
	var grouping any = f.grouping
	if f.grouping == "false" {
		grouping = false
	}
	all = append(all, setting{"useGrouping", grouping}, setting{"notation", f.notation})
	if f.notation == "compact" {
		all = append(all, setting{"compactDisplay", f.compactDisplay})
	}
	all = append(all, setting{"signDisplay", f.sign})
	return append(all, f.resolvedRounding()...)
}

func (f *numberFormat) resolvedDigits() []setting {
	all := []setting{{"minimumIntegerDigits", f.minInteger}}
	if f.maxSignificant == 0 {
		all = append(all, setting{"minimumFractionDigits", f.minFraction}, setting{"maximumFractionDigits", f.maxFraction})
	}
	switch {
	case f.compactDigits:
		all = append(all, setting{"minimumSignificantDigits", 1}, setting{"maximumSignificantDigits", 2})
	case f.maxSignificant > 0:
		all = append(all, setting{"minimumSignificantDigits", f.minSignificant}, setting{"maximumSignificantDigits", f.maxSignificant})
	}
	return all
}

func (f *numberFormat) resolvedRounding() []setting {
	priority := "auto"
	if f.compactDigits {
		priority = "morePrecision"
	}
	return []setting{{"roundingIncrement", 1}, {"roundingMode", f.roundingMode}, {"roundingPriority", priority}, {"trailingZeroDisplay", f.trailingZero}}
}
