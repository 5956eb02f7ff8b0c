package jslib_test

import (
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

func TestLocaleIsNodes(t *testing.T) {
	var golden struct {
		Cases []struct{ Expression, Want string }
	}
	readGolden(t, "locale.json", &golden)
	if len(golden.Cases) < 1000 {
		t.Fatalf("only %d cases; see testdata/locale.mjs", len(golden.Cases))
	}
	e := newEngine(t, jslib.Host{})
	for _, tt := range golden.Cases {
		t.Run(tt.Expression, func(t *testing.T) {
			_ = e.vm.Set("expression", tt.Expression)
			got := e.run(t, `(() => { try { return String((0, eval)(expression)) } catch (e) { return "THROWS " + e.name + ": " + e.message } })()`).String()
			if got != tt.Want {
				t.Errorf("%s\n got %q\nwant %q", tt.Expression, got, tt.Want)
			}
		})
	}
}

// TestLocalZone: a time zone whose name is not known is named by its distance
// from UTC, which names it back.
func TestLocalZone(t *testing.T) {
	defer func(z *time.Location) { time.Local = z }(time.Local)
	for name, tt := range map[string]struct {
		offset int
		want   string
	}{
		"east": {2 * 3600, "+02:00 2:00:00 AM 2:00:00 AM"},
		"west": {-(3*3600 + 1800), "-03:30 8:30:00 PM 8:30:00 PM"},
		"none": {0, "+00:00 12:00:00 AM 12:00:00 AM"},
	} {
		t.Run(name, func(t *testing.T) {
			time.Local = time.FixedZone("Local", tt.offset)
			e := newEngine(t, jslib.Host{})
			program := `(() => { const zone = Intl.DateTimeFormat().resolvedOptions().timeZone; return [zone, new Date(0).toLocaleTimeString(), new Date(0).toLocaleTimeString("en-US", {timeZone: zone})].join(" ") })()`
			if got := e.run(t, program).String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestIntlObjects are rules that no single answer shows.
func TestIntlObjects(t *testing.T) {
	now := time.Date(2024, 5, 1, 13, 2, 3, 0, time.UTC)
	e := newEngine(t, jslib.Host{Now: func() time.Time { return now }})
	for program, want := range map[string]string{
		`(() => { const f = new Intl.NumberFormat(); return f.format === f.format })()`:                                                              "true",
		`new Intl.DateTimeFormat("en-US").format()`:                                                                                                  "5/1/2024",
		`(() => { let reads = 0; const f = new Intl.NumberFormat("en", {get style() { reads++; return "percent" }}); f.format(1); return reads })()`: "1",
		`(() => { const o = {style: "percent"}; const f = new Intl.NumberFormat("en", o); o.style = "decimal"; return f.format(0.5) })()`:            "50%",
		`new Intl.NumberFormat("en").format("123456789012345678901234567890.125")`:                                                                   "123,456,789,012,345,678,901,234,567,890.125",
		`Number.prototype.toLocaleString = null; Intl.NumberFormat().format(1234)`:                                                                   "1,234",
		`Object.prototype.toString.call(Intl) + Object.keys(Intl).length + Intl.NumberFormat.length`:                                                 "[object Intl]00",
		`Intl.DateTimeFormat.supportedLocalesOf(["en-gb", "de", "en-US"]).join()`:                                                                    "en-GB,en-US",
		`String(new Intl.PluralRules("en").select(1) + [..."12"].map((n) => new Intl.PluralRules("en", {type: "ordinal"}).select(n)))`:               "oneone,two",
	} {
		if got := e.run(t, program).String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", program, got, want)
		}
	}
}

// TestLocaleReachesElements: lists hand locale and options on, texts take a locale.
func TestLocaleReachesElements(t *testing.T) {
	e := newEngine(t, jslib.Host{})
	for program, want := range map[string]string{
		`(() => { const a = [1234.5, null, [2345.6], undefined, "x", 7n]; a.push(a); return a.toLocaleString("en-US", {minimumFractionDigits: 3}) })()`: "1,234.500,,2,345.600,,x,7.000,",
		`new Float64Array([1234.5, 2]).toLocaleString("en-US", {style: "percent"})`:                                                                     "123,450%,200%",
		`[new Date(0)].toLocaleString("en-GB", {timeZone: "UTC"}) + Array.prototype.toLocaleString.length`:                                              "01/01/1970, 00:00:000",
		`(() => { const a = [{toLocaleString() { throw 1 }}]; try { a.toLocaleString() } catch { a[0] = 5 } return a.toLocaleString() })()`:             "5",
		`["ß".toLocaleUpperCase("de"), "ΣΑΣ".toLocaleLowerCase(["en"]), "I".toLocaleLowerCase()].join()`:                                                "SS,σας,i",
	} {
		if got := e.run(t, program).String(); got != want {
			t.Errorf("%s\n got %s\nwant %s", program, got, want)
		}
	}
}

func TestLocaleRefuses(t *testing.T) {
	e := newEngine(t, jslib.Host{})
	for program, want := range map[string]string{
		`(1).toLocaleString("de-DE")`:                                                                `RangeError: formatting numbers for the locale "de-DE" is not supported here; use en-US`,
		`new Date(0).toLocaleDateString("fr-FR")`:                                                    `RangeError: formatting dates for the locale "fr-FR" is not supported here; use en-US, en-GB or toISOString()`,
		`new Date(0).toLocaleString("en-US", {timeZone: "Mars/One"})`:                                `RangeError: Invalid time zone specified: Mars/One`,
		`new Date(0).toLocaleString("en-US", {timeZone: "../../etc/passwd"})`:                        `RangeError: Invalid time zone specified: ../../etc/passwd`,
		`(1).toLocaleString("en-US", {style: "bogus"})`:                                              `RangeError: the value "bogus" is out of range for the option style; it can be decimal, percent, currency, unit`,
		`(1).toLocaleString("en-US", {style: "unit", unit: "parsec"})`:                               `RangeError: Invalid unit argument for Intl.NumberFormat() 'parsec'`,
		`(1).toLocaleString("en-IN")`:                                                                `RangeError: formatting numbers for the locale "en-IN" is not supported here; use en-US`,
		`[1].toLocaleString("de-DE")`:                                                                `RangeError: formatting numbers for the locale "de-DE" is not supported here; use en-US`,
		`new Uint8Array(1).toLocaleString("de-DE")`:                                                  `RangeError: formatting numbers for the locale "de-DE" is not supported here; use en-US`,
		`"I".toLocaleLowerCase("tr-TR")`:                                                             `RangeError: changing case for the language "tr" is not supported here; use toLowerCase() or toUpperCase()`,
		`"i".toLocaleUpperCase(["az"])`:                                                              `RangeError: changing case for the language "az" is not supported here; use toLowerCase() or toUpperCase()`,
		`"i".toLocaleUpperCase("a")`:                                                                 `RangeError: Incorrect locale information provided: a`,
		`"".toLocaleUpperCase.call(null)`:                                                            `TypeError: `,
		`(1).toLocaleString("en_US")`:                                                                `RangeError: Incorrect locale information provided: en_US`,
		`(1).toLocaleString("en-US", {numberingSystem: "arab"})`:                                     `RangeError: the numberingSystem "arab" is not supported here; leave it out`,
		`(1).toLocaleString("en-US", {roundingIncrement: 5})`:                                        `RangeError: the roundingIncrement "5" is not supported here; round the number first`,
		`(1).toLocaleString("en-US", {roundingPriority: "lessPrecision"})`:                           `RangeError: the roundingPriority "lessPrecision" is not supported here; leave it out`,
		`(1).toLocaleString("en-US", {style: "currency", currency: "IRR", currencyDisplay: "name"})`: `RangeError: the name of the currency "IRR" is not supported here; use currencyDisplay "code"`,
		`new Date(0).toLocaleDateString("en-US", {era: "short"})`:                                    `RangeError: the era "short" is not supported here; leave it out`,
		`new Date(0).toLocaleTimeString("en-US", {dayPeriod: "long"})`:                               `RangeError: the dayPeriod "long" is not supported here; leave it out`,
		`new Date(0).toLocaleDateString("en-US", {calendar: "buddhist"})`:                            `RangeError: the calendar "buddhist" is not supported here; leave it out`,
		`new Date(0).toLocaleDateString("en-US-u-ca-buddhist")`:                                      `RangeError: formatting dates for the locale "en-US-u-ca-buddhist" is not supported here; use en-US, en-GB or toISOString()`,
		`new Date(0).toLocaleDateString("en-AU")`:                                                    `RangeError: formatting dates for the locale "en-AU" is not supported here; use en-US, en-GB or toISOString()`,
		`new Date(0).toLocaleDateString("sv-SE", {month: "long", year: "numeric", day: "numeric"})`:  `RangeError: formatting more than numbers of dates for the locale "sv-SE" is not supported here; use en-US or en-GB`,
		`new Date(0).toLocaleDateString("en-US", {weekday: "long", year: "numeric"})`:                `RangeError: the combination of date parts "weekday year" is not supported here; add the parts between or format them one by one`,
		`new Date(0).toLocaleString("en-US", {timeZone: "Asia/Tehran", timeZoneName: "long"})`:       `RangeError: the long name of the time zone "Asia/Tehran" is not supported here; use timeZoneName "short" or "longOffset"`,
		`new Date(0).toLocaleString("en-US", {timeZoneName: "longGeneric"})`:                         `RangeError: the timeZoneName "longGeneric" is not supported here; use "short", "long" or "shortOffset"`,
		`new Date(0).toLocaleString("en-US", {dateStyle: "short", hour: "numeric"})`:                 `TypeError: Can't set option hour when dateStyle is used`,
		`new Date(0).toLocaleString("en-US", {timeZone: "Local"})`:                                   `RangeError: Invalid time zone specified: Local`,
		`new Intl.ListFormat("de")`:                                                                  `RangeError: Intl.ListFormat for the locale "de" is not supported here; use en-US`,
		`new Intl.RelativeTimeFormat("en-GB", {style: "short"})`:                                     `RangeError: the style "short" is not supported here for the locale "en-GB"; use en-US or the style "long"`,
		`(1).toLocaleString("en-US", {style: "currency"})`:                                           `TypeError: Currency code is required with currency style.`,
		`Number.prototype.toLocaleString.call("x")`:                                                  `TypeError: Number.prototype.toLocaleString needs a Number`,
	} {
		_, err := e.vm.RunString(program)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", program, err, want)
		}
	}
}
