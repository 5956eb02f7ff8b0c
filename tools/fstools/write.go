package fstools

import (
	"context"
	"fmt"

	"github.com/runcode-go/runcode/tools"
)

type writeIn struct {
	FilePath string `json:"file_path" jsonschema:"the file, relative to the root directory or absolute"`
	Content  string `json:"content" jsonschema:"the whole text the file is to hold"`
}

// writeOut is the canonical value of write.
type writeOut struct {
	Path    string `json:"path"`
	Bytes   int    `json:"bytes"`   // of the whole file
	Created bool   `json:"created"` // there was no file
}

func (s *Set) write(ctx context.Context, run *tools.Run, in writeIn, dryRun bool) (tools.Result, error) {
	if err := s.checkWrite(in); err != nil {
		return tools.Result{}, err
	}
	at, err := judged(s, "write", run, in, s.writeSubjects)
	if err != nil {
		return tools.Result{}, err
	}
	intent, err := s.writeIntent(ctx, run, at)
	if err != nil {
		return tools.Result{}, err
	}
	c := change{set: s, op: "write", at: at, intent: intent, dryRun: dryRun}
	c.make = func(*content) ([]byte, error) { return []byte(in.Content), nil }
	done, err := c.apply(ctx)
	if err == nil {
		err = c.settle(ctx, run, done)
	}
	if err != nil {
		return tools.Result{}, err
	}
	return resultOf(writeOut{Path: at.rel, Bytes: len(done.new), Created: done.old == nil}, done.diff(at.rel))
}

// writeSubjects is the file a write creates or replaces.
func (s *Set) writeSubjects(in writeIn) ([]tools.Subject, error) {
	file, err := s.subject("write", tools.AccessWrite, in.FilePath, false)
	return []tools.Subject{file}, err
}

func (s *Set) checkWrite(in writeIn) error {
	switch {
	case in.FilePath == "":
		return badArgs("write", "file_path", "is empty; give the path of a file")
	case len(in.Content) > s.opts.WriteBytes:
		return fail(codeTooLarge, nil, "write %q: the content has %s; at most %s are written, use several files",
			in.FilePath, bytesText(int64(len(in.Content))), bytesText(int64(s.opts.WriteBytes)))
	}
	return nil
}

// renderWrite is the text a model reads.
func renderWrite(v writeOut) string {
	how := "replaced"
	if v.Created {
		how = "created"
	}
	return fmt.Sprintf("wrote %s to %s (%s)", bytesText(int64(v.Bytes)), nameText(v.Path), how)
}
