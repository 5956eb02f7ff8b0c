package jslib

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// dateLocale is what English locales write differently.
type dateLocale struct {
	form    string // "en-US", "en-GB", or "iso" for 2024-05-01
	numeric bool   // only numbers can be written: names of months are in another language
	hour12  bool
}

var dateLocales = map[string]dateLocale{
	"en-US": {form: "en-US", hour12: true}, "en": {form: "en-US", hour12: true}, "en-GB": {form: "en-GB"},
	"sv-SE": {form: "iso", numeric: true}, "sv": {form: "iso", numeric: true}, "en-CA": {form: "iso", numeric: true, hour12: true},
}

// dateFormat is the options of Intl.DateTimeFormat.
type dateFormat struct {
	dateLocale
	locale                    string
	zone                      *time.Location
	zoneText, zoneName        string // the zone's name as resolved, the timeZoneName
	dateStyle, timeStyle      string
	weekday, year, month, day string
	hour, minute, second      string
	fraction                  int
	cycle                     string // "h11", "h12", "h23" or "h24"
	bare                      bool   // no part was asked for
}

var (
	textOrNumber = []string{"numeric", "2-digit", "long", "short", "narrow"}
	numberOnly   = []string{"numeric", "2-digit"}
	textOnly     = []string{"long", "short", "narrow"}
	styles       = []string{"full", "long", "medium", "short"}
	zoneNames    = []string{"short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"}
)

func (l *lib) dateFormat(locale, options goja.Value, date, clock bool) *dateFormat {
	name := l.locale(locale)
	form, ok := dateLocales[name]
	if !ok {
		l.unsupported("formatting dates for the locale", name, "use en-US, en-GB or toISOString()")
	}
	s := l.settings(options)
	s.only("calendar", "gregory")
	s.only("numberingSystem", "latn")
	s.only("era")
	s.only("dayPeriod")
	f := &dateFormat{
		dateLocale: form, locale: name, zoneName: s.text("timeZoneName", zoneNames...),
		weekday: s.text("weekday", textOnly...), year: s.text("year", numberOnly...), month: s.text("month", textOrNumber...), day: s.text("day", numberOnly...),
		hour: s.text("hour", numberOnly...), minute: s.text("minute", numberOnly...), second: s.text("second", numberOnly...),
		fraction: s.number("fractionalSecondDigits", 1, 3, 0), cycle: "h23",
		dateStyle: s.text("dateStyle", styles...), timeStyle: s.text("timeStyle", styles...),
	}
	if s.get("timeZone") == nil {
		f.zone, f.zoneText = localZone()
	} else {
		f.zone, f.zoneText = l.zone(s.text("timeZone"))
	}
	f.readCycle(s)
	if f.dateStyle != "" || f.timeStyle != "" {
		f.checkStyles(l, date, clock)
		f.styled()
	} else {
		f.defaults(date, clock)
	}
	f.check(l, name)
	return f
}

// readCycle decides how hours are counted.
func (f *dateFormat) readCycle(s settings) {
	if f.hour12 {
		f.cycle = "h12"
	}
	if cycle := s.text("hourCycle", "h11", "h12", "h23", "h24"); cycle != "" {
		f.cycle = cycle
	}
	if h := s.get("hour12"); h != nil {
		if f.cycle = "h23"; h.ToBoolean() {
			f.cycle = "h12"
		}
	}
	f.hour12 = f.cycle == "h12" || f.cycle == "h11"
}

func (f *dateFormat) checkStyles(l *lib, date, clock bool) {
	for _, o := range []struct{ name, value string }{
		{"weekday", f.weekday}, {"year", f.year}, {"month", f.month}, {"day", f.day}, {"hour", f.hour}, {"minute", f.minute},
		{"second", f.second}, {"timeZoneName", f.zoneName}, {"fractionalSecondDigits", strings.Repeat("x", f.fraction)},
	} {
		if o.value != "" {
			style := "dateStyle"
			if f.dateStyle == "" {
				style = "timeStyle"
			}
			panic(l.vm.NewTypeError("Can't set option %s when %s is used", o.name, style))
		}
	}
	switch {
	case f.dateStyle != "" && !date:
		panic(l.vm.NewTypeError("Invalid option : dateStyle"))
	case f.timeStyle != "" && !clock:
		panic(l.vm.NewTypeError("Invalid option : timeStyle"))
	}
}

