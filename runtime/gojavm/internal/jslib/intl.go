package jslib

import (
	"fmt"
	"time"

	"github.com/dop251/goja"
)

// intlGlobal makes the part of Intl that is done here, which is English.
func (l *lib) intlGlobal() (goja.Value, error) {
	return l.call(intlProgram, l.natives(map[string]func(goja.FunctionCall) goja.Value{
		"number":   l.intlNumber,
		"date":     l.intlDate,
		"collator": l.intlCollator,
		"locales": func(call goja.FunctionCall) goja.Value {
			names := []any{}
			for _, name := range l.locales(call.Argument(0)) {
				names = append(names, name)
			}
			return l.vm.NewArray(names...)
		},
		"locale":   func(call goja.FunctionCall) goja.Value { return l.vm.ToValue(l.locale(call.Argument(0))) },
		"language": l.intlLanguage,
		"supports": func(call goja.FunctionCall) goja.Value {
			return l.vm.ToValue(supports(call.Argument(0).String(), call.Argument(1).String()))
		},
		"choice": l.intlChoice,
	}))
}

// formatter is an object whose methods js/intl.js calls.
func (l *lib) formatter(resolved []setting, methods map[string]func(goja.Value) goja.Value) goja.Value {
	o := l.vm.NewObject()
	for name, f := range methods {
		l.method(o, name, 1, func(call goja.FunctionCall) goja.Value { return f(call.Argument(0)) })
	}
	l.method(o, "resolved", 0, func(goja.FunctionCall) goja.Value { return l.settingList(resolved) })
	return o
}

func (l *lib) intlNumber(call goja.FunctionCall) goja.Value {
	f := l.numberFormat(call.Argument(0), call.Argument(1))
	return l.formatter(f.resolved(), map[string]func(goja.Value) goja.Value{
		"format": func(v goja.Value) goja.Value { return l.vm.ToValue(f.format(l.decimalOf(v))) },
		"parts":  func(v goja.Value) goja.Value { return l.partList(f.parts(l.decimalOf(v))) },
	})
}

func (l *lib) intlDate(call goja.FunctionCall) goja.Value {
	f := l.dateFormat(call.Argument(0), call.Argument(1), true, true)
	if f.bare {
		f = l.dateFormat(call.Argument(0), call.Argument(1), true, false)
	}
	return l.formatter(f.resolved(), map[string]func(goja.Value) goja.Value{
		"format": func(v goja.Value) goja.Value { return l.vm.ToValue(f.format(l, l.instant(v))) },
		"parts":  func(v goja.Value) goja.Value { return l.partList(f.parts(l, l.instant(v))) },
	})
}

// instant is what the format of a date got: a time, or now.
func (l *lib) instant(v goja.Value) time.Time {
	if goja.IsUndefined(v) {
		return l.host.Now()
	}
	ms := v.ToNumber().ToFloat()
	if !(ms >= -8.64e15 && ms <= 8.64e15) {
		l.throw("RangeError", "Invalid time value")
	}
	return time.UnixMilli(int64(ms))
}

func (l *lib) intlCollator(call goja.FunctionCall) goja.Value {
	c := l.collation(call.Argument(0), call.Argument(1))
	usage := l.settings(call.Argument(1)).choice("usage", "sort", "search")
	sensitivity := c.sensitivity
	if sensitivity == "" {
		sensitivity = "variant"
	}
	resolved := []setting{
		{"locale", c.locale}, {"usage", usage}, {"sensitivity", sensitivity}, {"ignorePunctuation", false},
		{"collation", "default"}, {"numeric", c.numeric}, {"caseFirst", "false"},
	}
	o, _ := l.formatter(resolved, nil).(*goja.Object)
	l.method(o, "compare", 2, func(call goja.FunctionCall) goja.Value { return l.compare(call.Argument(0), call.Argument(1), c) })
	return o
}

// supports reports whether a class of Intl has a locale.
func supports(class, name string) bool {
	switch class {
	case "DateTimeFormat":
		_, ok := dateLocales[name]
		return ok
	case "ListFormat", "RelativeTimeFormat":
		return name == "en" || name == "en-US" || name == "en-GB"
	default:
		return numberLocales[name]
	}
}

// intlLanguage is the locale of the arguments (locales, class), which must be
// one the class has.
func (l *lib) intlLanguage(call goja.FunctionCall) goja.Value {
	name, class := l.locale(call.Argument(0)), call.Argument(1).String()
	if !supports(class, name) {
		l.unsupported("Intl."+class+" for the locale", name, "use en-US")
	}
	return l.vm.ToValue(name)
}

// intlChoice reads one option: (options, name, default, other values...).
func (l *lib) intlChoice(call goja.FunctionCall) goja.Value {
	var allowed []string
	for _, v := range call.Arguments[min(2, len(call.Arguments)):] {
		allowed = append(allowed, v.String())
	}
	if len(allowed) == 0 {
		panic(fmt.Sprintf("the option %s has no values", call.Argument(1)))
	}
	return l.vm.ToValue(l.settings(call.Argument(0)).choice(call.Argument(1).String(), allowed...))
}
