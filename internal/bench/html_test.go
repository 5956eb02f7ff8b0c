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
)

// TestHTML: one page that asks nothing of a network, runs nothing, and shows
// every workload.
func TestHTML(t *testing.T) {
	r := quick(t, Options{Repeat: 1, Only: []string{"single", "chain", "fan-out"}})
	r.Comparisons = append(r.Comparisons, Comparison{Workload: `</table><script>alert(1)</script>`, Refused: `"><img src=x>`})
	r.Live = &LiveReport{API: "openai", Model: "m<b>", Tasks: []LiveTask{{Workload: "single", Arms: []LiveArm{{Name: Direct, Success: Interval{0.5, 0, 1}}}}}}
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
	for _, want := range []string{"chain-8", "&lt;/table&gt;&lt;script&gt;", "m&lt;b&gt;", "0.50 [0.00, 1.00]", `<polyline class="direct-batched"`, "chain: requests", "code is below from 8 on", "Measured"} {
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
