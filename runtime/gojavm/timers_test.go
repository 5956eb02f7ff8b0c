package gojavm

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

func TestTimers(t *testing.T) {
	for _, tc := range []struct {
		name, code, want string
		wall             time.Duration
	}{
		{"by time, then by order", "const out = []; for (const [n, ms] of [['a', 20], ['b', 10], ['c', 10]]) setTimeout(() => out.push(n), ms); await new Promise(r => setTimeout(r, 30)); return out", `["b","c","a"]`, 30 * time.Millisecond},
		{"arguments", "return await new Promise(r => setTimeout((a, b) => r([a, b]), 5, 1, 'x'))", `[1,"x"]`, 5 * time.Millisecond},
		{"immediate", "return await new Promise(r => setImmediate((...a) => r(a), 1, 2))", `[1,2]`, 0},
		{"interval cleared by itself", "let n = 0; await new Promise(r => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); r() } }, 10) }); return n", `3`, 30 * time.Millisecond},
		{"cleared before", "let n = 0; const t = setTimeout(() => n++, 5); clearTimeout(t); clearTimeout(t); clearTimeout(undefined); await new Promise(r => setTimeout(r, 20)); return n", `0`, 20 * time.Millisecond},
		{"odd delays are one millisecond", "await Promise.all([0, -5, NaN, 'x', 2 ** 31, undefined].map(ms => new Promise(r => setTimeout(r, ms)))); return 1", `1`, time.Millisecond},
		{"text delay", "await new Promise(r => setTimeout(r, '25')); return 1", `1`, 25 * time.Millisecond},
		{"jobs run between timers", "const out = []; setTimeout(() => { out.push(1); Promise.resolve().then(() => out.push(2)) }, 1); setTimeout(() => out.push(3), 1); await new Promise(r => setTimeout(r, 5)); return out", `[1,2,3]`, 5 * time.Millisecond},
		{"left at the end", "setInterval(() => {}, 1); setTimeout(() => {}, 3.6e6); return 1", `1`, 0},
		{"no function", "try { setTimeout('x', 1) } catch (e) { return [e.name, e.message] }", `["TypeError","setTimeout needs a function as its first argument"]`, 0},
		{"too many", "let n = 0; try { for (;;) { setTimeout(() => {}, 1e6); n++ } } catch (e) { return [n, e.name] }", `[100000,"TypeError"]`, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt, err := New(nil)
				if err != nil {
					t.Fatal(err)
				}
				res, err := rt.Run(t.Context(), runtime.Request{Program: tc.code})
				if err != nil || res.Failure != nil || res.Value != tc.want {
					t.Errorf("%s (%+v, %v), want %s", res.Value, res.Failure, err, tc.want)
				}
				if res.Usage.Wall != tc.wall {
					t.Errorf("took %v, want %v", res.Usage.Wall, tc.wall)
				}
			})
		})
	}
}
