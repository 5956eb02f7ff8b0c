package worker

import (
	"context"
	"net"
	goruntime "runtime"
	"testing"

	"github.com/runcode-go/runcode/runtime"
)

func TestPercentFor(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		name        string
		found, room int64
		want        int
	}{
		{"nothing found", 0, mostGarbage, 1000},
		{"next to nothing", mb, mostGarbage, 1000},
		{"little", 4 * mb, mostGarbage, 400},
		{"as much as the room", mostGarbage, mostGarbage, 100},
		{"more", 1000 * mb, mostGarbage, 100},
		{"no room", 4 * mb, 0, 100},
		{"little room", 4 * mb, mb, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := percentFor(tt.found, tt.room); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}

// The goal is set for each limit and follows what collections find.
func TestPacer(t *testing.T) {
	goruntime.GC() // what other tests left
	set := make(chan int, 1000)
	p := &pacer{set: func(percent int) { set <- percent }}
	defer p.end()
	until := func(fits func(percent int) bool) { // collections come when they will
		for !fits(<-set) {
		}
	}
	p.limit(1 << 30)
	p.await()
	until(func(percent int) bool { return percent > 100 })
	p.limit(16 << 20) // with room for a megabyte
	until(func(percent int) bool { return percent == 100 })
	p.limit(1 << 30)
	until(func(percent int) bool { return percent > 100 })
	held := make([]byte, 4*mostGarbage)
	goruntime.GC()
	until(func(percent int) bool { return percent == 100 })
	goruntime.KeepAlive(held)
	held = nil
	goruntime.GC()
	until(func(percent int) bool { return percent > 100 })
}

// A worker's pacer hears of the limit of each run.
func TestServerPaces(t *testing.T) {
	set := make(chan int, 10)
	s := newServer(newLink(discarded{}), engineFunc(func(context.Context, runtime.Request) (runtime.Result, error) {
		return runtime.Result{}, nil
	}))
	s.pace = &pacer{set: func(percent int) { set <- percent }}
	if err := s.begin(frame{kind: kindRun, meta: packed(runMeta{Parallel: 1, Limits: runtime.Limits{Heap: 512 << 20}})}); err != nil {
		t.Fatal(err)
	}
	<-set
	if s.pace.room != mostGarbage {
		t.Errorf("room for %d bytes, want %d", s.pace.room, mostGarbage)
	}
}

// discarded is a connection that takes everything and gives nothing.
type discarded struct{ net.Conn }

func (discarded) Write(p []byte) (int, error) { return len(p), nil }
