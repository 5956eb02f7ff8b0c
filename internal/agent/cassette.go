package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/runcode-go/runcode/tools"
)

// exchange is one line of a cassette.
type exchange struct {
	Request tools.JSON `json:"request"`
	Answer  tools.JSON `json:"answer"`
}

// Recorder passes requests on and writes each with its answer as one line of
// JSON. Failed requests are not recorded.
type Recorder struct {
	Transport Transport
	W         io.Writer
	// Redact is applied to both before they are written. Nil changes nothing.
	Redact func(tools.JSON) tools.JSON

	mu sync.Mutex
}

// Send implements Transport.
func (r *Recorder) Send(ctx context.Context, request tools.JSON) (string, error) {
	body, err := r.Transport.Send(ctx, request)
	if err != nil {
		return body, err
	}
	answer, err := tools.ParseJSON(body)
	if err != nil {
		return body, nil // the loop says what is wrong with it
	}
	e := exchange{request, answer}
	if r.Redact != nil {
		e = exchange{r.Redact(request), r.Redact(answer)}
	}
	line, err := tools.ToJSON(e)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.W.Write(append(line.Bytes(), '\n')); err != nil {
		return "", fmt.Errorf("cannot write the cassette: %w", err)
	}
	return body, nil
}

// Player answers requests from a cassette, in its order. A request that is not the
// recorded one is an error that says where they differ: an answer to another
// question would not mean anything.
type Player struct {
	// Redact is what the Recorder's was.
	Redact func(tools.JSON) tools.JSON

	mu    sync.Mutex
	lines []exchange
	next  int
}

// maxLine bounds one exchange of a cassette, in bytes.
const maxLine = 256 << 20

// NewPlayer reads a cassette whole.
func NewPlayer(r io.Reader) (*Player, error) {
	p := &Player{}
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for n := 1; in.Scan(); n++ {
		if len(in.Bytes()) == 0 {
			continue
		}
		line, err := tools.ParseJSON(in.Text())
		var e exchange
		if err == nil {
			err = line.Unmarshal(&e)
		}
		if err == nil && (e.Request.IsZero() || e.Answer.IsZero()) {
			err = errors.New("it must have request and answer")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the cassette is no exchange: %w", n, err)
		}
		p.lines = append(p.lines, e)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the cassette: %w", err)
	}
	return p, nil
}

// Send implements Transport.
func (p *Player) Send(_ context.Context, request tools.JSON) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == len(p.lines) {
		return "", fmt.Errorf("the cassette ends after %d requests and one more is made; record it again", p.next)
	}
	if p.Redact != nil {
		request = p.Redact(request)
	}
	e := p.lines[p.next]
	if diff := difference("", e.Request, request); diff != "" {
		return "", fmt.Errorf("request %d is not the recorded one: %s; record the cassette again", p.next+1, diff)
	}
	p.next++
	return e.Answer.String(), nil
}

// Left is how many recorded exchanges have not been used.
func (p *Player) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lines) - p.next
}
