package fstools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	blockBytes = 1 << 20  // of a file that are in memory at once
	steadyLine = 32 << 10 // bytes of a line that are matched without looking at the context
	foundLine  = 500      // bytes of a line that a match returns
	leadBytes  = 100      // of those, before the match
)

// search is one grep: what to look for and what was found.
type search struct {
	ctx     context.Context
	set     *Set
	re      *regexp.Regexp
	literal []byte // every match contains it; empty: unknown
	filter  *globPattern
	invert  bool
	context int
	limit   int

	opener opener
	block  []byte
	left   int64 // bytes that may still be read

	matches    []grepMatch
	files      int
	total      int
	found      int // bytes of paths and text in matches
	unreadable int
	longLines  int
	cut        bool // a budget of the walk ended it
	outOfBytes bool
	outOfRoom  bool
}

func (s *Set) isFile(p place) bool {
	info, err := s.look(p.real)
	return err == nil && !info.IsDir()
}

// file searches one file. Named says that the caller asked for exactly this
// file, so that what hinders the search is an error.
func (g *search) file(f place, named bool) error {
	if err := aborted(g.ctx, "grep"); err != nil {
		return err
	}
	handle, _, err := g.opener.openRegular("grep", f)
	if err != nil {
		if named {
			return err
		}
		g.unreadable++
		return nil
	}
	defer handle.Close()
	if g.block == nil {
		g.block = make([]byte, blockBytes)
	}
	scan := fileScan{search: g, rel: f.rel, begin: len(g.matches)}
	err = scan.run(handle)
	switch {
	case aborted(g.ctx, "grep") != nil:
		return aborted(g.ctx, "grep")
	case errors.Is(err, errBinary):
		// What was found before the NUL byte is not text either.
		g.matches = g.matches[:scan.begin]
		if named {
			return fail(codeNotText, nil, "grep %q: the file is binary, it holds NUL bytes; only text can be searched", f.rel)
		}
		return nil
	case err != nil && named:
		return g.set.openFailure("grep", f.rel, err)
	case err != nil:
		g.unreadable++
	}
	g.total += scan.hits
	if scan.hits > 0 {
		g.files++
	}
	return nil
}

var errBinary = errors.New("binary file")

// fileScan reads one file in blocks of whole lines.
type fileScan struct {
	*search
	rel    string
	line   int // the number of the last line seen
	hits   int
	begin  int      // where the file's matches begin in the list
	before []string // the last lines, for context
}

func (s *fileScan) run(f io.Reader) error {
	held := 0 // bytes in the block that no line end follows yet
	skip := false
	for first := true; ; first = false {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		room := s.block[held:]
		if int64(len(room)) > s.left {
			room = room[:s.left]
		}
		if len(room) == 0 {
			s.outOfBytes = true
			return nil
		}
		n, err := f.Read(room)
		if err != nil && err != io.EOF {
			return err
		}
		s.left -= int64(n)
		data := s.block[:held+n]
		if bytes.IndexByte(data[held:], 0) >= 0 {
			return errBinary
		}
		if first {
			data = bytes.TrimPrefix(data, []byte("\uFEFF"))
		}
		atEnd := n == 0
		end := bytes.LastIndexByte(data, '\n') + 1
		if skip {
			// The rest of a line whose beginning filled a block.
			next := bytes.IndexByte(data, '\n')
			if next < 0 {
				if atEnd {
					return nil
				}
				held = 0
				continue
			}
			skip, data = false, data[next+1:]
			end = bytes.LastIndexByte(data, '\n') + 1
		}
		switch {
		case atEnd:
			s.lines(data)
			return nil
		case end > 0:
			s.lines(data[:end])
			held = copy(s.block, data[end:])
		case len(data) == len(s.block):
			s.longLines++
			s.lines(data)
			held, skip = 0, true
		default:
			held = copy(s.block, data)
		}
	}
}

// lines searches whole lines; the last may lack its end.
func (s *fileScan) lines(data []byte) {
	for len(data) > 0 && s.ctx.Err() == nil {
		if len(s.literal) > 0 && s.context == 0 {
			at := bytes.Index(data, s.literal)
			if at < 0 {
				s.line += countLines(data)
				return
			}
			start := bytes.LastIndexByte(data[:at], '\n') + 1
			s.line += bytes.Count(data[:start], []byte{'\n'})
			data = data[start:]
		}
		line := data
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			line, data = data[:end], data[end+1:]
		} else {
			data = nil
		}
		s.line++
		s.one(bytes.TrimSuffix(line, []byte{'\r'}))
	}
}

