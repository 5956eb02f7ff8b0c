package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHTML: one page that asks nothing of a network, runs nothing, and shows
// every workload.
func TestHTML(t *testing.T) {
	r := quick(t, Options{Repeat: 1, Only: []string{"single", "chain", "fan-out"}})
	r.Comparisons = append(r.Comparisons, Comparison{Workload: `</table><script>alert(1)</script>`, Refused: `"><img src=x>`})
	r.Live = &LiveReport{API: "openai", Model: "m<b>", Tasks: []LiveTask{{Workload: "single", Arms: []LiveArm{{Name: Direct, Success: Interval{0.5, 0, 1}, Money: Interval{0.0125, 0.01, 0.015}, Errors: []string{"it said <no>"}}}}}}
	page := string(written(t, func(b *bytes.Buffer) error { return r.HTML(b) }))

	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
	if style == nil {
		t.Fatal("the page has no style")
	}
	sum := sha256.Sum256([]byte(style[1]))
	policy := `content="default-src 'none'; style-src 'sha256-` + base64.StdEncoding.EncodeToString(sum[:]) + `'"`
	if !strings.Contains(html.UnescapeString(page), policy) {
		t.Errorf("the policy does not allow the page's own style; want %s", policy)
	}
	for _, no := range []string{"<script", "<img", "http:", "https:", "<link", "@import", "url(", "m<b>", " style="} {
		if strings.Contains(page, no) {
			t.Errorf("the page holds %q", no)
		}
	}
	for _, want := range []string{"chain-8", "&lt;/table&gt;&lt;script&gt;", "m&lt;b&gt;", "0.50 [0.00, 1.00]", `<polyline class="direct-batched"`, "chain: requests", ">code is below from 8 on</text>", "Measured", "<th>peak heap</th>", "Of 8 workloads code wins ", "The break-even", "of it cached", "0.0125 [0.0100, 0.0150]", "<p class=\"small\">single, direct: it said &lt;no&gt;</p>", "<rect class=\"worse\" x=\"60\"", "<rect class=\"better\""} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("a drawing is not well formed: %v\n%s", err, svg)
			}
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("a drawing has no places:\n%s", svg)
		}
	}
}

func TestChart(t *testing.T) {
	arm := func(name string, requests int) Arm { return Arm{Name: name, Tokens: Tokens{Requests: requests}} }
	c := draw("x", []Comparison{
		{Family: "x", Size: 1, Arms: []Arm{arm(Batched, 1), arm(Code, 10)}},
		{Family: "x", Size: 10, Arms: []Arm{arm(Batched, 100), arm(Code, 10)}},
		{Family: "x", Size: 100, Arms: []Arm{arm(Batched, 100), arm(Code, 10)}},
	}, func(a Arm) int { return a.Requests })
	if got, want := c.Lines[0].Points, "60.0,230.0 235.0,10.0 410.0,10.0"; got != want {
		t.Errorf("direct-batched runs %s, want %s", got, want)
	}
	if got, want := c.Lines[1].Points, "60.0,120.0 235.0,120.0 410.0,120.0"; got != want {
		t.Errorf("code runs %s, want %s", got, want)
	}
	if c.Even == nil || *c.Even != (tick{235, "code is below from 10 on"}) {
		t.Errorf("break-even %+v, want at 10", c.Even)
	}
}

// TestMark: a bar is as long as the ratio is far from one, and ends at the edge.
func TestMark(t *testing.T) {
	for _, tt := range []struct {
		cost float64
		want costBar
	}{
		{1, costBar{60, 0, false}}, {10, costBar{60, 30, false}}, {1e9, costBar{60, 60, false}}, {0.1, costBar{30, 30, true}}, {0, costBar{0, 60, true}},
	} {
		if got := mark(Verdict{Cost: tt.cost}); got != tt.want {
			t.Errorf("a cost of %v: %+v, want %+v", tt.cost, got, tt.want)
		}
	}
}

// TestBars: the longer of a pair fills the chart, and the other is to its scale.
func TestBars(t *testing.T) {
	arm := func(name string, requests, output int) Arm {
		return Arm{Name: name, Tokens: Tokens{Requests: requests, Calls: 2, Output: Amount{Tokens: output}}}
	}
	r := &Report{RequestSeconds: 1, TokensPerSecond: 10, Comparisons: []Comparison{
		{Workload: "a", Arms: []Arm{arm(Batched, 6, 20), arm(Code, 2, 10)}, Measured: &Times{ScriptMs: 1000, DirectP50Ms: 1000}},
		{Workload: "many", Conversations: 2, Arms: []Arm{arm(Batched, 6, 20), arm(Code, 2, 10)}},
		{Workload: "refused", Refused: "no"},
	}}
	want := []bar{
		{Workload: "a", Arm: Batched, Waiting: 6, Writing: 2, Tools: 2, WaitW: 240, WriteX: 240, WriteW: 80, ToolX: 320, ToolW: 80},
		{Workload: "a", Arm: Code, Waiting: 2, Writing: 1, Tools: 1, WaitW: 80, WriteX: 80, WriteW: 40, ToolX: 120, ToolW: 40},
	}
	if diff := cmp.Diff(want, r.bars()); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
}
