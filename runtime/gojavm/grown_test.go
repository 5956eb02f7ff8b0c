package gojavm

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

// grown are n programs of the fuzz target's grammar, the same each time, that may
// be given to a parser.
func grown(n int, prefix string) (texts []string) {
	random := rand.New(rand.NewPCG(1, 2))
	lim, _ := runtime.Limits{}.WithDefaults()
	for range n {
		data := make([]byte, 10+random.IntN(50))
		for i := range data {
			data[i] = byte(random.IntN(256))
		}
		if text := prefix + grow(data); precheck(text, lim) == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// TestGrownPrograms reads programs that are odd in many ways, and fails alike where
// they are wrong.
func TestGrownPrograms(t *testing.T) {
	taken := 0
	for _, text := range grown(2_000, "") {
		_, failure := translate("", text, nil, false)
		_, lowered := translate("", text, nil, true)
		if diff := cmp.Diff(lowered, failure); diff != "" {
			t.Errorf("%q fails otherwise (-esbuild +direct):\n%s", text, diff)
		}
		both, _ := readBoth(t, text)
		if both == nil {
			continue
		}
		taken++
		if len(both.found) > 0 {
			t.Errorf("%q\n%s", text, strings.Join(both.found, "\n"))
		}
	}
	if taken < 100 {
		t.Errorf("%d programs were read directly, want at least 100", taken)
	}
}

// What a run of such a program shows is the same, but for the text of functions,
// which esbuild prints in its own way, and for the place of a in { a: a }, which
// esbuild shortens.
var (
	ownText  = regexp.MustCompile(`=>|function`)
	repeated = regexp.MustCompile(`\b(a: a|b: b|c: c|x: x|f: f)\b`)
)

func TestGrownProgramsRun(t *testing.T) {
	direct, lowered := bothRuntimes(t)
	const prefix = "const b = { f: x => x, c: [1], x: null }, x = [b, 2]; var a = b, c = 1; const f = (...p) => p[0];\n"
	ran := 0
	for _, text := range grown(3_000, prefix) {
		if strings.Contains(text, "while") || strings.Contains(text, "for (") || repeated.MatchString(text) {
			continue // many have no end
		}
		if p, failure := translate("", text, []string{"tools"}, false); failure != nil || !p.places.written {
			continue
		}
		want, got := outcomeOf(t, lowered, text), outcomeOf(t, direct, text)
		if ownText.MatchString(strings.Join(append(want.Notes, want.Value), " ")) || want.Failure != nil && ownText.MatchString(want.Failure.Message) {
			continue
		}
		ran++
		for _, f := range []*runtime.Failure{want.Failure, got.Failure} {
			withoutNumbers(f)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q\noutcome (-esbuild +direct):\n%s", text, diff)
		}
	}
	if ran < 100 {
		t.Errorf("%d programs ran, want at least 100", ran)
	}
}

// withoutNumbers takes off what esbuild puts behind the names of functions that hide
// others.
func withoutNumbers(f *runtime.Failure) {
	if f == nil {
		return
	}
	for i := range f.Stack {
		f.Stack[i].Function = strings.TrimRight(f.Stack[i].Function, "0123456789")
	}
}
