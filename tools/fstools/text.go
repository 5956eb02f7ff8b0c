package fstools

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// notes collects what a value must say besides its fields.
type notes []string

func (n *notes) add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

func (n notes) String() string { return strings.Join(n, "; ") }

// line is the notes as the last line of a rendered text.
func (n notes) line() string {
	if len(n) == 0 {
		return ""
	}
	return "(" + n.String() + ")"
}

// shorten cuts a line to a number of characters and says how many it left out.
func shorten(line string, limit int) string {
	if len(line) <= limit {
		return line
	}
	count, end := 0, len(line)
	for i := range line {
		if count == limit {
			end = i
		}
		count++
	}
	if count <= limit {
		return line
	}
	return fmt.Sprintf("%s [%d more characters]", line[:end], count-limit)
}

// nameText is a path in a rendered text: quoted if its name could be taken for
// lines of that text.
func nameText(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return strconv.Quote(path)
	}
	return path
}

// bytesText is a size for people: exact below 10 KiB, with one decimal above.
func bytesText(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n < 10<<10 {
		return count(int(n), "byte", "bytes")
	}
	size, unit := float64(n)/1024, 0
	for size >= 1024 && unit < len(units)-1 {
		size /= 1024
		unit++
	}
	return strings.Replace(fmt.Sprintf("%.1f %s", size, units[unit]), ".0 ", " ", 1)
}

// readSome reads at least one byte, or none at the end of the file.
func readSome(f io.Reader, buf []byte) (int, error) {
	n, err := f.Read(buf)
	if err == io.EOF {
		return n, nil
	}
	return n, err
}

// cutBefore moves a byte position back to the beginning of a character.
func cutBefore(text []byte, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// checkText refuses what is not UTF-8 text, which JSON could not carry as it is.
// Head is how the file begins, content what is wanted of it, which begins in
// the given line.
func checkText(op, rel string, head, content []byte, line int) error {
	switch {
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return fail(codeNotText, nil, "%s %q: the file is UTF-16 text; convert it to UTF-8 first, for example with iconv", op, rel)
	case bytes.IndexByte(head, 0) >= 0 || bytes.IndexByte(content, 0) >= 0:
		return fail(codeNotText, nil, "%s %q: the file is binary, it holds NUL bytes; only text can be used", op, rel)
	case utf8.Valid(content):
		return nil
	}
	bad := 0
	for bad < len(content) {
		r, size := utf8.DecodeRune(content[bad:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		bad += size
	}
	return fail(codeNotText, nil, "%s %q: the file is not UTF-8 text: byte 0x%02X in line %d is not valid; convert it first, for example with iconv",
		op, rel, content[bad], line+bytes.Count(content[:bad], []byte{'\n'}))
}
