package codemode

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestLaneOrder: whatever calls come in whatever order, stay as long as they like or
// are given up while they wait, every one of the others gets its turn, in order, and
// is alone if it must be.
func TestLaneOrder(t *testing.T) {
	for seed := range uint64(50) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			l := newLane()
			const calls = 30
			var mu sync.Mutex
			var begun, givenUp []int
			running, alone := 0, false
			var all sync.WaitGroup
			for _, n := range r.Perm(calls) {
				seq, exclusive := n+1, r.IntN(4) == 0
				late, stay, patience := r.IntN(50), r.IntN(50), r.IntN(400)
				if r.IntN(12) == 0 {
					l.skip(seq)
					continue
				}
				all.Go(func() {
					time.Sleep(time.Duration(late) * time.Millisecond)
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(patience)*time.Millisecond)
					defer cancel()
					if !l.enter(ctx, seq, exclusive) {
						mu.Lock()
						defer mu.Unlock()
						givenUp = append(givenUp, seq)
						return
					}
					mu.Lock()
					if alone || exclusive && running > 0 {
						t.Errorf("seed %d: call %d is beside others", seed, seq)
					}
					running, alone = running+1, exclusive
					begun = append(begun, seq)
					mu.Unlock()
					time.Sleep(time.Duration(stay%7) * time.Millisecond)
					l.update(l.advance)
					time.Sleep(time.Duration(stay) * time.Millisecond)
					mu.Lock()
					running, alone = running-1, false
					mu.Unlock()
					l.update(func() { l.running--; l.exclusive = false })
				})
			}
			all.Wait()
			if !slices.IsSorted(begun) {
				t.Errorf("seed %d: calls begin in the order %v", seed, begun)
			}
			if l.next != calls+1 || l.running != 0 || l.exclusive || len(l.waiting)+len(l.givenUp) > 0 {
				t.Errorf("seed %d: with %v begun and %v given up the lane is left as %+v", seed, begun, givenUp, l)
			}
		})
	}
}

// TestLaneWakesTheNext: of many calls that wait only the one whose turn it is is let
// in, and none that must still wait for room.
func TestLaneWakesTheNext(t *testing.T) {
	l := newLane()
	var places []*place
	for seq := 1; seq <= 100; seq++ {
		places = append(places, l.arrive(t.Context(), seq, seq%10 == 0))
	}
	in := func() (seqs []int) {
		for i, p := range places {
			select {
			case <-p.in:
				seqs = append(seqs, i+1)
			default:
			}
		}
		return seqs
	}
	for seq := 1; seq <= 100; seq++ {
		if got := in(); len(got) != seq || got[seq-1] != seq {
			t.Fatalf("when it is the turn of call %d, these have been let in: %v", seq, got)
		}
		l.update(l.advance)
		if seq%10 == 9 { // the next one waits for those before it
			if got := in(); len(got) != seq {
				t.Fatalf("after call %d, these have been let in: %v", seq, got)
			}
			l.update(func() { l.running = 0 })
		} else if seq%10 == 0 {
			l.update(func() { l.running--; l.exclusive = false })
		}
	}
}

// TestLaneGivenUp: a call that gives up its turn, while it waits for room or before,
// lets the one behind it in at once.
func TestLaneGivenUp(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, giveUp := range map[string]func(*lane){
		"while it waits for room": func(l *lane) {
			l.arrive(t.Context(), 2, true)
			if !l.depart(2) {
				t.Error("it was let in")
			}
		},
		"as it comes":             func(l *lane) { l.arrive(ended, 2, true) },
		"as it is no call at all": func(l *lane) { l.skip(2) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLane()
			if first := l.arrive(ended, 1, false); first == nil {
				t.Fatal("a call whose turn it is is given up")
			}
			third := l.arrive(t.Context(), 3, false)
			l.update(l.advance)
			giveUp(l)
			select {
			case <-third.in:
			default:
				t.Errorf("the next call is not let in: %+v", l)
			}
		})
	}
}
