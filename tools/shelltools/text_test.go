package shelltools

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/proc"
)

func TestTextOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   proc.Output
		want string
		note string
	}{
		{"nothing", proc.Output{}, "", ""},
		{"all of it", proc.Output{Head: "one\ntwo", Size: 7}, "one\ntwo", ""},
		{"cut in a line", proc.Output{Head: "one", Tail: "two", Size: 10}, "one\n[4 of 10 bytes left out]\ntwo",
			"4 of the 10 bytes of stdout are left out of its middle"},
		{"cut at a line end", proc.Output{Head: "one\n", Tail: "two\n", Size: 10}, "one\n[2 of 10 bytes left out]\ntwo\n",
			"2 of the 10 bytes of stdout are left out of its middle"},
		{"only a beginning", proc.Output{Head: "o", Size: 3}, "o\n[2 of 3 bytes left out]\n",
			"2 of the 3 bytes of stdout are left out of its middle"},
		{"characters cut in two", proc.Output{Head: "a\u00e9\xe2\x82", Tail: "\x98\x80\u00e9b", Size: 20}, "aé\n[14 of 20 bytes left out]\néb",
			"14 of the 20 bytes of stdout are left out of its middle"},
		{"whole characters at the cut", proc.Output{Head: "aé", Tail: "éb", Size: 7}, "aé\n[1 of 7 bytes left out]\néb",
			"1 of the 7 bytes of stdout are left out of its middle"},
		{"no text", proc.Output{Head: "a\xff\xfeb", Size: 4}, "a\uFFFD\uFFFDb", "stdout is not UTF-8 text; bytes replaced by U+FFFD: 2"},
		{"a replacement character of its own", proc.Output{Head: "a\uFFFDb", Size: 5}, "a\uFFFDb", ""},
		{"ends in the middle by itself", proc.Output{Head: "a\xe2\x82", Size: 3}, "a\uFFFD\uFFFD", "stdout is not UTF-8 text; bytes replaced by U+FFFD: 2"},
		{"cut and no text", proc.Output{Head: "\xff\xff", Tail: "b", Size: 9}, "\uFFFD\uFFFD\n[6 of 9 bytes left out]\nb",
			"6 of the 9 bytes of stdout are left out of its middle; stdout is not UTF-8 text; bytes replaced by U+FFFD: 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var notes notes
			if diff := cmp.Diff(tt.want, textOf("stdout", tt.in, &notes)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.note, notes.String()); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLeftProcesses(t *testing.T) {
	out := outOf(proc.Result{End: proc.TimedOut, Code: -1, Left: 2, Stdout: proc.Output{Head: "\xff", Size: 1}})
	want := bashOut{Stdout: "\uFFFD", TimedOut: true,
		Note: "stdout is not UTF-8 text; bytes replaced by U+FFFD: 1; processes of the command that could not be ended and may still run: 2"}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func TestShorten(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abc\n[1 of 7 bytes not shown]\nefg"},
		{"aéééé", 6, "aé\n[4 of 9 bytes not shown]\né"},
	} {
		if diff := cmp.Diff(tt.want, shorten(tt.text, tt.limit)); diff != "" {
			t.Errorf("shorten(%q, %d) (-want +got):\n%s", tt.text, tt.limit, diff)
		}
	}
}

// FuzzTextOf cuts a stream as a process's output is cut and checks that the two
// parts are the stream's, that the count is right and that the text is text.
func FuzzTextOf(f *testing.F) {
	f.Add([]byte("one\ntwo\nthree\n"), 4)
	f.Add([]byte("a\u00e9\u20ac\U0001F600b\u00e9\u20ac\U0001F600c"), 7)
	f.Add([]byte("\xff\xfe\x80\x80\x80\x80\xc3"), 5)
	f.Fuzz(func(t *testing.T, stream []byte, limit int) {
		if limit < 0 || limit > 1<<16 {
			return
		}
		o := proc.Output{Head: string(stream), Size: int64(len(stream))}
		if half := limit / 2; len(stream) > limit {
			o.Head, o.Tail = string(stream[:limit-half]), string(stream[len(stream)-half:])
		}
		var notes notes
		text := textOf("stdout", o, &notes)
		if !utf8.ValidString(text) {
			t.Fatalf("%q is no text", text)
		}
		if !o.Cut() {
			if utf8.Valid(stream) && (text != string(stream) || notes.String() != "") {
				t.Errorf("%q became %q, %s", stream, text, notes)
			}
			return
		}
		if !utf8.Valid(stream) {
			return // what follows compares bytes
		}
		left, size := numbers(t, notes.String())
		line := "[" + strconv.Itoa(left) + " of " + strconv.Itoa(size) + " bytes left out]\n"
		at := cutAt(text, line, string(stream), left)
		if size != len(stream) || at < 0 {
			t.Errorf("%q with a limit of %d became %q", stream, limit, text)
		}
	})
}

// cutAt is where in text the line stands if what is around it is the stream
// without left bytes, else -1.
func cutAt(text, line, stream string, left int) int {
	for at := range text {
		if !strings.HasPrefix(text[at:], line) {
			continue
		}
		head, tail := text[:at], text[at+len(line):]
		for _, head := range []string{head, strings.TrimSuffix(head, "\n")} {
			if strings.HasPrefix(stream, head) && strings.HasSuffix(stream, tail) && len(head)+left+len(tail) == len(stream) {
				return at
			}
		}
	}
	return -1
}

// numbers are the first two of a note.
func numbers(t *testing.T, note string) (left, size int) {
	t.Helper()
	fields := strings.Fields(note)
	if len(fields) < 4 {
		t.Fatalf("note %q does not count", note)
	}
	left, err1 := strconv.Atoi(fields[0])
	size, err2 := strconv.Atoi(fields[3])
	if err1 != nil || err2 != nil {
		t.Fatalf("note %q does not count", note)
	}
	return left, size
}
