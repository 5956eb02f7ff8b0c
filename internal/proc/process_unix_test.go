//go:build unix

package proc

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// begin starts a script that is ended with the test.
func begin(t *testing.T, script string) (*Process, *bufio.Reader) {
	t.Helper()
	c := bash(t, script)
	c.KeepTail = true
	p, err := Start(c)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() { p.End(0) })
	return p, bufio.NewReader(p.Stdout)
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("reading a line: %v", err)
	}
	return strings.TrimSuffix(text, "\n")
}

func TestProcessIsTalkedTo(t *testing.T) {
	p, out := begin(t, `while read -r x; do echo "got $x"; echo "err $x" >&2; done; exit 4`)
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(p.Stdin, word+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := line(t, out); got != "got "+word {
			t.Errorf("answer = %q, want %q", got, "got "+word)
		}
	}
	// The end of its input lets it leave by itself.
	r := p.End(time.Minute)
	r.Took = 0
	want := Result{End: Exited, Code: 4, Stderr: Output{Head: "err one\nerr two\n", Size: 16}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("End (-want +got):\n%s", diff)
	}
	if again := p.End(0); again.Code != 4 {
		t.Errorf("second End = %+v, want the result of the first", again)
	}
}

func TestProcessThatStaysIsEnded(t *testing.T) {
	p, out := begin(t, `trap '' TERM INT HUP; echo begun; exec <&-; while :; do read -t 1000 < <(:); done`)
	line(t, out)
	if r := p.End(20 * time.Millisecond); r.End != Cancelled || r.Code != -1 || r.Left != 0 {
		t.Errorf("End = %+v, want cancelled, -1, none left", r)
	}
}

func TestProcessExits(t *testing.T) {
	p, out := begin(t, `echo last; echo why >&2; exit 3`)
	<-p.Exited()
	if got := line(t, out); got != "last" {
		t.Errorf("output after the exit = %q, want last", got)
	}
	if r := p.End(0); r.End != Exited || r.Code != 3 || r.Stderr.Head != "why\n" {
		t.Errorf("End = %+v, want exit code 3 and the standard error", r)
	}
}

// TestProcessEndUnblocksReaders: a read that waits when the process is ended
// comes back.
func TestProcessEndUnblocksReaders(t *testing.T) {
	p, out := begin(t, `echo begun; exec sleep 1000`)
	line(t, out)
	done := make(chan error, 1)
	go func() {
		_, err := out.ReadByte()
		done <- err
	}()
	p.End(0)
	if err := <-done; err == nil {
		t.Error("a byte was read from an ended process that wrote none")
	}
}

func TestProcessCannotStart(t *testing.T) {
	c := Command{Path: filepath.Join(t.TempDir(), "nothing")}
	if p, err := Start(c); err == nil {
		p.End(0)
		t.Error("Start of a missing program succeeded")
	}
}
