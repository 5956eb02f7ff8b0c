package pipeline_test

import (
	"math/rand/v2"
	"testing"
)

// choices makes the decisions of a property test out of bytes, so that a fuzzer
// can vary them one by one. Used up, it always chooses the first.
type choices struct{ left []byte }

// of chooses one of n, which is at most 256.
func (c *choices) of(n int) int {
	if len(c.left) == 0 {
		return 0
	}
	b := c.left[0]
	c.left = c.left[1:]
	return int(b) % n
}

// try checks a property for a number of random scripts; a failure names the
// script, which is to be added to the property's fuzz seeds.
func try(t *testing.T, rounds, size int, property func(t *testing.T, c *choices)) {
	t.Helper()
	if testing.Short() {
		rounds /= 10
	}
	for seed := range uint64(rounds) {
		r := rand.New(rand.NewPCG(seed, 1))
		script := make([]byte, size)
		for i := range script {
			script[i] = byte(r.Uint32())
		}
		tryOne(t, seed, script, property)
	}
	t.Logf("tried %d scripts", rounds)
}

// tryOne names the script also if the property ends the test itself.
func tryOne(t *testing.T, seed uint64, script []byte, property func(t *testing.T, c *choices)) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Fatalf("seed %d, script %q", seed, script)
		}
	}()
	property(t, &choices{script})
}
