package worker

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/runcode-go/runcode/runtime"
)

// watched is a process that the system tells of.
func watched(t *testing.T, pid int) *process {
	t.Helper()
	look, done, err := observe(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return &process{look: look}
}

func TestMeterMeasuresTheProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Skip("there is no shell to keep busy: ", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	over := make(chan time.Duration, 1)
	const limit = 100 * time.Millisecond
	m := startMeter(watched(t, cmd.Process.Pid), limit, func(used time.Duration) { over <- used })
	if used := <-over; used <= limit {
		t.Errorf("over at %v, want more than %v", used, limit)
	}
	if busy := m.stop(); busy <= limit {
		t.Errorf("busy %v, want more than %v", busy, limit)
	}
}

// A worker whose engine does not stop at the compute limit is ended by what the
// system says it used.
func TestComputeIsMeteredByTheParent(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Skip("there is no shell to keep busy: ", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	f := newFleet(t, Options{MaxWorkers: 1}, func(int) (*process, error) {
		p := fakeProcess(exitStatus{}, "", func(conn net.Conn, killed <-chan struct{}) {
			p := &peer{link: newLink(conn)}
			p.send(frame{kind: kindHello, meta: encode(helloMeta{Version: protocolVersion})})
			p.awaitRun()
			<-killed
		})
		p.look = watched(t, cmd.Process.Pid).look
		return p, nil
	})
	defer f.Close()
	res := mustRun(t, f, runtime.Request{Limits: runtime.Limits{Compute: 5 * time.Millisecond}})
	wantFailure(t, res, runtime.Timeout, "compute budget exhausted (5ms busy)")
	if res.Usage.Compute < computeSlack {
		t.Errorf("compute %v, want what the process used", res.Usage.Compute)
	}
}

// A process that only waits is never over its limit, however long it lives.
func TestMeterCountsNoWaiting(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip("there is no sleep to start: ", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	m := startMeter(watched(t, cmd.Process.Pid), time.Hour, func(used time.Duration) { t.Errorf("over at %v", used) })
	if busy := m.stop(); busy > 100*time.Millisecond {
		t.Errorf("busy %v", busy)
	}
}

// A look that fails for a moment is repeated, and what was used before the first one
// that succeeds is not the run's.
func TestMeterLooksAgain(t *testing.T) {
	looks := 0
	over := make(chan struct{})
	m := startMeter(&process{look: func() (usage, error) {
		switch looks++; looks {
		case 1, 3:
			return usage{}, syscall.EMFILE
		case 2:
			return usage{cpu: time.Hour}, nil
		}
		return usage{cpu: time.Hour + 20*time.Millisecond}, nil
	}}, 10*time.Millisecond, func(time.Duration) { close(over) })
	<-over
	if busy := m.stop(); busy != 20*time.Millisecond {
		t.Errorf("busy %v, want 20ms", busy)
	}
}

// Where nothing can be looked at, nothing is.
func TestMeterOfWhatIsNotTold(t *testing.T) {
	m := startMeter(&process{}, 0, func(used time.Duration) { t.Errorf("over at %v", used) })
	if busy := m.stop(); busy != 0 {
		t.Errorf("busy %v", busy)
	}
}

// The system tells what a process uses.
func TestObserve(t *testing.T) {
	look, done, err := observe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if now, err := look(); err != nil || now.resident < 1<<20 || now.resident > 1<<40 {
		t.Errorf("%+v %v", now, err)
	}
	if _, _, err := observe(1 << 30); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want that there is none", err)
	}
}

// What was opened tells of its process and of no other one that gets the number.
func TestObserveWhatIsGone(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip("there is no sleep to start: ", err)
	}
	look, done, err := observe(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if now, err := look(); err != nil {
		t.Errorf("%+v %v", now, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if now, err := look(); err == nil {
		t.Errorf("%+v of a process that is gone", now)
	}
}

func TestParseResident(t *testing.T) {
	page := int64(os.Getpagesize())
	for _, tt := range []struct {
		name, text string
		want       int64
		ok         bool
	}{
		{"plain", "1000 212 100 50 0 300 0\n", 212 * page, true},
		{"of a process that has ended", "0 0 0 0 0 0 0\n", 0, true},
		{"cut", "1000", 0, false},
		{"empty", "", 0, false},
		{"no number", "1000 x 100 50 0 300 0", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := parseResident([]byte(tt.text)); (err == nil) != tt.ok || got != tt.want {
				t.Errorf("%d %v, want %d %v", got, err, tt.want, tt.ok)
			}
		})
	}
}

// The clock of a process counts what it uses and no more.
func TestProcessClock(t *testing.T) {
	look, done, err := observe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	var own unix.Rusage
	before, err := look()
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	after, err := look()
	if err != nil {
		t.Fatal(err)
	}
	// The two of Getrusage are counted apart and may be rounded apart.
	const rounding = 20 * time.Millisecond
	used := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	if used < before.cpu-rounding || used > after.cpu+rounding {
		t.Errorf("the process has used %v; its clock shows %v before and %v after", used, before.cpu, after.cpu)
	}
}
