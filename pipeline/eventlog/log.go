package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Options changes a Log. The zero value is useful.
type Options struct {
	// Read changes what Open accepts of the events that are there, as for Read.
	Read ReadOptions
	// Redact, if not nil, is given the data of every event, before it is cut, and
	// what Spill returns, and returns what is written in its place. If it panics or
	// returns no value, the event is not written, and Emit fails.
	Redact func(tools.JSON) tools.JSON
	// Spill, if not nil, stores a text that was cut and returns where it is. Its
	// failure is noted with the cut.
	Spill func(ctx context.Context, text string) (locator string, err error)
	// MaxBody is the most bytes of data an event has in the log; what is larger is
	// cut. Zero: DefaultMaxBody. The least is 4 KiB.
	MaxBody int
}

// Log is an open event log: a pipeline.Sink that is safe for concurrent use.
type Log struct {
	opts   Options
	known  map[string]bool // types that can be read back
	mu     sync.Mutex
	file   *os.File
	out    io.Writer // file, in any but a test
	unlock func() error
	lines  sync.Pool // of *tools.Composer
	path   string
	next   uint64
	end    int64 // where the next line begins
	torn   int64 // bytes a failed write left after end
	closed bool
}

// Open opens the log at path for appending and makes it if it is missing, with
// mode 0600 (an existing file is narrowed to it). It refuses a symbolic link,
// anything that is no regular file, a file another writer holds, and a file that
// Read would refuse for another reason than a torn tail. A torn tail is sealed.
// Nil is Options of nothing.
func Open(path string, opts *Options) (*Log, error) {
	l := &Log{path: path}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.MaxBody == 0 {
		l.opts.MaxBody = DefaultMaxBody
	}
	if l.opts.MaxBody < minBody {
		return nil, fmt.Errorf("cannot open event log %s: MaxBody is %d; give at least %d, or 0 for %d", path, l.opts.MaxBody, minBody, DefaultMaxBody)
	}
	l.known = knownTypes(&l.opts.Read)
	file, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open event log %s: %w", path, err)
	}
	l.file, l.out = file, file
	if err := l.take(); err != nil {
		l.release()
		return nil, fmt.Errorf("cannot open event log %s: %w", path, err)
	}
	return l, nil
}

// take locks the file, reads what it holds and seals its tail.
func (l *Log) take() error {
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if l.unlock, err = lock(l.file, l.path); err != nil {
		return err
	}
	found, err := Read(io.NewSectionReader(l.file, 0, 1<<62), &l.opts.Read)
	if err != nil {
		return err
	}
	if found.any {
		if found.last == maxSeq {
			return fmt.Errorf("its last event has the number %d, and none comes after that; choose another file", found.last)
		}
		l.next = found.last + 1 // a seal has its number too
	} else if err := l.mayBeLog(found.Torn); err != nil {
		return err
	}
	if info.Mode().Perm() != 0o600 {
		if err := l.file.Chmod(0o600); err != nil {
			return err
		}
	}
	l.end = found.size
	return l.mend(found)
}

// mayBeLog refuses a file of no events whose text is not the beginning of one:
// it is somebody's other file, named by mistake.
func (l *Log) mayBeLog(torn []Torn) error {
	if len(torn) == 0 {
		return nil
	}
	const begins = `{"type":`
	head := make([]byte, min(int64(len(begins)), torn[0].Bytes))
	if _, err := l.file.ReadAt(head, torn[0].Offset); err != nil {
		return err
	}
	if !strings.HasPrefix(begins, string(head)) {
		return errors.New("it holds other text and no events; choose another file")
	}
	return nil
}

// mend makes the file end with a whole line.
func (l *Log) mend(found Contents) error {
	if found.openTail {
		return l.write([]byte("\n"))
	}
	if n := len(found.Torn); n > 0 && !found.Torn[n-1].Sealed {
		l.end, l.torn = found.Torn[n-1].Offset, found.Torn[n-1].Bytes
		return l.seal()
	}
	return nil
}

// NextSeq is the Seq after the last event of the file, 0 for an empty one.
func (l *Log) NextSeq() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// Emit appends one event as one line, its data redacted and, if it is larger
// than MaxBody, cut. It refuses an event that could not be read back: one that
// goes back in Seq, has no data or data that is too deep, or is of a type
// that is neither known nor ignorable. After a failed write the next Emit seals
// what reached the file.
func (l *Log) Emit(e pipeline.Event) error { return l.emit(e, nil) }

// LongText is MaxBody, as pipeline.LongSink has it, or 0 where texts must be redacted
// in their places.
func (l *Log) LongText(of pipeline.Sink) int {
	if self, ok := of.(*Log); !ok || self != l || l.opts.Redact != nil {
		return 0
	}
	return l.opts.MaxBody
}

// EmitLong is Emit of an event whose long texts stand beside it, as pipeline.LongSink
// has it. The line is the same as if they were in their places.
func (l *Log) EmitLong(e pipeline.Event, long map[string]string) error {
	most := l.LongText(l)
	for at, text := range long {
		if most == 0 || len(text) <= most || !utf8.ValidString(text) {
			return fmt.Errorf("event %d of type %q cannot be written to event log %s: the text at %s must be longer than LongText, and UTF-8; put it in its place and use Emit", e.Seq, e.Type, l.path, at)
		}
	}
	return l.emit(e, long)
}