// check refuses what cannot be written right.
func (f *dateFormat) check(l *lib, locale string) {
	words := f.weekday != "" || f.month == "long" || f.month == "short" || f.month == "narrow"
	switch {
	case f.numeric && (words || f.hour12 && f.hour != "" && locale != "en-CA" || f.zoneName != "" || f.fraction > 0 || f.partial()):
		l.unsupported("formatting more than numbers of dates for the locale", locale, "use en-US or en-GB")
	case strings.HasSuffix(f.zoneName, "Generic"):
		l.unsupported("the timeZoneName", f.zoneName, `use "short", "long" or "shortOffset"`)
	case f.odd():
		l.unsupported("the combination of date parts", f.combination(), "add the parts between or format them one by one")
	}
}

// combination names the date parts that are shown.
func (f *dateFormat) combination() string {
	var names []string
	for _, o := range []struct{ name, value string }{{"weekday", f.weekday}, {"year", f.year}, {"month", f.month}, {"day", f.day}} {
		if o.value != "" {
			names = append(names, o.name)
		}
	}
	return strings.Join(names, " ")
}

// partial reports whether a date lacks a number.
func (f *dateFormat) partial() bool {
	date := f.combination()
	return date != "" && date != "year month day"
}

// odd reports whether there is no pattern for the date parts.
func (f *dateFormat) odd() bool {
	switch f.combination() {
	case "", "weekday", "year", "month", "day", "year month", "month day", "year month day", "weekday month day", "weekday year month day", "weekday day":
		return false
	}
	return true
}

// defaults fills in the parts that a method shows when none of them is asked for.
func (f *dateFormat) defaults(date, clock bool) {
	hasDate := f.combination() != ""
	hasClock := f.hour != "" || f.minute != "" || f.second != "" || f.fraction > 0
	f.bare = !hasDate && !hasClock
	if date && !hasDate && (!hasClock || !clock) {
		f.year, f.month, f.day = "numeric", "numeric", "numeric"
	}
	if clock && !hasClock && (!hasDate || !date) {
		f.hour, f.minute, f.second = "numeric", "2-digit", "2-digit"
	}
}

func (f *dateFormat) styled() {
	switch f.dateStyle {
	case "full":
		f.weekday, f.year, f.month, f.day = "long", "numeric", "long", "numeric"
	case "long":
		f.year, f.month, f.day = "numeric", "long", "numeric"
	case "medium":
		f.year, f.month, f.day = "numeric", "short", "numeric"
	case "short":
		f.year, f.month, f.day = "2-digit", "numeric", "numeric"
		if f.form != "en-US" {
			f.year, f.month, f.day = "numeric", "2-digit", "2-digit"
		}
	}
	switch f.timeStyle {
	case "full":
		f.zoneName = "long"
	case "long":
		f.zoneName = "short"
	}
	if f.timeStyle != "" {
		f.hour, f.minute = "numeric", "2-digit"
		if f.timeStyle != "short" {
			f.second = "2-digit"
		}
	}
}

// narrowSpace stands before AM and PM; a text that is not in parts has a space
// there.
const narrowSpace = "\u202f"

func (f *dateFormat) format(l *lib, t time.Time) string {
	return strings.ReplaceAll(joinParts(f.parts(l, t)), narrowSpace, " ")
}

func (f *dateFormat) parts(l *lib, t time.Time) []part {
	t = t.In(f.zone)
	date, clock := f.date(t), f.clock(t)
	zone := f.zoneParts(l, t)
	if len(clock) > 0 && len(zone) > 0 {
		clock = append(append(clock, part{"literal", " "}), zone...)
	} else {
		clock = append(clock, zone...)
	}
	switch {
	case len(date) == 0:
		return clock
	case len(clock) == 0:
		return date
	}
	return append(append(date, part{"literal", f.glue()}), clock...)
}

// glue joins date and time.
func (f *dateFormat) glue() string {
	switch {
	case f.month == "long":
		return " at "
	case f.form == "iso" && f.locale != "en-CA", f.combination() == "weekday" && f.hour != "" && f.zoneName == "":
		return " "
	default:
		return ", "
	}
}

