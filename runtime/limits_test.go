package runtime

import (
	"strings"
	"testing"
	"time"
)

func TestLimitsDefaults(t *testing.T) {
	got, err := Limits{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	want := Limits{
		Wall: 10 * time.Minute, Compute: time.Minute, Heap: got.Heap, Source: 256 << 10, Nesting: 500, Chain: 2_000,
		Output: 64 << 20, Calls: 10_000, Argument: 4 << 20, Result: 16 << 20, ResultNodes: 1_000_000, Bytes: 64 << 20,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.Heap <= 0 || got.Heap > 512<<20 {
		t.Errorf("the default heap is %d bytes", got.Heap)
	}
}

func TestLimitsRefused(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits Limits
		want   string // in the error; empty: accepted
	}{
		{"longest wall", Limits{Wall: 2_147_483_647 * time.Millisecond}, ""},
		{"smallest output", Limits{Output: 4}, ""},
		{"wall too long", Limits{Wall: 2_147_483_648 * time.Millisecond}, "wall"},
		{"negative wall", Limits{Wall: -1}, "wall"},
		{"negative compute", Limits{Compute: -1}, "compute"},
		{"negative heap", Limits{Heap: -1}, "heap"},
		{"negative source", Limits{Source: -1}, "source"},
		{"negative nesting", Limits{Nesting: -1}, "nesting"},
		{"negative chain", Limits{Chain: -1}, "chain"},
		{"output too small", Limits{Output: 3}, "output"},
		{"negative calls", Limits{Calls: -1}, "calls"},
		{"negative argument", Limits{Argument: -1}, "argument"},
		{"negative result", Limits{Result: -1}, "result"},
		{"negative nodes", Limits{ResultNodes: -1}, "result nodes"},
		{"negative bytes", Limits{Bytes: -1}, "bytes"},
		{"negative depth", Limits{Depth: -1}, "depth"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := tc.limits.WithDefaults()
			if tc.want == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), "limit "+tc.want+" ")) {
				t.Errorf("error %v, want one about %q", err, tc.want)
			}
		})
	}
}

func TestCgroupLimit(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no groups", nil, 0},
		{"unlimited", map[string]string{"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n"}, 0},
		{"own group", map[string]string{"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "1048576\n"}, 1 << 20},
		{"parent is tighter", map[string]string{
			"/proc/self/cgroup":                   "0::/a/b\n",
			"/sys/fs/cgroup/a/b/memory.max":       "4096\n",
			"/sys/fs/cgroup/a/memory.max":         "2048\n",
			"/sys/fs/cgroup/memory.max":           "max\n",
			"/sys/fs/cgroup/other/a/b/memory.max": "1\n",
		}, 2048},
		{"version 1", map[string]string{
			"/proc/self/cgroup":                           "5:memory:/x\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "8192\n",
		}, 8192},
		{"version 1 unlimited", map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		{"nonsense", map[string]string{"/proc/self/cgroup": "0::/../..\nx\n", "/sys/fs/cgroup/memory.max": "many\n"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := cgroupLimit(func(name string) string { return tc.files[name] }); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func TestHeapWithin(t *testing.T) {
	for _, tc := range []struct{ limit, want int64 }{
		{0, 512 << 20}, {8 << 30, 512 << 20}, {1 << 30, 256 << 20}, {64 << 20, 32 << 20},
	} {
		if got := heapWithin(tc.limit); got != tc.want {
			t.Errorf("limit %d: heap %d, want %d", tc.limit, got, tc.want)
		}
	}
}
