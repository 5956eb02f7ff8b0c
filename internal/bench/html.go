package bench

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageStyle string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"thousands": thousands, "times": times, "bytes": bytesText, "from": from, "heap": func(n uint64) string { return bytesText(int(n)) }, "money": func(i Interval) string { return i.text(4) }, "because": Verdict.because, "mark": mark, "share": func(i Interval) string { return i.text(2) }, "whole": func(i Interval) string { return i.text(0) },
}).Parse(pageHTML))

// HTML writes the report as one page that needs no network and runs no script.
func (r *Report) HTML(w io.Writer) error {
	sum := sha256.Sum256([]byte(pageStyle))
	return pageTemplate.Execute(w, struct {
		*Report
		Style     template.CSS
		StyleHash string
		Charts    []chart
		Bars      []bar
		Evens     []breakEven
		Cached    float64
		Output    float64
	}{r, template.CSS(pageStyle), base64.StdEncoding.EncodeToString(sum[:]), r.charts(), r.bars(), r.breakEvens(), CachedWeight, OutputWeight})
}

// costBar is a ratio of costs as a bar that begins in the middle.
type costBar struct {
	X, W   float64
	Better bool
}

// barDecades is how many powers of ten a half of a costBar of barHalf units has.
const (
	barHalf    = 60
	barDecades = 2
)

// mark draws a verdict's cost; what is beyond the scale ends at its edge.
func mark(v Verdict) costBar {
	length := min(math.Abs(math.Log10(max(v.Cost, math.SmallestNonzeroFloat64)))/barDecades, 1) * barHalf
	length = math.Round(10*length) / 10
	if v.Cost < 1 {
		return costBar{barHalf - length, length, true}
	}
	return costBar{barHalf, length, false}
}

// The size of a chart, in its own units.
const (
	chartWidth, chartHeight = 420, 260
	chartLeft, chartBottom  = 60, 30
)

// chart is a figure of a family against its size, both on logarithmic axes.
type chart struct {
	Title          string
	Lines          []line
	XTicks, YTicks []tick
	Even           *tick // the size from which on a program takes fewer tokens than direct calls sent together
}

type line struct {
	Arm    string
	Points string // of a polyline
	Dots   []dot
}

type dot struct {
	X, Y  float64
	Label string
}

type tick struct {
	At    float64
	Label string
}

func (r *Report) charts() (list []chart) {
	for _, family := range r.families() {
		name := family[0].Family
		list = append(list,
			draw(name+": tokens (input and output)", family, func(a Arm) int { return a.Total() }),
			draw(name+": requests", family, func(a Arm) int { return a.Requests }))
	}
	return list
}

func draw(title string, family []Comparison, figure func(Arm) int) chart {
	c := chart{Title: title}
	least, most := math.MaxInt, 0
	for _, p := range family {
		for _, a := range p.Arms {
			least, most = min(least, figure(a)), max(most, figure(a))
		}
	}
	x := axis(float64(family[0].Size), float64(family[len(family)-1].Size), chartLeft, chartWidth-10)
	y := axis(float64(max(least, 1)), float64(max(most, 1)), chartHeight-chartBottom, 10)
	for i, a := range family[0].Arms {
		l := line{Arm: a.Name}
		var points []string
		for _, p := range family {
			d := dot{x(float64(p.Size)), y(float64(figure(p.Arms[i]))), fmt.Sprintf("%s, %d: %s", a.Name, p.Size, thousands(figure(p.Arms[i])))}
			l.Dots = append(l.Dots, d)
			points = append(points, fmt.Sprintf("%.1f,%.1f", d.X, d.Y))
		}
		l.Points = strings.Join(points, " ")
		c.Lines = append(c.Lines, l)
	}
	for _, p := range family {
		c.XTicks = append(c.XTicks, tick{x(float64(p.Size)), fmt.Sprint(p.Size)})
		base, code := p.Arm(Batched), p.Arm(Code)
		switch {
		case figure(*code) >= figure(*base):
			c.Even = nil
		case c.Even == nil:
			c.Even = &tick{x(float64(p.Size)), fmt.Sprintf("code is below from %d on", p.Size)}
		}
	}
	const apart = 12 // between two labels
	c.YTicks = append(c.YTicks, tick{y(float64(most)), thousands(most)})
	for v := math.Pow(10, math.Floor(math.Log10(float64(max(least, 1))))); v < float64(most); v *= 10 {
		if v >= float64(least) && y(v)-y(float64(most)) > apart {
			c.YTicks = append(c.YTicks, tick{y(v), thousands(int(v))})
		}
	}
	return c
}

// axis maps a range to another, the first on a logarithmic scale.
func axis(from, to, start, end float64) func(float64) float64 {
	span := math.Log(to) - math.Log(from)
	return func(v float64) float64 {
		if span == 0 {
			return start
		}
		return math.Round(10*(start+(math.Log(v)-math.Log(from))/span*(end-start))) / 10
	}
}

// bar is the latency of one arm: modelled parts, and the measured one if there is
// any, in seconds and in the chart's units.
type bar struct {
	Workload, Arm           string
	Waiting, Writing, Tools float64
	WaitW, WriteX, WriteW   float64
	ToolX, ToolW            float64
}

const barWidth = 400

func (r *Report) bars() (list []bar) {
	for _, c := range r.Comparisons {
		if c.Refused != "" || c.Conversations > 1 {
			continue
		}
		pair := []bar{r.bar(&c, Batched), r.bar(&c, Code)}
		most := max(pair[0].total(), pair[1].total())
		for _, b := range pair {
			list = append(list, b.scaled(most))
		}
	}
	return list
}

// bar is the seconds of one arm.
func (r *Report) bar(c *Comparison, name string) bar {
	a := c.Arm(name)
	b := bar{Workload: c.Workload, Arm: name, Waiting: float64(a.Requests) * r.RequestSeconds, Writing: float64(a.Output.Tokens) / r.TokensPerSecond}
	if c.Measured != nil {
		b.Tools = c.Measured.DirectP50Ms * float64(a.Calls) / 1000
		if name == Code {
			b.Tools = c.Measured.ScriptMs / 1000
		}
	}
	return b
}

func (b bar) total() float64 { return b.Waiting + b.Writing + b.Tools }

// scaled is the bar with its places, in a chart that is wide enough for most
// seconds.
func (b bar) scaled(most float64) bar {
	unit := func(v float64) float64 { return math.Round(10*v/most*barWidth) / 10 }
	b.WaitW, b.WriteW, b.ToolW = unit(b.Waiting), unit(b.Writing), unit(b.Tools)
	b.WriteX, b.ToolX = b.WaitW, b.WaitW+b.WriteW
	return b
}
