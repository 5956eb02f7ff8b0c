package jsvalue

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// Defaults of the options' bounds. MaxDepth is also the most either direction
// accepts.
const (
	MaxDepth     = jsonscan.MaxDepth
	DefaultBytes = 64 << 20
	DefaultNodes = 10_000_000
)

// EncodeOptions bounds one Encode. Zero fields take the defaults.
type EncodeOptions struct {
	Root   string // label of the value in paths: "args", "result"; empty: paths begin with the first key
	Bytes  int    // longest text
	Nodes  int    // most values, the root included
	Depth  int    // most containers inside one another, at most MaxDepth
	Errors bool   // write an Error as {name, message} and its own plain data
	// Stop is asked every few thousand values; true ends the walk with
	// ErrStopped. It may be nil.
	Stop func() bool
	// Prototypes are those of the engine, kept for many walks; nil: they are
	// looked up.
	Prototypes *Prototypes
}

// Prototypes are an engine's own prototypes of plain objects and arrays, whatever
// its globals say by now.
type Prototypes struct{ object, array *goja.Object }

// PrototypesOf looks up the prototypes of an engine.
func PrototypesOf(vm *goja.Runtime) *Prototypes {
	return &Prototypes{object: vm.NewObject().Prototype(), array: vm.NewArray().Prototype()}
}

// stopEvery is how many values are written or read between two calls of Stop.
const stopEvery = 2048

// Encode writes v as canonical JSON text: compact, keys in the engine's order,
// numbers as ECMA-262 prints them except that -0 is "-0", BigInts as integers,
// unpaired surrogates as \udXXX escapes. A Date becomes its ISO string, a
// JSON.rawJSON object its text, the match of a regular expression the array of its
// texts. A property whose value is undefined is left out; undefined as the root
// gives "".
//
// What JSON cannot hold is refused with an *Error that has its path. Getters
// run at most once for each place of their object in the text; what one throws
// is an *Error too, an interrupt is returned as the *goja.InterruptedError it is
// (see Uncatchable). A large part that is shared is read once, so that a small
// graph that stands for a huge text is refused at once.
func Encode(vm *goja.Runtime, v goja.Value, o EncodeOptions) (text string, err error) {
	if v == nil || goja.IsUndefined(v) {
		return "", nil
	}
	e := newEncoder(vm, o)
	defer func() {
		if x := recover(); x != nil {
			text, err = "", recovered(x)
		}
	}()
	if ex := vm.Try(func() { err = e.walk(v) }); ex != nil {
		return "", &Error{Path: e.path(), Problem: "threw while it was read: " + thrown(vm, ex), cause: ex}
	}
	if err != nil {
		return "", err
	}
	return string(e.out), nil
}

func newEncoder(vm *goja.Runtime, o EncodeOptions) *encoder {
	if o.Bytes <= 0 {
		o.Bytes = DefaultBytes
	}
	if o.Nodes <= 0 {
		o.Nodes = DefaultNodes
	}
	if o.Depth <= 0 || o.Depth > MaxDepth {
		o.Depth = MaxDepth
	}
	if o.Prototypes == nil {
		o.Prototypes = PrototypesOf(vm)
	}
	return &encoder{vm: vm, o: o}
}

// encoder is one walk. Its stack stands for the recursion.
type encoder struct {
	vm    *goja.Runtime
	o     EncodeOptions
	out   []byte
	nodes int
	stack []frame
	deep  map[*goja.Object]struct{} // containers on the path below shallow
	done  map[*goja.Object]written  // large containers that are in the text
}

// written is a container whose text is out.
type written struct{ start, end, nodes, height int }

// A container of so many values is remembered, and so many are.
const (
	sharedNodes = 32
	maxShared   = 100_000
)

// frame is a container that is being written.
type frame struct {
	object  *goja.Object
	array   bool
	wrote   bool         // a member is out, so the next needs a comma
	next    int          // index of the next key or element
	length  int          // of an array
	own     int          // of an array: elements before the first hole, through which a prototype's would show
	keys    []string     // of an object
	values  []goja.Value // of an object whose values were read at once
	present string       // the key being written
	start   int          // where its text begins
	nodes   int          // values written before it
	height  int          // containers inside one another below it
}

// shallow is the depth up to which a linear search for cycles is cheapest.
const shallow = 24

