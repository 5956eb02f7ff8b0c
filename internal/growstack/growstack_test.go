package growstack

import (
	"runtime"
	"sync"
	"testing"
)

// TestGrow holds what a goroutine has after Grow: room for a call, and not twice
// that.
func TestGrow(t *testing.T) {
	const n = 2000
	var before, after runtime.MemStats
	release := make(chan struct{})
	var grown, all sync.WaitGroup
	runtime.GC()
	runtime.ReadMemStats(&before)
	grown.Add(n)
	for range n {
		all.Go(func() {
			Grow()
			grown.Done()
			<-release
		})
	}
	grown.Wait()
	runtime.ReadMemStats(&after)
	close(release)
	all.Wait()
	each := int(after.StackInuse-before.StackInuse) / n
	if each < 7<<10 || each > 12<<10 {
		t.Errorf("a goroutine holds %d bytes of stack after Grow, want about 8192", each)
	}
}

// BenchmarkDeep is a goroutine that goes as deep as a tool call does.
func BenchmarkDeep(b *testing.B) {
	for name, first := range map[string]func(){"grown=bit-by-bit": func() {}, "grown=at-once": Grow} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				done := make(chan int)
				go func() {
					first()
					done <- deep(40)
				}()
				<-done
			}
		})
	}
}

//go:noinline
func deep(n int) int {
	var frame [128]byte
	frame[n] = byte(n)
	if n == 0 {
		return int(frame[0])
	}
	return deep(n-1) + int(frame[n])
}
