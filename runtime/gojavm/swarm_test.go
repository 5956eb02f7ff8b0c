package gojavm

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

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