func (e *encoder) walk(v goja.Value) error {
	if err := e.value(v); err != nil {
		return err
	}
	for len(e.stack) > 0 {
		f := &e.stack[len(e.stack)-1]
		var err error
		if f.array {
			err = e.element(f)
		} else {
			err = e.member(f)
		}
		if err != nil {
			return err
		}
	}
	if len(e.out) > e.o.Bytes {
		return e.tooLong()
	}
	return nil
}

func (e *encoder) element(f *frame) error {
	if f.next == f.length {
		e.pop(']')
		return nil
	}
	i := f.next
	f.next++
	var item goja.Value
	if i < f.own {
		item = f.object.Get(strconv.Itoa(i))
	}
	if item == nil {
		return e.refuse("is a hole in an array; fill it or filter the array")
	}
	if f.wrote {
		e.out = append(e.out, ',')
	}
	f.wrote = true
	return e.value(item)
}

func (e *encoder) member(f *frame) error {
	if f.next == len(f.keys) {
		e.pop('}')
		return nil
	}
	key := f.keys[f.next]
	f.present = key
	var item goja.Value
	if f.values != nil {
		item = f.values[f.next]
	} else {
		item = f.object.Get(key)
	}
	f.next++
	if item == nil || goja.IsUndefined(item) {
		return nil
	}
	if f.wrote {
		e.out = append(e.out, ',')
	}
	f.wrote = true
	e.out = append(jsonscan.AppendQuote(e.out, key), ':')
	return e.value(item)
}

func (e *encoder) pop(end byte) {
	last := len(e.stack) - 1
	if last >= shallow {
		delete(e.deep, e.stack[last].object)
	}
	f := e.stack[last]
	e.stack[last] = frame{}
	e.stack = e.stack[:last]
	e.out = append(e.out, end)
	if last > 0 {
		e.stack[last-1].height = max(e.stack[last-1].height, f.height+1)
	}
	if e.nodes-f.nodes >= sharedNodes && len(e.done) < maxShared {
		if e.done == nil {
			e.done = map[*goja.Object]written{}
		}
		e.done[f.object] = written{f.start, len(e.out), e.nodes - f.nodes, f.height}
	}
}

// repeat writes a container that is in the text already once more. It cannot
// hold a cycle: that would have been found the first time.
func (e *encoder) repeat(o *goja.Object) (done bool, err error) {
	w, ok := e.done[o]
	if !ok || len(e.stack)+w.height >= e.o.Depth {
		return false, nil // too deep here, which the walk says with its path
	}
	if len(e.out)+w.end-w.start > e.o.Bytes {
		return true, e.tooLong()
	}
	if e.nodes += w.nodes; e.nodes > e.o.Nodes {
		return true, e.tooMany()
	}
	e.out = append(e.out, e.out[w.start:w.end]...)
	if last := len(e.stack) - 1; last >= 0 {
		e.stack[last].height = max(e.stack[last].height, w.height+1)
	}
	return true, nil
}

func (e *encoder) push(f frame) error {
	if len(e.stack) >= e.o.Depth {
		return e.limit(LimitDepth, "is nested deeper than %d levels", e.o.Depth)
	}
	if len(e.stack) >= shallow {
		if e.deep == nil {
			e.deep = map[*goja.Object]struct{}{}
		}
		e.deep[f.object] = struct{}{}
	}
	f.start, f.nodes = len(e.out), e.nodes
	if f.array {
		e.out = append(e.out, '[')
	} else {
		e.out = append(e.out, '{')
	}
	e.stack = append(e.stack, f)
	return nil
}

func (e *encoder) onPath(o *goja.Object) bool {
	for i := range min(len(e.stack), shallow) {
		if e.stack[i].object == o {
			return true
		}
	}
	_, ok := e.deep[o]
	return ok
}

// value writes a primitive, or begins a container.
func (e *encoder) value(v goja.Value) error {
	e.nodes++
	if e.nodes > e.o.Nodes {
		return e.tooMany()
	}
	if len(e.out) > e.o.Bytes {
		return e.tooLong()
	}
	if e.nodes%stopEvery == 0 && e.o.Stop != nil && e.o.Stop() {
		return ErrStopped
	}
	switch v := v.(type) {
	case *goja.Object:
		return e.object(v)
	case goja.String:
		return e.string(v)
	case *goja.Symbol:
		return e.refuse("is a symbol")
	}
	switch {
	case goja.IsUndefined(v):
		return e.refuse("is undefined; use null or leave it out")
	case goja.IsNull(v):
		e.out = append(e.out, "null"...)
	case goja.IsBigInt(v):
		return e.bigInt(v)
	case v.ExportType().Kind() == reflect.Bool:
		e.out = strconv.AppendBool(e.out, v.ToBoolean())
	default:
		return e.number(v)
	}
	return nil
}

