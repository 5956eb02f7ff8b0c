package eventlog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// fullDisk lets room bytes through, then fails.
type fullDisk struct {
	to   io.Writer
	room int
}

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(d.room, len(b))
	d.room -= n
	if _, err := d.to.Write(b[:n]); err != nil {
		return 0, err
	}
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// TestFailedWrites: wherever in an event, or in the seal that follows it, a
// write breaks off, the log goes on and stays readable.
func TestFailedWrites(t *testing.T) {
	event := func(seq uint64) pipeline.Event {
		return pipeline.Event{Type: pipeline.EventToolCall, Seq: seq, Data: tools.MustJSON("{}")}
	}
	length := event(1).JSON().Len() + 1
	for _, first := range []int{0, 1, length / 2, length - 2, length - 1} {
		for second := 0; second < 120; second += 9 {
			path := filepath.Join(t.TempDir(), "log.jsonl")
			l, err := Open(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			disk := &fullDisk{to: l.file}
			l.out = disk
			emit := func(room int, e pipeline.Event) error {
				disk.room = room
				return l.Emit(e)
			}
			if err := emit(1<<20, event(0)); err != nil {
				t.Fatal(err)
			}
			if err := emit(first, event(1)); !errors.Is(err, errFull) {
				t.Fatalf("event 1 with %d bytes of room: error = %v", first, err)
			}
			written := emit(second, event(2)) == nil
			if err := emit(1<<20, event(3)); err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			c, err := ReadFile(path, nil)
			if err != nil {
				text, _ := os.ReadFile(path)
				t.Fatalf("room %d, then %d: %v in\n%s", first, second, err, text)
			}
			var got []uint64
			for _, e := range c.Events {
				got = append(got, e.Seq)
			}
			want := []uint64{0, 3}
			if written {
				want = []uint64{0, 2, 3}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("room %d, then %d (-want +got):\n%s", first, second, diff)
			}
		}
	}
}
