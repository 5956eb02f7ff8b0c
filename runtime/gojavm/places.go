package gojavm

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-sourcemap/sourcemap"

	"github.com/runcode-go/runcode/runtime"
)

// compiledName is the file of frames that are not the author's: esbuild's
// helpers and the wrapper around the program.
const compiledName = "runcode"

// places translates positions in compiled text to the author's. It is immutable.
type places struct {
	name     string // of the author's text
	consumer *sourcemap.Consumer
	written  bool // lines that the map does not hold are the author's own
}

// newPlaces makes a map with which the engine itself reports the author's
// places: esbuild's map counts columns from zero in UTF-16 code units and the
// wrapper's prefix as text, goja asks with columns from one in bytes, and people
// count characters from one.
func newPlaces(name string, source []string, compiled string, sourceMap []byte) (*places, error) {
	var m struct{ Mappings string }
	if err := json.Unmarshal(sourceMap, &m); err != nil {
		return nil, err
	}
	c := &converter{
		source:   source,
		rulers:   map[int]*ruler{},
		compiled: compiled,
	}
	c.convert(m.Mappings)
	text, err := json.Marshal(map[string]any{
		"version":  3,
		"sources":  []string{name, compiledName},
		"mappings": c.out.String(),
	})
	if err != nil {
		return nil, err
	}
	consumer, err := sourcemap.Parse("", text)
	return &places{name: name, consumer: consumer}, err
}

// at is the author's place for a position that the engine gave without knowing
// the map. False: esbuild's or the wrapper's own code.
func (p *places) at(line, column int) (runtime.Site, bool) {
	name, _, row, col, ok := p.consumer.Source(line, column)
	if !ok && p.written {
		return runtime.Site{Line: line, Column: column}, true
	}
	if !ok || name != p.name {
		return runtime.Site{}, false
	}
	return runtime.Site{Line: row, Column: col}, true
}

// segment is one entry of a source map, absolute.
type segment struct{ column, source, row, origin int }

// converter rewrites the mappings of a source map, segment by segment.
type converter struct {
	source   []string       // lines
	rulers   map[int]*ruler // of source
	compiled string         // what is left of it: the current line first
	out      bytes.Buffer
	in       segment // last read; its source is always the one there is
	last     segment // last written
}

func (c *converter) convert(mappings string) {
	for i, line := range strings.Split(mappings, ";") {
		if i > 0 {
			c.out.WriteByte(';')
			_, c.compiled, _ = strings.Cut(c.compiled, "\n")
		}
		c.in.column, c.last.column = 0, 0
		text, _, _ := strings.Cut(c.compiled, "\n")
		columns := newRuler(text, true)
		wrote := false
		for part := range strings.SplitSeq(line, ",") {
			if !c.read(part) {
				continue
			}
			if wrote {
				c.out.WriteByte(',')
			}
			wrote = true
			c.write(c.translated(columns))
		}
	}
}

// read decodes one segment; those without a source are left out.
func (c *converter) read(text string) bool {
	fields := [5]int{}
	n := 0
	for n < len(fields) && text != "" {
		fields[n], text = decodeVLQ(text)
		n++
	}
	if n == 0 {
		return false
	}
	c.in.column += fields[0]
	if n < 4 {
		return false
	}
	c.in.row += fields[2]
	c.in.origin += fields[3]
	return true
}

// translated is the last read segment in the units of goja and of people.
func (c *converter) translated(columns *ruler) segment {
	s := segment{column: columns.at(c.in.column) + 1, row: c.in.row}
	if s.row >= len(c.source) {
		s.source = 1
		return s
	}
	origin := c.in.origin
	if s.row == 0 {
		origin -= len(wrapPrefix)
		if origin < 0 {
			s.source = 1
			return s
		}
	}
	if c.rulers[s.row] == nil {
		c.rulers[s.row] = newRuler(c.source[s.row], false)
	}
	s.origin = c.rulers[s.row].at(origin) + 1
	return s
}

func (c *converter) write(s segment) {
	for _, delta := range [4]int{s.column - c.last.column, s.source - c.last.source, s.row - c.last.row, s.origin - c.last.origin} {
		encodeVLQ(&c.out, delta)
	}
	c.last = s
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

var base64Values = func() (values [256]byte) {
	for i := range len(base64Digits) {
		values[base64Digits[i]] = byte(i)
	}
	return values
}()

// decodeVLQ reads one number of a source map.
func decodeVLQ(text string) (int, string) {
	value, shift := 0, 0
	for i := range len(text) {
		digit := int(base64Values[text[i]])
		value |= (digit & 31) << shift
		shift += 5
		if digit&32 == 0 || shift > 50 {
			text = text[i+1:]
			break
		}
	}
	if value&1 != 0 {
		return -(value >> 1), text
	}
	return value >> 1, text
}

func encodeVLQ(out *bytes.Buffer, n int) {
	value := n << 1
	if n < 0 {
		value = -n<<1 | 1
	}
	for {
		digit := value & 31
		if value >>= 5; value > 0 {
			digit |= 32
		}
		out.WriteByte(base64Digits[digit])
		if value == 0 {
			return
		}
	}
}

// ruler converts offsets in UTF-16 code units of one line. An ASCII line needs no
// table; others get one at the first question, so that a long line costs no more
// than its length.
type ruler struct {
	length int
	table  []int32 // by code unit; nil: every offset is itself
}

// newRuler measures a line in characters, or in bytes.
func newRuler(line string, bytes bool) *ruler {
	r := &ruler{length: len(line)}
	if plainASCII(line) {
		return r
	}
	n := 0
	for i, c := range line {
		at := int32(n)
		if bytes {
			at = int32(i)
		}
		for range max(utf16.RuneLen(c), 1) {
			r.table = append(r.table, at)
		}
		n++
	}
	if !bytes {
		r.length = n
	}
	return r
}

func (r *ruler) at(units int) int {
	switch {
	case r.table == nil:
		return min(units, r.length)
	case units < len(r.table):
		return int(r.table[units])
	}
	return r.length
}

func plainASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
