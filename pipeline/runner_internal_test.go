package pipeline

import "testing"

// TestRunnersKept: so many goroutines wait for the next call and no more, none once
// the body above has returned.
func TestRunnersKept(t *testing.T) {
	a := &attempt{}
	var taken []*runner
	for range 3 * mostRunners {
		taken = append(taken, a.takeRunner())
	}
	for i, r := range taken {
		a.keepRunner(r)
		if want := min(i+1, mostRunners); len(a.runners) != want {
			t.Fatalf("%d goroutines wait, want %d", len(a.runners), want)
		}
	}
	if again := a.takeRunner(); again != taken[mostRunners-1] {
		t.Error("a call gets another goroutine than one that waits")
	} else {
		a.mu.Lock()
		a.over = true
		a.dismissRunners()
		a.mu.Unlock()
		a.keepRunner(again)
	}
	if len(a.runners) != 0 {
		t.Errorf("%d goroutines wait for no call", len(a.runners))
	}
}