// pieces joins parts by separators: text is a part's value, or a literal for a
// part without a kind. Parts with an empty text leave out the separator before
// them.
func pieces(all ...part) []part {
	var out []part
	literal := ""
	for _, p := range all {
		switch {
		case p.kind == "":
			literal = p.text
		case p.text == "":
		default:
			if len(out) > 0 {
				out = append(out, part{"literal", literal})
			}
			out = append(out, p)
		}
	}
	return out
}

func (f *dateFormat) date(t time.Time) []part {
	weekday := part{"weekday", name(t.Weekday().String(), f.weekday)}
	year := part{"year", yearText(t.Year(), f.year)}
	if f.month == "long" || f.month == "short" || f.month == "narrow" {
		month := part{"month", f.monthName(t.Month())}
		return f.textual(weekday, year, month, part{"day", number(t.Day(), f.day)})
	}
	monthForm, dayForm := f.numericForms()
	month, day := part{"month", number(int(t.Month()), monthForm)}, part{"day", number(t.Day(), dayForm)}
	slash := part{"", "/"}
	switch f.form {
	case "iso":
		dash := part{"", "-"}
		return pieces(year, dash, month, dash, day)
	case "en-GB":
		if f.month == "" && f.day != "" {
			return pieces(weekday, part{"", " "}, day)
		}
		return pieces(weekday, f.afterWeekday(), day, slash, month, slash, year)
	default:
		if f.month == "" && f.day != "" {
			return pieces(day, part{"", " "}, weekday)
		}
		return pieces(weekday, part{"", ", "}, month, slash, day, slash, year)
	}
}

// numericForms is how a month and a day are written: outside the United States
// with two digits, unless a program asks for one of each form and no weekday.
func (f *dateFormat) numericForms() (month, day string) {
	switch {
	case f.form == "en-US", f.month == "", f.day == "" && f.year == "", f.month != f.day && f.day != "" && f.weekday == "":
		return f.month, f.day
	case f.day == "":
		return "2-digit", ""
	}
	return "2-digit", "2-digit"
}

// textual is a date whose month is a word.
func (f *dateFormat) textual(weekday, year, month, day part) []part {
	space, comma := part{"", " "}, part{"", ", "}
	if f.form != "en-US" {
		return pieces(weekday, f.afterWeekday(), day, space, month, space, year)
	}
	before := space
	if day.text != "" {
		before = comma
	}
	return pieces(weekday, comma, month, space, day, before, year)
}

// afterWeekday is what British dates have behind the weekday.
func (f *dateFormat) afterWeekday() part {
	if f.year != "" {
		return part{"", ", "}
	}
	return part{"", " "}
}

func (f *dateFormat) monthName(m time.Month) string {
	if f.form == "en-GB" && f.month == "short" && m == time.September {
		return "Sept"
	}
	return name(m.String(), f.month)
}

func (f *dateFormat) clock(t time.Time) []part {
	var out []part
	colon := part{"literal", ":"}
	if f.hour != "" {
		out = append(out, part{"hour", f.hourText(t.Hour())})
	}
	if f.minute != "" {
		form := "numeric"
		if f.hour != "" || f.second != "" {
			form = "2-digit"
		}
		if len(out) > 0 {
			out = append(out, colon)
		}
		out = append(out, part{"minute", number(t.Minute(), form)})
	}
	if f.second != "" {
		form := "numeric"
		if len(out) > 0 {
			out = append(out, colon)
			form = "2-digit"
		}
		out = append(out, part{"second", number(t.Second(), form)})
	}
	if f.fraction > 0 {
		if len(out) > 0 {
			out = append(out, part{"literal", "."})
		}
		out = append(out, part{"fractionalSecond", fmt.Sprintf("%03d", t.Nanosecond()/1e6)[:f.fraction]})
	}
	if f.hour != "" && f.hour12 {
		half := "AM"
		if t.Hour() >= 12 {
			half = "PM"
		}
		switch {
		case f.locale == "en-CA":
			half = map[string]string{"AM": "a.m.", "PM": "p.m."}[half]
		case f.form == "en-GB":
			half = strings.ToLower(half)
		}
		out = append(out, part{"literal", narrowSpace}, part{"dayPeriod", half})
	}
	return out
}

