package shelltools

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/tools"
)

const toolName = "bash"

// Options bounds what one command may cost and says what it runs with. A zero
// field has the default its comment names; a negative one is an error of New.
type Options struct {
	// Shell is the bash to use, as a path or a name to look for in PATH.
	// "bash".
	Shell string
	// Env is NAME=value entries for every command, besides the few variables
	// of this process that hold no keys (PATH, HOME, LANG and the like); they
	// win over those. BASH_ENV and ENV are refused: they name files bash runs
	// first.
	Env []string
	// Timeout ends a command that gives no timeoutMs. 2 minutes, or MaxTimeout
	// if that is less.
	Timeout time.Duration
	// MaxTimeout is the most that timeoutMs may ask for. 10 minutes.
	MaxTimeout time.Duration
	// OutputBytes is how much of standard output and of standard error is kept,
	// each: of more than that the beginning and the end. 256 KiB.
	OutputBytes int
}

// The defaults of Options.
const (
	defaultTimeout     = 2 * time.Minute
	defaultMaxTimeout  = 10 * time.Minute
	defaultOutputBytes = 256 << 10
)

func (o *Options) resolve() (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	for _, limit := range []struct {
		name  string
		value time.Duration
	}{{"Timeout", r.Timeout}, {"MaxTimeout", r.MaxTimeout}} {
		if limit.value < 0 || limit.value%time.Millisecond != 0 {
			return r, fmt.Errorf("shell tool: Options.%s is %v; want a positive number of whole milliseconds, or 0 for the default", limit.name, limit.value)
		}
	}
	if r.OutputBytes < 0 {
		return r, fmt.Errorf("shell tool: Options.OutputBytes is %d; want a positive number, or 0 for the default", r.OutputBytes)
	}
	r.Shell = cmp.Or(r.Shell, "bash")
	r.MaxTimeout = cmp.Or(r.MaxTimeout, defaultMaxTimeout)
	r.Timeout = cmp.Or(r.Timeout, min(defaultTimeout, r.MaxTimeout))
	r.OutputBytes = cmp.Or(r.OutputBytes, defaultOutputBytes)
	if r.Timeout > r.MaxTimeout {
		return r, fmt.Errorf("shell tool: Options.Timeout is %v, more than Options.MaxTimeout, which is %v; raise that too", r.Timeout, r.MaxTimeout)
	}
	return r, checkEnv(r.Env)
}

func checkEnv(env []string) error {
	for _, entry := range env {
		name, value, found := strings.Cut(entry, "=")
		switch {
		case !found || name == "" || strings.IndexByte(entry, 0) >= 0:
			return fmt.Errorf("shell tool: Options.Env has an entry for %q that is not NAME=value without NUL bytes", name)
		case name == "BASH_ENV" || name == "ENV":
			return fmt.Errorf("shell tool: Options.Env sets %s to %q, a file bash would run before every command; leave it out", name, value)
		}
	}
	return nil
}

// Set is the shell tool over one directory tree. It is safe for concurrent use.
type Set struct {
	// names are the absolute spellings of the root: as it was given and, last,
	// with symbolic links resolved. They may be the same.
	names [2]string
	shell string // an absolute path
	env   []string
	opts  Options

	closing context.Context // ends with Close
	close   context.CancelFunc

	mu      sync.Mutex // guards closed, and running against a late Add
	closed  bool
	running sync.WaitGroup
}

// New finds bash and the directory commands start in. Nil options mean the
// defaults. It fails where processes cannot be started and ended as a whole, as
// on Windows.
func New(dir string, opts *Options) (*Set, error) {
	resolved, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	if !proc.Supported {
		return nil, fmt.Errorf("shell tool: it needs bash on a Unix system and cannot work on %s; leave it out", goruntime.GOOS)
	}
	s := &Set{opts: resolved, env: proc.Environ(resolved.Env...)}
	if s.names, err = rootNames(dir); err != nil {
		return nil, err
	}
	if s.shell, err = findShell(resolved.Shell); err != nil {
		return nil, err
	}
	s.closing, s.close = context.WithCancel(context.Background())
	return s, nil
}

func rootNames(dir string) (names [2]string, err error) {
	if names[0], err = filepath.Abs(dir); err != nil {
		return names, fmt.Errorf("shell tool: %w", err)
	}
	if names[1], err = filepath.EvalSymlinks(names[0]); err != nil {
		return names, fmt.Errorf("shell tool: the root must be a directory that exists: %w", err)
	}
	info, err := os.Stat(names[1])
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", names[0])
	}
	if err != nil {
		return names, fmt.Errorf("shell tool: the root must be a directory that exists: %w", err)
	}
	return names, nil
}

// findShell keeps the absolute path, so that a later change of PATH or of the
// working directory starts no other program.
func findShell(shell string) (string, error) {
	path, err := exec.LookPath(shell)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause
		}
		return "", fmt.Errorf("shell tool: cannot use the shell %q: %w; install bash (the package is called bash everywhere) or name one in Options.Shell", shell, err)
	}
	return path, nil
}

// Close ends every command that runs, with all it has started, and waits for
// that; later calls fail. It may be called more than once and never fails.
func (s *Set) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.close()
	s.running.Wait()
	return nil
}

// begin enters a command that runs: in a context that also ends with Close, and
// until done is called.
func (s *Set) begin(ctx context.Context) (inner context.Context, done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, s.closedError()
	}
	s.running.Add(1)
	inner, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.closing, cancel)
	return inner, func() {
		stop()
		cancel()
		s.running.Done()
	}, nil
}

//go:embed bash.md
var bashText string

// Tools returns the definition of bash.
func (s *Set) Tools() []*tools.Definition {
	return []*tools.Definition{tools.DefineWith(tools.Definition{
		Name:        toolName,
		Description: s.describe(),
		// No Timeout: a command has its own, which the call may choose. Another
		// one around it would make a failure of what is a value. No Preview:
		// nobody knows what a command would do.
		Annotations:   tools.Annotations{Destructive: true, OpenWorld: true},
		Subjects:      s.subjects,
		Render:        s.render,
		PresentCall:   s.presentCall,
		PresentResult: s.presentResult,
	}, s.bash)}
}

func (s *Set) describe() string {
	return strings.NewReplacer(
		"{timeout}", strconv.FormatInt(s.opts.Timeout.Milliseconds(), 10),
		"{maxTimeout}", strconv.FormatInt(s.opts.MaxTimeout.Milliseconds(), 10),
		"{output}", strconv.Itoa(s.opts.OutputBytes),
	).Replace(strings.TrimSpace(bashText))
}
