package worker

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// diagnosticsHalf is how much of the start and of the end of a worker's output
// is kept.
const diagnosticsHalf = 8 << 10

// diagnostics keeps what a worker prints, bounded: its head and its tail. It is
// never shown to a model in full; a failure quotes one line.
type diagnostics struct {
	mu      sync.Mutex
	head    []byte
	tail    []byte
	dropped int
}

// Write never fails, so that the process never waits.
func (d *diagnostics) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(p)
	if room := diagnosticsHalf - len(d.head); room > 0 {
		take := min(room, len(p))
		d.head = append(d.head, p[:take]...)
		p = p[take:]
	}
	d.tail = append(d.tail, p...)
	if over := len(d.tail) - diagnosticsHalf; over > 0 {
		d.dropped += over
		d.tail = append(d.tail[:0], d.tail[over:]...)
	}
	return n, nil
}

// collect reads r to its end.
func (d *diagnostics) collect(r io.Reader) { io.Copy(d, r) }

func (d *diagnostics) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	middle := ""
	if d.dropped > 0 {
		middle = fmt.Sprintf("\n[%d bytes left out]\n", d.dropped)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(d.head)+middle+string(d.tail), "\uFFFD"))
}

// firstLine is the first line of trimmed text, shortened.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return shorten(strings.TrimSpace(line), 300)
}

// shorten cuts text to at most n bytes, between characters.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
