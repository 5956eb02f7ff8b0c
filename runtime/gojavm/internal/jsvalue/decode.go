package jsvalue

import (
	"errors"
	"fmt"
	"math"
	"math/big"
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
// items, so that one slice serves all arrays.
type decoder struct {
	vm    *goja.Runtime
	o     DecodeOptions
	scan  jsonscan.Scanner
	clone bool
	nodes int
	items []any
	open  []container
	keys  map[string]string // keys seen, copied out of the text once
	root  goja.Value
}

// container is an object or array that is being built.
type container struct {
	object *goja.Object // nil: an array
	key    string
	start  int // of an array: where its elements begin in items
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
			d.open[len(d.open)-1].key = d.key(tok.Raw)
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
	if c.object == nil {
		c.object = d.vm.NewArray(d.items[c.start:]...)
		clear(d.items[c.start:])
		d.items = d.items[:c.start]
	}
	return d.put(c.object)
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
		c := container{start: len(d.items)}
		if tok.Kind == jsonscan.ObjectStart {
			c.object = d.vm.NewObject()
		}
		d.open = append(d.open, c)
		return nil
	case jsonscan.String:
		return d.put(d.string(tok.Raw))
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
	if c.object == nil {
		d.items = append(d.items, v)
		return nil
	}
	if !utf8.ValidString(c.key) {
		object, err := oddMember(d.vm, c.object, c.key, v)
		if err != nil {
			return err
		}
		c.object = object
		return nil
	}
	return c.object.DefineDataProperty(c.key, v, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

func (d *decoder) key(raw string) string {
	if key, ok := d.keys[raw]; ok {
		return key
	}
	key := jsonscan.Unquote(raw)
	if d.clone {
		raw, key = strings.Clone(raw), strings.Clone(key)
	}
	const most = 4096
	if d.keys == nil {
		d.keys = make(map[string]string, 16)
	}
	if len(d.keys) < most {
		d.keys[raw] = key
	}
	return key
}

func (d *decoder) string(raw string) goja.Value {
	if strings.IndexByte(raw, '\\') < 0 {
		s := raw[1 : len(raw)-1]
		if d.clone {
			s = strings.Clone(s)
		}
		return d.vm.ToValue(s)
	}
	return String(d.vm, jsonscan.Unquote(raw))
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
	if strings.ContainsAny(raw, ".eE") {
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

// memberProgram copies an object and adds one property. It uses syntax alone,
// nothing a program can replace.
var memberProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("member", `(function(o,k,v){return {...o,[k]:v}})`, true)
})

// oddMember adds a property whose name has an unpaired surrogate, which the
// string API of the engine cannot spell.
func oddMember(vm *goja.Runtime, o *goja.Object, key string, v goja.Value) (*goja.Object, error) {
	fn, err := vm.RunProgram(memberProgram())
	if err != nil {
		return nil, err
	}
	call, _ := goja.AssertFunction(fn)
	made, err := call(goja.Undefined(), o, String(vm, key), v)
	if err != nil {
		return nil, err
	}
	object, ok := made.(*goja.Object)
	if !ok {
		return nil, fmt.Errorf("a property named %q could not be added", key)
	}
	return object, nil
}
