// Package growstack makes room on the stack of a new goroutine at once.
//
// A goroutine begins with a stack of two kilobytes, which is doubled, and copied
// with all frames that are on it, whenever a call finds no room. One that goes
// deep at once pays for that three or four times, and each time for more frames.
package growstack

// size is what Grow makes room for, in bytes: with it a stack becomes the largest
// that the allocator keeps a cache of.
const size = 8 << 10

// Grow makes room for calls some dozens deep. It is worth it as the first call of
// a goroutine that goes so deep, and of no use anywhere else.
//
//go:noinline
func Grow() {
	var room [size]byte
	use(&room)
}

// use keeps the compiler from leaving the array out.
//
//go:noinline
func use(*[size]byte) {}
