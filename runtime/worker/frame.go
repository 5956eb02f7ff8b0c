package worker

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// protocolVersion changes whenever a frame's meaning does.
const protocolVersion = 5

// kind says what a frame is.
type kind byte

const (
	kindHello   kind = iota + 1 // worker: I am ready; meta helloMeta
	kindRun                     // parent: run this; meta runMeta, body program and input
	kindCall                    // worker: make this call; meta callMeta, body the arguments
	kindCancel                  // worker: the program gave up on this call
	kindReply                   // parent: the call's answer; meta replyMeta, body value or error text
	kindLog                     // worker: a console line; meta its level, body its text
	kindClock                   // worker: what time is it?
	kindTime                    // parent: meta timeMeta
	kindStop                    // parent: end the run; body the reason
	kindDone                    // worker: the run ended; meta doneMeta, body value or failure message
	kindBarrier                 // worker, after done: nothing of this run follows
	kindOver                    // worker: the run is being ended, and nobody waits for its calls any more
	kindEnd                     // one past the last
)

var kindNames = [...]string{kindHello: "hello", kindRun: "run", kindCall: "call", kindCancel: "cancel", kindReply: "reply", kindLog: "log",
	kindClock: "clock", kindTime: "time", kindStop: "stop", kindDone: "done", kindBarrier: "barrier", kindOver: "over"}

func (k kind) String() string {
	if k == 0 || k >= kindEnd {
		return fmt.Sprintf("type-%d", byte(k))
	}
	return kindNames[k]
}

// numbered says whether frames of this kind carry an id: that of a call, or of a
// reading of the clock.
func (k kind) numbered() bool {
	switch k {
	case kindCall, kindCancel, kindReply, kindClock, kindTime:
		return true
	}
	return false
}

// runID names one run on one worker. It is random, so that no frame of another
// run can pass for one of this.
type runID [16]byte

// frame is one message. The body is raw text, so that a value is never encoded
// twice; what describes it is the small meta.
type frame struct {
	kind kind
	run  runID
	call uint64 // 0 in frames that are not numbered, and only there
	meta string
	body string
}

// headerSize is the size of a frame's fixed header: two lengths, type, run,
// call.
const headerSize = 4 + 4 + 1 + 16 + 8

// fault is a violation of the protocol. It ends the worker.
type fault struct{ text string }

func (f *fault) Error() string { return "worker protocol: " + f.text }

func faultf(format string, args ...any) error { return &fault{fmt.Sprintf(format, args...)} }

// caps is the largest meta and body a reader accepts of each kind; a kind that
// is not listed must not arrive at all.
type caps map[kind]struct{ meta, body int }

// readFrame reads one frame. A frame that breaks caps is a *fault and its
// content is not read.
func readFrame(r *bufio.Reader, allowed caps) (frame, error) {
	head, err := r.Peek(headerSize)
	if err != nil {
		if len(head) > 0 {
			err = unexpectedEOF(err)
		}
		return frame{}, err
	}
	f := frame{kind: kind(head[8]), call: binary.BigEndian.Uint64(head[25:])}
	copy(f.run[:], head[9:25])
	limit, ok := allowed[f.kind]
	if !ok {
		return frame{}, faultf("a %s frame is not accepted here", f.kind)
	}
	if (f.call != 0) != f.kind.numbered() {
		return frame{}, faultf("a %s frame with the id %d", f.kind, f.call)
	}
	meta, body := binary.BigEndian.Uint32(head[0:]), binary.BigEndian.Uint32(head[4:])
	if uint64(meta) > uint64(limit.meta) || uint64(body) > uint64(limit.body) {
		return frame{}, faultf("a %s frame of %d+%d bytes is larger than %d+%d", f.kind, meta, body, limit.meta, limit.body)
	}
	r.Discard(headerSize)
	text, err := readText(r, int(meta)+int(body))
	if err != nil {
		return frame{}, err
	}
	f.meta, f.body = text[:meta], text[meta:]
	return f, nil
}

// readText reads n bytes into a string with one copy.
func readText(r *bufio.Reader, n int) (string, error) {
	var b strings.Builder
	b.Grow(n)
	for n > 0 {
		if _, err := r.Peek(1); err != nil {
			return "", unexpectedEOF(err)
		}
		chunk, _ := r.Peek(min(n, r.Buffered()))
		b.Write(chunk)
		r.Discard(len(chunk))
		n -= len(chunk)
	}
	return b.String(), nil
}

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// writeFrame writes one frame into w without flushing it.
func writeFrame(w *bufio.Writer, f frame) error {
	if w.Available() < headerSize {
		if err := w.Flush(); err != nil {
			return err
		}
	}
	head := binary.BigEndian.AppendUint32(w.AvailableBuffer(), uint32(len(f.meta)))
	head = binary.BigEndian.AppendUint32(head, uint32(len(f.body)))
	head = append(head, byte(f.kind))
	head = append(head, f.run[:]...)
	head = binary.BigEndian.AppendUint64(head, f.call)
	if _, err := w.Write(head); err != nil {
		return err
	}
	if _, err := w.WriteString(f.meta); err != nil {
		return err
	}
	_, err := w.WriteString(f.body)
	return err
}
