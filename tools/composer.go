package tools

import (
	"math"
	"strconv"
	"sync"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// Composer writes one JSON value piece by piece into one buffer, where
// ComposeObject would make a text of every part. What it writes is canonical,
// under the conditions of ComposeObject. The zero Composer is empty and ready for
// use; it is not safe for concurrent use.
//
// Every method that writes takes the name of the member; among the elements of an
// array and at the root names are not written.
type Composer struct {
	out  []byte
	open []byte // what closes the open containers, inner after outer
}

// Compose is the value that write composes. The Composer must not be kept.
func Compose(write func(*Composer)) JSON {
	c := composers.Get().(*Composer)
	write(c)
	value := c.JSON()
	if cap(c.out) <= mostKept {
		c.Reset()
		composers.Put(c)
	}
	return value
}

// composers keeps buffers between values. A value is copied out of its buffer, and
// the next one begins at its start.
var composers = sync.Pool{New: func() any { return new(Composer) }}

// mostKept is how large a buffer may be that is kept.
const mostKept = 64 << 10

// Reset makes c empty and keeps its memory.
func (c *Composer) Reset() { c.out, c.open = c.out[:0], c.open[:0] }

// JSON is what was written, its open containers closed; the zero JSON if nothing
// was.
func (c *Composer) JSON() JSON { return JSON{text: string(c.Bytes())} }

// Bytes is the text of JSON. It is valid until c is used again.
func (c *Composer) Bytes() []byte {
	for len(c.open) > 0 {
		c.End()
	}
	return c.out
}

// Object opens an object; End closes it.
func (c *Composer) Object(name string) { c.begin(name, '{', '}') }

// Array opens an array; End closes it.
func (c *Composer) Array(name string) { c.begin(name, '[', ']') }

func (c *Composer) begin(name string, opens, closes byte) {
	c.name(name)
	c.out = append(c.out, opens)
	c.open = append(c.open, closes)
}

// End closes the innermost open container.
func (c *Composer) End() {
	last := len(c.open) - 1
	c.out = append(c.out, c.open[last])
	c.open = c.open[:last]
}

// Value writes a value. As in ComposeObject and ComposeArray, the zero JSON is no
// member of an object, and null in an array.
func (c *Composer) Value(name string, value JSON) {
	if value.IsZero() {
		if !c.inArray() {
			return
		}
		value.text = "null"
	}
	c.name(name)
	c.out = append(c.out, value.text...)
}

// Text writes a string, as StringJSON does.
func (c *Composer) Text(name, text string) {
	c.name(name)
	c.out = jsonscan.AppendQuote(c.out, text)
}

// Int writes a whole number.
func (c *Composer) Int(name string, n int64) {
	c.name(name)
	c.out = strconv.AppendInt(c.out, n, 10)
}

// Uint writes a whole number that is not negative.
func (c *Composer) Uint(name string, n uint64) {
	c.name(name)
	c.out = strconv.AppendUint(c.out, n, 10)
}

// Float writes a number without an exponent, and null for what is no number in
// JSON.
func (c *Composer) Float(name string, f float64) {
	c.name(name)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		c.out = append(c.out, "null"...)
		return
	}
	c.out = strconv.AppendFloat(c.out, f, 'f', -1, 64)
}

// Bool writes true or false.
func (c *Composer) Bool(name string, b bool) {
	c.name(name)
	c.out = strconv.AppendBool(c.out, b)
}

func (c *Composer) inArray() bool { return len(c.open) > 0 && c.open[len(c.open)-1] == ']' }

// name writes what stands before a value.
func (c *Composer) name(name string) {
	if len(c.open) == 0 {
		return
	}
	// Only a container that was opened just now ends with its bracket.
	if last := c.out[len(c.out)-1]; last != '{' && last != '[' {
		c.out = append(c.out, ',')
	}
	if !c.inArray() {
		c.out = append(jsonscan.AppendQuote(c.out, name), ':')
	}
}
