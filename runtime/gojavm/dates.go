package gojavm

import (
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// dateArgument has new Date(x) become new Date(%date(Date, x)), so that a text is
// read as V8 reads it. The constructor stays the engine's: a Date of our own would
// cost each date much. What constructs in another way, such as a subclass, keeps
// the engine's reading.
func dateArgument(x *ast.NewExpression) bool {
	name, ok := x.Callee.(*ast.Identifier)
	if !ok || name.Name != "Date" || len(x.ArgumentList) != 1 || isNumber(x.ArgumentList[0]) {
		return false
	}
	if _, spread := x.ArgumentList[0].(*ast.SpreadElement); spread {
		return false
	}
	again := *name
	call := helperCall(dateName, x.ArgumentList[0].Idx0(), x.ArgumentList[0]).(*ast.CallExpression)
	call.ArgumentList = []ast.Expression{&again, x.ArgumentList[0]}
	x.ArgumentList[0] = call
	return true
}

// date is the time that a text says, if a Date is made of it, and any other value
// itself.
func (r *run) date(c goja.FunctionCall) goja.Value {
	v := c.Argument(1)
	text, ok := v.(goja.String)
	if !ok || r.real.date == nil || !c.Argument(0).SameAs(r.real.date) {
		return v
	}
	return r.dateOf(text.String())
}

// guardDates replaces Date.parse by one that reads texts as V8 does.
func (r *run) guardDates() error {
	if !r.programReach().HasGlobal("Date") {
		return nil
	}
	r.real.date = r.vm.Get("Date").ToObject(r.vm)
	return r.real.date.DefineDataProperty("parse", r.native("parse", 1, func(c goja.FunctionCall) goja.Value {
		if _, ok := c.Argument(0).(*goja.Symbol); ok {
			panic(r.vm.NewTypeError("Cannot convert a Symbol value to a string"))
		}
		return r.dateOf(c.Argument(0).ToString().String())
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

const (
	// maxDate is the largest time of a Date, in milliseconds from 1970.
	maxDate = 8.64e15
	// maxYear is beyond it.
	maxYear = 300_000
	// maxDateText is the longest text that is read, in bytes.
	maxDateText = 1 << 20
)

// dateOf is the time that a text says, or NaN.
func (r *run) dateOf(text string) goja.Value {
	if len(text) > maxDateText {
		return goja.NaN()
	}
	f, ok := readDate(text)
	if !ok || !within(f.year, -maxYear, maxYear) {
		return goja.NaN()
	}
	zone := time.Local
	if f.zone != noNumber {
		zone = time.UTC
	}
	at := time.Date(f.year, time.Month(f.month), f.day, f.hour, f.minute, f.second, f.millisecond*int(time.Millisecond), zone).UnixMilli()
	if f.zone != noNumber {
		at -= int64(f.zone) * time.Minute.Milliseconds()
	}
	if at < -maxDate || at > maxDate {
		return goja.NaN()
	}
	return r.vm.ToValue(at)
}
