package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is the largest message a server may send, in bytes.
const maxMessage = 16 << 20

// fault is what a server or its connection did wrong, as a predicate.
type fault struct {
	text   string
	status int // of the HTTP answer it is about, if it is about one
}

func (f *fault) Error() string { return f.text }

func faultf(format string, args ...any) *fault { return &fault{text: fmt.Sprintf(format, args...)} }

var errTooLarge = faultf("sent a message of more than %d MiB", maxMessage>>20)

// The SDK decodes values into Go's maps and numbers, which loses the order of
// keys and the digits of large integers. Only the results of methods it does not
// know can have a type of our own (rawResult), so the two methods whose results
// matter are called by another name, which is put right before it is sent.
const (
	aliasMark  = "runcode/"
	listMethod = aliasMark + "tools/list"
	callMethod = aliasMark + "tools/call"
)

// methodStart is how the SDK writes the name of a method that is an alias. It
// stands before the parameters, so its first occurrence is the name.
var methodStart, aliasStart = []byte(`"method":"`), []byte(`"method":"` + aliasMark)

func realMethod(message []byte) []byte { return bytes.Replace(message, aliasStart, methodStart, 1) }

// rawResult is the text of a result.
type rawResult struct {
	mcp.ResultBase
	text []byte
}

// UnmarshalJSON keeps the text.
func (r *rawResult) UnmarshalJSON(text []byte) error {
	r.text = bytes.Clone(text)
	return nil
}

// keeper remembers the connection a transport makes: it is the one way to end a
// session whose server owes answers.
type keeper struct {
	mcp.Transport
	conn mcp.Connection
}

func (k *keeper) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := k.Transport.Connect(ctx)
	k.conn = conn
	return conn, err
}

func (k *keeper) close() {
	if k.conn != nil {
		_ = k.conn.Close()
	}
}

// lineTransport speaks one message a line over a pair of streams. Unlike the
// SDK's it never waits for a peer that does not read, and says in words what
// was wrong with what it read. It ends neither stream: their owner does.
type lineTransport struct {
	in  io.Reader
	out io.Writer
	// noise is told of lines that are no messages.
	noise func(line string)
}

func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	c := &lineConn{incoming: make(chan []byte), outgoing: make(chan []byte), closed: make(chan struct{}), ended: make(chan struct{})}
	go c.readLines(t.in, t.noise)
	go c.writeLines(t.out)
	return c, nil
}

type lineConn struct {
	incoming chan []byte
	outgoing chan []byte
	ended    chan struct{} // closed when there is nothing more to read
	err      error         // why; set before ended is closed
	once     sync.Once
	closed   chan struct{}
}

func (c *lineConn) readLines(in io.Reader, noise func(string)) {
	defer close(c.ended)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil {
			c.err = err
			return
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		// Many servers greet people on this stream. What begins like a message
		// and is none is another matter; see Read.
		if line[0] != '{' && line[0] != '[' {
			noise(string(line[:min(len(line), 4<<10)]))
			continue
		}
		select {
		case c.incoming <- line:
		case <-c.closed:
			return
		}
	}
}

// readLine reads a line of at most maxMessage bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, errTooLarge
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (c *lineConn) writeLines(out io.Writer) {
	for {
		select {
		case line := <-c.outgoing:
			if _, err := out.Write(line); err != nil {
				_ = c.Close()
				return
			}
		case <-c.closed:
			return
		}
	}
}

func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case line := <-c.incoming:
		message, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, faultf("sent a line of %d bytes that is no message", len(line))
		}
		return message, nil
	case <-c.ended:
		return nil, c.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Write hands a message over; it does not wait until the peer has read it.
func (c *lineConn) Write(ctx context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	select {
	case c.outgoing <- append(realMethod(text), '\n'):
		return nil
	case <-c.closed:
		return io.ErrClosedPipe
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

func (c *lineConn) SessionID() string { return "" }