func (l *Log) emit(e pipeline.Event, long map[string]string) error {
	line := l.takeLine()
	defer l.keepLine(line)
	if err := l.compose(line, e, long); err != nil {
		return fmt.Errorf("event %d of type %q cannot be written to event log %s: %w", e.Seq, e.Type, l.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("event log %s is closed", l.path)
	}
	if l.torn > 0 {
		if err := l.seal(); err != nil {
			return err
		}
	}
	if e.Seq == maxSeq {
		return fmt.Errorf("event %d cannot be written to %s: no number would be left for the next one", e.Seq, l.path)
	}
	if e.Seq < l.next {
		return fmt.Errorf("event %d comes after event %d in %s; start the pipeline with FirstSeq from NextSeq", e.Seq, l.next-1, l.path)
	}
	if err := l.write(append(line.Bytes(), '\n')); err != nil {
		return err
	}
	l.next = e.Seq + 1
	return nil
}

// compose writes the event as it stands in the log. Foreign code runs here, so no
// lock is held.
func (l *Log) compose(line *tools.Composer, e pipeline.Event, long map[string]string) error {
	if e.Type == "" {
		return errors.New("it could not be read back: it has no type")
	}
	if !l.known[e.Type] && !e.Ignorable {
		return errors.New("it could not be read back: its type is unknown and it is not ignorable; name the type in Options.Read.Known")
	}
	data, err := l.redacted(e.Data)
	if err != nil {
		return err
	}
	if e.Data = data; data.Len() > l.opts.MaxBody || long != nil {
		c := cutter{spill: l.opts.Spill, redact: l.redactedText, long: long}
		if e.Data, err = c.fit(data, l.opts.MaxBody); err != nil {
			return err
		}
	}
	e.Compose(line)
	// Only a text longer than the limit can be deeper.
	if text := line.Bytes(); len(text) > maxDepth {
		if _, err := tools.ParseJSON(string(text)); err != nil {
			return fmt.Errorf("it could not be read back: %w", err)
		}
	}
	return nil
}

// takeLine is an empty line. Its buffer has held others: who composes a line
// begins at its start, and only what was composed is written.
func (l *Log) takeLine() *tools.Composer {
	if line, ok := l.lines.Get().(*tools.Composer); ok {
		line.Reset()
		return line
	}
	return &tools.Composer{}
}

// keepLine keeps the buffer of a line for another, unless it is a large one.
func (l *Log) keepLine(line *tools.Composer) {
	if len(line.Bytes()) <= mostKept {
		l.lines.Put(line)
	}
}

// mostKept is the longest line whose buffer is kept.
const mostKept = 16 << 10

func (l *Log) redacted(data tools.JSON) (_ tools.JSON, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the redactor crashed, and nothing is written without it")
		}
	}()
	if l.opts.Redact != nil && !data.IsZero() {
		data = l.opts.Redact(data)
	}
	if data.IsZero() {
		return data, errors.New("it has no data; give null if there is none")
	}
	return data, nil
}

// redactedText is a text of the store's as it may be written.
func (l *Log) redactedText(text string) string {
	if redacted, err := l.redacted(tools.StringJSON(text)); err == nil {
		if text, ok := redacted.Text(); ok {
			return text
		}
	}
	return "a text that could not be redacted"
}

const (
	maxDepth = 10_000
	maxSeq   = math.MaxUint64
)

// write appends whole lines and keeps account of what a failure leaves.
func (l *Log) write(line []byte) error {
	n, err := l.out.Write(line)
	if err != nil {
		l.torn += int64(n)
		return fmt.Errorf("cannot write to event log %s: %w", l.path, err)
	}
	l.end += l.torn + int64(n)
	l.torn = 0
	return nil
}

// seal ends torn bytes and says which they are. It takes the number of the
// event that did not reach the file.
func (l *Log) seal() error {
	seal := pipeline.Event{
		Type: TypeSealed, Seq: l.next, Time: time.Now().UnixMilli(), Ignorable: true,
		Data: tools.ComposeObject(
			tools.Member{Name: "offset", Value: number(l.end)},
			tools.Member{Name: "bytes", Value: number(l.torn)},
		),
	}
	var line bytes.Buffer
	line.WriteByte('\n')
	line.WriteString(seal.JSON().String())
	line.WriteByte('\n')
	if err := l.write(line.Bytes()); err != nil {
		return err
	}
	l.next++
	return nil
}

func number(n int64) tools.JSON { return tools.MustJSON(strconv.FormatInt(n, 10)) }

// Close flushes the file to the disk, gives up the lock and closes it. A second
// Close does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if err := errors.Join(l.file.Sync(), l.release()); err != nil {
		return fmt.Errorf("cannot close event log %s: %w", l.path, err)
	}
	return nil
}

func (l *Log) release() error {
	var err error
	if l.unlock != nil {
		err = l.unlock()
	}
	return errors.Join(err, l.file.Close())
}
