package gojavm

import (
	"regexp"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// One operator must not take the memory of the host.
func TestHugeBigInts(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ expression, what string }{
		{"1n << 2n ** 40n", "the shift"},
		{"2n ** (2n ** 40n)", "**"},
		{"(-3n) ** (2n ** 70n)", "**"},
		{"1n >> -(2n ** 40n)", "the shift"},
		{"(2n ** 70_000n) ** 70_000n", "**"},
		{"BigInt.asUintN(2 ** 45, -1n)", "BigInt.asUintN"},
		{"BigInt.asIntN(2 ** 45, 1n)", "BigInt.asIntN"},
		{"BigInt(2) ** BigInt(2 ** 40)", "**"},
		{"(() => { let x = 2n; x **= 2n ** 40n; return x })()", "**"},
		{"(() => { let x = 2n; x <<= 2n ** 40n; return x })()", "the shift"},
		{"(() => { const o = { x: 2n }; o.x **= 2n ** 40n; return o.x })()", "the shift"},
		{"0x2n ** 0x10000000000n", "**"},
		{"(n => n << n)(JSON.parse('9'.repeat(30)))", "the shift"},
		{"(n => n >> -n)(JSON.parse('9'.repeat(30)))", "the shift"},
		{"(n => n ** n)(JSON.parse('9'.repeat(30)))", "**"},
		{"(n => { n <<= n })(input)", "the shift"},
	} {
		f := execute(t, rt, runtime.Request{Input: "99999999999999999999", Program: "const a = 1\ntry {\n" + tc.expression + "\n} catch (e) { return 'caught' }"}).Failure
		if f == nil || f.Kind != runtime.MemoryLimit || !strings.HasPrefix(f.Message, tc.what+" would take about ") || f.Site.Line != 3 {
			t.Errorf("%s: %+v", tc.expression, f)
		}
	}
	for _, expression := range []string{"1n << 2n ** 27n", "2n ** 100_000_000n"} {
		res := execute(t, rt, runtime.Request{Program: "try {\n" + expression + "\n} catch (e) { return [e instanceof RangeError, e.message] }"})
		if want := `[true,"Maximum BigInt size exceeded (67108864 bits)"]`; res.Value != want {
			t.Errorf("%s: %s (%+v), want %s", expression, res.Value, res.Failure, want)
		}
	}
	f := execute(t, rt, runtime.Request{Program: "const a = 1n\nreturn a << 2n ** 27n"}).Failure
	if f == nil || f.Name != "RangeError" || f.Site.Line != 2 {
		t.Errorf("uncaught: %+v", f)
	}
}

// The engine's text alone does not help who never wrote a BigInt.
func TestMixedNumbersSayWhatToDo(t *testing.T) {
	rt := newRuntime(t, nil)
	const want = "Cannot mix BigInt and other types, use explicit conversions; a large integer is a BigInt: use Number(x) or String(x)"
	const mixed = "const r = await tools.echo({ n: 9007199254740993n })\n"
	if res := execute(t, rt, runtime.Request{Program: mixed + "try { return r.n + 1 } catch (e) { return e.message }"}); res.Value != quoted(want) {
		t.Errorf("caught: %s (%+v)", res.Value, res.Failure)
	}
	for _, program := range []string{mixed + "return r.n + 1", mixed + "try { return r.n + 1 } catch (e) { throw e }"} {
		if f := execute(t, rt, runtime.Request{Program: program}).Failure; f == nil || f.Message != "TypeError: "+want || f.Site.Line != 2 {
			t.Errorf("uncaught: %+v", f)
		}
	}
	program := "const out = [], { proxy, revoke } = Proxy.revocable({}, {}), odd = new Error('m')\nrevoke(); Object.defineProperty(odd, 'message', { get() { throw 1 } })\nfor (const x of ['text', 1, null, undefined, new Proxy({}, {}), Object.freeze(new Error('m')), { get message() { throw 1 } }, proxy, odd]) try { throw x } catch (e) { out.push(e === x) }\nreturn out"
	if res := execute(t, rt, runtime.Request{Program: program}); res.Value != "[true,true,true,true,true,true,true,true,true]" {
		t.Errorf("other values: %s (%+v)", res.Value, res.Failure)
	}
}

// The guards change no result.
func TestGuardedOperators(t *testing.T) {
	rt := newRuntime(t, nil)
	for expression, want := range map[string]string{
		"[2n ** 10n, 2 ** 10, 2 ** -1, (-2n) ** 3n, 0n ** 0n]":         "[1024,1024,0.5,-8,1]",
		"[1n << 70n, 1 << 31, -1 >>> 28, 5n >> 1n, 8 >> 1, 4n << -1n]": "[1180591620717411303424,-2147483648,15,2,4,2]",
		"1n ** 2n ** 100n": "1",
		"[5n >> 2n ** 64n, -5n >> 2n ** 40n, 5n << -(2n ** 64n), 5n >> 2n ** 27n, (n => (n >>= n, n))(2n ** 70n), 5n >> -1n]":  "[0,-1,0,0,0,10]",
		"(s => { let h = 0; for (const c of s) h = (h << 5) - h + c.charCodeAt(0) | 0; return h })('text') + (n => 1 << n)(4)": "3556669",
		"(f => [f(1, 33), f(-8, 1), f({ valueOf: () => 4 }, 1)])((a, b) => a << b)":                                            "[2,-16,8]",
		"(f => [f(-8, 33), f('9', 1)])((a, b) => a >> b)":                                                                      "[-4,4]",
		"2 ** 3 ** 2 + Number(0n)": "512",
		"(() => { let x = 2n; const y = (x **= 3n); x <<= 2n; x >>= 1n; return [x, y] })()":     "[16,8]",
		"(() => { const o = { x: 2 }; o.x **= 3; o['x'] <<= 1; return [o.x, 0n] })()":           "[16,0]",
		"(() => { let n = 0; const f = v => (n = n * 10 + v, v); f(2) ** f(3); return n })()+0": "23",
		"(() => { try { return 1n ** 1 } catch (e) { return e.constructor === TypeError } })()": "true",
		"(() => { try { return 1n << 1 } catch (e) { return e.constructor === TypeError } })()": "true",
		"(() => { const x = 2n; try { x **= 2n } catch (e) { return e.constructor.name } })()":  `"TypeError"`,
		"({ valueOf() { return 3n } }) ** 2n":                                                   "9",
		"[BigInt.asIntN(8, 255n), BigInt.asUintN(8, -1n)]":                                      "[-1,255]",
		"(2n ** 100_000n).toString(2).length":                                                   "100001",
	} {
		res := execute(t, rt, runtime.Request{Program: "return " + expression})
		if res.Failure != nil || res.Value != want {
			t.Errorf("%s: %s (%+v), want %s", expression, res.Value, res.Failure, want)
		}
	}
}

// bigIntText is what mayHoldBigInts looks for.
var bigIntText = regexp.MustCompile(`\b(?:[0-9][0-9_]*|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)n\b|BigInt`)

func FuzzMayHoldBigInts(f *testing.F) {
	for _, text := range []string{
		"", "n", "1n", "x = 1_000n", "0x1Fn", "0xn", "0x_n", "0o17n", "0o18n", "0b10n", "0b12n", "a1n", "1na", "1n$", "$1n", "_1n", "é1n", "1né", "12.5n",
		"in n", "len", "0Xfn", "new BigInt", "1 n", "09n", "0b10n 1nn", "(2n)", "0xenn", "00n", "1__n", "BigInt64Array",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := mayHoldBigInts(text), bigIntText.MatchString(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}
