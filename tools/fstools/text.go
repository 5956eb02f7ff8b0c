package fstools

import (
	"fmt"
	"io"
	"strings"
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

// bytesText is a size for people: exact below 10 KiB, with one decimal above.
func bytesText(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	if n < 10<<10 {
		return fmt.Sprintf("%d bytes", n)
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
