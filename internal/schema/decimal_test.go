package schema

import (
	"math/big"
	"strings"
	"testing"
)

func rat(t *testing.T, text string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(strings.TrimSpace(text))
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return r
}

func TestDecimalString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "-0.0": "0", "1.50": "1.5", "-12e1": "-120", "0.001": "0.001", "1e-9": "1e-9",
		"123456789012345678901234": "1.23456789012345678901234e23", "1e21": "1e21", "5e20": "500000000000000000000",
		"1E400": "1e400", "-0.00e5": "0", "12.5e-1": "1.25", "9007199254740993": "9007199254740993",
	} {
		if got := parseDecimal(in).String(); got != want {
			t.Errorf("%s is written %s, want %s", in, got, want)
		}
	}
}