func (f *dateFormat) hourText(hour int) string {
	switch f.cycle {
	case "h11":
		return number(hour%12, f.hour)
	case "h12":
		return number((hour+11)%12+1, f.hour)
	case "h24":
		return number((hour+23)%24+1, "2-digit")
	default:
		if f.form == "en-GB" && f.hour == "numeric" && f.second != "" && f.timeStyle == "" && (f.zoneName == "short" || f.zoneName == "long") {
			return number(hour, f.hour)
		}
		return number(hour, "2-digit")
	}
}

// zoneParts is the name of the time zone, where one is asked for.
func (f *dateFormat) zoneParts(l *lib, t time.Time) []part {
	abbreviation, offset := t.Zone()
	var text string
	switch f.zoneName {
	case "":
		return nil
	case "short":
		text = f.shortZone(abbreviation, offset)
	case "long":
		text = f.longZone(l, abbreviation, offset)
	case "longOffset":
		if text = offsetText(offset, true); offset == 0 {
			text = "GMT+00:00"
		}
	default: // shortOffset
		if text = offsetText(offset, false); offset == 0 {
			text = "GMT+0"
		}
	}
	return []part{{"timeZoneName", text}}
}

func (f *dateFormat) shortZone(abbreviation string, offset int) string {
	american := strings.HasPrefix(f.zone.String(), "America/") || strings.HasPrefix(f.zone.String(), "US/") || f.zone.String() == "Pacific/Honolulu"
	switch {
	case abbreviation == "UTC",
		f.form == "en-US" && american && americanZones[abbreviation],
		f.form == "en-GB" && f.zone.String() == "Europe/London",
		f.form == "en-GB" && strings.HasPrefix(f.zone.String(), "Europe/") && europeanZones[abbreviation]:
		return abbreviation
	}
	return offsetText(offset, false)
}

var americanZones = map[string]bool{
	"EST": true, "EDT": true, "CST": true, "CDT": true, "MST": true, "MDT": true, "PST": true, "PDT": true, "AKST": true, "AKDT": true, "HST": true, "AST": true, "ADT": true,
}

var europeanZones = map[string]bool{"CET": true, "CEST": true, "EET": true, "EEST": true, "WET": true, "WEST": true}

// offsetText is "GMT+5:30", or "GMT+05:30" if it is long.
func offsetText(offset int, long bool) string {
	if offset == 0 {
		return "GMT"
	}
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	hours, minutes := offset/3600, offset/60%60
	switch {
	case long:
		return fmt.Sprintf("GMT%s%02d:%02d", sign, hours, minutes)
	case minutes != 0:
		return fmt.Sprintf("GMT%s%d:%02d", sign, hours, minutes)
	}
	return "GMT" + sign + strconv.Itoa(hours)
}

func (f *dateFormat) longZone(l *lib, abbreviation string, offset int) string {
	if strings.HasPrefix(f.zoneText, "+") || strings.HasPrefix(f.zoneText, "-") {
		return offsetText(offset, true)
	}
	region, _, _ := strings.Cut(f.zone.String(), "/")
	for _, key := range []string{f.zone.String() + " " + abbreviation, region + " " + abbreviation, abbreviation} {
		if text, ok := longZones[key]; ok {
			return text
		}
	}
	l.unsupported("the long name of the time zone", f.zoneText, `use timeZoneName "short" or "longOffset"`)
	return ""
}

