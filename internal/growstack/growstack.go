// Package growstack makes room on the stack of a new goroutine at once.
//
// A goroutine begins with a stack of two kilobytes, which is doubled, and copied
// with all frames that are on it, whenever a call finds no room. One that goes
// deep at once pays for that twice or thrice, and each time for more frames.
package growstack

// size is what Grow makes room for, in bytes. With it a stack has eight kilobytes
// and no more: a call that waits keeps what it was given.
const size = 4 << 10

// Grow makes room for the frames of a call on its way to a tool. It is worth it as
// the first call of a goroutine that goes so deep, and of no use anywhere else.
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
