package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/tools"
)

const (
	maxLine         = 128 << 20 // bytes of one line
	maxProblemLines = 20        // of one kind
)

// ReadFile reads the log at path; see Read.
func ReadFile(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read trace: %w", err)
	}
	defer func() { _ = f.Close() }()
	t, err := Read(f)
	if err != nil {
		return t, fmt.Errorf("cannot read trace %s: %w", path, err)
	}
	return t, nil
}

// Read reads a log to its end. It is for looking at a log, so it takes what
// eventlog.Read refuses: events of unknown types are passed over, and what is
// missing or out of order is one of Trace.Problems, as are a torn tail and torn
// lines that a later writer has sealed. A line that is no JSON anywhere else is
// an error; what was read before it is returned too.
func Read(r io.Reader) (*Trace, error) {
	rd := reader{in: bufio.NewReader(r), b: newBuilder()}
	err := rd.read()
	return rd.b.finish(), err
}

// reader takes a log apart into events. One event is kept back until the next
// line shows that no seal takes it away.
type reader struct {
	in     *bufio.Reader
	b      *builder
	lineNo int
	offset int64 // where the next line begins

	held      event
	heldAt    int64
	holds     bool
	broken    error // of the first line of a torn stretch
	tornLine  int
	tornBytes int64
}

// event is an envelope as a line spells it; what is missing is zero.
type event struct {
	Type            string     `json:"type"`
	Seq             uint64     `json:"seq"`
	Time            float64    `json:"time"`
	Data            tools.JSON `json:"data"`
	SurfaceOp       tools.JSON `json:"surfaceOp"`
	SourceEventSeqs []uint64   `json:"sourceEventSeqs"`

	line int // of the log
}

func (rd *reader) read() error {
	for {
		line, err := rd.line()
		if err != nil && err != io.EOF {
			return err
		}
		if takeErr := rd.take(line); takeErr != nil {
			return takeErr
		}
		if err == io.EOF {
			rd.release()
			if rd.broken != nil {
				rd.b.problem(rd.tornLine, "the log ends in the middle of a line; its last %d bytes are lost", rd.tornBytes)
			}
			return nil
		}
	}
}

// line reads up to and including the next line break.
func (rd *reader) line() ([]byte, error) {
	rd.lineNo++
	var line []byte
	for {
		part, err := rd.in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("line %d is longer than %d bytes, so this is hardly a log", rd.lineNo, maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (rd *reader) take(line []byte) error {
	start := rd.offset
	rd.offset += int64(len(line))
	text := bytes.TrimSpace(line)
	if len(text) == 0 {
		return nil
	}
	value, err := tools.ParseJSON(string(text))
	if err != nil {
		if rd.broken == nil {
			rd.broken, rd.tornLine = err, rd.lineNo
		}
		rd.tornBytes = rd.offset - start + rd.tornBytes
		return nil
	}
	e := event{line: rd.lineNo}
	if err := value.Unmarshal(&e); err != nil || e.Type == "" {
		rd.release()
		rd.b.problem(rd.lineNo, "it is JSON and no event: an object with type, seq, time and data is expected")
		return nil
	}
	if e.Type == eventlog.TypeSealed {
		rd.sealed(e)
		return nil
	}
	if rd.broken != nil {
		rd.release()
		return fmt.Errorf("line %d is no JSON and no seal names it: %w", rd.tornLine, rd.broken)
	}
	rd.release()
	rd.held, rd.heldAt, rd.holds = e, start, true
	return nil
}

// sealed drops what a seal names: lines that are no JSON, or the event before
// it, whose writer was told that it had failed.
func (rd *reader) sealed(e event) {
	var torn struct {
		Offset int64 `json:"offset"`
		Bytes  int64 `json:"bytes"`
	}
	if e.Data.Unmarshal(&torn) == nil && rd.broken == nil && rd.holds && torn.Offset == rd.heldAt {
		rd.holds = false
	}
	rd.release()
	rd.b.problem(rd.lineNo, "%d bytes before this line were lost when their writer died", torn.Bytes)
	rd.broken, rd.tornBytes = nil, 0
}

func (rd *reader) release() {
	if rd.holds {
		rd.b.take(rd.held)
	}
	rd.holds = false
}

// problem notes something the log should not have.
func (b *builder) problem(line int, format string, args ...any) {
	b.noted[format]++
	switch n := b.noted[format]; {
	case n < maxProblemLines:
		b.t.Problems = append(b.t.Problems, Problem{line, fmt.Sprintf(format, args...)})
	case n == maxProblemLines:
		b.t.Problems = append(b.t.Problems, Problem{line, fmt.Sprintf(format, args...) + " (more of this kind are not listed)"})
	}
}

func (b *builder) finish() *Trace {
	for _, c := range b.order {
		if c.State == StateOpen {
			c.Ended = b.now
			c.Took = c.Ended.Sub(c.Started)
			b.problem(0, "call %s of %s has no result: it was running when the log ends, or its session died", c.ID, c.Tool)
		}
	}
	slices.SortStableFunc(b.t.Problems, func(x, y Problem) int { return lineOrder(x) - lineOrder(y) })
	return b.t
}

// lineOrder puts what is about the whole log last.
func lineOrder(p Problem) int {
	if p.Line == 0 {
		return 1 << 40
	}
	return p.Line
}
