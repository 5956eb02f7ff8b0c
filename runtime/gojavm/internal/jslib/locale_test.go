package jslib_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

func TestLocaleIsNodes(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "locale.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct{ Expression, Want string }
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Cases) < 100 {
		t.Fatalf("only %d cases; see testdata/locale.mjs", len(golden.Cases))
	}
	e := newEngine(t, jslib.Host{})
	for _, tt := range golden.Cases {
		t.Run(tt.Expression, func(t *testing.T) {
			if got := e.run(t, tt.Expression).String(); got != tt.Want {
				t.Errorf("%s\n got %q\nwant %q", tt.Expression, got, tt.Want)
			}
		})
	}
}

func TestLocaleRefuses(t *testing.T) {
	e := newEngine(t, jslib.Host{})
	for program, want := range map[string]string{
		`(1).toLocaleString("de-DE")`:                                         `RangeError: formatting numbers for the locale "de-DE" is not supported here; use en-US`,
		`new Date(0).toLocaleDateString("fr-FR")`:                             `RangeError: formatting dates for the locale "fr-FR" is not supported here; use en-US, en-GB or toISOString()`,
		`new Date(0).toLocaleString("en-US", {timeZone: "Mars/One"})`:         `RangeError: Invalid time zone specified: Mars/One`,
		`new Date(0).toLocaleString("en-US", {timeZone: "../../etc/passwd"})`: `RangeError: Invalid time zone specified: ../../etc/passwd`,
		`(1).toLocaleString("en-US", {style: "unit", unit: "liter"})`:         `RangeError: the value "unit" is out of range for the option style; it can be decimal, percent, currency`,
		`(1).toLocaleString("en-US", {style: "currency"})`:                    `TypeError: Currency code is required with currency style.`,
		`Number.prototype.toLocaleString.call("x")`:                           `TypeError: Number.prototype.toLocaleString needs a Number`,
	} {
		_, err := e.vm.RunString(program)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", program, err, want)
		}
	}
}
