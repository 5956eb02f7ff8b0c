package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"github.com/runcode-go/runcode/codemode"
)

func TestSize(t *testing.T) {
	for _, tc := range []struct {
		text string
		want size // 0: refused
	}{
		{"1", 1},
		{"65536", 65536},
		{"64k", 64 << 10},
		{"64K", 64 << 10},
		{"64KiB", 64 << 10},
		{"64kb", 64_000},
		{"64MiB", 64 << 20},
		{"64 MiB", 64 << 20},
		{"64mib", 64 << 20},
		{"64m", 64 << 20},
		{"64MB", 64_000_000},
		{"1.5GiB", 3 << 29},
		{"2g", 2 << 30},
		{"100B", 100},
		{"1e6", 1_000_000},
		{"", 0},
		{"0", 0},
		{"0.1", 0},
		{"-1", 0},
		{"-64MiB", 0},
		{"MiB", 0},
		{"64TiB", 0},
		{"64MiBs", 0},
		{"6 4", 0},
		{"9000000000GiB", 0},
		{"NaN", 0},
		{"Inf", 0},
		{"0x10", 0},
	} {
		t.Run(tc.text, func(t *testing.T) {
			var got size
			err := got.Set(tc.text)
			if got != tc.want || (err == nil) != (tc.want > 0) {
				t.Errorf("Set(%q) = %d, %v, want %d", tc.text, got, err, tc.want)
			}
		})
	}
}

func FuzzSize(f *testing.F) {
	f.Add("64MiB")
	f.Add("1e300")
	f.Fuzz(func(t *testing.T, text string) {
		var got size
		if err := got.Set(text); (err == nil) != (got > 0) {
			t.Errorf("Set(%q) = %d, %v: a size is positive, or refused", text, got, err)
		}
	})
}

func TestCountAndDuration(t *testing.T) {
	for _, tc := range []struct {
		text         string
		wantCount    count
		wantDuration duration
	}{
		{"100", 100, 0},
		{"1", 1, 0},
		{"0", 0, 0},
		{"-1", 0, 0},
		{"1.5", 0, 0},
		{"ten", 0, 0},
		{"", 0, 0},
		{"99999999999999999999", 0, 0},
		{"500ms", 0, duration(500 * time.Millisecond)},
		{"1m30s", 0, duration(90 * time.Second)},
		{"-1s", 0, 0},
		{"0s", 0, 0},
		{"5 s", 0, 0},
	} {
		t.Run(tc.text, func(t *testing.T) {
			var c count
			if err := c.Set(tc.text); c != tc.wantCount || (err == nil) != (tc.wantCount > 0) {
				t.Errorf("count.Set(%q) = %d, %v, want %d", tc.text, c, err, tc.wantCount)
			}
			var d duration
			if err := d.Set(tc.text); d != tc.wantDuration || (err == nil) != (tc.wantDuration > 0) {
				t.Errorf("duration.Set(%q) = %v, %v, want %v", tc.text, time.Duration(d), err, time.Duration(tc.wantDuration))
			}
		})
	}
}

// TestLimitFlags shows that each flag sets its own limit, and no flag none.
func TestLimitFlags(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want codemode.Limits
	}{
		{"none", nil, codemode.Limits{}},
		{"wall", []string{"--wall", "2m"}, codemode.Limits{Wall: 2 * time.Minute}},
		{"compute", []string{"--compute", "3s"}, codemode.Limits{Compute: 3 * time.Second}},
		{"calls", []string{"--max-calls", "7"}, codemode.Limits{Calls: 7}},
		{"output", []string{"--max-output", "1MiB"}, codemode.Limits{Output: 1 << 20}},
		{"heap", []string{"--heap", "64MiB"}, codemode.Limits{Heap: 64 << 20}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var f limitFlags
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			f.register(flags)
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, f.limits()); diff != "" {
				t.Errorf("limits differ (-want +got):\n%s", diff)
			}
		})
	}
}
