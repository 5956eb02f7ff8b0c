package worker

import (
	"net"
	"os/exec"
	"testing"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

func TestMeterMeasuresTheProcess(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Skip("there is no shell to keep busy: ", err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	over := make(chan time.Duration, 1)
	const limit = 100 * time.Millisecond
	m := startMeter((&process{pid: cmd.Process.Pid}).cpu, limit, func(used time.Duration) { over <- used })
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
		p.pid, p.used = cmd.Process.Pid, time.Hour // what the system says of it at its end
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
	m := startMeter((&process{pid: cmd.Process.Pid}).cpu, time.Hour, func(used time.Duration) { t.Errorf("over at %v", used) })
	if busy := m.stop(); busy > 10*clockTick {
		t.Errorf("busy %v", busy)
	}
}

func TestParseStat(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       time.Duration
		ok         bool
	}{
		{"plain", "1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 120 45 0 0 20 0 1 0 2", 1650 * time.Millisecond, true},
		{"name with everything", "7 (a) b) R 1 ( ) S 0 1 1 0 -1 4194560 1 2 3 4 7 3 0 0 20", 100 * time.Millisecond, true},
		{"cut", "1 (init) S 0 1", 0, false},
		{"empty", "", 0, false},
		{"no number", "1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 x 45 0 0 20 0 1 0 2", 450 * time.Millisecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := parseStat([]byte(tt.text))
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("%v %v, want %v %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
