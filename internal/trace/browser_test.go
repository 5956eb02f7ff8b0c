//go:build unix

package trace_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/trace"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

var shots = flag.String("shots", "", "write screenshots of the page to this directory")

// browser is a headless Chromium that shows one page, spoken to over a pipe.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	next    int
	session string
	faults  []string // what the page complained of
}

// openBrowser starts Chromium, or skips the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser; not in short mode")
	}
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed, so the page is not opened in a browser")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	toRead, toWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromRead, fromWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--window-size=1440,900", "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	if err := cmd.Start(); err != nil {
		t.Skipf("Chromium cannot be started: %v", err)
	}
	_, _ = toRead.Close(), fromWrite.Close()
	b := &browser{t: t, in: toWrite, out: bufio.NewReader(fromRead)}
	t.Cleanup(func() {
		b.call("Browser.close", nil)
		_ = cmd.Wait()
		cancel()
		_, _ = toWrite.Close(), fromRead.Close()
	})
	b.attach()
	return b
}

func (b *browser) attach() {
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.into(b.call("Target.createTarget", map[string]any{"url": "about:blank"}), &target)
	var session struct {
		SessionID string `json:"sessionId"`
	}
	b.into(b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}), &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Performance", "Network"} {
		b.call(domain+".enable", nil)
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": false})
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// call makes one request and waits for its answer; what the page complains of
// meanwhile is kept.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	b.next++
	request := map[string]any{"id": b.next, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read()
		switch {
		case m.ID == b.next && m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error)
		case m.ID == b.next:
			return m.Result
		}
		b.heed(m)
	}
}

// await reads until the browser tells of an event.
func (b *browser) await(event string) {
	b.t.Helper()
	for m := b.read(); m.Method != event; m = b.read() {
		b.heed(m)
	}
}

func (b *browser) read() (m message) {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser has gone: %v", err)
	}
	b.into(bytes.TrimSuffix(text, []byte{0}), &m)
	return m
}

func (b *browser) heed(m message) {
	switch m.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
		b.faults = append(b.faults, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var p struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		_ = json.Unmarshal(m.Params, &p)
		if !strings.HasPrefix(p.Request.URL, "file:") {
			b.faults = append(b.faults, "request of "+p.Request.URL)
		}
	}
}

func (b *browser) into(raw json.RawMessage, v any) {
	b.t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the JSON of what an expression gives in the page; promises are
// awaited.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	b.into(b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}), &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	value, err := tools.ParseJSON(string(answer.Result.Value))
	if err != nil {
		b.t.Fatalf("%s gave %s: %v", expression, answer.Result.Value, err)
	}
	return value.String()
}

func (b *browser) key(name string) {
	b.eval(fmt.Sprintf(`document.dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true})), 0`, name))
}

// open shows a trace from a file.
func (b *browser) open(tr *trace.Trace, title string) (path string) {
	b.t.Helper()
	path = filepath.Join(b.t.TempDir(), "trace.html")
	var page bytes.Buffer
	if err := tr.HTML(&page, &trace.HTMLOptions{Title: title}); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, page.Bytes(), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.call("Page.navigate", map[string]any{"url": "file://" + path})
	b.await("Page.loadEventFired")
	if ready := b.eval(`document.documentElement.dataset.ready`); ready != `"yes"` {
		b.t.Fatalf("the page is not ready: %s; %s", ready, b.faults)
	}
	return path
}

