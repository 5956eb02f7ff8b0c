package growstack

import "testing"

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
