package jslib

import (
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

// numberFormat is the options of Intl.NumberFormat that are understood, for
// English.
type numberFormat struct {
	style, currency, notation, sign, compactDisplay string
	code, accounting                                bool
	minInteger, minFraction, maxFraction            int
	minSignificant, maxSignificant                  int // maxSignificant 0: digits are counted after the point
	grouping                                        bool
	explicit                                        bool // the program chose the digits
}

var symbols = map[string]string{
	"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CNY": "CN¥", "KRW": "₩", "BRL": "R$", "CAD": "CA$",
	"AUD": "A$", "MXN": "MX$", "NZD": "NZ$", "HKD": "HK$", "ILS": "₪", "VND": "₫", "TWD": "NT$", "PHP": "₱",
}

func (l *lib) numberFormat(locale, options goja.Value) *numberFormat {
	if name := l.locale(locale); name != "en" && !strings.HasPrefix(name, "en-") || name == "en-IN" {
		l.unsupported("formatting numbers for the locale", name, "use en-US")
	}
	s := l.settings(options)
	f := &numberFormat{
		style:          s.text("style", "decimal", "percent", "currency"),
		notation:       s.text("notation", "standard", "compact"),
		sign:           s.text("signDisplay", "auto", "always", "never", "exceptZero", "negative"),
		compactDisplay: s.text("compactDisplay", "short"),
		code:           s.text("currencyDisplay", "symbol", "narrowSymbol", "code") == "code",
		accounting:     s.text("currencySign", "standard", "accounting") == "accounting",
		grouping:       true,
	}
	fraction := [2]int{0, 3}
	switch f.style {
	case "percent":
		fraction[1] = 0
	case "currency":
		f.currency = strings.ToUpper(s.text("currency"))
		if len(f.currency) != 3 {
			panic(l.vm.NewTypeError("Currency code is required with currency style."))
		}
		fraction = [2]int{2, 2}
		if strings.Contains("JPY KRW VND CLP", f.currency) {
			fraction = [2]int{0, 0}
		}
	}
	if g := s.get("useGrouping"); g != nil {
		f.grouping = g.ToBoolean() && g.String() != "false"
	}
	f.digits(l, s, fraction)
	return f
}

// digits reads how many digits to show.
func (f *numberFormat) digits(l *lib, s settings, fraction [2]int) {
	const most = 100
	f.minInteger = s.number("minimumIntegerDigits", 1, 21, 1)
	low, high := s.number("minimumFractionDigits", 0, most, -1), s.number("maximumFractionDigits", 0, most, -1)
	f.minSignificant, f.maxSignificant = s.number("minimumSignificantDigits", 1, 21, 0), s.number("maximumSignificantDigits", 1, 21, 0)
	if f.minSignificant > 0 && f.maxSignificant == 0 {
		f.maxSignificant = 21
	}
	f.explicit = low >= 0 || high >= 0 || f.maxSignificant > 0
	switch {
	case low < 0 && high < 0:
		low, high = fraction[0], fraction[1]
	case low < 0:
		low = min(fraction[0], high)
	case high < 0:
		high = max(fraction[1], low)
	case low > high:
		l.throw("RangeError", "maximumFractionDigits value is out of range.")
	}
	f.minFraction, f.maxFraction = low, high
}

func (f *numberFormat) format(v goja.Value) string {
	digits, negative := v.String(), false
	if !goja.IsBigInt(v) {
		n := v.ToFloat()
		switch {
		case math.IsNaN(n):
			return f.dress("NaN", false, false)
		case math.IsInf(n, 0):
			return f.dress("∞", n < 0, false)
		}
		negative = math.Signbit(n)
		digits = strconv.FormatFloat(math.Abs(n), 'f', -1, 64)
	} else if strings.HasPrefix(digits, "-") {
		negative, digits = true, digits[1:]
	}
	if f.style == "percent" {
		digits = shift(digits, 2)
	}
	suffix := ""
	if f.notation == "compact" {
		digits, suffix = f.compact(digits)
	} else {
		digits = f.round(digits)
	}
	zero := strings.Trim(digits, "0.") == ""
	whole, fraction, _ := strings.Cut(digits, ".")
	for len(whole) < f.minInteger {
		whole = "0" + whole
	}
	if f.grouping && (f.notation != "compact" || len(whole) > 4) {
		whole = group(whole)
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return f.dress(whole+suffix, negative, zero)
}

// round keeps the digits that are to be shown, rounding half away from zero as
// the decimal text says.
func (f *numberFormat) round(digits string) string {
	if f.maxSignificant > 0 {
		return significant(digits, f.minSignificant, f.maxSignificant)
	}
	return fixed(digits, f.minFraction, f.maxFraction)
}

// compact shortens to thousands, millions, billions, trillions.
func (f *numberFormat) compact(digits string) (string, string) {
	for {
		whole, _, _ := strings.Cut(digits, ".")
		power := min((len(whole)-1)/3, 4)
		scaled := shift(digits, -3*power)
		var rounded string
		switch {
		case f.explicit:
			rounded = f.round(scaled)
		case len(strings.TrimLeft(strings.SplitN(scaled, ".", 2)[0], "0")) < 2:
			rounded = significant(scaled, 0, 2)
		default:
			rounded = fixed(scaled, 0, 0)
		}
		if after, _, _ := strings.Cut(rounded, "."); len(after) > 3 && power < 4 {
			digits = shift(rounded, 3*power)
			continue
		}
		return rounded, []string{"", "K", "M", "B", "T"}[power]
	}
}

// dress adds the sign, the currency and the percent mark.
func (f *numberFormat) dress(text string, negative, zero bool) string {
	sign := ""
	switch {
	case f.sign == "never", f.sign == "exceptZero" && zero, f.sign == "negative" && zero:
	case negative:
		sign = "-"
	case f.sign == "always", f.sign == "exceptZero" && text != "NaN":
		sign = "+"
	}
	switch f.style {
	case "percent":
		text += "%"
	case "currency":
		symbol, ok := symbols[f.currency]
		if !ok || f.code {
			symbol = f.currency + "\u00a0"
		}
		text = symbol + text
		if sign == "-" && f.accounting {
			return "(" + text + ")"
		}
	}
	return sign + text
}

func group(whole string) string {
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole
}

// shift moves the point of a decimal text to the right, or left for n < 0.
func shift(digits string, n int) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	for ; n > 0; n-- {
		if fraction == "" {
			fraction = "0"
		}
		whole, fraction = whole+fraction[:1], fraction[1:]
	}
	for ; n < 0; n++ {
		if whole == "" {
			whole = "0"
		}
		whole, fraction = whole[:len(whole)-1], whole[len(whole)-1:]+fraction
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	fraction = strings.TrimRight(fraction, "0")
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// fixed rounds to at most high and pads to at least low digits after the point.
func fixed(digits string, low, high int) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(fraction) > high {
		up := fraction[high] >= '5'
		all := whole + fraction[:high]
		if up {
			all = increment(all)
		}
		whole, fraction = all[:len(all)-high], all[len(all)-high:]
	}
	fraction = strings.TrimRight(fraction, "0")
	for len(fraction) < low {
		fraction += "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// significant rounds to at most high and pads to at least low digits from the
// first that is not zero.
func significant(digits string, low, high int) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	lead := len(whole) // digits before the point, counted from the first significant one
	if trimmed := strings.TrimLeft(whole, "0"); trimmed != "" {
		lead = len(trimmed)
	} else {
		lead = -(len(fraction) - len(strings.TrimLeft(fraction, "0")))
	}
	if strings.Trim(digits, "0.") == "" {
		lead = 1
	}
	if lead > high {
		places := lead - high
		return shift(fixed(shift(digits, -places), 0, 0), places)
	}
	return fixed(digits, max(low-lead, 0), high-lead)
}

func increment(digits string) string {
	b := []byte(digits)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return "1" + string(b)
}
