package gojavm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-sourcemap/sourcemap"

	"github.com/runcode-go/runcode/runtime"
)

// compiledName is the file of frames that are not the author's: esbuild's
// helpers and the wrapper around the program.
const compiledName = "runcode"

// places translates positions in compiled text to the author's. It is immutable
// and safe for concurrent use.
type places struct {
	name string // of the author's text
	// consumer is the map with which the engine itself reports the author's places.
	// It is made when it is asked for first: a program that is only checked may have
	// no use for it.
	consumer func() *sourcemap.Consumer
	written  bool // lines that the map does not hold are the author's own
}

// newPlaces makes places of esbuild's map.
func newPlaces(name string, source []string, compiled string, sourceMap []byte) (*places, error) {
	_, rest, found := bytes.Cut(sourceMap, []byte(`"mappings": "`))
	mappings, _, ended := bytes.Cut(rest, []byte(`"`))
	if !found || !ended {
		return nil, errors.New("it has no mappings")
	}
	return &places{name: name, consumer: sync.OnceValue(func() *sourcemap.Consumer {
		consumer, err := sourcemap.Parse("", translatedMap(name, source, compiled, string(mappings)))
		if err != nil {
			panic(fmt.Errorf("the compiler's source map is broken: %w", err))
		}
		return consumer
	})}, nil
}

// at is the author's place for a position that the engine gave without knowing
// the map. False: esbuild's or the wrapper's own code.
func (p *places) at(line, column int) (runtime.Site, bool) {
	name, _, row, col, ok := p.consumer().Source(line, column)
	if !ok && p.written {
		return runtime.Site{Line: line, Column: column}, true
	}
	if !ok || name != p.name {
		return runtime.Site{}, false
	}
	return runtime.Site{Line: row, Column: col}, true
}

// translatedMap is a source map in the units of the engine and of people: esbuild's
// counts columns from zero in UTF-16 code units and the wrapper's prefix as text,
// goja asks with columns from one in bytes, and people count characters from one.
func translatedMap(name string, source []string, compiled, mappings string) []byte {
	names, _ := json.Marshal([]string{name, compiledName}) // texts can always be JSON
	c := &converter{
		source:   source,
		rulers:   make([]ruler, len(source)),
		compiled: compiled,
		mappings: mappings,
		out:      make([]byte, 0, len(names)+len(mappings)+64),
	}
	c.out = append(append(append(c.out, `{"version":3,"sources":`...), names...), `,"mappings":"`...)
	c.convert()
	return append(c.out, `"}`...)
}

// segment is one entry of a source map, absolute.
type segment struct{ column, source, row, origin int }

// converter rewrites the mappings of a source map, segment by segment.
type converter struct {
	source   []string // lines
	rulers   []ruler  // of source, made when they are needed first
	compiled string   // what is left of it: the current line first
	mappings string
	at       int // the next byte of them
	out      []byte
	in       segment // last read; its source is always the one there is
	last     segment // last written
}

func (c *converter) convert() {
	for c.line(); c.at < len(c.mappings); c.line() {
		c.at++ // the semicolon
		c.out = append(c.out, ';')
	}
}

// line converts the mappings of one line.
func (c *converter) line() {
	var text string
	text, c.compiled, _ = strings.Cut(c.compiled, "\n")
	columns := newRuler(text, true)
	c.in.column, c.last.column = 0, 0
	for wrote := false; c.more(); {
		if c.mappings[c.at] == ',' {
			c.at++
		} else if c.read() {
			if wrote {
				c.out = append(c.out, ',')
			}
			wrote = true
			c.write(c.translated(&columns))
		}
	}
}

// more says whether the line goes on.
func (c *converter) more() bool { return c.at < len(c.mappings) && c.mappings[c.at] != ';' }

// read decodes one segment; those without a source are left out.
func (c *converter) read() bool {
	fields := [5]int{}
	n := 0
	for n < len(fields) && c.more() && c.mappings[c.at] != ',' {
		fields[n], c.at = decodeVLQ(c.mappings, c.at)
		n++
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
	if !c.rulers[s.row].made {
		c.rulers[s.row] = newRuler(c.source[s.row], false)
	}
	s.origin = c.rulers[s.row].at(origin) + 1
	return s
}

func (c *converter) write(s segment) {
	out := appendVLQ(c.out, s.column-c.last.column)
	out = appendVLQ(out, s.source-c.last.source)
	out = appendVLQ(out, s.row-c.last.row)
	c.out = appendVLQ(out, s.origin-c.last.origin)
	c.last = s
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

var base64Values = func() (values [256]byte) {
	for i := range len(base64Digits) {
		values[base64Digits[i]] = byte(i)
	}
	return values
}()

// decodeVLQ reads the number of a source map that begins at an offset, and gives
// the offset after it.
func decodeVLQ(text string, at int) (n, end int) {
	value, shift := 0, 0
	for more := true; more && at < len(text); at++ {
		digit := int(base64Values[text[at]])
		value |= (digit & 31) << shift
		shift += 5
		more = digit&32 != 0 && shift <= 50
	}
	if value&1 != 0 {
		return -(value >> 1), at
	}
	return value >> 1, at
}

func appendVLQ(out []byte, n int) []byte {
	value := n << 1
	if n < 0 {
		value = -n<<1 | 1
	}
	for value > 31 {
		out = append(out, base64Digits[value&31|32])
		value >>= 5
	}
	return append(out, base64Digits[value])
}

// ruler converts offsets in UTF-16 code units of one line. An ASCII line needs no
// table.
type ruler struct {
	made   bool
	length int
	table  []int32 // by code unit; nil: every offset is itself
}

// newRuler measures a line in characters, or in bytes.
func newRuler(line string, bytes bool) ruler {
	r := ruler{made: true, length: len(line)}
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
