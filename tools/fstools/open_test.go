package fstools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

// TestOpenerKeepsTheWay has an opener go down a tree and back: it enters no
// directory again that it has just come through, and holds a bounded number.
func TestOpenerKeepsTheWay(t *testing.T) {
	const depth = 3 * heldDirs
	deepest := strings.Repeat("d/", depth)
	set, _ := newSet(t, map[string]string{deepest + "file": "x", "d/d/other/file": "x", "d/file": "x", "file": "x"}, nil)
	o := opener{set: set}
	defer o.close()
	open := func(real string) {
		t.Helper()
		f, _, err := o.open(real)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		held := 0
		for _, h := range o.way {
			if h.dir != nil {
				held++
			}
		}
		if held > heldDirs || len(o.way) != strings.Count(real, "/") {
			t.Errorf("%d directories are held of the %d on the way to %.20q...", held, len(o.way), real)
		}
	}
	open("d/file")
	first := o.way[0].dir
	open("d/d/other/file")
	if o.way[0].dir != first {
		t.Error("the directory d was entered twice, on the way down")
	}
	open("d/file")
	if o.way[0].dir != first {
		t.Error("the directory d was entered twice, on the way back")
	}
	open(deepest + "file")
	if o.way[0].dir != nil || o.way[depth-1].dir == nil {
		t.Error("those far above the last file are held instead of the nearest")
	}
	open("d/d/other/file") // past those that were closed again
	open("file")
	if len(o.way) != 0 {
		t.Errorf("%d directories are held of a way that was left", len(o.way))
	}
}

// TestDeepTree searches a tree deeper than the directories a search holds.
func TestDeepTree(t *testing.T) {
	files, want := map[string]string{}, 0
	for depth := 0; depth < 3*heldDirs; depth += 5 {
		for _, side := range []string{"a", "d", "z"} {
			files[strings.Repeat("d/", depth)+side+"x/file"] = "needle\n"
			want++
		}
	}
	set, _ := newSet(t, files, nil)
	if got, err := set.glob(t.Context(), noRun, globIn{Pattern: "**/file"}); err != nil || got.Total != want || got.Note != "" {
		t.Errorf("glob: %d files, note %q, %v, want %d", got.Total, got.Note, err, want)
	}
	if got, err := set.grep(t.Context(), noRun, grepIn{Pattern: "needle"}); err != nil || got.Total != want || got.Note != "" {
		t.Errorf("grep: %d matches, note %q, %v, want %d", got.Total, got.Note, err, want)
	}
}

// TestPathTooLong has a path of very many directories: it is refused before any
// is made.
func TestPathTooLong(t *testing.T) {
	set, dir := newSet(t, nil, nil)
	for _, tool := range allTools {
		def := registry(t, set).Lookup(tool.name)
		_, err := def.Definition().Handler(t.Context(), runOf(def, nil, tool.args(strings.Repeat("d/", 100_000)+"file")))
		wantFailure(t, err, codeNotFound, tool.name+": the path of 200004 bytes is too long")
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("files were made: %v", left)
	}
}

// TestHalfCharacters has half of a character in a path or a pattern: the file of
// another name must not be taken for it.
func TestHalfCharacters(t *testing.T) {
	set, dir := newSet(t, nil, nil)
	if err := os.WriteFile(filepath.Join(dir, "a\uFFFD"), []byte("a\uFFFD\n"), 0o644); err != nil {
		t.Skipf("there can be no such file here: %v", err)
	}
	for tool, args := range map[string]string{
		"read": `{"file_path":"a\ud800"}`, "write": `{"file_path":"a\uDFFF","content":""}`, "edit": `{"file_path":"a\udfff","old_string":"a","new_string":"b"}`,
		"glob": `{"pattern":"a\ud800"}`, "grep": `{"pattern":"a\ud800"}`,
	} {
		t.Run(tool, func(t *testing.T) {
			def := registry(t, set).Lookup(tool)
			value, err := def.Definition().Handler(t.Context(), runOf(def, nil, tools.MustJSON(args)))
			if err == nil {
				t.Fatal(fmt.Sprint("no failure, but ", value))
			}
			wantFailure(t, err, tools.CodeInvalidArgs, "holds half of a character")
		})
	}
}
