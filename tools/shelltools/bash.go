package shelltools

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"time"

	"github.com/runcode-go/runcode/internal/proc"
	"github.com/runcode-go/runcode/tools"
)

type bashIn struct {
	Command     string `json:"command" jsonschema:"the command, as it would be typed into bash; several lines are fine"`
	Description string `json:"description" jsonschema:"what the command does, in a few words, for the person who watches"`
	TimeoutMs   int    `json:"timeoutMs,omitzero" jsonschema:"end the command after so many milliseconds"`
	Workdir     string `json:"workdir,omitzero" jsonschema:"the directory to start in, relative to the root directory or absolute; default the root directory"`
}

// bashOut is the canonical value of bash.
type bashOut struct {
	ExitCode  *int   `json:"exitCode" jsonschema:"null if a signal or the timeout ended the command"`
	Signal    string `json:"signal,omitempty" jsonschema:"the signal that ended the command, such as SIGKILL"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	TimedOut  bool   `json:"timedOut"`
	Truncated bool   `json:"truncated"` // a stream was longer than what is kept
	Note      string `json:"note,omitempty" jsonschema:"what was left out or changed, and why"`
}

func (s *Set) bash(ctx context.Context, run *tools.Run, in bashIn) (bashOut, error) {
	if err := s.check(in, run.Args()); err != nil {
		return bashOut{}, err
	}
	where, err := s.place(in.Workdir)
	if err != nil {
		return bashOut{}, err
	}
	if err := judged(run.Call(), in.Workdir, where); err != nil {
		return bashOut{}, err
	}
	inner, done, err := s.begin(ctx)
	if err != nil {
		return bashOut{}, err
	}
	defer done()
	r, err := proc.Run(inner, proc.Command{
		Path:      s.shell,
		Args:      []string{"--noprofile", "--norc", "-c", "--", in.Command},
		Dir:       where.real,
		Env:       s.env,
		Timeout:   s.timeout(in),
		MaxStdout: s.opts.OutputBytes,
		MaxStderr: s.opts.OutputBytes,
		KeepTail:  true,
	})
	switch ended := err != nil || r.End == proc.Cancelled; {
	case ended && ctx.Err() != nil:
		return bashOut{}, context.Cause(ctx)
	case ended && inner.Err() != nil:
		return bashOut{}, s.closedError()
	case err != nil:
		return bashOut{}, startFailure(in, err)
	}
	return outOf(r), nil
}

// check refuses arguments that can be refused without looking at anything.
func (s *Set) check(in bashIn, args tools.JSON) error {
	longest := s.opts.MaxTimeout.Milliseconds()
	switch {
	case in.TimeoutMs < 0:
		return badArgs("timeoutMs", "is %d; give a number of milliseconds from 1 to %d, or leave it out for %d", in.TimeoutMs, longest, s.opts.Timeout.Milliseconds())
	case int64(in.TimeoutMs) > longest:
		return badArgs("timeoutMs", "is %d, more than the %d ms a command may take; give at most that and split longer work", in.TimeoutMs, longest)
	}
	return checkText(in, args)
}

// checkText refuses texts that no program can be given, or not as they are.
func checkText(in bashIn, args tools.JSON) error {
	if strings.TrimSpace(in.Command) == "" {
		return badArgs("command", "is empty; give the command to run")
	}
	for _, text := range []struct{ name, value string }{{"command", in.Command}, {"workdir", in.Workdir}} {
		if strings.IndexByte(text.value, 0) >= 0 {
			return badArgs(text.name, "holds a NUL character, which ends a text for the operating system; remove it")
		}
		// Decoding replaces unpaired surrogates, so that the text is no more
		// in the arguments. Their strings have one form and no other member
		// can hold this text, its quotes being escaped there.
		exact := `"` + text.name + `":` + tools.StringJSON(text.value).String()
		if text.value != "" && !strings.Contains(args.String(), exact) {
			return badArgs(text.name, `holds half of a character (an unpaired surrogate such as \ud800), which is no text; remove it`)
		}
	}
	return nil
}

// timeout is what ends a command.
func (s *Set) timeout(in bashIn) time.Duration {
	if in.TimeoutMs == 0 {
		return s.opts.Timeout
	}
	return time.Duration(in.TimeoutMs) * time.Millisecond
}

func (s *Set) closedError() error {
	return fail(codeClosed, nil, "the shell tool is closed; no command can run any more")
}

// startFailure is for a command that never ran.
func startFailure(in bashIn, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return fail(codeTooLong, err, "the command has %d bytes, more than the operating system takes; write it to a file in parts and run that", len(in.Command))
	}
	return fail(codeIO, err, "the command could not be started: %v", err)
}

// outOf is the value of what a command left.
func outOf(r proc.Result) bashOut {
	var notes notes
	out := bashOut{
		Signal:    r.SignalName,
		Stdout:    textOf("stdout", r.Stdout, &notes),
		Stderr:    textOf("stderr", r.Stderr, &notes),
		TimedOut:  r.End == proc.TimedOut,
		Truncated: r.Stdout.Cut() || r.Stderr.Cut(),
	}
	if r.End == proc.Exited {
		out.ExitCode = &r.Code
	}
	if r.Left > 0 {
		notes.add("processes of the command that could not be ended and may still run: %d", r.Left)
	}
	out.Note = notes.String()
	return out
}
