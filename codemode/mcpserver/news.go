package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/runtime"
)

// news is what a client is told while its call runs. The telling goes on beside
// the call: a client that does not read must not hold up the pipeline, so what
// does not fit the queue is counted and left out.
type news struct {
	session *mcp.ServerSession
	ctx     context.Context // what is sent in it goes where the answer will go
	stop    context.CancelFunc
	token   any // of progress; nil: the client wants none

	mu       sync.Mutex
	queue    []runtime.Line
	dropped  int                             // lines
	progress *mcp.ProgressNotificationParams // the latest, until it is sent
	steps    int                             // begins and ends of sub-calls
	settled  int                             // sub-calls
	closed   bool
	wake     chan struct{}
	done     chan struct{}
}

// maxQueue is how many console lines wait for a client to read, maxText how many
// bytes of one are sent: all of it is in the result anyway.
const (
	maxQueue = 256
	maxText  = 16 << 10
)

func tell(ctx context.Context, session *mcp.ServerSession, token any) *news {
	n := &news{session: session, token: token, wake: make(chan struct{}, 1), done: make(chan struct{})}
	n.ctx, n.stop = context.WithCancel(ctx)
	go n.send()
	return n
}

// close ends the telling. What waits is sent before it returns, for none of it may
// follow the answer, but a client that does not read gets no more than a moment.
func (n *news) close(wait time.Duration) {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.poke()
	defer n.stop()
	select {
	case <-n.done:
	case <-time.After(wait): // what is being written then ends with the connection
	}
}

func (n *news) poke() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// line queues a console line.
func (n *news) line(line runtime.Line) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return
	}
	if len(n.queue) == maxQueue {
		n.dropped++
		return
	}
	if len(line.Text) > maxText {
		line.Text = fmt.Sprintf("%s… [%d bytes in all]", line.Text[:maxText], len(line.Text))
	}
	line.Text = strings.ToValidUTF8(line.Text, "\uFFFD")
	n.queue = append(n.queue, line)
	n.poke()
}

// subCall notes that a sub-call began or, with a state, settled. Only the latest
// is sent where they come faster than the client reads.
func (n *news) subCall(name string, state pipeline.State) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.token == nil {
		return
	}
	n.steps++ // progress must rise with each notification
	message := fmt.Sprintf("call %d: %s", n.settled+1, name)
	if state != "" {
		n.settled++
		message = fmt.Sprintf("call %d: %s %s", n.settled, name, state)
	}
	n.progress = &mcp.ProgressNotificationParams{ProgressToken: n.token, Progress: float64(n.steps), Message: message}
	n.poke()
}

// send is the goroutine that tells.
func (n *news) send() {
	defer close(n.done)
	for range n.wake {
		for {
			lines, progress, dropped, closed := n.take()
			for _, line := range lines {
				n.log(levels[line.Level], line.Text)
			}
			if dropped > 0 {
				n.log("warning", fmt.Sprintf("%d lines were left out here, as they came faster than they were read; the result has them", dropped))
			}
			if progress != nil {
				_ = n.session.NotifyProgress(n.ctx, progress) // a client that has left needs no news
			}
			if closed {
				return
			}
			if len(lines) == 0 && progress == nil {
				break
			}
		}
	}
}

func (n *news) take() (lines []runtime.Line, progress *mcp.ProgressNotificationParams, dropped int, closed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines, progress, dropped = n.queue, n.progress, n.dropped
	n.queue, n.progress, n.dropped = nil, nil, 0
	return lines, progress, dropped, n.closed
}

// levels are the log levels of console lines (MCP spec, LoggingLevel).
var levels = map[string]mcp.LoggingLevel{"log": "info", "info": "info", "warn": "warning", "error": "error", "debug": "debug"}

func (n *news) log(level mcp.LoggingLevel, text string) {
	_ = n.session.Log(n.ctx, &mcp.LoggingMessageParams{Level: level, Logger: "console", Data: text})
}

// newsOf is where the client of a call is told, nil for a call of another's.
func (s *Server) newsOf(root string) *news {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.calls[root]; k != nil {
		return k.news
	}
	return nil
}

// Log sends a console line of the run_code call to its client. It is
// codemode.Options.OnLog.
func (s *Server) Log(callID string, line runtime.Line) {
	if n := s.newsOf(callID); n != nil {
		n.line(line)
	}
}

// Emit tells clients of the sub-calls of their calls. It implements pipeline.Sink,
// never fails and never waits.
func (s *Server) Emit(e pipeline.Event) error {
	if e.Type != pipeline.EventCodeDispatchStart && e.Type != pipeline.EventCodeDispatch {
		return nil
	}
	var d struct {
		Root  string         `json:"rootCallId"`
		Name  string         `json:"name"`
		State pipeline.State `json:"state"`
	}
	if e.Data.Unmarshal(&d) != nil {
		return nil
	}
	if n := s.newsOf(d.Root); n != nil {
		n.subCall(d.Name, d.State)
	}
	return nil
}
