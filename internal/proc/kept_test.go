package proc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKept(t *testing.T) {
	tests := []struct {
		name   string
		limit  int
		tail   bool
		pieces []string
		want   Output
	}{
		{"nothing", 4, true, nil, Output{}},
		{"beginning only", 4, false, []string{"abc", "def"}, Output{Head: "abcd", Size: 6}},
		{"all fits", 6, true, []string{"abc", "def"}, Output{Head: "abcdef", Size: 6}},
		{"one byte too many", 5, true, []string{"abc", "def"}, Output{Head: "abc", Tail: "ef", Size: 6}},
		{"byte by byte", 4, true, []string{"a", "b", "c", "d", "e", "f", "g"}, Output{Head: "ab", Tail: "fg", Size: 7}},
		{"one large piece", 4, true, []string{"abcdefghij"}, Output{Head: "ab", Tail: "ij", Size: 10}},
		{"a large piece behind a small one", 6, true, []string{"abcd", "efghijkl", "m"}, Output{Head: "abc", Tail: "klm", Size: 13}},
		{"no room for an end", 1, true, []string{"ab"}, Output{Head: "a", Size: 2}},
		{"no room", 0, true, []string{"ab"}, Output{Size: 2}},
		{"a negative limit", -1, false, []string{"ab"}, Output{Size: 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newKept(tt.limit, tt.tail)
			for _, piece := range tt.pieces {
				k.add([]byte(piece))
			}
			if diff := cmp.Diff(tt.want, k.output()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzKept compares what is kept of a stream that comes in pieces with what a
// look at the whole stream keeps.
func FuzzKept(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"), uint8(7), uint8(3))
	f.Add([]byte("abc"), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, stream []byte, limit, piece uint8) {
		k := newKept(int(limit), true)
		for rest := stream; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			k.add(rest[:n])
			rest = rest[n:]
		}
		want := Output{Head: string(stream), Size: int64(len(stream))}
		if half := int(limit) / 2; len(stream) > int(limit) {
			want.Head, want.Tail = string(stream[:int(limit)-half]), string(stream[len(stream)-half:])
		}
		if diff := cmp.Diff(want, k.output()); diff != "" {
			t.Errorf("output (-want +got):\n%s", diff)
		}
		if held := cap(k.head) + cap(k.tail); held > 4*(int(limit)+16) {
			t.Errorf("holds %d bytes to keep %d", held, limit)
		}
	})
}
