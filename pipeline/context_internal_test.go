package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type markKey struct{}

// pair is a spell and the context that package context makes in the same place.
type pair struct {
	spell *spell
	plain context.Context
	end   context.CancelCauseFunc
}

// course runs steps on a spell and on its model and tells what both say: the way
// from the outermost context inwards, what lies around ending now and then.
func course(steps string) (got, want []string) {
	root, cancel := context.WithCancelCause(context.WithValue(context.Background(), markKey{}, "root"))
	defer cancel(nil)
	pairs := []pair{}
	around := func() (context.Context, context.Context) {
		if len(pairs) == 0 {
			return root, root
		}
		last := pairs[len(pairs)-1]
		return last.spell, last.plain
	}
	var stops []func()
	for i, step := range steps {
		s, m := around()
		tell := func(ask func(context.Context) string) {
			got, want = append(got, fmt.Sprintf("%d %c %s", i, step, ask(s))), append(want, fmt.Sprintf("%d %c %s", i, step, ask(m)))
		}
		switch step {
		case 'n': // a new one within
			plain, end := context.WithCancelCause(m)
			pairs = append(pairs, pair{&spell{Context: s}, plain, end})
			stops = append(stops, func() { end(nil) })
		case 'v': // a value between, through which the end must go
			plain, end := context.WithCancelCause(context.WithValue(m, markKey{}, i))
			pairs = append(pairs, pair{&spell{Context: context.WithValue(s, markKey{}, i)}, plain, end})
			stops = append(stops, func() { end(nil) })
		case 'w': // one the end does not go through
			plain, end := context.WithCancelCause(context.WithoutCancel(m))
			pairs = append(pairs, pair{&spell{Context: context.WithoutCancel(s)}, plain, end})
			stops = append(stops, func() { end(nil) })
		case 'd': // one with a deadline between that has passed
			at := time.Unix(1, 0)
			sd, stopS := context.WithDeadline(s, at)
			md, stopM := context.WithDeadline(m, at)
			plain, end := context.WithCancelCause(md)
			pairs = append(pairs, pair{&spell{Context: sd}, plain, end})
			stops = append(stops, stopS, stopM, func() { end(nil) })
		case 'o': // outwards
			if len(pairs) > 0 {
				pairs = pairs[:len(pairs)-1]
			}
		case 'e': // the innermost ends
			if len(pairs) > 0 {
				cause := fmt.Errorf("end %d", i)
				pairs[len(pairs)-1].spell.end(cause)
				pairs[len(pairs)-1].end(cause)
			}
		case 'x': // the outermost ends
			if len(pairs) > 0 {
				cause := fmt.Errorf("outermost %d", i)
				pairs[0].spell.end(cause)
				pairs[0].end(cause)
			}
		case 'r': // what is around them all ends
			cancel(fmt.Errorf("root %d", i))
		case 'E':
			tell(func(c context.Context) string { return fmt.Sprint(c.Err()) })
		case 'C':
			tell(func(c context.Context) string { return fmt.Sprint(context.Cause(c)) })
		case 'D':
			tell(func(c context.Context) string { return fmt.Sprint(ended(c.Done())) })
		case 'V':
			tell(func(c context.Context) string { return fmt.Sprint(c.Value(markKey{})) })
		case 'T':
			tell(func(c context.Context) string { at, ok := c.Deadline(); return fmt.Sprint(at, ok) })
		case 'K': // what a context made from it inherits
			tell(func(c context.Context) string {
				child, stop := context.WithCancel(c)
				defer stop()
				return fmt.Sprint(child.Err(), context.Cause(child))
			})
		}
	}
	for _, stop := range stops {
		stop()
	}
	return got, want
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

var courses = []string{
	"nECDV", "neECDVK", "nrECDK", "nDeECDK", "nDrECDK", "nreECDK", "nerECDK", "nDerECDK", "nDreECDK", "neeECDK", "neDEC", "neCDE",
	"nnxECDK", "nnDxECDK", "nnexECDK", "nnxeECDK", "nnneoECDoECDoECD", "nnDoeoECD", "nwxECDK", "nwDxECDVK", "nvxVECDK", "nveVCDoVCD",
	"ndECDTK", "ndeECDT", "nxdECDT", "nvnrECDVoECDVoECDV", "nnDxrECDKoECDK", "nexKnKrKE", "newVrECDK", "nenECDKV",
}

// TestSpell: a spell says at any time what a context of package context would say
// that was made and ended at the same times.
func TestSpell(t *testing.T) {
	for _, steps := range courses {
		t.Run(steps, func(t *testing.T) {
			got, want := course(steps)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-package context +spell):\n%s", diff)
			}
		})
	}
}

// FuzzSpell is TestSpell for any course.
func FuzzSpell(f *testing.F) {
	for _, steps := range courses {
		f.Add(steps)
	}
	f.Fuzz(func(t *testing.T, steps string) {
		if len(steps) > 60 || strings.Count(steps, "d") > 5 {
			return
		}
		got, want := course(steps)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-package context +spell):\n%s", steps, diff)
		}
	})
}

// TestSpellWakes: whoever waits is woken, by the end of the spell or of what is
// around it, whether it began to wait before or after others did.
func TestSpellWakes(t *testing.T) {
	cause := errors.New("over")
	for _, outer := range []bool{false, true} {
		root, cancel := context.WithCancelCause(context.Background())
		outermost := &spell{Context: root}
		inner := &spell{Context: outermost}
		var all, waiting sync.WaitGroup
		for i := range 8 {
			waiting.Add(1)
			all.Go(func() {
				done := inner.Done()
				if i%2 == 0 {
					child, stop := context.WithCancel(inner)
					defer stop()
					done = child.Done()
				}
				waiting.Done()
				<-done
				if got := context.Cause(inner); got != cause {
					t.Errorf("the cause is %v", got)
				}
			})
		}
		if outer { // while others may still be making it
			outermost.end(cause)
		} else {
			waiting.Wait()
			inner.end(cause)
		}
		all.Wait()
		cancel(nil)
	}
}

// bare is a context without a name.
type bare struct{ context.Context }

// TestContextNames: who prints a context reads what package context would print.
func TestContextNames(t *testing.T) {
	for _, around := range []context.Context{context.Background(), bare{context.Background()}, context.WithValue(t.Context(), markKey{}, "x")} {
		model, cancel := context.WithCancelCause(around)
		s := &spell{Context: around}
		a := &attempt{}
		for range 2 { // before and after somebody waits
			if got, want := fmt.Sprint(s), fmt.Sprint(model); got != want {
				t.Errorf("a spell is called %s, want %s", got, want)
			}
			if got, want := fmt.Sprint(&bodyContext{s, a}), fmt.Sprint(context.WithValue(model, bodyKey{}, a)); got != want {
				t.Errorf("the context of a body is called %s, want %s", got, want)
			}
			s.Done()
		}
		cancel(nil)
		s.end(nil)
	}
}

// TestSpellCalls: context.AfterFunc is told of an end, once.
func TestSpellCalls(t *testing.T) {
	for _, early := range []bool{false, true} {
		s := &spell{Context: context.Background()}
		if early {
			s.end(errListenerReturned)
		}
		told := make(chan error, 2)
		context.AfterFunc(s, func() { told <- context.Cause(s) })
		s.end(errListenerReturned)
		if got := <-told; got != errListenerReturned {
			t.Errorf("the cause is %v", got)
		}
	}
}