func (b *browser) theme(scheme string) {
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
	b.eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`)
}

func (b *browser) shoot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	var shot struct {
		Data string `json:"data"`
	}
	b.into(b.call("Page.captureScreenshot", map[string]any{"format": "png"}), &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// metrics is the page's memory in bytes and the milliseconds to its first paint.
func (b *browser) metrics() (heap, paint float64) {
	b.t.Helper()
	var all struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	b.call("HeapProfiler.collectGarbage", nil)
	b.into(b.call("Performance.getMetrics", nil), &all)
	for _, m := range all.Metrics {
		if m.Name == "JSHeapUsedSize" {
			heap = m.Value
		}
	}
	b.into(json.RawMessage(b.eval(`(performance.getEntriesByName('first-contentful-paint')[0] || {startTime: -1}).startTime`)), &paint)
	return heap, paint
}

func (b *browser) sound() {
	b.t.Helper()
	for _, fault := range b.faults {
		b.t.Errorf("the page complained: %s", fault)
	}
}

// TestPage opens the samples and looks at what is there to see.
func TestPage(t *testing.T) {
	b := openBrowser(t)
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			b.t = t
			b.open(readSample(t, s.name), s.name)
			for _, scheme := range []string{"light", "dark"} {
				b.theme(scheme)
				b.shoot(s.name + "-" + scheme)
			}
			b.theme("light")
			for _, tt := range []struct{ what, expression, want string }{
				{"rows", `document.querySelectorAll('.row').length`, "7"},
				{"program lines", `document.querySelectorAll('.lines > div').length`, "22"},
				{"calls of line 6", `document.querySelectorAll('.lines > div')[5].querySelector('.at').textContent`, `"×3"`},
				{"stages", `[...document.querySelectorAll('.stage h3')].map(e => e.textContent).join()`, `"pre-execute,approval,guards,execution,post-execute,finalize,result"`},
			} {
				check(t, tt.what, b.eval(tt.expression), tt.want)
			}
			b.sound()
		})
	}
}

// TestPageOfDenial plays the path of a denied call, step by step, by its keys.
func TestPageOfDenial(t *testing.T) {
	b := openBrowser(t)
	b.open(readSample(t, "hostile-listener"), "hostile")
	saying := func() string { return b.eval(`document.querySelector('.saying').textContent`) }
	check(t, "the chosen call", b.eval(`document.getElementById('what').textContent`), `"send_mail"`)
	b.key("r")
	check(t, "before the first step", saying(), `"The call has been announced; nobody has been asked yet."`)
	b.key("s")
	check(t, "the hostile listener", saying(), `"Listener “allow-everything” answered allow. Not asked about this call: ask-before-mail, office-hours.  0.040 ms"`)
	check(t, "those it silenced", b.eval(`[...document.querySelectorAll('.stage:first-child .ghost')].map(e => e.firstChild.textContent).sort().join()`), `"ask-before-mail,office-hours"`)
	b.shoot("hostile-step-1")
	b.key("s")
	b.key("s")
	check(t, "the guard", saying(), `"Guard “no-mail-outside” denied the call: mail may not leave the house: team@partner.example is outside. Policy had let it through; a guard has the last word, and nobody can allow what it denies.  0.040 ms"`)
	b.shoot("hostile-step-3")
	b.key("s")
	b.key("s")
	check(t, "the end", saying(), `"The call is denied (DENIED_BY_GUARD). Decided by the guard “no-mail-outside”. mail may not leave the house: team@partner.example is outside"`)
	b.key("ArrowUp")
	check(t, "the call above", b.eval(`document.getElementById('id').textContent`), `"call_1:code:4"`)
	b.key("n")
	check(t, "the next that is not done", b.eval(`document.getElementById('id').textContent`), `"call_1:code:5"`)
	b.eval(`(s => { s.value = 'line:6'; s.dispatchEvent(new Event('input')); return new Promise(done => setTimeout(() => done(0), 0)); })(document.getElementById('search'))`)
	check(t, "calls of a line", b.eval(`document.getElementById('shown').textContent`), `"3 of 7 calls"`)
	b.sound()
}

// TestPageOfFailure opens the log of a program that throws.
func TestPageOfFailure(t *testing.T) {
	b := openBrowser(t)
	rec := &pipelinetest.Recorder{}
	cm, err := codemode.New(pipelinetest.New(t, &pipeline.Options{Sink: rec, Stages: true}), &codemode.Options{Isolation: codemode.IsolationInProcess})
	if err != nil {
		t.Fatal(err)
	}
	cm.Run(t.Context(), codemode.Program{Code: "const a = 1\nthrow new Error('no')"})
	if err := cm.Close(); err != nil {
		t.Fatal(err)
	}
	b.open(read(t, string(jsonLines(rec.Events()))), "failure")
	b.shoot("failure")
	check(t, "the end", b.eval(`document.querySelector('.saying b').textContent`), `"The call failed (CODE_RUN_FAILED). "`)
	check(t, "the piece of code", b.eval(`document.querySelector('.callout pre').textContent.split('\n')[1]`), `"> 2 | throw new Error('no')"`)
	check(t, "the error's line", b.eval(`document.querySelectorAll('.lines .wrong').length`), "1")
	b.sound()
}

// TestPageControls filters, folds and changes the theme.
func TestPageControls(t *testing.T) {
	b := openBrowser(t)
	b.theme("light")
	b.open(readSample(t, "everyone-allows"), "controls")
	rows := func() string {
		return b.eval(`[...document.querySelectorAll('.row')].sort((a, b) => a.offsetTop - b.offsetTop).map(e => e.querySelector('.label').textContent).join()`)
	}
	click := func(selector string) { b.eval(fmt.Sprintf(`document.querySelector(%q).click(), 0`, selector)) }
	b.key("Home")
	b.key("ArrowLeft")
	check(t, "folded", rows(), `"run_code"`)
	b.key("ArrowRight")
	check(t, "unfolded", rows(), `"run_code,list_notes,read_note,read_note,read_note,send_mail,save_report"`)
	b.eval(`(s => { s.value = 'send_mail'; s.dispatchEvent(new Event('change')); return 0; })(document.getElementById('tool'))`)
	check(t, "one tool, with what is around it", rows(), `"run_code,send_mail"`)
	click("#chips .chip")
	check(t, "nothing that is done", rows(), `""`)
	check(t, "words for nothing", b.eval(`document.getElementById('nothing').hidden`), "false")
	click("#chips .chip")
	b.eval(`(s => { s.value = ''; s.dispatchEvent(new Event('change')); return 0; })(document.getElementById('tool'))`)
	click(".lines > div:nth-child(6)")
	click(".lines > div:nth-child(6)")
	check(t, "the second call of a line", b.eval(`document.getElementById('id').textContent`), `"call_1:code:3"`)
	check(t, "its arguments", b.eval(`document.querySelector('.box pre').textContent`), `"{\n  \"name\": \"release\"\n}"`)
	b.key("t")
	check(t, "theme", b.eval(`document.documentElement.dataset.theme`), `"dark"`)
	b.key("p")
	check(t, "playing", b.eval(`document.querySelector('.path .button.main').textContent`), `"❚❚ Pause"`)
	b.sound()
}

// TestPageOfMany opens a log of 5,000 calls. The bounds are far above what is
// measured, for slow machines; they fail where rows are not virtual.
func TestPageOfMany(t *testing.T) {
	b := openBrowser(t)
	tr := manyCalls(t, 5000)
	path := b.open(tr, "5,000 calls")
	heap, paint := b.metrics()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var frames []float64
	b.into(json.RawMessage(b.eval(`new Promise(done => {
		const rows = document.getElementById('rows'), times = [];
		let n = 0, last = performance.now();
		const step = now => { times.push(now - last); last = now; rows.scrollTop += 1500; if (++n < 60) requestAnimationFrame(step); else done(times.sort((a, b) => a - b)); };
		requestAnimationFrame(step);
	})`)), &frames)
	filter := b.eval(`(s => { const from = performance.now(); s.value = 'count'; s.dispatchEvent(new Event('change')); s.value = ''; s.dispatchEvent(new Event('change')); return Math.round(performance.now() - from) / 2; })(document.getElementById('tool'))`)
	t.Logf("page %d bytes, heap %.1f MB, first paint after %.0f ms, scrolling: median %.1f ms a frame, worst %.1f ms, filtering %s ms", info.Size(), heap/1e6, paint, frames[30], frames[59], filter)
	if rows := b.eval(`document.querySelectorAll('.row').length`); rows == "0" || len(rows) > 2 {
		t.Errorf("%s rows are elements, want those in sight", rows)
	}
	if heap > 200e6 {
		t.Errorf("the page takes %.0f MB", heap/1e6)
	}
	b.eval(`document.getElementById('rows').scrollTop = 0`)
	for _, scheme := range []string{"light", "dark"} {
		b.theme(scheme)
		b.shoot("many-" + scheme)
	}
	b.sound()
}

// TestPageOfHostileTexts opens a log whose texts try to be a part of the page.
func TestPageOfHostileTexts(t *testing.T) {
	b := openBrowser(t)
	b.open(read(t, hostileLog), "</title><script>document.documentElement.dataset.owned = 'yes'</script>")
	b.shoot("hostile-texts")
	check(t, "a script of the log's ran", b.eval(`document.documentElement.dataset.owned || 'no'`), `"no"`)
	check(t, "elements of the log's", b.eval(`document.querySelectorAll('img, iframe, a').length`), "0")
	check(t, "the tool's name", b.eval(`document.querySelector('.row .label').textContent`), `"</script><img src=x onerror=alert(1)>"`)
	check(t, "its id", b.eval(`document.getElementById('id').textContent`), `"c\\u{1b}[2J1"`)
	check(t, "its arguments and result", b.eval(`[...document.querySelectorAll('.box pre')].map(e => e.textContent)`),
		`["{\n  \"x\": \"<!--<script>\\u{2028}\\ud800\"\n}","{{script}} <iframe src=//x> \\u{202e}"]`)
	b.sound()
}
