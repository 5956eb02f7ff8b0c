package fstools

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

func editArgs(path, old, new string, all bool) string {
	return fmt.Sprintf(`{"file_path":%s,"old_string":%s,"new_string":%s,"replace_all":%v}`, tools.StringJSON(path), tools.StringJSON(old), tools.StringJSON(new), all)
}

const crlfNote = "the lines of the file end in CRLF, and so do those of the replacement"

func TestEdit(t *testing.T) {
	for _, tt := range []struct {
		name, text, old, new string
		all                  bool
		want                 string
		count                int
		note                 string
	}{
		{"one", "a b c\n", "b", "B", false, "a B c\n", 1, ""},
		{"all", "a b a\n", "a", "x", true, "x b x\n", 2, ""},
		{"all of one", "a b\n", "a", "x", true, "x b\n", 1, ""},
		{"to nothing", "a b\n", " b", "", false, "a\n", 1, ""},
		{"lines", "a\nb\nc\n", "a\nb\n", "x\n", false, "x\nc\n", 1, ""},
		{"occurrences do not overlap", "aaaa", "aa", "b", true, "bb", 2, ""},
		{"replace_all by what holds it", "a a\n", "a", "aa", true, "aa aa\n", 2, ""},
		{"no expansion", "a\n", "a", "$1 \\0 &", false, "$1 \\0 &\n", 1, ""},
		{"CRLF file, LF text", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", false, "x\r\ny\r\nc\r\n", 1, crlfNote},
		{"CRLF file, one line to two", "a\r\nb\r\n", "a", "x\ny", false, "x\r\ny\r\nb\r\n", 1, crlfNote},
		{"CRLF file, one line", "a\r\nb\r\n", "a", "x", false, "x\r\nb\r\n", 1, ""},
		{"CRLF file, CRLF text", "a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n", 1, ""},
		{"both ends, text in the LF part", "a\nb\nc\r\nd\r\n", "a\nb", "x\ny", false, "x\ny\nc\r\nd\r\n", 1, ""},
		{"both ends, text in the CRLF part", "a\nb\nc\r\nd\r\n", "c\nd", "x\ny", false, "a\nb\nx\r\ny\r\n", 1, crlfNote},
		{"byte order mark stays", "\uFEFFa\n", "a", "b", false, "\uFEFFb\n", 1, ""},
		{"first line behind a byte order mark", "\uFEFFa\nb\n", "a\nb\n", "", false, "\uFEFF", 1, ""},
		{"no line end at the end", "a", "a", "b", false, "b", 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, dir := newSet(t, map[string]string{"f": tt.text}, nil)
			value, text, err := call(t, registry(t, set), "edit", editArgs("f", tt.old, tt.new, tt.all))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := tools.ToJSON(editOut{Path: "f", Replacements: tt.count, Note: tt.note})
			if diff := cmp.Diff(want.String(), value); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(text, "replaced "+count(tt.count, "occurrence", "occurrences")+" in f") || !strings.Contains(text, tt.note) || strings.Contains(text, "\n") {
				t.Errorf("text %q", text)
			}
			if got := textOf(t, filepath.Join(dir, "f")); got != tt.want {
				t.Errorf("the file holds %q, want %q", got, tt.want)
			}
		})
	}
}

