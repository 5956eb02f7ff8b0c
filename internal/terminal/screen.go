package terminal

import (
	"fmt"
	"io"
	"sync"
)

// maxHeld bounds what a Screen keeps while a question is open, in bytes.
const maxHeld = 1 << 20

// Screen owns what a command writes to the terminal: while a question is open it
// keeps the output of its writers, and passes it on in order afterwards. A
// program that writes never waits for a person; what is too much to keep is
// counted and left out. The zero Screen is ready, and safe for concurrent use.
type Screen struct {
	mu      sync.Mutex
	holds   int
	midLine bool // the last writer has not ended its line
	held    []heldText
	size    int // of all texts in held
	losers  []*screenWriter
}

type heldText struct {
	w    *screenWriter
	text []byte
}

// Writer returns a writer to w that the screen can hold. It is for what goes to
// the terminal; a file or a pipe needs no holding.
func (s *Screen) Writer(w io.Writer) io.Writer { return &screenWriter{s, w, 0} }

type screenWriter struct {
	s    *Screen
	w    io.Writer
	lost int // bytes left out of what is held
}

// Write writes, or keeps what fits as a whole.
func (w *screenWriter) Write(text []byte) (int, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.s.write(w, text)
}

// line writes a line of its own, whatever has been written before.
func (w *screenWriter) line(text string) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	if w.s.midLine {
		text = "\n" + text
	}
	_, _ = w.s.write(w, []byte(text+"\n"))
}

func (s *Screen) write(w *screenWriter, text []byte) (int, error) {
	if len(text) == 0 {
		return 0, nil
	}
	if s.holds > 0 {
		s.keep(w, text)
		return len(text), nil
	}
	s.midLine = text[len(text)-1] != '\n'
	return w.w.Write(text)
}

// keep holds the text. After the first that does not fit it holds nothing more,
// so that what is shown later has no gaps.
func (s *Screen) keep(w *screenWriter, text []byte) {
	if len(s.losers) == 0 && s.size+len(text) <= maxHeld {
		s.midLine = text[len(text)-1] != '\n'
		s.size += len(text)
		if last := len(s.held) - 1; last >= 0 && s.held[last].w == w {
			s.held[last].text = append(s.held[last].text, text...)
		} else {
			s.held = append(s.held, heldText{w, append([]byte(nil), text...)})
		}
		return
	}
	if w.lost == 0 {
		s.losers = append(s.losers, w)
	}
	w.lost += len(text)
}

// hold keeps all output from now on. Who asks ends the last line on the screen
// first, and leaves the screen at the beginning of a line.
func (s *Screen) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds++
	s.midLine = false
}

// release passes on what was held since hold. Errors of writers are lost: who
// wrote has been told that all is well.
func (s *Screen) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds--; s.holds > 0 {
		return
	}
	for _, h := range s.held {
		_, _ = h.w.w.Write(h.text)
	}
	for _, w := range s.losers {
		end := ""
		if s.midLine {
			end = "\n"
		}
		_, _ = fmt.Fprintf(w.w, "%s… %s written while a question was open are not shown\n", end, sizeOf(w.lost))
		s.midLine, w.lost = false, 0
	}
	s.held, s.size, s.losers = nil, 0, nil
}
