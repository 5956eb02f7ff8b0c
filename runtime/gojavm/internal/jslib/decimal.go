package jslib

import "strings"

// The functions here work on the text of a decimal number without a sign,
// "1234.5", so that they round what is written and not its binary neighbour.

// rounding is a roundingMode of Intl.NumberFormat for a number of one sign.
type rounding struct {
	mode     string
	negative bool
}

// up reports whether digits that are left out raise the last digit that is kept.
func (r rounding) up(last byte, rest string) bool {
	half := strings.Compare(strings.TrimRight(rest, "0"), "5")
	if strings.Trim(rest, "0") == "" {
		return false
	}
	switch r.mode {
	case "ceil":
		return !r.negative
	case "floor":
		return r.negative
	case "expand":
		return true
	case "trunc":
		return false
	case "halfCeil":
		return half > 0 || half == 0 && !r.negative
	case "halfFloor":
		return half > 0 || half == 0 && r.negative
	case "halfTrunc":
		return half > 0
	case "halfEven":
		return half > 0 || half == 0 && (last-'0')%2 == 1
	default: // halfExpand
		return half >= 0
	}
}

// shift moves the point of a decimal text to the right, or left for n < 0.
func shift(digits string, n int) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	if n > 0 {
		fraction += strings.Repeat("0", max(n-len(fraction), 0))
		whole, fraction = whole+fraction[:n], fraction[n:]
	} else {
		whole = strings.Repeat("0", max(-n-len(whole), 0)) + whole
		whole, fraction = whole[:len(whole)+n], whole[len(whole)+n:]+fraction
	}
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// fixed rounds to at most high and pads to at least low digits after the point.
func (r rounding) fixed(digits string, low, high int) string {
	whole, fraction, _ := strings.Cut(digits, ".")
	if len(fraction) > high {
		all := whole + fraction[:high]
		if r.up(all[len(all)-1], fraction[high:]) {
			all = increment(all)
		}
		whole, fraction = all[:len(all)-high], all[len(all)-high:]
	}
	fraction = strings.TrimRight(fraction, "0")
	fraction += strings.Repeat("0", max(low-len(fraction), 0))
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// significant rounds to at most high and pads to at least low digits from the
// first that is not zero.
func (r rounding) significant(digits string, low, high int) string {
	lead := magnitude(digits) + 1
	if lead > high {
		places := lead - high
		return shift(r.fixed(shift(digits, -places), 0, 0), places)
	}
	rounded := r.fixed(digits, 0, high-lead)
	return r.fixed(rounded, max(low-magnitude(rounded)-1, 0), len(rounded)) // rounding up may have added a digit
}

// magnitude is the power of ten of the first digit that is not zero; 0 for zero.
func magnitude(digits string) int {
	whole, fraction, _ := strings.Cut(digits, ".")
	if trimmed := strings.TrimLeft(whole, "0"); trimmed != "" {
		return len(trimmed) - 1
	}
	if isZero(digits) {
		return 0
	}
	return -(len(fraction) - len(strings.TrimLeft(fraction, "0"))) - 1
}

func isZero(digits string) bool { return strings.Trim(digits, "0.") == "" }

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
