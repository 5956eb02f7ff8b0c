package mcptools

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/proc"
)

const (
	// maxStderr is how much of a program's standard error is kept, in bytes.
	maxStderr = 8 << 10
	// goodbye is how long a program may take to leave when it is asked to.
	goodbye = 2 * time.Second
	// lastWords is how long the output of a program that has exited is read on.
	lastWords = 250 * time.Millisecond
)

// startProgram starts the program of a server.
func startProgram(s Server, root string) (*proc.Process, error) {
	var extra []string
	for _, name := range sortedKeys(s.Env) {
		extra = append(extra, name+"="+s.Env[name])
	}
	env := proc.Environ(extra...)
	path, dir, err := s.program(root, env)
	if err != nil {
		return nil, err
	}
	return proc.Start(proc.Command{Path: path, Args: s.Args, Dir: dir, Env: env, MaxStderr: maxStderr, KeepTail: true})
}

// program is the path of the server's program and the directory it runs in.
func (s Server) program(root string, env []string) (path, dir string, err error) {
	if dir, err = filepath.Abs(root); err != nil {
		return "", "", err
	}
	if filepath.IsAbs(s.Dir) {
		dir = s.Dir
	} else {
		dir = filepath.Join(dir, s.Dir)
	}
	path, err = lookPath(s.Command, dir, env)
	return path, dir, err
}

// lookPath finds a program as a shell with that environment would, but never in
// a relative element of PATH: the working directory may be anybody's.
func lookPath(command, dir string, env []string) (string, error) {
	if filepath.Base(command) != command {
		if !filepath.IsAbs(command) {
			command = filepath.Join(dir, command)
		}
		return exec.LookPath(command)
	}
	search := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			search = value
		}
	}
	for _, place := range filepath.SplitList(search) {
		if !filepath.IsAbs(place) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(place, command)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %q is not in PATH; install it, or name its path", command)
}

// stderrText is what is kept of a standard error, in whole lines where it was
// cut: half of a secret would not be recognised as one.
func stderrText(o proc.Output) string {
	if !o.Cut() {
		return o.Head
	}
	head := o.Head[:strings.LastIndexByte(o.Head, '\n')+1]
	_, tail, _ := strings.Cut(o.Tail, "\n")
	return fmt.Sprintf("%s[%d bytes left out]\n%s", head, o.Size-int64(len(head)+len(tail)), tail)
}

// howEnded says how a program came to its end, "" if it was ended by us.
func howEnded(r proc.Result) string {
	switch r.End {
	case proc.Exited:
		return fmt.Sprintf("its program exited with code %d", r.Code)
	case proc.Signaled:
		return "its program was ended by the signal " + r.SignalName
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
