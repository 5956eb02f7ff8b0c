package jslib

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones are the same on every host and need no disk
	"unicode"

	"github.com/dop251/goja"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// localeTag is the form of a language tag, as far as it is told from a typing
// error.
var localeTag = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// locale is the first locale an argument names, "en-US" for none.
func (l *lib) locale(v goja.Value) string {
	if names := l.locales(v); len(names) > 0 {
		return names[0]
	}
	return "en-US"
}

// locales is the locales an argument names, spelled as usual.
func (l *lib) locales(v goja.Value) []string {
	if v == nil || goja.IsUndefined(v) {
		return nil
	}
	list := []goja.Value{v}
	if o, ok := v.(*goja.Object); ok && isArray(o) {
		const most = 100
		list = list[:0]
		for i := range min(int(o.Get("length").ToInteger()), most) {
			list = append(list, o.Get(strconv.Itoa(i)))
		}
	}
	var names []string
	for _, v := range list {
		if v == nil || !isText(v) {
			panic(l.vm.NewTypeError("Incorrect locale information provided"))
		}
		tag := cut(l.toString(v).String(), 40)
		if !localeTag.MatchString(tag) {
			l.throw("RangeError", "Incorrect locale information provided: "+tag)
		}
		names = append(names, canonicalTag(tag))
	}
	return names
}

// isText reports whether a value may name a locale.
func isText(v goja.Value) bool {
	switch v.(type) {
	case goja.String, *goja.Object:
		return true
	}
	return false
}

// canonicalTag spells the language in small letters and a country in capitals.
func canonicalTag(tag string) string {
	parts := strings.Split(strings.ToLower(tag), "-")
	for i := 1; i < len(parts) && len(parts[i]) != 1; i++ {
		switch len(parts[i]) {
		case 2:
			parts[i] = strings.ToUpper(parts[i])
		case 4:
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "-")
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
	if v != nil && goja.IsNull(v) {
		panic(l.vm.NewTypeError("Cannot convert undefined or null to object"))
	}
	o, _ := v.(*goja.Object)
	return settings{l, o}
}

// setting is one resolved option.
type setting struct {
	name  string
	value any
}

// settingList is resolved options as an object.
func (l *lib) settingList(all []setting) goja.Value {
	o := l.vm.NewObject()
	for _, s := range all {
		_ = o.Set(s.name, s.value)
	}
	return o
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

// choice is text whose absence means the first of what is allowed.
func (s settings) choice(name string, allowed ...string) string {
	if text := s.text(name, allowed...); text != "" {
		return text
	}
	return allowed[0]
}

// only refuses an option that has another value than the ones that are done.
func (s settings) only(name string, done ...string) {
	if v := s.text(name); v != "" && !slices.Contains(done, v) {
		s.lib.unsupported("the "+name, v, "leave it out")
	}
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
	return l.vm.ToValue(l.numberFormat(call.Argument(0), call.Argument(1)).format(l.decimalOf(v)))
}

// isoString is Date.prototype.toISOString. The engine's prints years before 0
// with four digits, which nothing reads.
func (l *lib) isoString(call goja.FunctionCall) goja.Value {
	o, ok := call.This.(*goja.Object)
	if !ok || kind(o) != "Date" {
		panic(l.vm.NewTypeError("Date.prototype.toISOString needs a Date"))
	}
	t, ok := o.Export().(time.Time)
	if !ok {
		l.throw("RangeError", "Invalid time value")
	}
	return l.vm.ToValue(jsvalue.ISOTime(t))
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
	return l.vm.ToValue(f.format(l, t))
}

// zone is the time zone of a name, and its name as it is spelled.
func (l *lib) zone(name string) (*time.Location, string) {
	switch strings.ToUpper(name) {
	case "UTC", "GMT", "ETC/UTC", "ETC/GMT":
		return time.UTC, "UTC"
	}
	if m := offsetZone.FindStringSubmatch(name); m != nil {
		hours, _ := strconv.Atoi(m[2])
		minutes, _ := strconv.Atoi(m[3])
		return fixedZone(m[1] == "-", hours, minutes)
	}
	if name != "Local" && name != "" {
		for _, spelled := range []string{name, zoneSpelling(name)} {
			if z, err := time.LoadLocation(spelled); err == nil {
				return z, spelled
			}
		}
	}
	l.throw("RangeError", fmt.Sprintf("Invalid time zone specified: %s", name))
	return nil, ""
}

// offsetZone is a time zone that is only a distance from UTC.
var offsetZone = regexp.MustCompile(`^([+-])([01]\d|2[0-3]):?([0-5]\d)?$`)

func fixedZone(west bool, hours, minutes int) (*time.Location, string) {
	offset, sign := hours*3600+minutes*60, "+"
	if west && offset > 0 {
		offset, sign = -offset, "-"
	}
	name := fmt.Sprintf("%s%02d:%02d", sign, hours, minutes)
	return time.FixedZone(name, offset), name
}

// localZone is the zone of the process. Where its name is not known its distance
// from UTC stands for it.
func localZone() (*time.Location, string) {
	if name := time.Local.String(); name != "Local" {
		return time.Local, name
	}
	abbreviation, offset := time.Now().Zone()
	if offset == 0 && (abbreviation == "UTC" || abbreviation == "GMT") {
		return time.Local, "UTC"
	}
	_, name := fixedZone(offset < 0, max(offset, -offset)/3600, max(offset, -offset)/60%60)
	return time.Local, name
}

// zoneSpelling gives a zone's name the capitals it is filed under.
func zoneSpelling(name string) string {
	upper := true
	return strings.Map(func(r rune) rune {
		defer func() { upper = r == '/' || r == '_' || r == '-' }()
		if upper {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, name)
}
