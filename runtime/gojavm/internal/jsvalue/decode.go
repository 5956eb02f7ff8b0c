package jsvalue

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// DecodeOptions bounds one Decode. Zero fields take the defaults.
type DecodeOptions struct {
	Bytes int // longest text
	Nodes int // most values, the root included
	Depth int // most containers inside one another, at most MaxDepth
	// Infinity lets a number with a fraction or an exponent that no double can
	// hold become ±Infinity, as JSON.parse does. Otherwise it is refused.
	Infinity bool
	// Stop is asked every few thousand values; true ends the work with
	// ErrStopped. It may be nil.
	Stop func() bool
}

// maxDigits bounds an integer that becomes a BigInt: reading one takes time
// quadratic in its length.
const maxDigits = 10_000

// maxSafe is 2^53-1, the largest integer up to which every one is a double.
const maxSafe = 1<<53 - 1

// cloneFrom is the length of text from which strings are copied out of it, so
// that keeping one string does not keep a large text alive.
const cloneFrom = 64 << 10

// maxRepeated is the length of the longest string that is looked for among those
// seen lately: a UUID and a time are shorter.
const maxRepeated = 40

// Decode builds native objects, arrays and primitives from JSON text. Key order
// is the text's as far as the language allows (array indices come first), a
// repeated name keeps its first place and its last value, "__proto__" is an
// ordinary own property, setters on prototypes are not called. An integer
// without fraction and exponent beyond ±(2^53-1) becomes a BigInt. The empty
// text gives undefined.
//
// It fails with a *jsonscan.Error for text that is not JSON, with a *RangeError
// for a bound or a number out of range, and with ErrStopped.
func Decode(vm *goja.Runtime, text string, o DecodeOptions) (v goja.Value, err error) {
	if text == "" {
		return goja.Undefined(), nil
	}
	if o.Bytes <= 0 {
		o.Bytes = DefaultBytes
	}
	if o.Nodes <= 0 {
		o.Nodes = DefaultNodes
	}
	if o.Depth <= 0 || o.Depth > MaxDepth {
		o.Depth = MaxDepth
	}
	if len(text) > o.Bytes {
		return nil, &RangeError{Problem: fmt.Sprintf("the value is %d bytes long, more than %d", len(text), o.Bytes), Limit: LimitBytes}
	}
	defer func() {
		if x := recover(); x != nil {
			v, err = nil, recovered(x)
		}
	}()
	d := &decoder{vm: vm, o: o, clone: len(text) >= cloneFrom}
	d.scan.Reset(text)
	return d.run()
}

// decoder is one pass over a text. Finished elements of open arrays wait in
// items and members of open objects in members, so that one slice of each
// serves all. What was taken from them stays behind their ends: it is in the value,
// and the decoder is gone sooner.
type decoder struct {
	vm        *goja.Runtime
	o         DecodeOptions
	scan      jsonscan.Scanner
	clone     bool
	nodes     int
	items     []any
	members   []member
	open      []container
	names     map[string]*name    // of a text to copy out of: keys seen, each copied once
	last      *name               // of those, the latest
	repeated  *[1 << 8]goja.Value // and short strings seen lately, each under its hash: the values of columns repeat
	seed      maphash.Seed
	prototype *goja.Object  // of plain objects
	odd       goja.Callable // defines a property whose name has an unpaired surrogate; nil: not needed yet
	root      goja.Value
}

// container is an object or array whose parts are being read.
type container struct {
	array   bool
	indexed bool   // an object: some names are array indices
	key     string // of the member in hand
	odd     bool   // that has an unpaired surrogate
	start   int    // where its parts begin in items or members
}

type member struct {
	key   string
	odd   bool
	value goja.Value
}

func (d *decoder) run() (goja.Value, error) {
	for {
		tok, err := d.scan.Next()
		if err != nil {
			return nil, d.refused(err)
		}
		switch tok.Kind {
		case jsonscan.EOF:
			return d.root, nil
		case jsonscan.Key:
			c := &d.open[len(d.open)-1]
			c.key = d.key(tok)
			c.odd = !tok.Plain && !utf8.ValidString(c.key)
			continue
		case jsonscan.ObjectEnd:
			err = d.end()
		case jsonscan.ArrayEnd:
			err = d.end()
		default:
			err = d.value(tok)
		}
		if err != nil {
			return nil, err
		}
	}
}

