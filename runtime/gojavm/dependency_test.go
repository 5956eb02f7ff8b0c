package gojavm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// esbuildTexts are the programs of esbuild's own tests of its parser, good and bad,
// and those of the engine's parser.
func esbuildTexts(t testing.TB) []string {
	t.Helper()
	var texts []string
	literal := regexp.MustCompile("(?s)(?:expect\\w*\\(t, |test\\()(\"(?:[^\"\\\\\\n]|\\\\.)*\"|`[^`]*`)")
	for module, pattern := range map[string]string{
		"github.com/evanw/esbuild": "internal/js_parser/*_test.go",
		"github.com/dop251/goja":   "parser/*_test.go",
	} {
		dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Skipf("the source of %s is not here: %v", module, err)
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range literal.FindAllStringSubmatch(string(source), -1) {
				if text, err := strconv.Unquote(m[1]); err == nil {
					texts = append(texts, text)
				}
			}
		}
	}
	return texts
}

// TestDirectReadingOfParserTests reads every program of the two parsers' own tests
// in both ways: what is taken is read alike, and what is wrong fails alike.
func TestDirectReadingOfParserTests(t *testing.T) {
	texts := esbuildTexts(t)
	if len(texts) < 5_000 {
		t.Errorf("%d programs, want at least 5,000", len(texts))
	}
	taken := 0
	lim, _ := runtime.Limits{}.WithDefaults()
	for _, text := range texts {
		if precheck(text, lim) != nil {
			continue
		}
		p, failure := translate("", text, nil, false)
		_, lowered := translate("", text, nil, true)
		if diff := cmp.Diff(lowered, failure); diff != "" {
			t.Errorf("%q fails otherwise (-esbuild +direct):\n%s", text, diff)
		}
		if failure != nil || !p.places.written {
			continue
		}
		taken++
		if both, _ := readBoth(t, text); both != nil && len(both.found) > 0 {
			t.Errorf("%q\n%s", text, strings.Join(both.found, "\n"))
		}
	}
	t.Logf("%d of %d programs", taken, len(texts))
}
