package jsondoc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

func TestParse(t *testing.T) {
	d, err := Parse("f", "\ufeff{\n  \"é\": [1, {\"b\": \"\\ud800x\"}],\n  \"c\": null\n}")
	if err != nil {
		t.Fatal(err)
	}
	list := d.Root.Find("é")
	b := list.Items[1].Find("b")
	text, ok := b.Text()
	if text != "\uFFFDx" || !ok {
		t.Errorf("text = %q, %v", text, ok)
	}
	if d.Root.Find("d") != nil {
		t.Error("a member that is not there was found")
	}
	if _, ok := d.Root.Find("d").Text(); ok {
		t.Error("no value is a string")
	}
	for what, tt := range map[string][2]string{
		"place of a value":  {d.Place(b.Offset), "f:2:18"},
		"place of a name":   {d.Place(d.Root.Members[1].Offset), "f:3:3"},
		"fault":             {d.Fault(list.Offset, "no %s", "way").Error(), "f:2:8: no way"},
		"JSON of a value":   {d.JSON(*list).String(), `[1,{"b":"\ud800x"}]`},
		"JSON of all":       {d.JSON(d.Root).String(), `{"é":[1,{"b":"\ud800x"}],"c":null}`},
		"an object":         {d.Root.Described(), "an object"},
		"an array":          {list.Described(), "an array"},
		"a string":          {b.Described(), `the string "\ud800x"`},
		"null":              {d.Root.Find("c").Described(), "null"},
		"JSON of no object": {d.JSON(list.Items[0]).String(), "1"},
	} {
		if tt[0] != tt[1] {
			t.Errorf("%s = %s, want %s", what, tt[0], tt[1])
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "f:1:1: the file is empty; write {} for settings that say nothing"},
		{"white space", "\n\n", "f:1:1: the file is empty"},
		{"a mark alone", "\ufeff", "f:1:1: the file is empty"},
		{"no JSON", "{\n\"é\" x}", "f:2:5: invalid JSON: unexpected character 'x'"},
		{"a line comment", "{ // x\n}", "f:1:3: invalid JSON: comments are not allowed; remove it"},
		{"a block comment", "[1 /* x */]", "f:1:4: invalid JSON: comments are not allowed; remove it"},
		{"a name given twice", `{"a":1,"\u0061":2}`, "f:1:8: invalid JSON: the property name is given twice; send it once"},
		{"UTF-16 with a mark", "\xff\xfe[\x00", "f:1:1: the file is not UTF-8 but UTF-16; save it as UTF-8"},
		{"the other order", "\xfe\xff\x00[", "f:1:1: the file is not UTF-8 but UTF-16"},
		{"without a mark", "{\x00}\x00", "f:1:1: the file is not UTF-8 but UTF-16"},
		{"invalid UTF-8", "\"\xe9\"", "f:1:2: invalid JSON: invalid UTF-8"},
		{"too large", strings.Repeat(" ", MaxBytes+1), "f:1:1: the file has more than 1048576 bytes; settings are never that large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.text), "f")
			var place *Error
			if !errors.As(err, &place) || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Read = %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.json")
	if _, err := Load(path, "mine"); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "cannot read mine: ") {
		t.Errorf("Load of a missing file = %v", err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := Load(path, "mine"); err != nil || d.Place(0) != "mine:1:1" {
		t.Errorf("Load = %v, %v", d, err)
	}
}

// What may block for ever or never end is not read.
func TestLoadTakesFilesOnly(t *testing.T) {
	for _, path := range []string{os.DevNull, t.TempDir()} {
		if _, err := Load(path, "mine"); err == nil || err.Error() != "cannot read mine: it is not a regular file; name one" {
			t.Errorf("Load(%s) = %v", path, err)
		}
	}
}

// Every byte has its place, in long lines and in many lines, also if the marks
// fall into the middle of a character.
func TestPlaces(t *testing.T) {
	text := "[\"" + strings.Repeat("aé€😀", 500) + "\"," + strings.Repeat("\n \"é\",", 300) + "\n1\n, 2]"
	d, err := Parse("f", text)
	if err != nil {
		t.Fatal(err)
	}
	line, column := 1, 1
	for offset, r := range text {
		if got, want := d.Place(offset), fmt.Sprintf("f:%d:%d", line, column); got != want {
			t.Fatalf("place of byte %d = %s, want %s", offset, got, want)
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	if got, want := d.Place(len(text)+1), fmt.Sprintf("f:%d:%d", line, column); got != want {
		t.Errorf("place beyond the end = %s, want %s", got, want)
	}
}

// BenchmarkPlace is of a place late in a large file of one line.
func BenchmarkPlace(b *testing.B) {
	text := "[" + strings.Repeat("\"x\",", 200_000) + "1]"
	d, err := Parse("f", text)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		d.Place(len(text) - 2)
	}
}

// FuzzParse holds that what parses is the text it was made of, and that an error
// has a place in it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":null}],"c":"\ud800"}`, "\ufeff[]", "{ // x\n}", "[\n1,]", "\xff\xfe"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse("f", text)
		var place *Error
		switch {
		case errors.As(err, &place):
			if place.Line < 1 || place.Line > strings.Count(text, "\n")+1 || place.Column < 1 {
				t.Errorf("%v is no place in %q", err, text)
			}
		case err != nil:
			t.Errorf("Parse = %v, want an *Error", err)
		default:
			if want := tools.MustJSON(strings.TrimPrefix(text, "\ufeff")); d.JSON(d.Root) != want {
				t.Errorf("%q became %s", text, d.JSON(d.Root))
			}
		}
	})
}