// refused tells the scanner's own depth limit from a fault of grammar.
func (d *decoder) refused(err error) error {
	var syntax *jsonscan.Error
	if d.scan.Depth() == MaxDepth && errors.As(err, &syntax) && strings.HasPrefix(syntax.Problem, "nested deeper") {
		return d.tooDeep(syntax.Offset)
	}
	return err
}

func (d *decoder) tooDeep(offset int) error {
	return &RangeError{Offset: offset, Problem: fmt.Sprintf("the value is nested deeper than %d levels", d.o.Depth), Limit: LimitDepth}
}

// end closes the innermost container and hands it to the one around it.
func (d *decoder) end() error {
	last := len(d.open) - 1
	c := d.open[last]
	d.open = d.open[:last]
	if c.array {
		array := d.vm.NewArray(d.items[c.start:]...)
		d.items = d.items[:c.start]
		return d.put(array)
	}
	object, err := d.object(d.members[c.start:], c.indexed)
	if err != nil {
		return err
	}
	d.members = d.members[:c.start]
	return d.put(object)
}

// object makes an object of its members. Where the engine would put array
// indices in order, each at the cost of moving all names behind it, they are
// defined in that order.
func (d *decoder) object(members []member, indexed bool) (*goja.Object, error) {
	if indexed {
		slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(arrayIndex(a.key), arrayIndex(b.key)) })
	}
	object, err := d.bare()
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if err := d.define(object, m); err != nil {
			return nil, err
		}
	}
	return object, object.SetPrototype(d.prototype)
}

// bare is an object that has no prototype yet. Without one there is no setter to
// be called and no name that means another thing, so that to assign is to define,
// which costs half as much.
func (d *decoder) bare() (*goja.Object, error) {
	if d.prototype != nil {
		return d.vm.CreateObject(nil), nil
	}
	object := d.vm.NewObject()
	d.prototype = object.Prototype()
	return object, object.SetPrototype(nil)
}

func (d *decoder) define(o *goja.Object, m member) error {
	if m.odd {
		return d.defineOdd(o, m)
	}
	return o.Set(m.key, m.value)
}

// noIndex is what arrayIndex gives for other names. It is no index itself.
const noIndex = math.MaxUint32

// arrayIndex is the array index a name stands for.
func arrayIndex(name string) uint32 {
	if name == "" || name[0] < '0' || name[0] > '9' || name[0] == '0' && len(name) > 1 {
		return noIndex
	}
	i, err := strconv.ParseUint(name, 10, 32)
	if err != nil {
		return noIndex
	}
	return uint32(i)
}

func (d *decoder) value(tok jsonscan.Token) error {
	d.nodes++
	if d.nodes > d.o.Nodes {
		return &RangeError{Offset: tok.Offset, Problem: fmt.Sprintf("the value holds more than %d values", d.o.Nodes), Limit: LimitNodes}
	}
	if d.nodes%stopEvery == 0 && d.o.Stop != nil && d.o.Stop() {
		return ErrStopped
	}
	switch tok.Kind {
	case jsonscan.ObjectStart, jsonscan.ArrayStart:
		if len(d.open) >= d.o.Depth {
			return d.tooDeep(tok.Offset)
		}
		c := container{start: len(d.members)}
		if tok.Kind == jsonscan.ArrayStart {
			c = container{array: true, start: len(d.items)}
		}
		d.open = append(d.open, c)
		return nil
	case jsonscan.String:
		return d.put(d.string(tok))
	case jsonscan.Number:
		v, err := d.number(tok)
		if err != nil {
			return err
		}
		return d.put(v)
	case jsonscan.True:
		return d.put(d.vm.ToValue(true))
	case jsonscan.False:
		return d.put(d.vm.ToValue(false))
	default:
		return d.put(goja.Null())
	}
}

// put places a finished value where it belongs.
func (d *decoder) put(v goja.Value) error {
	if len(d.open) == 0 {
		d.root = v
		return nil
	}
	c := &d.open[len(d.open)-1]
	if c.array {
		d.items = append(d.items, v)
		return nil
	}
	d.members = append(d.members, member{c.key, c.odd, v})
	c.indexed = c.indexed || arrayIndex(c.key) != noIndex
	return nil
}

// name is a key of a text that is copied out of. Rows have the same keys in the
// same order, so what came next last time is tried first.
type name struct {
	raw, text string
	next      *name
}

