package gojavm

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// The answers are V8's. Without Z the time is local; empty is no date.
func TestTextsOfDates(t *testing.T) {
	rt := newRuntime(t, nil)
	for _, tc := range []struct{ text, want string }{
		{"1704067200000", ""},
		{"1704067200", ""},
		{"", ""},
		{"2024", "2024-01-01T00:00:00.000Z"},
		{"2024-", "2024-01-01T00:00:00.000"},
		{"2024-1", "2024-01-01T00:00:00.000"},
		{"2024-1-5", "2024-01-05T00:00:00.000"},
		{"2024-01-05", "2024-01-05T00:00:00.000Z"},
		{"2024-01-05T10", ""},
		{"2024-01-05T10:20", "2024-01-05T10:20:00.000"},
		{"2024-01-05 10:20", "2024-01-05T10:20:00.000"},
		{"2024-01-05T10:20:30Z", "2024-01-05T10:20:30.000Z"},
		{"2024-01-05T10:20:30.123456Z", "2024-01-05T10:20:30.123Z"},
		{"2024-01-05T10:20:30.1Z", "2024-01-05T10:20:30.100Z"},
		{"2024-01-05T10:20:30+02", ""},
		{"2024-01-05T10:20:30+0200", "2024-01-05T08:20:30.000Z"},
		{"2024-01-05T10:20:30-02:30", "2024-01-05T12:50:30.000Z"},
		{"2024-01-05 10:20:30 +0200", "2024-01-05T08:20:30.000Z"},
		{"2024-02-30", "2024-03-01T00:00:00.000Z"},
		{"2024-13-01", ""},
		{"2024-12-32", ""},
		{"2024-00-01", ""},
		{"2024-01-00", ""},
		{"2024/1/5 3:04", "2024-01-05T03:04:00.000"},
		{"01/05/2024", "2024-01-05T00:00:00.000"},
		{"1/5/50", "1950-01-05T00:00:00.000"},
		{"1/5/49", "2049-01-05T00:00:00.000"},
		{"05.01.2024", "2024-05-01T00:00:00.000"},
		{"5 Jan 2024", "2024-01-05T00:00:00.000"},
		{"Jan 5", "2001-01-05T00:00:00.000"},
		{"January 5, 2024", "2024-01-05T00:00:00.000"},
		{"Fri, 05 Jan 2024 10:20:30 GMT", "2024-01-05T10:20:30.000Z"},
		{"Fri Jan 05 2024 10:20:30 GMT+0200 (CET)", "2024-01-05T08:20:30.000Z"},
		{"Jan 5, 2024 10:20 PM", "2024-01-05T22:20:00.000"},
		{"Jan 5, 2024 12:20 am", "2024-01-05T00:20:00.000"},
		{"Jan 5, 2024 10:20pm", ""},
		{"2024-01-05 13:20 PM", ""},
		{"10:20", ""},
		{"2024-01-05T24:00:00Z", "2024-01-06T00:00:00.000Z"},
		{"2024-01-05T24:00:01Z", ""},
		{"2024-01-05T25:00:00Z", ""},
		{"2024-01-05 10:20:30.5", "2024-01-05T10:20:30.500"},
		{"2024-01-05 10::30", "2024-01-05T10:00:30.000"},
		{"12", "2001-12-01T00:00:00.000"},
		{"32", "2032-01-01T00:00:00.000"},
		{"99999", "+099999-01-01T00:00:00.000"},
		{"+002024-01-05", "2024-01-05T00:00:00.000Z"},
		{"-000001-01-01", "-000001-01-01T00:00:00.000Z"},
		{"-000000-01-01", "2001-01-01T00:00:00.000"},
		{"+275760-09-13", "+275760-09-13T00:00:00.000Z"},
		{"+275760-09-14", ""},
		{"hello", ""},
		{"hello 5", "2001-05-01T00:00:00.000"},
		{"5 hello", ""},
		{"2024-01-05foo", ""},
		{"  2024-01-05\n", "2024-01-05T00:00:00.000"},
		{"2024-01-05t10:20:30z", "2024-01-05T10:20:30.000Z"},
		{"2024-001", "2024-01-01T00:00:00.000"},
		{"-1", "2001-01-01T00:00:00.000"},
		{"Jan 32 2024", ""},
		{"0/1/2024", ""},
		{"1/0/2024", ""},
		{"1 2 3 4", ""},
		{"2024-01-05 10:20:30 EST", "2024-01-05T15:20:30.000Z"},
		{"2024-01-05 10:20 GMT-12345", ""},
		{"2024-01-05 10:20 UTC+5:30", "2024-01-05T04:50:00.000Z"},
		{"Jan 5 2024 (in (the) night) 10:20", "2024-01-05T10:20:00.000"},
		{"Jan 5 2024)", ""},
		{"2024-01-05T10:20:30,5Z", ""},
	} {
		want := "null"
		if tc.want != "" {
			zone, ok := strings.CutSuffix(tc.want, "Z")
			in := time.Local
			if ok {
				in = time.UTC
			}
			want = millisecondsOf(t, zone, in)
		}
		program := "return [new Date(input).getTime(), Date.parse(input)].map(n => Number.isNaN(n) ? null : n)"
		input, err := json.Marshal(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		res := execute(t, rt, runtime.Request{Program: program, Input: string(input)})
		if res.Failure != nil || res.Value != "["+want+","+want+"]" {
			t.Errorf("%q: %s (%+v), want %s twice (%s)", tc.text, res.Value, res.Failure, want, tc.want)
		}
	}
}

// millisecondsOf is a time as a number, its year of four or of six digits.
func millisecondsOf(t *testing.T, text string, in *time.Location) string {
	t.Helper()
	year, rest := text[:4], text[4:]
	if text[0] == '+' || text[0] == '-' {
		year, rest = text[:7], text[7:]
	}
	var y int
	if err := json.Unmarshal([]byte(strings.TrimLeft(strings.TrimPrefix(year, "-"), "+0")), &y); err != nil {
		t.Fatal(err)
	}
	if year[0] == '-' {
		y = -y
	}
	at, err := time.Parse("-01-02T15:04:05.000", rest)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := json.Marshal(time.Date(y, at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), in).UnixMilli())
	return string(n)
}

