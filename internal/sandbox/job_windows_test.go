package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// orderVar has this binary be a process to confine.
const orderVar = "RUNCODE_SANDBOX_TEST_ORDER"

func init() {
	switch os.Getenv(orderVar) {
	case "":
		return
	case "wait":
		time.Sleep(time.Hour)
	case "spin":
		fmt.Scanln() // until it is confined
		for {
		}
	case "allocate":
		fmt.Scanln()
		var all [][]byte
		for len(all) < 512 {
			all = append(all, bytes.Repeat([]byte("x"), 1<<20))
		}
		fmt.Println("allocated", len(all), "MiB")
	}
	os.Exit(0)
}

// confined starts this binary with an order and puts it into a job before it acts.
func confined(t *testing.T, j *Job, order string) (end func() (code int, said string)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), orderVar+"="+order)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	err = cmd.Process.WithHandle(func(handle uintptr) {
		if err := windows.AssignProcessToJobObject(j.Handle(), windows.Handle(handle)); err != nil {
			t.Fatal(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in)
	return func() (int, string) {
		cmd.Wait()
		return cmd.ProcessState.ExitCode(), said.String()
	}
}

func newJob(t *testing.T) *Job {
	t.Helper()
	j, err := NewJob()
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestJobEndsItsProcess(t *testing.T) {
	for name, stop := range map[string]func(*Job){
		"kill":  func(j *Job) { j.Kill(77) },
		"close": func(j *Job) {},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t)
			end := confined(t, j, "wait")
			stop(j)
			if name == "kill" {
				if code, said := end(); code != 77 {
					t.Errorf("code %d, want 77; it said %q", code, said)
				}
			}
			j.Close()
			end() // or the test would never
		})
	}
}

// A limit that the system does not say it keeps is not one.
func TestJobHolds(t *testing.T) {
	j := newJob(t)
	defer j.Close()
	if _, memory, cpu, err := j.Holds(); memory || cpu || err != nil {
		t.Errorf("memory %v, processor time %v, %v before any limit", memory, cpu, err)
	}
	for _, set := range []func() error{
		func() error { return j.LimitMemory(100 << 20) },
		func() error { return j.LimitCPU(time.Second) },
		func() error { return j.LimitMemory(200 << 20) },
	} {
		if err := set(); err != nil {
			t.Error(err)
		}
	}
	one, memory, cpu, err := j.Holds()
	if err != nil {
		t.Fatal(err)
	}
	if !one {
		t.Skip("this system accepts the limits of a job and does not keep them")
	}
	if !memory || !cpu {
		t.Errorf("memory %v, processor time %v, want both", memory, cpu)
	}
}

func TestJobLimits(t *testing.T) {
	for _, tt := range []struct {
		order string
		limit func(*Job) error
		code  int
		said  string
	}{
		{"spin", func(j *Job) error { return j.LimitCPU(200 * time.Millisecond) }, int(ExitOutOfCPU), ""},
		{"allocate", func(j *Job) error { return j.LimitMemory(128 << 20) }, 2, "out of memory"},
	} {
		t.Run(tt.order, func(t *testing.T) {
			j := newJob(t)
			defer j.Close()
			if one, _, _, _ := j.Holds(); !one {
				t.Skip("this system accepts the limits of a job and does not keep them")
			}
			if err := tt.limit(j); err != nil {
				t.Fatal(err)
			}
			if code, said := confined(t, j, tt.order)(); code != tt.code || !strings.Contains(said, tt.said) {
				t.Errorf("code %d, want %d; it said %q, want %q", code, tt.code, said, tt.said)
			}
		})
	}
}

func TestRestrictedToken(t *testing.T) {
	own, err := OwnToken()
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	before, err := Privileges(own)
	if err != nil || before == 0 {
		t.Skipf("this process has %d privileges to lose, %v", before, err)
	}
	token, err := RestrictedToken()
	if err != nil {
		t.Fatal(err)
	}
	defer token.Close()
	if n, err := Privileges(token); n != 0 || err != nil {
		t.Errorf("%d privileges, %v; want none", n, err)
	}
	if n, _ := Privileges(own); n != before {
		t.Errorf("this process has %d privileges, had %d", n, before)
	}
	if err := LowerIntegrity(token, Low); err != nil {
		t.Fatal(err)
	}
	ownLevel, err := IntegrityOf(own)
	if err != nil {
		t.Fatal(err)
	}
	switch level, err := IntegrityOf(token); {
	case err != nil:
		t.Error(err)
	case level == ownLevel && level > Low:
		t.Skipf("this system accepts a level of integrity and does not keep it (%#x)", level)
	case level != Low:
		t.Errorf("integrity %#x, want %#x", level, Low)
	}
}
