package gojavm

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/runtime"
)

func TestSwarm(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SWARM"))
	if n == 0 {
		t.Skip()
	}
	s, _ := strconv.Atoi(os.Getenv("SEED"))
	rng := rand.New(rand.NewPCG(uint64(s), 2))
	lim, _ := runtime.Limits{}.WithDefaults()
	seen := map[string]string{}
	count := map[string]int{}
	why := map[string]int{}
	taken := 0
	digits := regexp.MustCompile(`\d+`)
	for range n {
		data := make([]byte, 10+rng.IntN(60))
		for i := range data {
			data[i] = byte(rng.IntN(256))
		}
		text := grow(data)
		if precheck(text, lim) != nil {
			continue
		}
		both, reason := readBoth(t, text)
		if both == nil {
			why[reason]++
			continue
		}
		taken++
		if len(both.found) > 0 {
			key := digits.ReplaceAllString(both.found[0], "N")
			key = key[:min(len(key), 150)]
			if strings.HasPrefix(key, "esbuild refuses") {
				key = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(key, "Q")
			}
			count[key]++
			if old, ok := seen[key]; !ok || len(text) < len(old) {
				seen[key] = text
			}
		}
	}
	for k, text := range seen {
		both, _ := readBoth(t, text)
		t.Errorf("%d %s\n%s\n%q\n", count[k], k, strings.Join(both.found, "\n")[:min(200, len(strings.Join(both.found, "\n")))], text)
	}
	t.Log(taken, why)
}

func TestSwarmRuns(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SWARMRUNS"))
	if n == 0 {
		t.Skip()
	}
	s, _ := strconv.Atoi(os.Getenv("SEED"))
	rng := rand.New(rand.NewPCG(uint64(s), 3))
	lim, _ := runtime.Limits{}.WithDefaults()
	direct, lowered := bothRuntimes(t)
	taken := 0
	kinds := map[string]int{}
	for range n {
		data := make([]byte, 10+rng.IntN(50))
		for i := range data {
			data[i] = byte(rng.IntN(256))
		}
		text := "const b = { f: x => x, c: [1], x: null }, x = [b, 2]; var a = b, c = 1; const f = (...p) => p[0];\n" + grow(data)
		if precheck(text, lim) != nil || strings.Contains(text, "while") || strings.Contains(text, "for") {
			continue
		}
		p, failure := transpile("", text, "tools")
		if failure != nil || !p.places.written {
			continue
		}
		taken++
		if regexp.MustCompile(`\b(a: a|b: b|c: c|x: x|f: f)\b`).MatchString(text) {
			continue
		}
		w, g := outcomeOf(t, lowered, text), outcomeOf(t, direct, text)
		if s := fmt.Sprintf("%v %v", w, w.Failure); strings.Contains(s, "=>") && !strings.Contains(text, "`=>") && w.Failure == nil || strings.Contains(fmt.Sprint(w.Value, w.Notes), "function") {
			continue
		}
		if w.Failure != nil && (strings.Contains(w.Failure.Message, "=>") || strings.Contains(w.Failure.Message, "function")) {
			continue
		}
		for _, f := range []*runtime.Failure{w.Failure, g.Failure} {
			if f != nil {
				for i := range f.Stack {
					f.Stack[i].Function = strings.TrimRight(f.Stack[i].Function, "0123456789")
				}
			}
		}
		if g.Failure != nil {
			kinds[g.Failure.Name+g.Failure.Message[:min(25, len(g.Failure.Message))]]++
		}
		if diff := cmp.Diff(w, g); diff != "" {
			t.Errorf("%s\n%q\noutcome (-esbuild +direct):\n%s", text, text, diff)
		}
	}
	t.Log(taken, kinds)
}
