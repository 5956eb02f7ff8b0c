package jslib_test

import (
	"testing"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// The values are Node's.
func TestLocaleCompare(t *testing.T) {
	for _, tt := range []struct{ name, code, want string }{
		{"numeric", `return JSON.stringify(['v1.10', 'v1.9', 'v1.2'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })))`, `["v1.2","v1.9","v1.10"]`},
		{"not numeric", `return '10'.localeCompare('9')`, `-1`},
		{"base", `return JSON.stringify(['á', 'A', 'b'].map(x => 'a'.localeCompare(x, 'en', { sensitivity: 'base' })))`, `[0,0,-1]`},
		{"accent", `return JSON.stringify(['á', 'A'].map(x => 'a'.localeCompare(x, 'en', { sensitivity: 'accent' })))`, `[-1,0]`},
		{"case", `return JSON.stringify(['á', 'A'].map(x => 'a'.localeCompare(x, 'en', { sensitivity: 'case' })))`, `[0,-1]`},
		{"variant", `return JSON.stringify(['résumé', 'resume', 'Resume', 'Résumé'].sort((a, b) => a.localeCompare(b)))`, `["resume","Resume","résumé","Résumé"]`},
		{"numeric and base", `return JSON.stringify(['b10', 'b9', 'a1', 'A1', 'B9'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true, sensitivity: 'base' })))`, `["a1","A1","b9","B9","b10"]`},
		{"collator", `return new Intl.Collator('en', { sensitivity: 'base' }).compare('Straße', 'strasse') + JSON.stringify(['b10', 'b9'].sort(new Intl.Collator(undefined, { numeric: true }).compare))`, `0["b9","b10"]`},
		{"Swedish", `return ['z', 'ä', 'å', 'ö', 'a'].sort((a, b) => a.localeCompare(b, 'sv')).join()`, `a,z,å,ä,ö`},
		{"German", `return ['z', 'ä', 'ö', 'a', 'o'].sort(new Intl.Collator('de').compare).join()`, `a,ä,o,ö,z`},
		{"Norwegian", `return ['æ', 'ø', 'å', 'z'].sort(new Intl.Collator('nb').compare).join()`, `z,æ,ø,å`},
		{"Spanish", `return ['nz', 'ñ', 'o', 'n'].sort((a, b) => a.localeCompare(b, 'es-MX')).join()`, `n,nz,ñ,o`},
		{"Czech", `return ['ch', 'c', 'h', 'i', 'd'].sort((a, b) => a.localeCompare(b, 'cs')).join()`, `c,d,h,ch,i`},
		{"many locales", `for (const letter of 'abcdefghijklmnopqrstuvwxyz') 'a'.localeCompare('b', 'q' + letter); return 'b'.localeCompare('a')`, `1`},
		{"no locale", `try { 'a'.localeCompare('b', 'not_a_locale') } catch (e) { return e.name }`, `RangeError`},
		{"unknown sensitivity", `try { 'a'.localeCompare('b', 'en', { sensitivity: 'x' }) } catch (e) { return e.name }`, `RangeError`},
		{"what is not done is refused", `try { 'a'.localeCompare('b', 'en', { ignorePunctuation: true }) } catch (e) { return e.name }`, `RangeError`},
		{"undefined", `try { String.prototype.localeCompare.call(undefined, 'a') } catch (e) { return e.name }`, `TypeError`},
		{"name and length", `return String.prototype.localeCompare.name + String.prototype.localeCompare.length`, `localeCompare1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := newEngine(t, jslib.Host{}).settle(t, tt.code); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