func countLines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// one searches one line.
func (s *fileScan) one(line []byte) {
	if s.context > 0 {
		s.follow(line)
		defer s.remember(line)
	}
	at := s.find(line)
	if at < 0 {
		return
	}
	s.hits++
	if len(s.matches) == s.limit || s.outOfRoom {
		return
	}
	m := grepMatch{Path: s.rel, Line: s.line, Text: cutAround(line, at), Before: slices.Clone(s.before)}
	if s.spend(m.Path + m.Text + strings.Join(m.Before, "")) {
		s.matches = append(s.matches, m)
	}
}

// spend takes room for text in the answer and reports whether there was any.
func (s *search) spend(text string) bool {
	if s.found += len(text); s.found > maxFound {
		s.outOfRoom = true
	}
	return !s.outOfRoom
}

// follow gives a line to the matches it comes closely after.
func (s *fileScan) follow(line []byte) {
	var text string
	for i := len(s.matches) - 1; i >= s.begin && s.matches[i].Line+s.context >= s.line; i-- {
		if text == "" {
			text = cutAround(line, 0)
		}
		if !s.spend(text) {
			return
		}
		s.matches[i].After = append(s.matches[i].After, text)
	}
}

// remember keeps a line for the matches that may follow it.
func (s *fileScan) remember(line []byte) {
	if len(s.matches) == s.limit || s.outOfRoom {
		return
	}
	if len(s.before) == s.context {
		s.before = slices.Delete(s.before, 0, 1)
	}
	s.before = append(s.before, cutAround(line, 0))
}

// find is where the line matches first, -1 if it does not. The time RE2 needs
// grows with the pattern times the line, so that in a long line it is made to
// look at the context now and then.
func (s *fileScan) find(line []byte) int {
	var at []int
	if len(line) <= steadyLine {
		at = s.re.FindIndex(line)
	} else {
		at = s.re.FindReaderIndex(&runes{ctx: s.ctx, text: line})
	}
	if at == nil {
		return -1
	}
	return at[0]
}

// runes reads a text until its context ends.
type runes struct {
	ctx  context.Context
	text []byte
	n    int
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.n++; len(r.text) == 0 || r.n%4096 == 0 && r.ctx.Err() != nil {
		return 0, 0, io.EOF
	}
	char, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return char, size, nil
}

// cutAround makes the text of a line, cut to what surrounds the position at if
// the line is long. Bytes that are not UTF-8 become U+FFFD.
func cutAround(line []byte, at int) string {
	if len(line) <= foundLine {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	start := max(min(at-leadBytes, len(line)-foundLine), 0)
	end := min(start+foundLine, len(line))
	start, end = cutBefore(line, start), cutBefore(line, end)
	text := strings.ToValidUTF8(string(line[start:end]), "\uFFFD")
	if start > 0 {
		text = fmt.Sprintf("[%s] ", count(utf8.RuneCount(line[:start]), "character", "characters")) + text
	}
	if end < len(line) {
		text += fmt.Sprintf(" [%d more]", utf8.RuneCount(line[end:]))
	}
	return text
}

// result is the value, and what the search left undone.
func (g *search) result(notes notes) grepOut {
	if g.outOfBytes {
		notes.add("stopped after reading %s; give a path or a glob to search a part of the tree", bytesText(g.set.opts.ScanBytes))
	}
	if g.outOfRoom {
		notes.add("the matches returned hold %s of text, which is all one answer has room for", bytesText(maxFound))
	}
	if g.longLines > 0 {
		notes.add("of %s only the first %s were searched", count(g.longLines, "very long line", "very long lines"), bytesText(blockBytes))
	}
	if g.unreadable > 0 {
		notes.add("%s could not be read", count(g.unreadable, "file", "files"))
	}
	if g.total == 0 && strings.Contains(g.re.String(), `\n`) {
		notes.add("the pattern holds a line break, but each line is searched by itself")
	}
	out := grepOut{Matches: g.matches, Files: g.files, Total: g.total, Note: notes.String()}
	if out.Matches == nil {
		out.Matches = []grepMatch{}
	}
	out.Truncated = g.total > len(g.matches) || g.cut || g.outOfBytes || g.outOfRoom || g.longLines > 0
	return out
}

// lineAt is the line a rendered text printed last.
type lineAt struct {
	path string
	line int
}

// joins reports whether a line of path follows or repeats the last one.
func (l *lineAt) joins(path string, line int) bool { return l.path == path && line <= l.line+1 }

// write prints a line unless it has been printed.
func (l *lineAt) write(b *strings.Builder, path string, line int, mark byte, text string) {
	if l.path == path && line <= l.line {
		return
	}
	*l = lineAt{path, line}
	fmt.Fprintf(b, "%s%c%d%c%s\n", nameText(path), mark, line, mark, text)
}
