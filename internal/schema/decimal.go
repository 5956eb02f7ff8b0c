package schema

import (
	"cmp"
	"math/big"
	"strconv"
	"strings"
)

// decimal is an exact JSON number: 0.digits × 10^exp. It is never expanded, so
// 1e999999999 costs no more than 1. Digits have no zero at either end; zero has
// none and neither sign nor exponent. Equal numbers are equal decimals.
type decimal struct {
	digits string
	exp    int64
	neg    bool
}

// farthest is where exponents saturate; two numbers beyond it are not told
// apart by their exponents.
const farthest = 1 << 60

// parseDecimal reads a JSON number token.
func parseDecimal(raw string) decimal {
	var d decimal
	raw, d.neg = strings.CutPrefix(raw, "-")
	mantissa := raw
	if i := strings.IndexAny(raw, "eE"); i >= 0 {
		mantissa = raw[:i]
		exp, err := strconv.ParseInt(raw[i+1:], 10, 64)
		if err != nil { // out of range: ParseInt has saturated it
			exp = max(min(exp, farthest), -farthest)
		}
		d.exp = max(min(exp, farthest), -farthest)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exp += int64(len(whole))
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	trimmed := strings.TrimLeft(digits, "0")
	d.exp -= int64(len(digits) - len(trimmed))
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) isInteger() bool { return d.exp >= int64(len(d.digits)) }

func (d decimal) compare(o decimal) int {
	sign := func(d decimal) int {
		switch {
		case d.digits == "":
			return 0
		case d.neg:
			return -1
		default:
			return 1
		}
	}
	a, b := sign(d), sign(o)
	if a != b || a == 0 {
		return cmp.Compare(a, b)
	}
	return a * cmp.Or(cmp.Compare(d.exp, o.exp), strings.Compare(d.digits, o.digits))
}

// isMultipleOf reports whether d is a whole multiple of o, which is not zero.
// Both are A × 10^n with A an integer that 10 does not divide, so the question
// is one of remainders and needs no big power of ten.
func (d decimal) isMultipleOf(o decimal) bool {
	if d.digits == "" {
		return true
	}
	shift := (d.exp - int64(len(d.digits))) - (o.exp - int64(len(o.digits)))
	if shift < 0 {
		return false
	}
	divisor, _ := new(big.Int).SetString(o.digits, 10)
	rest := remainder(d.digits, divisor)
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), divisor)
	return rest.Mul(rest, power).Mod(rest, divisor).Sign() == 0
}

// remainder is the decimal number digits modulo divisor, in time linear in the
// number of digits.
func remainder(digits string, divisor *big.Int) *big.Int {
	const chunk = 18
	rest, part := new(big.Int), new(big.Int)
	for len(digits) > 0 {
		n := min(chunk, len(digits))
		u, _ := strconv.ParseUint(digits[:n], 10, 64)
		scale := int64(1)
		for range n {
			scale *= 10
		}
		rest.Mul(rest, part.SetInt64(scale))
		rest.Add(rest, part.SetUint64(u))
		rest.Mod(rest, divisor)
		digits = digits[n:]
	}
	return rest
}

// ratDecimal converts a number of a compiled schema, which was written as a
// decimal and so is one.
func ratDecimal(r *big.Rat) *decimal {
	if r == nil {
		return nil
	}
	places, _ := r.FloatPrec()
	d := parseDecimal(r.FloatString(places))
	return &d
}

// String writes the number the short way people write it.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	sign := ""
	if d.neg {
		sign = "-"
	}
	n := int64(len(d.digits))
	switch {
	case d.exp >= n && d.exp <= 21:
		return sign + d.digits + strings.Repeat("0", int(d.exp-n))
	case d.exp > 0 && d.exp < n:
		return sign + d.digits[:d.exp] + "." + d.digits[d.exp:]
	case d.exp <= 0 && d.exp > -7:
		return sign + "0." + strings.Repeat("0", int(-d.exp)) + d.digits
	}
	text := sign + d.digits[:1]
	if n > 1 {
		text += "." + d.digits[1:]
	}
	return text + "e" + strconv.FormatInt(d.exp-1, 10)
}
