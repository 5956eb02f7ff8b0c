package jslib

import (
	"math"

	"github.com/dop251/goja"
)

// arrayBuffer is an ArrayBuffer, whatever its prototype says.
func (l *lib) arrayBuffer(v goja.Value) goja.ArrayBuffer {
	if o, ok := v.(*goja.Object); ok && !isProxy(o) {
		if b, ok := o.Export().(goja.ArrayBuffer); ok {
			return b
		}
	}
	panic(l.vm.NewTypeError("the method needs an ArrayBuffer"))
}

// resize is ArrayBuffer.prototype.resize, of which no buffer here is capable.
func (l *lib) resize(call goja.FunctionCall) goja.Value {
	l.arrayBuffer(call.This)
	panic(l.vm.NewTypeError("ArrayBuffer.prototype.resize: buffers have a fixed length here; use transfer(newLength)"))
}

// transfer is ArrayBuffer.prototype.transfer: the bytes move to a new buffer of
// the length that is asked for.
func (l *lib) transfer(call goja.FunctionCall) goja.Value {
	b := l.arrayBuffer(call.This)
	length := float64(len(b.Bytes()))
	if v := call.Argument(0); !goja.IsUndefined(v) {
		length = math.Trunc(v.ToFloat())
	}
	switch {
	case math.IsNaN(length):
		length = 0
	case length < 0:
		l.throw("RangeError", "ArrayBuffer.prototype.transfer: the length is negative")
	}
	if b.Detached() {
		panic(l.vm.NewTypeError("ArrayBuffer.prototype.transfer: the buffer is detached"))
	}
	bytes := b.Bytes()
	if n := int(min(length, 1<<53)); n != len(bytes) {
		l.bounded("ArrayBuffer.prototype.transfer", n)
		bytes = make([]byte, n)
		copy(bytes, b.Bytes())
	}
	moved := l.buffer(bytes)
	b.Detach()
	return moved
}

// f16round is Math.f16round: the nearest number that 16 bits hold.
func (l *lib) f16round(call goja.FunctionCall) goja.Value {
	return l.vm.ToValue(fromHalf(toHalf(call.Argument(0).ToFloat())))
}

// getFloat16 and setFloat16 are DataView's, by way of the 16 bits as an integer.
func (l *lib) getFloat16(call goja.FunctionCall) goja.Value {
	bits := l.invoke(call.This, "getUint16", call.Argument(0), call.Argument(1))
	return l.vm.ToValue(fromHalf(uint16(bits.ToInteger())))
}

func (l *lib) setFloat16(call goja.FunctionCall) goja.Value {
	bits := toHalf(call.Argument(1).ToFloat())
	return l.invoke(call.This, "setUint16", call.Argument(0), l.vm.ToValue(bits), call.Argument(2))
}

// invoke calls a method of an object.
func (l *lib) invoke(this goja.Value, method string, args ...goja.Value) goja.Value {
	if o, ok := this.(*goja.Object); ok {
		if f, ok := goja.AssertFunction(o.Get(method)); ok {
			v, err := f(o, args...)
			if err != nil {
				panic(l.failure(err))
			}
			return v
		}
	}
	panic(l.vm.NewTypeError("the method needs a DataView"))
}

// Of a binary16 number: bits of the fraction, the exponent's bias, the smallest
// exponent of a normal number.
const (
	halfFraction = 10
	halfBias     = 15
	halfLowest   = -14
	halfInfinity = 0x7C00
	halfNaN      = 0x7E00
	halfSign     = 0x8000
)

// toHalf rounds to the nearest binary16 number, ties to the even one.
func toHalf(f float64) uint16 {
	var sign uint16
	if math.Signbit(f) {
		sign, f = halfSign, -f
	}
	switch {
	case math.IsNaN(f):
		return halfNaN
	case f == 0:
		return sign
	case math.IsInf(f, 0):
		return sign | halfInfinity
	}
	exponent := max(math.Ilogb(f), halfLowest)
	if exponent > halfBias {
		return sign | halfInfinity
	}
	// Units of the last place: a carry out of the fraction is the next exponent,
	// up to infinity.
	units := uint16(math.RoundToEven(math.Ldexp(f, halfFraction-exponent)))
	if exponent == halfLowest {
		return sign | units // subnormal, or just normal: the bits say it
	}
	return sign | (uint16(exponent+halfBias-1)<<halfFraction + units)
}

// fromHalf is the number that 16 bits stand for.
func fromHalf(bits uint16) float64 {
	exponent, fraction := int(bits>>halfFraction&0x1F), float64(bits&(1<<halfFraction-1))
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, halfLowest-halfFraction)
	case 0x1F:
		f = math.Inf(1)
		if fraction != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(fraction+1<<halfFraction, exponent-halfBias-halfFraction)
	}
	if bits&halfSign != 0 {
		return -f
	}
	return f
}
