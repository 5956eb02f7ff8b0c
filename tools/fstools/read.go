package fstools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

const (
	defaultLines = 2_000 // that one read returns
	shownLine    = 2_000 // characters of one line in the rendered text
)

type readIn struct {
	FilePath string `json:"file_path" jsonschema:"the file, relative to the root directory or absolute"`
	Offset   int    `json:"offset,omitzero" jsonschema:"the first line to return, counted from 1; default 1"`
	Limit    int    `json:"limit,omitzero" jsonschema:"how many lines to return; default 2000"`
}

// readOut is the canonical value of read. Contents of windows that follow one
// another, put together, are the file.
type readOut struct {
	Path       string `json:"path"`
	Content    string `json:"content"` // with the line ends the file has
	StartLine  int    `json:"startLine"`
	EndLine    int    `json:"endLine"` // startLine - 1 if there are no lines
	TotalLines int    `json:"totalLines"`
	Truncated  bool   `json:"truncated"` // lines follow after endLine
	Note       string `json:"note,omitempty" jsonschema:"what was cut or left out, and why"`
}

func (s *Set) read(ctx context.Context, run *tools.Run, in readIn) (readOut, error) {
	if err := checkRead(in); err != nil {
		return readOut{}, err
	}
	at, err := judged(s, "read", run, in, s.readSubjects)
	if err != nil {
		return readOut{}, err
	}
	if err := aborted(ctx, "read"); err != nil {
		return readOut{}, err
	}
	files := opener{set: s}
	defer files.close()
	f, info, err := files.openRegular("read", at)
	if err != nil {
		return readOut{}, s.absent(ctx, run, at, err)
	}
	defer f.Close()
	if in.Offset == 0 && in.Limit == 0 && info.Size() > int64(s.opts.ReadBytes) {
		return readOut{}, s.tooLarge(at.rel, info)
	}
	w := window{ctx: ctx, first: max(in.Offset, 1), lines: in.Limit, maxBytes: s.opts.ReadBytes, maxScan: s.opts.ScanBytes}
	if w.lines == 0 {
		w.lines = defaultLines
	}
	source := io.Reader(f)
	var sum hash.Hash
	if s.opts.Gates.Observed != nil {
		sum = sha256.New()
		source = io.TeeReader(f, sum)
	}
	if err := w.fill(source); err != nil {
		if aborted := aborted(ctx, "read"); aborted != nil {
			return readOut{}, aborted
		}
		return readOut{}, s.openFailure("read", at.rel, err)
	}
	out, err := w.result(at.rel, info)
	if err != nil || sum == nil {
		return out, err
	}
	if w.scanCut {
		out.Note += "; a file this large does not count as read for write and edit"
		return out, nil
	}
	return out, s.observe(ctx, run, at, State{Present: true, Version: versionOf(sum)})
}

// readSubjects is the file a read opens.
func (s *Set) readSubjects(in readIn) ([]tools.Subject, error) {
	file, err := s.subject("read", tools.AccessRead, in.FilePath, false)
	return []tools.Subject{file}, err
}

// absent tells the gates of a file that does not exist, and passes on the
// failure that says so.
func (s *Set) absent(ctx context.Context, run *tools.Run, at place, failure error) error {
	if !errors.Is(failure, fs.ErrNotExist) {
		return failure
	}
	if err := s.observe(ctx, run, at, State{}); err != nil {
		return err
	}
	return failure
}

func checkRead(in readIn) error {
	switch {
	case in.FilePath == "":
		return badArgs("read", "file_path", "is empty; give the path of a file")
	case in.Offset < 0:
		return badArgs("read", "offset", "is %d; lines are counted from 1", in.Offset)
	case in.Limit < 0:
		return badArgs("read", "limit", "is %d; give the number of lines wanted, 1 or more", in.Limit)
	}
	return nil
}

func (s *Set) tooLarge(rel string, info fs.FileInfo) error {
	return fail(codeTooLarge, nil, "read %q: the file has %s, more than the %s one read returns; give offset and limit to read a part, or search it with grep",
		rel, bytesText(info.Size()), bytesText(int64(s.opts.ReadBytes)))
}

