package gojavm

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

// TestComparisonsOfSort holds the pairs that a comparator sees to those that it sees
// in Node: how many, and a hash of which, in which order.
func TestComparisonsOfSort(t *testing.T) {
	const program = `
let seed = 12345, calls = 0, seen = 0, order = 0
const random = n => { seed = seed * 16807 %% 2147483647; return seed %% n }
const hash = (h, x) => (h * 31 + x) %% 1000000007
const n = %d
const list = Array.from({ length: n }, (_, i) => ({ k: %s, i }))
list.sort((a, b) => { calls++; seen = hash(hash(seen, a.i), b.i); return %s })
for (const x of list) order = hash(order, x.i)
return [calls, seen, order].join()`
	const byKey, contradicting = "a.k - b.k", "random(3) - 1"
	rt := newRuntime(t, nil)
	for _, tt := range []struct {
		name       string
		n          int
		key        string
		comparator string
		want       string
	}{
		{"random numbers", 1_000, "random(12001)", byKey, "8646,156766316,254902395"},
		{"random numbers, contradicted", 1_000, "random(12001)", contradicting, "7296,291326736,199826987"},
		{"few numbers", 1_000, "random(5)", byKey, "5825,174350292,873429230"},
		{"few numbers, contradicted", 1_000, "random(5)", contradicting, "7296,291326736,199826987"},
		{"in order", 1_000, "i", byKey, "999,77384540,691508967"},
		{"in order, contradicted", 1_000, "i", contradicting, "7163,108945049,233941069"},
		{"falling", 1_000, "n - i", byKey, "999,77384540,833085962"},
		{"falling, contradicted", 1_000, "n - i", contradicting, "7163,108945049,233941069"},
		{"a saw", 1_000, "i % 100", byKey, "4594,99208010,143746716"},
		{"a saw, contradicted", 1_000, "i % 100", contradicting, "7163,108945049,233941069"},
		{"mostly in order", 1_000, "random(50) ? i : random(n)", byKey, "2881,629960134,483703198"},
		{"mostly in order, contradicted", 1_000, "random(50) ? i : random(n)", contradicting, "7280,343306819,855676336"},
		{"two halves", 1_000, "i < n / 2 ? i * 2 : (i - n / 2) * 2 + 1", byKey, "1998,778476937,760201282"},
		{"two halves, contradicted", 1_000, "i < n / 2 ? i * 2 : (i - n / 2) * 2 + 1", contradicting, "7163,108945049,233941069"},
		{"blocks in disorder", 1_000, "(i / 40 | 0) * 7919 % 1009 * 40 + i % 40", byKey, "3950,269126600,888506082"},
		{"blocks in disorder, contradicted", 1_000, "(i / 40 | 0) * 7919 % 1009 * 40 + i % 40", contradicting, "7163,108945049,233941069"},
		{"falling blocks", 1_000, "(n - i / 70 | 0) * 100 + i % 70", byKey, "3939,30664349,472443585"},
		{"falling blocks, contradicted", 1_000, "(n - i / 70 | 0) * 100 + i % 70", contradicting, "7163,108945049,233941069"},
		{"short", 20, "random(10)", byKey, "62,996302559,639635398"},
		{"short, contradicted", 20, "random(10)", contradicting, "58,699986088,253097515"},
		{"a run and one", 65, "random(100)", byKey, "308,261558559,765201845"},
		{"a run and one, contradicted", 65, "random(100)", contradicting, "275,502196714,782343755"},
		{"none", 0, "0", byKey, "0,0,0"},
		{"one", 1, "0", byKey, "0,0,0"},
		{"two", 2, "-i", byKey, "1,31,31"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := execute(t, rt, runtime.Request{Program: fmt.Sprintf(program, tt.n, tt.key, tt.comparator)})
			if res.Value != quoted(tt.want) {
				t.Errorf("%s (%+v), want %s", res.Value, res.Failure, tt.want)
			}
		})
	}
}

// element is an element that knows where it stood.
type element struct{ key, place int }

func elements(keys []byte) (list []element) {
	for i, key := range keys {
		list = append(list, element{int(key), i})
	}
	return list
}

// long are keys enough for runs, merges and gallops.
func long(key func(i int) byte) (keys []byte) {
	for i := range 2_000 {
		keys = append(keys, key(i))
	}
	return keys
}

func FuzzSortStable(f *testing.F) {
	f.Add([]byte{3, 1, 2, 1})
	f.Add(long(func(i int) byte { return byte(i * i * 7) }))
	f.Add(long(func(i int) byte { return byte(i / 100) }))
	f.Add(long(func(i int) byte { return byte(255 - i/10) }))
	f.Add(long(func(i int) byte { return byte(i % 90) }))
	f.Fuzz(func(t *testing.T, keys []byte) {
		list, want := elements(keys), elements(keys)
		asked := 0
		sortStable(list, func(x, y element) bool { asked++; return x.key < y.key }, func() {})
		slices.SortStableFunc(want, func(x, y element) int { return cmp.Compare(x.key, y.key) })
		if !slices.Equal(list, want) {
			t.Errorf("%v sorted: %v, want %v", keys, list, want)
		}
		if sorted := slices.IsSorted(keys); sorted && asked > len(keys) {
			t.Errorf("%d comparisons of %d elements in order", asked, len(keys))
		}
	})
}

// FuzzSortContradicted sorts by answers that have nothing to do with the elements:
// the sort ends, and loses none.
func FuzzSortContradicted(f *testing.F) {
	f.Add(uint64(1), 3, []byte{1})
	f.Add(uint64(0x5555555555555555), 500, []byte{0xff, 0, 0xff})
	f.Add(^uint64(0), 1_000, []byte{})
	f.Add(uint64(0), 1_000, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, seed uint64, n int, answers []byte) {
		list := elements(make([]byte, min(max(n, 0), 3_000)))
		asked := 0
		sortStable(list, func(x, y element) bool {
			asked++
			if at := asked / 8; at < len(answers) {
				return answers[at]>>(asked%8)&1 == 1
			}
			seed = seed*6364136223846793005 + 1442695040888963407
			return seed>>63 == 1
		}, func() {})
		slices.SortFunc(list, func(x, y element) int { return cmp.Compare(x.place, y.place) })
		for i, e := range list {
			if e.place != i {
				t.Fatalf("element %d is %d", i, e.place)
			}
		}
	})
}

// TestSortAsks holds the sort to looking around now and then.
func TestSortAsks(t *testing.T) {
	asked, compared := 0, 0
	list := elements(long(func(i int) byte { return byte(i * i * 7) }))
	sortStable(list, func(x, y element) bool { compared++; return x.key < y.key }, func() { asked++ })
	if asked != compared/askEvery || asked == 0 {
		t.Errorf("asked %d times in %d comparisons", asked, compared)
	}
}
