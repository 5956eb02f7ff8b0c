package worker

import (
	"bufio"
	"io"
	"sync"
	"time"
)

const linkBuffer = 64 << 10

// quiet is how long after a write the next frame of a batch is written at once.
const quiet = time.Millisecond

// link is one side of the connection between parent and worker. Any goroutine
// may send; one at a time may receive.
type link struct {
	conn io.ReadWriteCloser
	in   *bufio.Reader

	mu       sync.Mutex // guards the rest: frames never interleave
	out      *bufio.Writer
	written  time.Time // when out was last emptied
	flushing bool      // a goroutine is about to empty out
}

func newLink(conn io.ReadWriteCloser) *link {
	return &link{conn: conn, in: bufio.NewReaderSize(conn, linkBuffer), out: bufio.NewWriterSize(conn, linkBuffer)}
}

// send writes one frame. It blocks while the peer does not read; closing the
// connection ends that.
func (l *link) send(f frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sendLocked(f)
}

func (l *link) sendLocked(f frame) error {
	if err := writeFrame(l.out, f); err != nil {
		return err
	}
	return l.flushLocked()
}

// batchLocked writes one frame, which may share a write with others that follow
// it at once. It waits for no timer: what is in the buffer goes out when that is
// full, before any other frame is, or as soon as another goroutine gets to run.
func (l *link) batchLocked(f frame) error {
	if err := writeFrame(l.out, f); err != nil {
		return err
	}
	if time.Since(l.written) >= quiet {
		return l.flushLocked()
	}
	if !l.flushing {
		l.flushing = true
		go l.flushBatch()
	}
	return nil
}

func (l *link) flushBatch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushing = false
	l.flushLocked()
}

func (l *link) flushLocked() error {
	l.written = time.Now()
	return l.out.Flush()
}

// received says whether the header of the next frame is there. It is the whole of a
// frame without content.
func (l *link) received() bool { return l.in.Buffered() >= headerSize }

// silent says whether nobody is sending.
func (l *link) silent() bool {
	if !l.mu.TryLock() {
		return false
	}
	l.mu.Unlock()
	return true
}

// drain waits until nobody is sending.
func (l *link) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
}

func (l *link) receive(allowed caps) (frame, error) { return readFrame(l.in, allowed) }

func (l *link) close() { l.conn.Close() }
