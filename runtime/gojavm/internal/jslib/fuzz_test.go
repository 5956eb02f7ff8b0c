package jslib

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// FuzzURL checks that what was parsed prints as a URL that parses to itself.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"http://example.com/a?b#c", "http://[::1]:8080/", "file:///C|/x/../y", "mailto:a@b", "//host/p", "../x", "http://0x7f.1/",
		"https://u:p@h:443/%zz?é#😀", "non-special://h/\\x", "blob:https://a/b", "http://ä.example/", "a:b/../c", "web+demo:/.//not-a-host/",
	} {
		f.Add(seed, "http://base.example/dir/file?q#h")
	}
	f.Fuzz(func(t *testing.T, text, against string) {
		base, err := parseURL(against, nil)
		if err != nil {
			base = nil
		}
		u, err := parseURL(text, base)
		if err != nil || !utf8.ValidString(text) || !utf8.ValidString(against) {
			return
		}
		href := u.href()
		again, err := parseURL(href, nil)
		if err != nil {
			t.Fatalf("%q against %q gives %q, which is not a URL", text, against, href)
		}
		if got := again.href(); got != href {
			t.Errorf("%q against %q gives %q, which parses to %q", text, against, href, got)
		}
	})
}

// FuzzParse checks that JSON.parse and JSON.stringify agree with encoding/json
// on what is JSON, and with each other on what it means.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0,1e400,9007199254740993]}`, `[`, `"\ud800"`, `{"__proto__":1}`, ` [1 , 2] `, `01`, `"é`, `nul`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || strings.Count(text, "[")+strings.Count(text, "{") > 5_000 || len(text) > 9_000 {
			return
		}
		vm := goja.New()
		if err := Install(vm, Host{}); err != nil {
			t.Fatal(err)
		}
		_ = vm.Set("text", text)
		once, err := vm.RunString(`JSON.stringify(JSON.parse(text))`)
		if valid := json.Valid([]byte(text)); valid != (err == nil) {
			t.Fatalf("JSON.parse(%q): %v, but encoding/json says valid = %v", text, err, valid)
		}
		if err != nil {
			return
		}
		_ = vm.Set("text", once)
		twice, err := vm.RunString(`JSON.stringify(JSON.parse(text))`)
		if err != nil || !twice.SameAs(once) {
			t.Errorf("%q gives %v, then %v (%v)", text, once, twice, err)
		}
	})
}

// FuzzDecimal compares the arithmetic on decimal texts with exact fractions.
func FuzzDecimal(f *testing.F) {
	for _, seed := range []struct {
		whole, fraction uint64
		zeros, digits   uint8
	}{{0, 5, 0, 0}, {9, 995, 0, 2}, {1234, 5, 3, 4}, {99999, 5, 0, 0}, {0, 0, 0, 3}, {1, 45, 0, 1}} {
		f.Add(seed.whole, seed.fraction, seed.zeros, seed.digits)
	}
	f.Fuzz(func(t *testing.T, whole, fraction uint64, zeros, places uint8) {
		digits := shift(fmt.Sprintf("%d.%s%d", whole, strings.Repeat("0", int(zeros%30)), fraction), 0)
		n := int(places % 40)
		exact, ok := new(big.Rat).SetString(digits)
		if !ok {
			t.Fatalf("%q is no number", digits)
		}
		if got, want := (rounding{}).fixed(digits, n, n), exact.FloatString(n); got != want {
			t.Errorf("%s to %d places: got %s, want %s", digits, n, got, want)
		}
		if got := shift(shift(digits, n), -n); got != digits {
			t.Errorf("%s there and back by %d places is %s", digits, n, got)
		}
		for _, mode := range []string{"floor", "trunc", "ceil", "expand", "halfEven", "halfTrunc", "halfCeil", "halfFloor"} {
			rounded, _ := new(big.Rat).SetString(rounding{mode: mode}.fixed(digits, 0, n))
			off := new(big.Rat).Sub(rounded, exact)
			unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
			down, up := mode == "floor" || mode == "trunc", mode == "ceil" || mode == "expand"
			if !down && !up {
				unit.Mul(unit, big.NewRat(1, 2))
			}
			if off.Sign() > 0 && down || off.Sign() < 0 && up || off.Abs(off).Cmp(unit) > 0 {
				t.Errorf("%s to %d places, %s: got %s", digits, n, mode, rounded.FloatString(n))
			}
		}
		significant := rounding{}.significant(digits, 1, n+1)
		if len(strings.Trim(strings.Replace(significant, ".", "", 1), "0")) > n+1 {
			t.Errorf("%s to %d digits: got %s", digits, n+1, significant)
		}
	})
}

// FuzzConsole checks that any format with any data prints one entry in bounds.
func FuzzConsole(f *testing.F) {
	for _, seed := range [][2]string{
		{"%s %d %i %f %j %o %O %c %%", `[{"a":1},"x",2]`}, {"plain", `{"a":[[[[[[1]]]]]]}`}, {"%", `"s"`}, {"é%s", `["\ud800"]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, format, data string) {
		if !utf8.ValidString(format) || !utf8.ValidString(data) {
			return // no program can make such a string
		}
		vm, said := goja.New(), 0
		if err := Install(vm, Host{MaxConsoleBytes: 500, Console: func(_, text string) {
			said++
			if len(text) > 500 || !utf8.ValidString(text) {
				t.Errorf("%q with %q printed %d bytes: %q", format, data, len(text), text)
			}
		}}); err != nil {
			t.Fatal(err)
		}
		_ = vm.Set("format", format)
		_ = vm.Set("data", data)
		if _, err := vm.RunString(`let value; try { value = JSON.parse(data) } catch (e) { value = e } console.log(format, value, ...(Array.isArray(value) ? value : []))`); err != nil {
			t.Fatal(err)
		}
		if said != 1 {
			t.Errorf("%q with %q printed %d entries", format, data, said)
		}
	})
}
