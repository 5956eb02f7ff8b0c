package jslib

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja"
)

// dateFormat is the options of Intl.DateTimeFormat that are understood.
type dateFormat struct {
	locale                    string // "en-US", "en-GB" or "iso"
	zone                      *time.Location
	zoneName                  string
	weekday, year, month, day string
	hour, minute, second      string
	fraction                  int
	hour12                    bool
	at                        bool // "at" joins date and time
}

var (
	textOrNumber = []string{"numeric", "2-digit", "long", "short", "narrow"}
	numberOnly   = []string{"numeric", "2-digit"}
	textOnly     = []string{"long", "short", "narrow"}
	styles       = []string{"full", "long", "medium", "short"}
)

func (l *lib) dateFormat(locale, options goja.Value, date, clock bool) *dateFormat {
	name := l.locale(locale)
	form, ok := dateLocales[name]
	if !ok {
		l.unsupported("formatting dates for the locale", name, "use en-US, en-GB or toISOString()")
	}
	s := l.settings(options)
	f := &dateFormat{
		locale: form, zone: l.zone(s.text("timeZone")), zoneName: s.text("timeZoneName", "short", "long"),
		weekday: s.text("weekday", textOnly...), year: s.text("year", numberOnly...), month: s.text("month", textOrNumber...), day: s.text("day", numberOnly...),
		hour: s.text("hour", numberOnly...), minute: s.text("minute", numberOnly...), second: s.text("second", numberOnly...),
		fraction: s.number("fractionalSecondDigits", 1, 3, 0), hour12: form == "en-US",
	}
	dateStyle, timeStyle := s.text("dateStyle", styles...), s.text("timeStyle", styles...)
	if dateStyle != "" || timeStyle != "" {
		f.styled(dateStyle, timeStyle)
	} else {
		f.defaults(date, clock)
	}
	if h := s.get("hour12"); h != nil {
		f.hour12 = h.ToBoolean()
	} else if cycle := s.text("hourCycle", "h11", "h12", "h23", "h24"); cycle != "" {
		f.hour12 = cycle == "h12" || cycle == "h11"
	}
	if f.month == "long" && f.hour != "" {
		f.at = true
	}
	return f
}

// defaults fills in the parts that a method shows when none of them is asked for.
func (f *dateFormat) defaults(date, clock bool) {
	hasDate := f.weekday != "" || f.year != "" || f.month != "" || f.day != ""
	hasClock := f.hour != "" || f.minute != "" || f.second != "" || f.fraction > 0
	if date && !hasDate && (!hasClock || !clock) {
		f.year, f.month, f.day = "numeric", "numeric", "numeric"
	}
	if clock && !hasClock && (!hasDate || !date) {
		f.hour, f.minute, f.second = "numeric", "2-digit", "2-digit"
	}
}

func (f *dateFormat) styled(date, clock string) {
	switch date {
	case "full":
		f.weekday, f.year, f.month, f.day = "long", "numeric", "long", "numeric"
	case "long":
		f.year, f.month, f.day = "numeric", "long", "numeric"
	case "medium":
		f.year, f.month, f.day = "numeric", "short", "numeric"
	case "short":
		f.year, f.month, f.day = "2-digit", "numeric", "numeric"
		if f.locale != "en-US" {
			f.year, f.month, f.day = "numeric", "2-digit", "2-digit"
		}
	}
	switch clock {
	case "full":
		f.zoneName = "long"
	case "long":
		f.zoneName = "short"
	}
	if clock != "" {
		f.hour, f.minute = "numeric", "2-digit"
		if clock != "short" {
			f.second = "2-digit"
		}
	}
}

func (f *dateFormat) format(t time.Time) string {
	t = t.In(f.zone)
	date, clock := f.date(t), f.clock(t)
	switch {
	case date == "":
		return clock
	case clock == "":
		return date
	case f.at:
		return date + " at " + clock
	case f.locale == "iso":
		return date + " " + clock
	default:
		return date + ", " + clock
	}
}

func (f *dateFormat) date(t time.Time) string {
	weekday := name(t.Weekday().String(), f.weekday)
	year := number(t.Year(), f.year)
	day := number(t.Day(), f.day)
	if f.month == "long" || f.month == "short" || f.month == "narrow" {
		return f.textual(weekday, year, name(t.Month().String(), f.month), day)
	}
	month := number(int(t.Month()), f.month)
	parts, separator := []string{month, day, year}, "/"
	switch {
	case f.locale == "en-GB" && f.month != "":
		month = number(int(t.Month()), "2-digit")
		if f.day != "" {
			day = number(t.Day(), "2-digit")
		}
		parts = []string{day, month, year}
	case f.locale == "iso":
		if f.month != "" {
			month = number(int(t.Month()), "2-digit")
		}
		if f.day != "" {
			day = number(t.Day(), "2-digit")
		}
		parts, separator = []string{year, month, day}, "-"
	}
	numeric := join(separator, parts...)
	if f.locale == "en-GB" {
		return join(" ", strings.TrimSuffix(weekday, ","), numeric)
	}
	return join(", ", weekday, numeric)
}

// textual is a date whose month is a word.
func (f *dateFormat) textual(weekday, year, month, day string) string {
	if f.locale != "en-US" {
		date := join(" ", day, month, year)
		if weekday != "" && year != "" {
			return weekday + ", " + date
		}
		return join(" ", weekday, date)
	}
	date := join(" ", month, day)
	if day != "" {
		date = join(", ", date, year)
	} else {
		date = join(" ", date, year)
	}
	return join(", ", weekday, date)
}

func (f *dateFormat) clock(t time.Time) string {
	var parts []string
	if f.hour != "" {
		hour := t.Hour()
		if f.hour12 {
			hour = (hour+11)%12 + 1
		}
		form := f.hour
		if !f.hour12 {
			form = "2-digit"
		}
		parts = append(parts, number(hour, form))
	}
	if f.minute != "" {
		form := f.minute
		if f.hour != "" || f.second != "" {
			form = "2-digit"
		}
		parts = append(parts, number(t.Minute(), form))
	}
	if f.second != "" || f.fraction > 0 {
		form := f.second
		if f.minute != "" {
			form = "2-digit"
		}
		second := number(t.Second(), form)
		if f.fraction > 0 {
			second += "." + fmt.Sprintf("%03d", t.Nanosecond()/1e6)[:f.fraction]
		}
		parts = append(parts, second)
	}
	text := strings.Join(parts, ":")
	if f.hour != "" && f.hour12 {
		if t.Hour() < 12 {
			text += " AM"
		} else {
			text += " PM"
		}
	}
	return join(" ", text, f.zoneText(t))
}

func (f *dateFormat) zoneText(t time.Time) string {
	abbreviation, offset := t.Zone()
	switch {
	case f.zoneName == "":
		return ""
	case abbreviation == "UTC" && f.zoneName == "long":
		return "Coordinated Universal Time"
	case abbreviation == "UTC" || f.locale == "en-US" && len(abbreviation) == 3 && strings.HasPrefix(f.zone.String(), "America/"):
		return abbreviation
	case offset == 0:
		return "GMT"
	}
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	text := "GMT" + sign + strconv.Itoa(offset/3600)
	if minutes := offset / 60 % 60; minutes != 0 {
		text += fmt.Sprintf(":%02d", minutes)
	}
	return text
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

func number(n int, form string) string {
	switch form {
	case "":
		return ""
	case "2-digit":
		return fmt.Sprintf("%02d", n%100)
	}
	return strconv.Itoa(n)
}

// join joins the parts that are not empty.
func join(separator string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, separator)
}
