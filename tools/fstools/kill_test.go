package fstools

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// killVariable names the directory in which a child process of TestKilled works.
const killVariable = "FSTOOLS_TEST_KILLED"

// The states of the files the child changes. They are large enough that writing
// one takes several steps of the operating system.
const killFiles = 3

func killState(letter string) string {
	return "state=" + letter + "\n" + strings.Repeat(strings.Repeat(letter, 63)+"\n", 2_000)
}

// TestKilledChild is the child: it writes and edits until it is killed, and says
// before each call what it is about to do.
func TestKilledChild(t *testing.T) {
	dir := os.Getenv(killVariable)
	if dir == "" {
		t.Skip("this is the other side of TestKilled")
	}
	set, err := New(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	for i := range 100_000 {
		fmt.Printf("call %d\n", i)
		name := fmt.Sprintf("file%d", rand.IntN(killFiles))
		switch rand.IntN(3) {
		case 0:
			_, err = set.write(t.Context(), noRun, writeIn{FilePath: name, Content: killState(string(rune('A' + rand.IntN(2))))}, false)
		case 1:
			from, to := "A", "B"
			if bytes.HasPrefix([]byte(textOf(t, filepath.Join(dir, name))), []byte("state=B")) {
				from, to = to, from
			}
			_, err = set.edit(t.Context(), noRun, editIn{FilePath: name, OldString: from, NewString: to, ReplaceAll: true}, false)
		case 2:
			_, err = set.write(t.Context(), noRun, writeIn{FilePath: fmt.Sprintf("new/%d", rand.Uint64()), Content: killState("N")}, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestKilled kills a process at random moments while it writes and edits. What
// it leaves is whole, old or new.
func TestKilled(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range killFiles {
		write(t, filepath.Join(dir, fmt.Sprint("file", i)), killState("A"))
	}
	calls, left := 0, 0
	for range rounds {
		calls += killOnce(t, self, dir)
		left += checkWhole(t, dir)
	}
	t.Logf("%d calls in %d processes, %d temporary files left over", calls, rounds, left)
}

// killOnce starts a child, lets it make some calls and kills it in the middle of
// one. It returns how many it began.
func killOnce(t *testing.T, self, dir string) int {
	t.Helper()
	cmd := exec.Command(self, "-test.run=^TestKilledChild$", "-test.count=1")
	cmd.Env = append(os.Environ(), killVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	enough, begun := 1+rand.IntN(20), 0
	lines := bufio.NewScanner(out)
	for begun < enough && lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "call ") {
			t.Fatalf("the child says %q", lines.Text())
		}
		begun++
	}
	if begun < enough {
		t.Fatalf("the child ended after %d calls", begun)
	}
	// Work of a random length puts the end anywhere in the call.
	sha256.Sum256(make([]byte, rand.IntN(2<<20)))
	return begun
}

// checkWhole looks at every file and counts the temporary ones, which it
// removes.
func checkWhole(t *testing.T, dir string) (left int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		switch text := textOf(t, name); {
		case isTemporary(e.Name()):
			left++
			return os.Remove(name)
		case strings.HasPrefix(e.Name(), "file") && text != killState("A") && text != killState("B"),
			!strings.HasPrefix(e.Name(), "file") && text != killState("N"):
			t.Errorf("%s is neither old nor new: %d bytes", e.Name(), len(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}
