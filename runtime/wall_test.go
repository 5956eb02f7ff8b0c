package runtime

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWallStandsStillWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		expired := make(chan time.Duration, 1)
		outer := StartWall(time.Hour, func() { t.Error("the outer clock expired") })
		w := StartWall(10*time.Second, func() { expired <- time.Since(start) })
		ctx := WithWall(WithWall(context.Background(), outer), w)
		time.Sleep(4 * time.Second)
		first, second := PauseWall(ctx), w.Pause()
		time.Sleep(time.Minute)
		first()
		first()
		time.Sleep(time.Minute)
		if got := w.Elapsed(); got != 4*time.Second {
			t.Errorf("elapsed %v while paused, want 4s", got)
		}
		if got := outer.Elapsed(); got != time.Minute+4*time.Second {
			t.Errorf("the outer clock shows %v, want 1m4s", got)
		}
		second()
		if got := <-expired; got != 2*time.Minute+10*time.Second {
			t.Errorf("expired after %v, want 2m10s", got)
		}
		outer.Stop()
		w.Stop()
		time.Sleep(2 * time.Hour)
		if got := outer.Elapsed(); got != time.Minute+10*time.Second {
			t.Errorf("a stopped clock shows %v, want 1m10s", got)
		}
	})
}

func TestPauseWallOutsideARun(t *testing.T) {
	PauseWall(context.Background())()
}

func TestTextsOfTimeLimits(t *testing.T) {
	for limit, want := range map[time.Duration]string{
		time.Nanosecond:         "1ns",
		10 * time.Microsecond:   "10µs",
		time.Millisecond:        "1ms",
		1500 * time.Microsecond: "1.5ms",
		time.Minute:             "60000ms",
	} {
		wall, compute := WallReached(limit), ComputeExhausted(limit)
		if wall.Kind != Timeout || wall.Message != "wall-clock ceiling reached ("+want+")" {
			t.Errorf("wall %v: %+v", limit, wall)
		}
		if compute.Kind != Timeout || compute.Message != "compute budget exhausted ("+want+" busy)" {
			t.Errorf("compute %v: %+v", limit, compute)
		}
	}
}
