package worker

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// filledLimits are limits of which no two fields are equal.
func filledLimits() (l runtime.Limits) {
	fields := reflect.ValueOf(&l).Elem()
	for i := range fields.NumField() {
		fields.Field(i).SetInt(int64(i+1) * 1_000_003)
	}
	return l
}

func TestRunMetaRoundTrip(t *testing.T) {
	seed := uint64(math.MaxUint64)
	for name, want := range map[string]runMeta{
		"zero":   {},
		"limits": {Limits: filledLimits()},
		"most":   {Limits: runtime.Limits{Wall: runtime.MaxWall, Heap: math.MaxInt64, Source: math.MaxInt}, Parallel: math.MaxInt, Program: math.MaxInt},
		"flags":  {Clock: true},
		"check":  {CheckOnly: true},
		"all": {
			Name: "a \xff\x00 name", Program: 12, Limits: filledLimits(), Parallel: 3, Clock: true, Seed: &seed, CheckOnly: true,
			Namespaces: []namespaceMeta{
				{Place: 2, Known: true},
				{Place: 1, Global: "tools", Class: runtime.ErrorClass{Name: "ToolCallError", Property: "toolName"}, Members: []runtime.Member{{Name: "__proto__"}, {Name: "ü \xed\xa0\x80", Path: []string{"deep", ""}}}},
				{Global: "empty"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := want.pack()
			var got runMeta
			if err := got.unpack(frame{kind: kindRun, meta: text}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			for n := range len(text) {
				if err := new(runMeta).unpack(frame{kind: kindRun, meta: text[:n]}); err == nil {
					t.Errorf("cut after %d of %d bytes it passes", n, len(text))
				}
			}
			if err := new(runMeta).unpack(frame{kind: kindRun, meta: text + "\x00"}); err == nil {
				t.Error("with a byte more it passes")
			}
		})
	}
}

func TestCallMetaRoundTrip(t *testing.T) {
	for _, want := range []callMeta{{}, {0, 49, 1, 64}, {-1, -2, -3, -4}, {math.MaxInt, math.MinInt, 63, 128}} {
		var got callMeta
		if err := got.unpack(frame{kind: kindCall, meta: want.pack()}); err != nil || got != want {
			t.Errorf("%v %v, want %v", got, err, want)
		}
	}
}

func TestUnpackFaults(t *testing.T) {
	long := strings.Repeat("\xff", 9)
	for _, tt := range []struct {
		name, text string
		read       func(*unpacker)
	}{
		{"no number", "", func(u *unpacker) { u.number() }},
		{"half a number", "\x80", func(u *unpacker) { u.number() }},
		{"number of 65 bits", long + "\x02", func(u *unpacker) { u.number() }},
		{"number of eleven bytes", long + "\x80\x00", func(u *unpacker) { u.number() }},
		{"text longer than the rest", "\x03ab", func(u *unpacker) { u.text() }},
		{"length beyond an int", long + "\x01", func(u *unpacker) { u.text() }},
		{"more parts than bytes", "\x02x", func(u *unpacker) { u.count() }},
		{"flag that is neither", "\x02", func(u *unpacker) { u.flag() }},
		{"no flag", "", func(u *unpacker) { u.flag() }},
		{"seven bytes of eight", "1234567", func(u *unpacker) { u.bits() }},
		{"after a fault", "\x02\x00", func(u *unpacker) { u.flag(); u.flag() }},
		{"something left", "\x00\x00", func(u *unpacker) { u.flag() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := &unpacker{rest: tt.text}
			tt.read(u)
			var f *fault
			if err := u.close(kindRun); !errors.As(err, &f) || f.text != "malformed run frame" {
				t.Errorf("%v, want a fault", err)
			}
		})
	}
}

// FuzzRunMeta has a worker read what is no run: it is a fault or what packs to a text
// that says the same, and takes no more memory than a multiple of what was sent.
func FuzzRunMeta(f *testing.F) {
	seed := uint64(7)
	f.Add((&runMeta{Name: "x.ts", Limits: filledLimits(), Parallel: 1, Seed: &seed, Namespaces: []namespaceMeta{{Global: "tools", Members: []runtime.Member{{Name: "a", Path: []string{"b", "c"}}}}}}).pack())
	f.Add((&runMeta{Parallel: 1, Namespaces: []namespaceMeta{{Place: 1, Known: true}}}).pack())
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
	f.Fuzz(func(t *testing.T, text string) {
		var m, again runMeta
		if m.unpack(frame{kind: kindRun, meta: text}) != nil {
			return
		}
		if err := again.unpack(frame{kind: kindRun, meta: m.pack()}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatal(diff)
		}
		if len(m.Namespaces) > len(text) {
			t.Fatalf("%d namespaces in %d bytes", len(m.Namespaces), len(text))
		}
	})
}

// FuzzCallMeta has a parent read what points at no call.
func FuzzCallMeta(f *testing.F) {
	f.Add(callMeta{0, 1, 2, 3}.pack())
	f.Add("\x80\x00\x00\x00\x00")
	f.Fuzz(func(t *testing.T, text string) {
		var m, again callMeta
		if m.unpack(frame{kind: kindCall, meta: text}) == nil && (again.unpack(frame{kind: kindCall, meta: m.pack()}) != nil || again != m) {
			t.Fatalf("%v became %v", m, again)
		}
	})
}
