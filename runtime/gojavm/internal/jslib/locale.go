package jslib

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // time zones are the same on every host and need no disk

	"github.com/dop251/goja"
)

// installLocale replaces the toLocale methods and localeCompare, which in the engine take no
// locale: Number's even throws for one.
func (l *lib) installLocale() error {
	for _, t := range []struct {
		constructor, method string
		length              int
		f                   func(goja.FunctionCall) goja.Value
	}{
		{"Number", "toLocaleString", 0, func(call goja.FunctionCall) goja.Value { return l.localeNumber("Number", call) }},
		{"BigInt", "toLocaleString", 0, func(call goja.FunctionCall) goja.Value { return l.localeNumber("BigInt", call) }},
		{"Date", "toLocaleString", 0, func(call goja.FunctionCall) goja.Value { return l.localeDate(call, true, true) }},
		{"Date", "toLocaleDateString", 0, func(call goja.FunctionCall) goja.Value { return l.localeDate(call, true, false) }},
		{"Date", "toLocaleTimeString", 0, func(call goja.FunctionCall) goja.Value { return l.localeDate(call, false, true) }},
		{"String", "localeCompare", 1, l.localeCompare},
	} {
		constructor, ok := l.vm.Get(t.constructor).(*goja.Object)
		if !ok {
			return fmt.Errorf("the engine has no %s", t.constructor)
		}
		proto, ok := constructor.Get("prototype").(*goja.Object)
		if !ok {
			return fmt.Errorf("the engine's %s has no prototype", t.constructor)
		}
		l.method(proto, t.method, t.length, t.f)
	}
	return nil
}

// locales that can be formatted, by what they do differently.
var dateLocales = map[string]string{"en-US": "en-US", "en": "en-US", "en-GB": "en-GB", "en-AU": "en-GB", "en-NZ": "en-GB", "en-IE": "en-GB", "en-CA": "iso", "sv-SE": "iso", "sv": "iso", "fr-CA": "iso"}

// locale is the first locale an argument names, "en-US" for none.
func (l *lib) locale(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok && isArray(o) {
		if first := o.Get("0"); first != nil {
			v = first
		} else {
			return "en-US"
		}
	}
	if v == nil || goja.IsUndefined(v) {
		return "en-US"
	}
	return cut(l.toString(v).String(), 40)
}

// unsupported throws for what cannot be formatted as asked, rather than give
// something else.
func (l *lib) unsupported(what, value, instead string) {
	l.throw("RangeError", fmt.Sprintf("%s %q is not supported here; %s", what, value, instead))
}

// settings reads an options object; members that are absent give "".
type settings struct {
	lib    *lib
	object *goja.Object
}

func (l *lib) settings(v goja.Value) settings {
	o, _ := v.(*goja.Object)
	return settings{l, o}
}

func (s settings) get(name string) goja.Value {
	if s.object == nil {
		return nil
	}
	v := s.object.Get(name)
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	return v
}

func (s settings) text(name string, allowed ...string) string {
	v := s.get(name)
	if v == nil {
		return ""
	}
	text := cut(s.lib.toString(v).String(), 60)
	if len(allowed) == 0 {
		return text
	}
	for _, a := range allowed {
		if a == text {
			return text
		}
	}
	s.lib.throw("RangeError", fmt.Sprintf("the value %q is out of range for the option %s; it can be %s", text, name, strings.Join(allowed, ", ")))
	return ""
}

func (s settings) number(name string, low, high, absent int) int {
	v := s.get(name)
	if v == nil {
		return absent
	}
	n := v.ToFloat()
	if !(n >= float64(low) && n <= float64(high)) {
		s.lib.throw("RangeError", fmt.Sprintf("the option %s is out of range; it can be %d to %d", name, low, high))
	}
	return int(n)
}

func (l *lib) localeNumber(kind string, call goja.FunctionCall) goja.Value {
	v := call.This
	if o, ok := v.(*goja.Object); ok {
		v = l.vm.ToValue(o.Export())
	}
	if kind == "Number" && !goja.IsNumber(v) || kind == "BigInt" && !goja.IsBigInt(v) {
		panic(l.vm.NewTypeError("%s.prototype.toLocaleString needs a %s", kind, kind))
	}
	return l.vm.ToValue(l.numberFormat(call.Argument(0), call.Argument(1)).format(v))
}

func (l *lib) localeDate(call goja.FunctionCall, date, clock bool) goja.Value {
	o, ok := call.This.(*goja.Object)
	if !ok || kind(o) != "Date" {
		panic(l.vm.NewTypeError("the method needs a Date"))
	}
	f := l.dateFormat(call.Argument(0), call.Argument(1), date, clock)
	t, ok := o.Export().(time.Time)
	if !ok {
		return l.vm.ToValue("Invalid Date")
	}
	return l.vm.ToValue(f.format(t))
}

// intlGlobal makes the part of Intl that can be done without locale data.
func (l *lib) intlGlobal() (goja.Value, error) {
	native := l.vm.NewObject()
	l.method(native, "number", 3, func(call goja.FunctionCall) goja.Value {
		return l.vm.ToValue(l.numberFormat(call.Argument(1), call.Argument(2)).format(numeric(call.Argument(0))))
	})
	l.method(native, "date", 3, func(call goja.FunctionCall) goja.Value {
		f := l.dateFormat(call.Argument(1), call.Argument(2), true, false)
		ms := call.Argument(0).ToFloat()
		if !(ms >= -8.64e15 && ms <= 8.64e15) {
			l.throw("RangeError", "Invalid time value")
		}
		return l.vm.ToValue(f.format(time.UnixMilli(int64(ms))))
	})
	l.method(native, "compare", 3, func(call goja.FunctionCall) goja.Value {
		return l.compare(call.Argument(0), call.Argument(1), l.collation(call.Argument(2)))
	})
	l.method(native, "locale", 1, func(call goja.FunctionCall) goja.Value { return l.vm.ToValue(l.locale(call.Argument(0))) })
	l.method(native, "zone", 1, func(call goja.FunctionCall) goja.Value {
		name := l.zone(l.settings(call.Argument(0)).text("timeZone")).String()
		if name == "Local" {
			name = "UTC"
		}
		return l.vm.ToValue(name)
	})
	made, err := l.call(intlProgram, native)
	if err != nil {
		return nil, err
	}
	if _, ok := made.(*goja.Object); !ok {
		return nil, errors.New("Intl could not be made")
	}
	return made, nil
}

func numeric(v goja.Value) goja.Value {
	if goja.IsBigInt(v) {
		return v
	}
	return v.ToNumber()
}

// zone is the time zone of a name, the engine's own for none.
func (l *lib) zone(name string) *time.Location {
	switch strings.ToUpper(name) {
	case "":
		return time.Local
	case "UTC", "GMT", "ETC/UTC", "ETC/GMT":
		return time.UTC
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		l.throw("RangeError", fmt.Sprintf("Invalid time zone specified: %s", name))
	}
	return z
}
