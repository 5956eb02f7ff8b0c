package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

func TestScreen(t *testing.T) {
	var screen Screen
	var shown bytes.Buffer // of both writers, so that order between them counts
	out, err := screen.Writer(&shown), screen.Writer(&shown)
	check := func(when, want string) {
		t.Helper()
		if got := shown.String(); got != want {
			t.Errorf("%s the screen shows %q, want %q", when, got, want)
		}
		shown.Reset()
	}
	io.WriteString(out, "a\nb")
	check("before the question", "a\nb")
	screen.hold()
	for i := range 3 {
		fmt.Fprintf(out, "out %d\n", i)
		fmt.Fprintf(err, "err %d\n", i)
	}
	check("while the question is open", "")
	screen.release()
	check("after the question", "out 0\nerr 0\nout 1\nerr 1\nout 2\nerr 2\n")
	screen.hold()
	screen.hold()
	io.WriteString(out, "late")
	screen.release()
	check("while one of two questions is open", "")
	screen.release()
	check("after both questions", "late")
	(&screenWriter{s: &screen, w: &shown}).line("note")
	check("after an open line", "\nnote\n")
}

func TestScreenIsBounded(t *testing.T) {
	for _, tc := range []struct {
		name   string
		writes []string
		want   string
	}{
		{"exactly full", []string{strings.Repeat("x", maxHeld)}, strings.Repeat("x", maxHeld)},
		{"one write too large", []string{"a\n", strings.Repeat("x", maxHeld), "b\n"},
			"a\n… 1048 KB written while a question was open are not shown\n"},
		{"after an open line", []string{strings.Repeat("x", maxHeld), "y"},
			strings.Repeat("x", maxHeld) + "\n… 1 byte written while a question was open are not shown\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var screen Screen
			var shown bytes.Buffer
			w := screen.Writer(&shown)
			for range 2 { // the second question begins anew
				shown.Reset()
				screen.hold()
				for _, text := range tc.writes {
					if n, err := io.WriteString(w, text); n != len(text) || err != nil {
						t.Errorf("Write = %d, %v, want %d and no error", n, err, len(text))
					}
				}
				screen.release()
				if got := shown.String(); got != tc.want {
					t.Errorf("the screen shows %d bytes that end in %q, want %d that end in %q", len(got), got[max(len(got)-80, 0):], len(tc.want), tc.want[max(len(tc.want)-80, 0):])
				}
			}
		})
	}
}

// TestScreenConcurrently loses nothing while writers and questions come and go.
func TestScreenConcurrently(t *testing.T) {
	var screen Screen
	var shown bytes.Buffer
	var writers sync.WaitGroup
	for i := range 4 {
		w := screen.Writer(&shown)
		writers.Go(func() {
			for j := range 100 {
				fmt.Fprintf(w, "%d-%d\n", i, j)
			}
		})
	}
	for range 50 {
		screen.hold()
		screen.release()
	}
	writers.Wait()
	next := map[int]int{}
	for line := range strings.Lines(shown.String()) {
		var i, j int
		if _, err := fmt.Sscanf(line, "%d-%d\n", &i, &j); err != nil || next[i] != j {
			t.Fatalf("line %q, want line %d of writer %d", line, next[i], i)
		}
		next[i]++
	}
	for i := range 4 {
		if next[i] != 100 {
			t.Errorf("%d lines of writer %d, want 100", next[i], i)
		}
	}
}