// Date is the engine's in all else, and what is called Date may be another.
func TestDateIsDate(t *testing.T) {
	rt := newRuntime(t, nil)
	for program, want := range map[string]string{
		"[typeof Date(), isNaN(Date.parse(Date())), Date('2024') === String(new Date())]":                                                   `["string",false,true]`,
		"[new Date(0) instanceof Date, new Date(0).constructor === Date, Date.prototype.constructor === Date]":                              "[true,true,true]",
		"[Date.name, Date.length, Date.parse.length, Date.UTC(2024, 0), typeof Date.now(), Object.keys(Date)]":                              `["Date",7,1,1704067200000,"number",[]]`,
		"(() => { class D extends Date { at() { return this.getTime() } } const d = new D('2024'); return [d.at(), d instanceof Date] })()": "[1704067200000,true]",
		"[new Date(new Date(5)), new Date(2024, 0) > 0, new Date(1704067200000), new Date(null), isNaN(new Date(undefined))]":               `["1970-01-01T00:00:00.005Z",true,"2024-01-01T00:00:00.000Z","1970-01-01T00:00:00.000Z",true]`,
		"[Reflect.construct(Date, ['2024']).getTime(), structuredClone(new Date('2024')).getTime(), +new Date(new String('2024'))]":         "[1704067200000,1704067200000,1704067200000]",
		"String(Date).replace(/\\s+/g, ' ')":                                                   `"function Date() { [native code] }"`,
		"(() => { class Date { constructor(x) { this.x = x } } return new Date('2024').x })()": `"2024"`,
		"(() => { const a = ['2024']; return new Date(...a).getTime() })()":                    "1704067200000",
		"(() => { try { Date.parse(Symbol()) } catch (e) { return e.name } })()":               `"TypeError"`,
	} {
		res := execute(t, rt, runtime.Request{Program: "return " + program})
		if res.Failure != nil || res.Value != want {
			t.Errorf("%s\n gives %s (%+v)\n want  %s", program, res.Value, res.Failure, want)
		}
	}
	res := execute(t, rt, runtime.Request{Program: "const a = 1\nnew Date(Symbol())"})
	if f := res.Failure; f == nil || f.Name != "TypeError" || f.Site.Line != 2 {
		t.Errorf("failure %+v, want a TypeError on line 2", f)
	}
}

// A program with a clock of its own sees that.
func TestDateAndClock(t *testing.T) {
	rt := newRuntime(t, nil)
	res := execute(t, rt, runtime.Request{
		Program: "return [Date.now(), +new Date, Date() === String(new Date(1e12)), +new Date('2024')]",
		Clock:   func() time.Time { return time.Unix(1_000_000_000, 0) },
	})
	if diff := cmp.Diff("[1000000000000,1000000000000,true,1704067200000]", res.Value); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func FuzzReadDate(f *testing.F) {
	for _, seed := range []string{"2024-01-05T10:20:30Z", "Jan 5 2024 (x) 10:20 pm GMT+0200", "1/2/3 4::5.6", "+002024-01", "\xff("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := readDate(text)
		if !ok {
			return
		}
		if !within(d.month, 1, 12) || !within(d.day, 1, 31) || !within(d.hour, 0, 24) || !within(d.minute, 0, 59) || !within(d.second, 0, 59) || !within(d.millisecond, 0, 999) {
			t.Errorf("%q gives %+v", text, d)
		}
	})
}