func (e *encoder) number(v goja.Value) error {
	if v.ExportType().Kind() == reflect.Int64 {
		e.out = strconv.AppendInt(e.out, v.ToInteger(), 10)
		return nil
	}
	switch f := v.ToFloat(); {
	case math.IsNaN(f):
		return e.refuse("is NaN")
	case math.IsInf(f, 1):
		return e.refuse("is Infinity")
	case math.IsInf(f, -1):
		return e.refuse("is -Infinity")
	case f == 0 && math.Signbit(f):
		e.out = append(e.out, "-0"...)
	default:
		e.out = appendDouble(e.out, f)
	}
	return nil
}

// appendDouble appends a finite number but -0 as ECMA-262 prints it. The engine
// does the same, into a text of its own.
func appendDouble(b []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if n := len(b); format == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-07 is e-7
		b = append(b[:n-2], b[n-1])
	}
	return b
}

func (e *encoder) bigInt(v goja.Value) error {
	n, ok := v.Export().(*big.Int)
	if !ok {
		return e.refuse("is a BigInt that cannot be read")
	}
	// A decimal digit holds more than three bits: refuse before printing, which
	// takes far longer than the check.
	if n.BitLen()/4 > e.o.Bytes-len(e.out) {
		return e.tooLong()
	}
	e.out = n.Append(e.out, 10)
	return nil
}

func (e *encoder) string(v goja.String) error {
	if v.Length() > e.o.Bytes-len(e.out) {
		return e.tooLong()
	}
	e.out = jsonscan.AppendQuote(e.out, WTF8(v))
	if len(e.out) > e.o.Bytes {
		return e.tooLong()
	}
	return nil
}

// WTF8 is the characters of s in UTF-8, with unpaired surrogates spelled as
// package jsonscan does.
func WTF8(s goja.String) string {
	text := s.String()
	if !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i, n := 0, s.Length(); i < n; i++ {
		r := rune(s.CharAt(i))
		if 0xD800 <= r && r < 0xDC00 && i+1 < n {
			if low := rune(s.CharAt(i + 1)); 0xDC00 <= low && low < 0xE000 {
				r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
				i++
			}
		}
		out = jsonscan.AppendRune(out, r)
	}
	return string(out)
}

func (e *encoder) tooMany() error {
	return e.limitRoot(LimitNodes, "has more than %d values", e.o.Nodes)
}

func (e *encoder) tooLong() error {
	return e.limitRoot(LimitBytes, "is larger than %d bytes", e.o.Bytes)
}

func (e *encoder) refuse(problem string) error {
	return &Error{Path: e.path(), Problem: problem}
}

func (e *encoder) limit(which Limit, format string, args ...any) error {
	return &Error{Path: e.path(), Problem: fmt.Sprintf(format, args...), Limit: which}
}

// limitRoot is limit for a bound of the whole value.
func (e *encoder) limitRoot(which Limit, format string, args ...any) error {
	return &Error{Path: e.root(), Problem: fmt.Sprintf(format, args...), Limit: which}
}

func (e *encoder) root() string {
	if e.o.Root == "" {
		return "the value"
	}
	return e.o.Root
}

// path is where the walk is now. The middle of a very deep one is left out.
func (e *encoder) path() string {
	const head, tail = 12, 4
	b := []byte(e.o.Root)
	for i := range e.stack {
		if skipped := len(e.stack) - head - tail; skipped > 0 && i >= head && i < head+skipped {
			if i == head {
				b = append(b, '.', '.', '.')
			}
			continue
		}
		if f := &e.stack[i]; f.array {
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(max(f.next-1, 0)), 10)
			b = append(b, ']')
		} else if f.next > 0 || f.present != "" {
			b = appendPathKey(b, f.present)
		}
	}
	if len(b) == 0 {
		return e.root()
	}
	return string(b)
}

// ISOTime prints a time as Date.prototype.toISOString does: in UTC, to the
// millisecond, years outside 0 to 9999 with a sign and six digits.
func ISOTime(t time.Time) string {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		sign := '+'
		if y < 0 {
			sign, y = '-', -y
		}
		return fmt.Sprintf("%c%06d%s", sign, y, t.Format("-01-02T15:04:05.000Z"))
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}
