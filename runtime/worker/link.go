package worker

import (
	"bufio"
	"net"
	"sync"
)

const linkBuffer = 64 << 10

// link is one side of the connection between parent and worker. Any goroutine
// may send; one at a time may receive.
type link struct {
	conn net.Conn
	in   *bufio.Reader

	mu  sync.Mutex // guards out: frames never interleave
	out *bufio.Writer
}

func newLink(conn net.Conn) *link {
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
	return l.out.Flush()
}

func (l *link) receive(allowed caps) (frame, error) { return readFrame(l.in, allowed) }

func (l *link) close() { l.conn.Close() }