// longZones are names of time zones by their abbreviation, which some regions
// share.
var longZones = map[string]string{
	"UTC":         "Coordinated Universal Time",
	"America EST": "Eastern Standard Time", "America EDT": "Eastern Daylight Time", "US EST": "Eastern Standard Time", "US EDT": "Eastern Daylight Time",
	"America CST": "Central Standard Time", "America CDT": "Central Daylight Time", "US CST": "Central Standard Time", "US CDT": "Central Daylight Time",
	"America MST": "Mountain Standard Time", "America MDT": "Mountain Daylight Time", "US MST": "Mountain Standard Time", "US MDT": "Mountain Daylight Time",
	"America PST": "Pacific Standard Time", "America PDT": "Pacific Daylight Time", "US PST": "Pacific Standard Time", "US PDT": "Pacific Daylight Time",
	"America AKST": "Alaska Standard Time", "America AKDT": "Alaska Daylight Time", "America AST": "Atlantic Standard Time", "America ADT": "Atlantic Daylight Time",
	"America NST": "Newfoundland Standard Time", "America NDT": "Newfoundland Daylight Time", "America/Sao_Paulo -03": "Brasilia Standard Time",
	"Europe/London GMT": "Greenwich Mean Time", "Europe/London BST": "British Summer Time", "Africa GMT": "Greenwich Mean Time",
	"Europe WET": "Western European Standard Time", "Europe WEST": "Western European Summer Time", "Europe CET": "Central European Standard Time",
	"Europe CEST": "Central European Summer Time", "Europe EET": "Eastern European Standard Time", "Europe EEST": "Eastern European Summer Time",
	"Europe/Moscow MSK": "Moscow Standard Time", "Asia/Kolkata IST": "India Standard Time", "Asia/Calcutta IST": "India Standard Time",
	"Asia/Tokyo JST": "Japan Standard Time", "Asia/Seoul KST": "Korean Standard Time", "Asia/Shanghai CST": "China Standard Time",
	"Asia/Hong_Kong HKT": "Hong Kong Standard Time", "Asia/Singapore +08": "Singapore Standard Time", "Asia/Kathmandu +0545": "Nepal Time",
	"Australia AEST": "Australian Eastern Standard Time", "Australia AEDT": "Australian Eastern Daylight Time", "Australia AWST": "Australian Western Standard Time",
	"Australia ACST": "Australian Central Standard Time", "Australia ACDT": "Australian Central Daylight Time",
	"Pacific/Auckland NZST": "New Zealand Standard Time", "Pacific/Auckland NZDT": "New Zealand Daylight Time", "Pacific/Honolulu HST": "Hawaii-Aleutian Standard Time",
}

func name(full, form string) string {
	switch form {
	case "long":
		return full
	case "short":
		return full[:3]
	case "narrow":
		return full[:1]
	}
	return ""
}

// yearText is a year of the calendar, of which there is none before 1.
func yearText(year int, form string) string {
	if year <= 0 {
		year = 1 - year
	}
	return number(year, form)
}

func number(n int, form string) string {
	switch form {
	case "":
		return ""
	case "2-digit":
		return fmt.Sprintf("%02d", n%100)
	}
	return strconv.Itoa(n)
}

// resolved is what resolvedOptions of a DateTimeFormat gives, in its order.
func (f *dateFormat) resolved() []setting {
	all := []setting{{"locale", f.locale}, {"calendar", "gregory"}, {"numberingSystem", "latn"}, {"timeZone", f.zoneText}}
	if f.hour != "" {
		all = append(all, setting{"hourCycle", f.cycle}, setting{"hour12", f.hour12})
	}
	if f.dateStyle != "" || f.timeStyle != "" {
		for _, style := range []setting{{"dateStyle", f.dateStyle}, {"timeStyle", f.timeStyle}} {
			if style.value != "" {
				all = append(all, style)
			}
		}
		return all
	}
	hour, minute, second := f.hour, f.minute, f.second
	month, day := f.month, f.day
	if month == "numeric" || month == "2-digit" {
		month, day = f.numericForms()
	}
	if hour != "" && !f.hour12 && f.form == "en-US" {
		hour = "2-digit"
	}
	if minute != "" && (hour != "" || second != "") {
		minute = "2-digit"
	}
	if second != "" && minute != "" {
		second = "2-digit"
	}
	for _, o := range []setting{
		{"weekday", f.weekday}, {"year", f.year}, {"month", month}, {"day", day}, {"hour", hour}, {"minute", minute}, {"second", second},
	} {
		if o.value != "" {
			all = append(all, o)
		}
	}
	if f.fraction > 0 {
		all = append(all, setting{"fractionalSecondDigits", f.fraction})
	}
	if f.zoneName != "" {
		all = append(all, setting{"timeZoneName", f.zoneName})
	}
	return all
}