func (d *decoder) key(tok jsonscan.Token) string {
	if !d.clone {
		return unquote(tok)
	}
	if d.last != nil && d.last.next != nil && d.last.next.raw == tok.Raw {
		d.last = d.last.next
		return d.last.text
	}
	n := d.names[tok.Raw]
	if n == nil {
		const most = 4096
		if len(d.names) == most {
			return strings.Clone(unquote(tok)) // these are no rows
		}
		n = &name{raw: strings.Clone(tok.Raw), text: strings.Clone(unquote(tok))}
		if d.names == nil {
			d.names = make(map[string]*name, 16)
		}
		d.names[n.raw] = n
	}
	if d.last != nil {
		d.last.next = n
	}
	d.last = n
	return n.text
}

// unquote is the characters of a string or key.
func unquote(tok jsonscan.Token) string {
	if tok.Plain {
		return tok.Raw[1 : len(tok.Raw)-1]
	}
	return jsonscan.Unquote(tok.Raw)
}

func (d *decoder) string(tok jsonscan.Token) goja.Value {
	text := tok.Raw[1 : len(tok.Raw)-1]
	switch {
	case !tok.Plain && strings.IndexByte(text, '\\') >= 0:
		return String(d.vm, jsonscan.Unquote(tok.Raw))
	case !d.clone:
		return d.vm.ToValue(text)
	case !tok.Plain:
		return d.vm.ToValue(strings.Clone(text))
	}
	return d.plain(text)
}

// plain makes an engine string of a copy of ASCII text, or finds the one it has
// made.
func (d *decoder) plain(text string) goja.Value {
	if len(text) > maxRepeated {
		return ascii(text)
	}
	if d.repeated == nil {
		d.repeated, d.seed = new([1 << 8]goja.Value), maphash.MakeSeed()
	}
	known := &d.repeated[maphash.String(d.seed, text)%uint64(len(d.repeated))]
	if *known == nil || (*known).String() != text {
		*known = ascii(text)
	}
	return *known
}

// ascii makes an engine string of a copy of text.
func ascii(text string) goja.Value {
	var b goja.StringBuilder
	b.WriteUTF8String(text)
	return b.String()
}

// String makes an engine string of WTF-8 text.
func String(vm *goja.Runtime, text string) goja.Value {
	if utf8.ValidString(text) {
		return vm.ToValue(text)
	}
	units := make([]uint16, 0, len(text))
	for i := 0; i < len(text); {
		r, n := jsonscan.DecodeRune(text[i:])
		i += n
		if r >= 0x10000 {
			r -= 0x10000
			units = append(units, uint16(0xD800+r>>10), uint16(0xDC00+r&0x3FF))
			continue
		}
		units = append(units, uint16(r))
	}
	return goja.StringFromUTF16(units)
}

func (d *decoder) number(tok jsonscan.Token) (goja.Value, error) {
	raw := tok.Raw
	if !tok.Plain {
		f, err := strconv.ParseFloat(raw, 64)
		if err != nil && !d.o.Infinity {
			return nil, &RangeError{Offset: tok.Offset, Problem: fmt.Sprintf("the number %s is out of range; numbers reach up to about 1.8e308", shorten(raw))}
		}
		return d.vm.ToValue(f), nil
	}
	if raw == "-0" {
		return d.vm.ToValue(math.Copysign(0, -1)), nil
	}
	if n, err := strconv.ParseInt(raw, 10, 64); err == nil && -maxSafe <= n && n <= maxSafe {
		return d.vm.ToValue(n), nil
	}
	if len(raw) > maxDigits {
		return nil, &RangeError{Offset: tok.Offset, Problem: fmt.Sprintf("the integer %s has more than %d digits", shorten(raw), maxDigits)}
	}
	n, ok := new(big.Int).SetString(raw, 10)
	if !ok {
		return nil, &RangeError{Offset: tok.Offset, Problem: fmt.Sprintf("the integer %s cannot be read", shorten(raw))}
	}
	return d.vm.ToValue(n), nil
}

func shorten(number string) string {
	const most = 24
	if len(number) <= most {
		return number
	}
	return number[:most] + "…"
}

// memberProgram adds one property to an object: the field of a class is defined
// on what the constructor of its base class returns. It uses syntax alone, nothing
// a program can replace.
var memberProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("member", `(function(o,k,v){new class extends class{constructor(){return o}}{[k]=v}})`, true)
})

// defineOdd adds a property whose name has an unpaired surrogate, which the
// string API of the engine cannot spell.
func (d *decoder) defineOdd(o *goja.Object, m member) error {
	if d.odd == nil {
		fn, err := d.vm.RunProgram(memberProgram())
		if err != nil {
			return err
		}
		d.odd, _ = goja.AssertFunction(fn)
	}
	_, err := d.odd(goja.Undefined(), o, String(d.vm, m.key), m.value)
	return err
}