// result judges what the window holds.
func (w *window) result(rel string, info fs.FileInfo) (readOut, error) {
	if w.tooLong {
		return readOut{}, fail(codeTooLarge, nil, "read %q: line %d alone is longer than the %s one read returns (the file has %s); search it with grep, which shortens lines",
			rel, w.first, bytesText(int64(w.maxBytes)), bytesText(info.Size()))
	}
	if w.scanCut && w.kept == 0 {
		return readOut{}, fail(codeTooLarge, nil, "read %q: line %d lies beyond the first %s of the file, which is all one read looks at (the file has %s); search it with grep or read an earlier part",
			rel, w.first, bytesText(w.maxScan), bytesText(info.Size()))
	}
	out := readOut{
		Path: rel, Content: string(w.content), StartLine: w.first, EndLine: w.first + w.kept - 1,
		TotalLines: w.total, Truncated: w.kept > 0 && (w.first+w.kept-1 < w.total || w.scanCut),
	}
	if err := checkText("read", rel, w.head, w.content, w.first); err != nil {
		return readOut{}, err
	}
	var notes notes
	if w.bom {
		notes.add("the file begins with a UTF-8 byte order mark, which content leaves out")
	}
	if w.full {
		notes.add("stopped before line %d because one read returns at most %s", out.EndLine+1, bytesText(int64(w.maxBytes)))
	}
	if w.scanCut {
		notes.add("only the first %s of the file were looked at, so totalLines is a lower bound", bytesText(w.maxScan))
	}
	if w.kept == 0 && w.total > 0 {
		notes.add("offset %d is past the end: the file has %d lines", w.first, w.total)
	}
	out.Note = notes.String()
	return out, nil
}

// window collects some lines of a file and counts the others, in one pass and
// in bounded memory.
type window struct {
	ctx      context.Context
	first    int // the first line wanted, counted from 1
	lines    int // how many are wanted
	maxBytes int
	maxScan  int64

	content []byte // whole lines only
	kept    int    // lines in content
	total   int    // lines seen
	head    []byte // how the file begins
	bom     bool
	full    bool // the next wanted line had no room
	tooLong bool // not even the first wanted line had room
	scanCut bool

	partial []byte // the beginning of a wanted line
	open    bool   // the last line seen has no line end yet
}

// headBytes is how much of a file shows whether it is binary.
const headBytes = 8 << 10

func (w *window) fill(f io.Reader) error {
	buf := make([]byte, 64<<10)
	var scanned int64
	for {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		n, err := readSome(f, buf[:min(int64(len(buf)), w.maxScan-scanned+1)])
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		chunk := buf[:n]
		if scanned += int64(n); scanned > w.maxScan {
			w.scanCut = true
			chunk = chunk[:n-1]
		}
		w.take(chunk)
		if w.tooLong || w.scanCut {
			break
		}
	}
	// A line cut in its middle is no line.
	if w.open && !w.scanCut {
		w.endLine()
	}
	return nil
}

// take reads on in the file.
func (w *window) take(chunk []byte) {
	if w.head == nil {
		w.head = append([]byte{}, chunk[:min(len(chunk), headBytes)]...)
		if rest, ok := bytes.CutPrefix(chunk, []byte("\uFEFF")); ok {
			w.bom, chunk = true, rest
		}
	}
	for len(chunk) > 0 {
		if !w.wanted() {
			chunk = w.pass(chunk)
			continue
		}
		piece, complete := chunk, false
		if end := bytes.IndexByte(chunk, '\n'); end >= 0 {
			piece, complete = chunk[:end+1], true
		}
		chunk = chunk[len(piece):]
		w.open = true
		if !w.full {
			if len(w.content)+len(w.partial)+len(piece) > w.maxBytes {
				w.full, w.partial = true, nil
				w.tooLong = w.kept == 0
			} else {
				w.partial = append(w.partial, piece...)
			}
		}
		if complete {
			w.endLine()
		}
	}
}

// wanted reports whether the line being read belongs to the window.
func (w *window) wanted() bool {
	line := w.total + 1
	return !w.full && line >= w.first && line-w.first < w.lines
}

// pass counts lines that are not wanted, up to the window if it lies ahead.
func (w *window) pass(chunk []byte) []byte {
	if w.full || w.total+1 >= w.first {
		w.total += bytes.Count(chunk, []byte{'\n'})
		w.open = chunk[len(chunk)-1] != '\n'
		return nil
	}
	for len(chunk) > 0 && w.total+1 < w.first {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			w.open = true
			return nil
		}
		w.total++
		w.open = false
		chunk = chunk[end+1:]
	}
	return chunk
}

// endLine closes the line being read.
func (w *window) endLine() {
	if w.wanted() {
		w.content = append(w.content, w.partial...)
		w.kept++
	}
	w.partial = w.partial[:0]
	w.total++
	w.open = false
}

// renderRead is the text a model reads: the lines with their numbers.
func renderRead(v readOut) string {
	var b strings.Builder
	number := v.StartLine
	for line := range strings.Lines(v.Content) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		fmt.Fprintf(&b, "%6d\t%s\n", number, shorten(line, shownLine))
		number++
	}
	var notes notes
	switch {
	case v.TotalLines == 0:
		notes.add("the file is empty")
	case v.Truncated && v.EndLine >= v.StartLine:
		notes.add("lines %d to %d of %d; go on with offset %d", v.StartLine, v.EndLine, v.TotalLines, v.EndLine+1)
	}
	if strings.Contains(v.Content, "\r\n") {
		notes.add("lines end in CRLF")
	}
	if v.Note != "" {
		notes.add("%s", v.Note)
	}
	b.WriteString(notes.line())
	return strings.TrimSuffix(b.String(), "\n")
}
