package fstools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/runcode-go/runcode/tools"
)

// change is one write or edit of one file.
type change struct {
	set    *Set
	op     string
	at     place
	intent Intent
	edits  bool // there must be a file, of at most Options.ReadBytes
	dryRun bool
	// make is what the file is to hold; old is nil if there is no file.
	make func(old *content) ([]byte, error)
}

// content is a file as a change found it.
type content struct {
	info    fs.FileInfo
	data    []byte // if known
	known   bool   // it is at most Options.ReadBytes
	version string // "" if nobody asks for it or the file is larger than Options.ScanBytes
}

// changed is what a change did, or in a dry run would have done.
type changed struct {
	old *content // nil: the file was created
	new []byte
}

// errRaced says that another program was quicker, so that the change must be
// made again from what the file holds now.
var errRaced = errors.New("the file is being changed by another program")

// apply makes the change. Those of one Set come one after another, so that what
// was checked is what is replaced, as far as this Set is concerned.
func (c *change) apply(ctx context.Context) (changed, error) {
	c.set.changes.Lock()
	defer c.set.changes.Unlock()
	var done changed
	err := errRaced
	for i := 0; i < attempts && errors.Is(err, errRaced); i++ {
		done, err = c.once(ctx)
	}
	if errors.Is(err, errRaced) {
		return done, fail(codeIO, err, "%s %q: another program keeps changing the file; call again", c.op, c.at.rel)
	}
	return done, err
}

func (c *change) once(ctx context.Context) (changed, error) {
	old, err := c.find(ctx)
	if err != nil {
		return changed{}, err
	}
	if err := c.intent.permits(c.at.rel, old); err != nil {
		return changed{}, err
	}
	data, err := c.make(old)
	if err != nil {
		return changed{}, err
	}
	if err := c.fits(int64(len(data))); err != nil {
		return changed{}, err
	}
	if err := aborted(ctx, c.op); err != nil || c.dryRun {
		return changed{old, data}, err
	}
	return changed{old, data}, c.commit(old, data)
}

// fits refuses a file that would be too large.
func (c *change) fits(size int64) error {
	limit := int64(c.set.opts.WriteBytes)
	if size <= limit {
		return nil
	}
	return fail(codeTooLarge, nil, "%s %q: the file would have %s; at most %s are written, use several files",
		c.op, c.at.rel, bytesText(size), bytesText(limit))
}

// find looks at the file there is; nil without an error says that there is none
// and may be one.
func (c *change) find(ctx context.Context) (*content, error) {
	dir, name, err := c.set.reach(c.at.real, false)
	if err == nil {
		defer dir.Close()
		var old *content
		if old, err = c.read(ctx, dir, name); err == nil {
			return old, nil
		}
	}
	switch stop := aborted(ctx, c.op); {
	case stop != nil:
		return nil, stop
	case !errors.Is(err, fs.ErrNotExist):
		return nil, c.failure(err)
	case c.set.resolve(c.at.rel).dangling:
		return nil, fail(codeNotFound, err, "%s %q: a symbolic link on the way leads to what does not exist; use the path of a file itself", c.op, c.at.rel)
	case c.edits && c.intent.version == "":
		return nil, c.failure(err)
	}
	return nil, nil
}

// read reads the file called name. A file nobody may write is refused: the
// directory's permissions, which are what a replacement needs, say nothing about
// it.
func (c *change) read(ctx context.Context, dir *os.Root, name string) (*content, error) {
	f, info, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	if f != nil {
		defer f.Close()
	}
	if err := regular(c.op, c.at.rel, info); err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o222 == 0 || !writable(dir, name) {
		return nil, fail(codePermission, nil, "%s %q: the file is read-only; choose another file or have its permissions changed", c.op, c.at.rel)
	}
	old := &content{info: info, known: info.Size() <= int64(c.set.opts.ReadBytes)}
	switch {
	case old.known:
		// A file that grows meanwhile is found out before it is replaced.
		if old.data, err = io.ReadAll(io.LimitReader(f, int64(c.set.opts.ReadBytes))); err != nil {
			return nil, err
		}
		if c.intent.version != "" {
			old.version = versionOfBytes(old.data)
		}
	case c.edits:
		return nil, fail(codeTooLarge, nil, "%s %q: the file has %s; only files of up to %s can be edited", c.op, c.at.rel,
			bytesText(info.Size()), bytesText(int64(c.set.opts.ReadBytes)))
	case c.intent.version != "" && info.Size() <= c.set.opts.ScanBytes:
		sum := sha256.New()
		if _, err := io.Copy(sum, untilDone{ctx, io.LimitReader(f, c.set.opts.ScanBytes)}); err != nil {
			return nil, err
		}
		old.version = versionOf(sum)
	}
	return old, nil
}

// writable reports whether the file may be opened for writing.
func writable(dir *os.Root, name string) bool {
	f, err := dir.OpenFile(name, os.O_WRONLY|openFlags, 0)
	if err == nil {
		f.Close()
	}
	return !errors.Is(err, fs.ErrPermission)
}

// untilDone is a reader that fails once its context has ended.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// failure puts an error in the house's words, unless it is in them already.
func (c *change) failure(err error) error {
	if tools.InfoOf(err) != (tools.ErrorInfo{}) || errors.Is(err, errRaced) {
		return err
	}
	return c.set.openFailure(c.op, c.at.rel, err)
}

// commit puts data in the place of old.
func (c *change) commit(old *content, data []byte) error {
	dir, name, err := c.set.reach(c.at.real, old == nil)
	if err != nil {
		return c.failure(err)
	}
	defer dir.Close()
	if old == nil {
		err = create(dir, name, data, dir.Link)
		if errors.Is(err, fs.ErrExist) {
			if lost := c.intent.permits(c.at.rel, &content{}); lost != nil {
				return lost
			}
			return errRaced
		}
	} else if err = replace(dir, name, data, old.info); errors.Is(err, errRaced) && c.intent.version != "" {
		return c.intent.permits(c.at.rel, &content{})
	}
	if err != nil {
		return c.failure(err)
	}
	syncDir(dir)
	return nil
}

// diff is the change for people, nil if it is not one of text.
func (d changed) diff(rel string) any {
	old := d.old
	if old == nil {
		old = &content{known: true}
	}
	if !old.known || !isText(old.data) || !isText(d.new) {
		return nil
	}
	return tools.Diff{Path: rel, Created: d.old == nil, Old: string(old.data), New: string(d.new)}
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// settle tells the gates what a change has left behind. That the file is changed
// cannot be undone, so the failure says so.
func (c *change) settle(ctx context.Context, run *tools.Run, done changed) error {
	if c.dryRun || c.set.opts.Gates.Observed == nil {
		return nil
	}
	state := State{Present: true, Version: versionOfBytes(done.new)}
	// What has happened is told even if nobody waits for the call any more.
	if err := c.set.observe(context.WithoutCancel(ctx), run, c.at, state); err != nil {
		return fail(codeIO, err, "%s %q: the file was changed, but recording that failed: %v; read the file before the next change", c.op, c.at.rel, err)
	}
	return nil
}