func TestEditFails(t *testing.T) {
	files := map[string]string{
		"f":      "func a() {\n\treturn 1\n}\n",
		"many":   "x\nx\ny\nx\nx\nx\nx\n",
		"ends":   "{\n}\n}\n}\n",
		"spaces": "a  \n  b\n",
		"crlf":   "a\r\nb\nc\n",
		"binary": "a\x00b",
		"latin1": "caf\xe9\n",
		"utf16":  "\xff\xfea\x00",
		"large":  strings.Repeat("x", 201),
		"grows":  strings.Repeat("x", 50),
		"sub/x":  "",
		"\u00e9": "",
	}
	set, dir := newSet(t, files, &Options{ReadBytes: 200, WriteBytes: 100})
	for _, tt := range []struct {
		name, args string
		code       string
		parts      []string
	}{
		{"empty", editArgs("f", "", "x", false), tools.CodeInvalidArgs, []string{`"old_string" is empty`, "write"}},
		{"no change", editArgs("f", "a", "a", false), tools.CodeInvalidArgs, []string{`"new_string" is the same as old_string`}},
		{"no path", editArgs("", "a", "b", false), tools.CodeInvalidArgs, []string{`"file_path" is empty`}},
		{"half a character", `{"file_path":"f","old_string":"a","new_string":"\udfff"}`, tools.CodeInvalidArgs, []string{`"new_string" holds half`}},
		{"not there", editArgs("f", "zzz", "x", false), codeNoMatch, []string{`edit "f": old_string is not in the file; read the file and copy the text exactly`}},
		{"more than once", editArgs("many", "x", "z", false), codeAmbiguous, []string{"in the file 6 times, in lines 1, 2, 4, 5, 6, ...;", "replace_all"}},
		{"once, and again overlapping", editArgs("ends", "}\n}", "z", false), codeAmbiguous, []string{"in the file 2 times, in lines 2, 3;"}},
		{"other indentation", editArgs("f", "{\n    return 1\n}", "z", false), codeNoMatch, []string{"it would match at line 1 if the indentation is the file's"}},
		{"other space at the end", editArgs("spaces", "a\n  b", "z", false), codeNoMatch, []string{"it would match at line 1 if the white space at the ends of lines is the file's"}},
		{"CRLF in the text only", editArgs("f", "{\r\n\treturn", "z", false), codeNoMatch, []string{"it would match at line 1 if its line ends are LF or CRLF as in the file"}},
		{"across both line ends", editArgs("crlf", "a\nb\nc", "z", false), codeNoMatch, []string{"it would match at line 1 if its line ends"}},
		{"only white space", editArgs("f", "\n\n\n", "z", false), codeNoMatch, []string{"read the file"}},
		{"missing file", editArgs("mony", "a", "b", false), codeNotFound, []string{`did you mean "many"?`}},
		{"directory", editArgs("sub", "a", "b", false), codeNotRegular, []string{"directory"}},
		{"binary", editArgs("binary", "a", "b", false), codeNotText, []string{`edit "binary": the file is binary`}},
		{"not UTF-8", editArgs("latin1", "a", "b", false), codeNotText, []string{"byte 0xE9 in line 1"}},
		{"UTF-16", editArgs("utf16", "a", "b", false), codeNotText, []string{"UTF-16"}},
		{"large file", editArgs("large", "x", "b", true), codeTooLarge, []string{"the file has 201 bytes; only files of up to 200 bytes"}},
		{"large result", editArgs("grows", "x", "xyz", true), codeTooLarge, []string{"would have 150 bytes; at most 100 bytes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := call(t, registry(t, set), "edit", tt.args)
			wantFailure(t, err, tt.code, tt.parts...)
		})
	}
	for name, text := range files {
		if got := textOf(t, filepath.Join(dir, name)); got != text {
			t.Errorf("%s was changed to %q", name, got)
		}
	}
}

// TestEditNeverLargerThanMemory has every byte of a file replaced by a megabyte.
func TestEditNeverLargerThanMemory(t *testing.T) {
	set, _ := newSet(t, map[string]string{"f": strings.Repeat("a", 4<<20)}, nil)
	_, err := set.edit(t.Context(), noRun, editIn{FilePath: "f", OldString: "a", NewString: strings.Repeat("b", 1<<20), ReplaceAll: true}, false)
	wantFailure(t, err, codeTooLarge, `edit "f": the file would have 4 TiB; at most 4 MiB are written`)
}

// FuzzReplacement compares an edit with the standard library's replacement, and
// holds every line of a CRLF file to its ends.
func FuzzReplacement(f *testing.F) {
	f.Add("a\nb\n", "a", "b", false)
	f.Add("a\r\nb\r\n", "a\nb", "x\ny\n", false)
	f.Add("aaa", "aa", "a", true)
	f.Add("\n \n\t\n", "\n\n", "x", true)
	f.Fuzz(func(t *testing.T, text, old, new string, all bool) {
		if old == "" || old == new {
			return
		}
		r := replacement{old: old, new: new, all: all}
		got, err := r.apply("f", text)
		n := strings.Count(text, old)
		switch {
		case strings.Contains(text, "\r\n"):
			onlyCRLF := strings.Count(text, "\n") == strings.Count(text, "\r\n") && !strings.Contains(old+new, "\r")
			if err == nil && onlyCRLF && toLF(got) != strings.ReplaceAll(toLF(text), old, new) && !strings.Contains(toLF(text), "\r") {
				t.Errorf("%q for %q in %q gives %q", new, old, text, got)
			}
		case n == 0, !all && strings.Index(text, old) != strings.LastIndex(text, old):
			if err == nil {
				t.Errorf("%q for %q in %q, %d times, gives %q and no failure", new, old, text, n, got)
			}
		case err != nil:
			t.Errorf("%q for %q in %q fails: %v", new, old, text, err)
		case got != strings.Replace(text, old, new, -1) || r.count != n || r.note != "":
			t.Errorf("%q for %q in %q gives %q, %d, %q", new, old, text, got, r.count, r.note)
		}
	})
}
