package fstools

import (
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// numbered is n lines: "line 1" and so on.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestRead(t *testing.T) {
	files := map[string]string{
		"three":     "a\nb\nc\n",
		"open":      "a\nb",
		"empty":     "",
		"break":     "\n",
		"crlf":      "a\r\nb\r\n",
		"cr":        "a\rb",
		"bom":       "\uFEFFa\nb\n",
		"onlybom":   "\uFEFF",
		"long":      strings.Repeat("é", 5000) + "\nb\n",
		"many":      numbered(2500),
		"ünï/ß.txt": "ok\n",
	}
	set, _ := newSet(t, files, nil)
	for _, tt := range []struct {
		name string
		in   readIn
		want readOut
	}{
		{"whole", readIn{FilePath: "three"}, readOut{Path: "three", Content: "a\nb\nc\n", StartLine: 1, EndLine: 3, TotalLines: 3}},
		{"no final line break", readIn{FilePath: "open"}, readOut{Path: "open", Content: "a\nb", StartLine: 1, EndLine: 2, TotalLines: 2}},
		{"empty", readIn{FilePath: "empty"}, readOut{Path: "empty", StartLine: 1}},
		{"one line break", readIn{FilePath: "break"}, readOut{Path: "break", Content: "\n", StartLine: 1, EndLine: 1, TotalLines: 1}},
		{"CRLF stays", readIn{FilePath: "crlf"}, readOut{Path: "crlf", Content: "a\r\nb\r\n", StartLine: 1, EndLine: 2, TotalLines: 2}},
		{"CR alone ends no line", readIn{FilePath: "cr"}, readOut{Path: "cr", Content: "a\rb", StartLine: 1, EndLine: 1, TotalLines: 1}},
		{"byte order mark", readIn{FilePath: "bom"}, readOut{Path: "bom", Content: "a\nb\n", StartLine: 1, EndLine: 2, TotalLines: 2,
			Note: "the file begins with a UTF-8 byte order mark, which content leaves out"}},
		{"nothing but a byte order mark", readIn{FilePath: "onlybom"}, readOut{Path: "onlybom", StartLine: 1,
			Note: "the file begins with a UTF-8 byte order mark, which content leaves out"}},
		{"long line is whole", readIn{FilePath: "long", Limit: 1}, readOut{Path: "long", Content: strings.Repeat("é", 5000) + "\n", StartLine: 1, EndLine: 1, TotalLines: 2, Truncated: true}},
		{"first lines by default", readIn{FilePath: "many"}, readOut{Path: "many", Content: numbered(2000), StartLine: 1, EndLine: 2000, TotalLines: 2500, Truncated: true}},
		{"window", readIn{FilePath: "three", Offset: 2, Limit: 1}, readOut{Path: "three", Content: "b\n", StartLine: 2, EndLine: 2, TotalLines: 3, Truncated: true}},
		{"window at the end", readIn{FilePath: "three", Offset: 3, Limit: 5}, readOut{Path: "three", Content: "c\n", StartLine: 3, EndLine: 3, TotalLines: 3}},
		{"window over the open end", readIn{FilePath: "open", Offset: 2}, readOut{Path: "open", Content: "b", StartLine: 2, EndLine: 2, TotalLines: 2}},
		{"offset past the end", readIn{FilePath: "three", Offset: 9}, readOut{Path: "three", StartLine: 9, EndLine: 8, TotalLines: 3,
			Note: "offset 9 is past the end: the file has 3 lines"}},
		{"largest numbers", readIn{FilePath: "three", Offset: 1 << 53, Limit: 1 << 53}, readOut{Path: "three", StartLine: 1 << 53, EndLine: 1<<53 - 1, TotalLines: 3,
			Note: "offset 9007199254740992 is past the end: the file has 3 lines"}},
		{"names are not only ASCII", readIn{FilePath: "ünï/ß.txt"}, readOut{Path: "ünï/ß.txt", Content: "ok\n", StartLine: 1, EndLine: 1, TotalLines: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := set.read(t.Context(), noRun, tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadPagesAreTheFile reads files window by window, with block boundaries of
// the reader falling anywhere in lines and characters.
func TestReadPagesAreTheFile(t *testing.T) {
	files := map[string]string{
		"lines": numbered(30_000),
		"wide":  strings.Repeat(strings.Repeat("ä", 999)+"\r\n", 100),
		"open":  numbered(20_001) + "the end",
	}
	set, _ := newSet(t, files, nil)
	for name, want := range files {
		var got strings.Builder
		total := strings.Count(want, "\n")
		if !strings.HasSuffix(want, "\n") {
			total++
		}
		for offset := 1; ; {
			page, err := set.read(t.Context(), noRun, readIn{FilePath: name, Offset: offset, Limit: 977})
			if err != nil {
				t.Fatal(err)
			}
			if page.TotalLines != total {
				t.Fatalf("%s from line %d: totalLines is %d, want %d", name, offset, page.TotalLines, total)
			}
			got.WriteString(page.Content)
			if offset = page.EndLine + 1; !page.Truncated {
				break
			}
		}
		if got.String() != want {
			t.Errorf("%s: the pages together are %d bytes that differ from the file's %d", name, got.Len(), len(want))
		}
	}
}

func TestReadFails(t *testing.T) {
	set, dir := newSet(t, map[string]string{
		"src/main.go":   "package main\n",
		"src/Helper.ts": "",
		"latin1":        "one\ncaf\xe9\n",
		"binary":        "\x7fELF\x00\x01",
		"late":          strings.Repeat("x", 9000) + "\n\x00\n",
		"utf16":         "\xff\xfea\x00b\x00",
		"utf16be":       "\xfe\xff\x00a",
	}, nil)
	for _, tt := range []struct {
		name  string
		in    readIn
		code  string
		parts []string
	}{
		{"no path", readIn{}, tools.CodeInvalidArgs, []string{`"file_path" is empty`}},
		{"negative offset", readIn{FilePath: "x", Offset: -3}, tools.CodeInvalidArgs, []string{`"offset" is -3`, "counted from 1"}},
		{"negative limit", readIn{FilePath: "x", Limit: -1}, tools.CodeInvalidArgs, []string{`"limit" is -1`}},
		{"missing, one alike", readIn{FilePath: "src/mian.go"}, codeNotFound, []string{`no such file; did you mean "src/main.go"?`}},
		{"missing, another case", readIn{FilePath: "src/helper.ts"}, codeNotFound, []string{`did you mean "src/Helper.ts"?`}},
		{"missing directory", readIn{FilePath: "scr/main.go"}, codeNotFound, []string{`there is no directory "scr"; did you mean "src/main.go"?`}},
		{"missing, none alike", readIn{FilePath: "src/zzzzzz"}, codeNotFound, []string{`no such file; find the file with glob, for example "**/*zzzzzz*"`}},
		{"file as a directory", readIn{FilePath: "src/main.go/x"}, codeNotDir, []string{`"src/main.go" is a file, not a directory`}},
		{"directory", readIn{FilePath: "src"}, codeNotRegular, []string{"it is a directory", "glob"}},
		{"root", readIn{FilePath: "."}, codeNotRegular, []string{"it is a directory"}},
		{"NUL in the path", readIn{FilePath: "src/main.go\x00.txt"}, codeNotFound, []string{"NUL byte"}},
		{"very long name", readIn{FilePath: strings.Repeat("x", 5000)}, codeNotFound, []string{"5000 bytes is too long"}},
		{"not UTF-8", readIn{FilePath: "latin1"}, codeNotText, []string{"byte 0xE9 in line 2", "iconv"}},
		{"binary", readIn{FilePath: "binary"}, codeNotText, []string{"binary"}},
		{"binary further on", readIn{FilePath: "late"}, codeNotText, []string{"binary"}},
		{"UTF-16", readIn{FilePath: "utf16"}, codeNotText, []string{"UTF-16", "iconv"}},
		{"UTF-16, big end first", readIn{FilePath: "utf16be"}, codeNotText, []string{"UTF-16"}},
		{"parent", readIn{FilePath: "../outside"}, codeSandbox, []string{"leads out of the root"}},
		{"parent in the middle", readIn{FilePath: "src/../../outside"}, codeSandbox, []string{"leads out of the root"}},
		{"absolute, outside", readIn{FilePath: filepath.Join(filepath.Dir(dir), "outside")}, codeSandbox, []string{"outside the root directory " + dir}},
		{"absolute, beside", readIn{FilePath: dir + "-more/x"}, codeSandbox, []string{"outside the root directory"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := set.read(t.Context(), noRun, tt.in)
			wantFailure(t, err, tt.code, tt.parts...)
		})
	}
	t.Run("valid lines of a file that is not UTF-8 further on", func(t *testing.T) {
		got, err := set.read(t.Context(), noRun, readIn{FilePath: "latin1", Limit: 1})
		if err != nil || got.Content != "one\n" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestReadBudgets(t *testing.T) {
	text := numbered(1000) // 8,893 bytes
	set, _ := newSet(t, map[string]string{"f": text, "wide": strings.Repeat("x", 3000) + "\n", "late": "a\n" + strings.Repeat("x", 3000)},
		&Options{ReadBytes: 2000})
	t.Run("too large without a window", func(t *testing.T) {
		_, err := set.read(t.Context(), noRun, readIn{FilePath: "f"})
		wantFailure(t, err, codeTooLarge, "8893 bytes", "2000 bytes", "offset and limit")
	})
	t.Run("a window is cut at a whole line", func(t *testing.T) {
		got, err := set.read(t.Context(), noRun, readIn{FilePath: "f", Offset: 500})
		if err != nil {
			t.Fatal(err)
		}
		want := readOut{Path: "f", StartLine: 500, EndLine: 721, TotalLines: 1000, Truncated: true,
			Note: "stopped before line 722 because one read returns at most 2000 bytes"}
		want.Content = text[strings.Index(text, "line 500\n"):strings.Index(text, "line 722\n")]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("value (-want +got):\n%s", diff)
		}
	})
	t.Run("one line has no room", func(t *testing.T) {
		_, err := set.read(t.Context(), noRun, readIn{FilePath: "wide", Offset: 1})
		wantFailure(t, err, codeTooLarge, "line 1 alone is longer than the 2000 bytes", "grep")
	})
	t.Run("a later line has no room", func(t *testing.T) {
		got, err := set.read(t.Context(), noRun, readIn{FilePath: "late", Offset: 1})
		want := readOut{Path: "late", Content: "a\n", StartLine: 1, EndLine: 1, TotalLines: 2, Truncated: true,
			Note: "stopped before line 2 because one read returns at most 2000 bytes"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, value (-want +got):\n%s", err, diff)
		}
	})
	scan, _ := newSet(t, map[string]string{"f": text}, &Options{ScanBytes: 100})
	t.Run("lines are counted as far as the budget goes", func(t *testing.T) {
		got, err := scan.read(t.Context(), noRun, readIn{FilePath: "f", Limit: 2})
		want := readOut{Path: "f", Content: "line 1\nline 2\n", StartLine: 1, EndLine: 2, TotalLines: 13, Truncated: true,
			Note: "only the first 100 bytes of the file were looked at, so totalLines is a lower bound"}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, value (-want +got):\n%s", err, diff)
		}
	})
	t.Run("a window behind the budget", func(t *testing.T) {
		_, err := scan.read(t.Context(), noRun, readIn{FilePath: "f", Offset: 500})
		wantFailure(t, err, codeTooLarge, "line 500 lies beyond the first 100 bytes")
	})
}

// TestReadStreams reads a few lines from far inside a large file and looks at
// what that allocates.
func TestReadStreams(t *testing.T) {
	line := strings.Repeat("x", 1023) + "\n"
	set, _ := newSet(t, map[string]string{"big": strings.Repeat(line, 32<<10)}, nil)
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	got, err := set.read(t.Context(), noRun, readIn{FilePath: "big", Offset: 30_000, Limit: 2})
	goruntime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	want := readOut{Path: "big", Content: line + line, StartLine: 30_000, EndLine: 30_001, TotalLines: 32 << 10, Truncated: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("a window of 2 KiB in 32 MiB allocated %d bytes, want less than 1 MiB", used)
	}
}

func TestRenderRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   readOut
		want string
	}{
		{"lines", readOut{Content: "a\n\n  b", StartLine: 9, EndLine: 11, TotalLines: 11}, "     9\ta\n    10\t\n    11\t  b"},
		{"empty", readOut{StartLine: 1}, "(the file is empty)"},
		{"more", readOut{Content: "a\n", StartLine: 1, EndLine: 1, TotalLines: 7, Truncated: true},
			"     1\ta\n(lines 1 to 1 of 7; go on with offset 2)"},
		{"CRLF is named, not shown", readOut{Content: "a\r\n", StartLine: 1, EndLine: 1, TotalLines: 1}, "     1\ta\n(lines end in CRLF)"},
		{"long line", readOut{Content: strings.Repeat("é", 2003), StartLine: 1, EndLine: 1, TotalLines: 1},
			"     1\t" + strings.Repeat("é", 2000) + " [3 more characters]"},
		{"note", readOut{StartLine: 5, EndLine: 4, TotalLines: 2, Note: "offset 5 is past the end"}, "(offset 5 is past the end)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, renderRead(tt.in)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 10<<10 - 1: "10239 bytes", 10 << 10: "10 KiB", 4 << 20: "4 MiB", 3<<19 + 1: "1.5 MiB", 1 << 62: "4 EiB",
	} {
		if got := bytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
}
