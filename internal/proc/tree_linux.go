package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// awaitExit waits until the process has ended and leaves it unreaped, so that
// its number, which is also that of its group and session, is not given to
// another.
func (p *child) awaitExit() {
	for unix.Waitid(unix.P_PID, p.process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// tree is a process and what it has started, found anew in /proc whenever it is
// asked for.
type tree struct {
	leader int
	mark   []byte           // the variable every process of the tree was born with
	born   uint64           // when the leader was; the others are not older
	known  map[int]procStat // those found so far
}

func newTree(leader int, mark string) *tree {
	t := &tree{leader: leader, mark: []byte(mark), known: map[int]procStat{}}
	if stat, ok := statOf(leader); ok {
		t.born = stat.born
		t.known[leader] = stat
	}
	return t
}

// end ends every process of the tree and returns how many would not. New ones
// may appear while it works, so it looks again until there are none.
func (t *tree) end(limit time.Duration) (left int) {
	begun := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		living, unsure := t.living()
		_ = syscall.Kill(-t.leader, syscall.SIGKILL)
		for pid, stat := range living {
			kill(pid, stat)
		}
		passed := time.Since(begun)
		if len(living) == 0 && (!unsure || passed > unsureFor) || passed > limit {
			return len(living)
		}
		time.Sleep(pause)
	}
}

// unsureFor is how long a process without an environment is looked at again: it
// may have one in a moment, being about to execute its program.
const unsureFor = 100 * time.Millisecond

// kill ends a process if the number still means the one that was seen.
func kill(pid int, seen procStat) {
	p, err := os.FindProcess(pid) // holds on to the process, not to its number
	if err != nil {
		return
	}
	defer p.Release()
	if now, ok := statOf(pid); ok && now.born == seen.born {
		_ = p.Signal(syscall.SIGKILL)
	}
}

// living finds the processes of the tree that have not ended. It is unsure while
// a process that could be one shows no environment.
func (t *tree) living() (living map[int]procStat, unsure bool) {
	all := processes(t.born)
	for pid, stat := range t.known {
		if now, ok := all[pid]; !ok || now.born != stat.born {
			delete(t.known, pid)
		}
	}
	for pid, stat := range all {
		if _, known := t.known[pid]; known {
			continue
		}
		marked, bare := t.marked(pid)
		if stat.session == t.leader || stat.group == t.leader || marked {
			t.known[pid] = stat
		} else if bare && !stat.ended && stat.parent != kernelThreads {
			unsure = true
		}
	}
	for grown := true; grown; {
		grown = false
		for pid, stat := range all {
			_, known := t.known[pid]
			_, parent := t.known[stat.parent]
			if parent && !known {
				t.known[pid], grown = stat, true
			}
		}
	}
	living = map[int]procStat{}
	for pid := range t.known {
		if stat := all[pid]; !stat.ended {
			living[pid] = stat
		}
	}
	return living, unsure
}

// kernelThreads is the process whose children have no environment for good.
const kernelThreads = 2

// marked reports whether a process was born with the tree's mark, and whether it
// shows no environment at all.
func (t *tree) marked(pid int) (marked, bare bool) {
	f, err := os.Open(procFile(pid, "environ"))
	if err != nil {
		return false, false
	}
	defer f.Close()
	environ, err := io.ReadAll(io.LimitReader(f, 4<<20))
	return err == nil && bytes.Contains(environ, t.mark), err == nil && len(environ) == 0
}

// procStat is what /proc says of a process.
type procStat struct {
	parent, group, session int
	born                   uint64 // in clock ticks since the machine started
	ended                  bool   // only its number is left
}

// processes lists the processes that are not older than born.
func processes(born uint64) map[int]procStat {
	entries, _ := os.ReadDir("/proc")
	all := map[int]procStat{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if stat, ok := statOf(pid); ok && stat.born >= born {
			all[pid] = stat
		}
	}
	return all
}

// statOf reads /proc/<pid>/stat, whose second field, the program's name, may
// hold spaces and brackets.
func statOf(pid int) (s procStat, ok bool) {
	text, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return s, false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return s, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	s.ended = fields[0] == "Z" || fields[0] == "X"
	s.parent, s.group, s.session = number(1), number(2), number(3)
	s.born, err = strconv.ParseUint(fields[19], 10, 64)
	return s, err == nil
}

func procFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }
