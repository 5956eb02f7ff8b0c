package jslib

import (
	"encoding/json"
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
