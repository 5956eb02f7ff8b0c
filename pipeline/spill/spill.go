package spill

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// DefaultMaxBytes is how much a Store takes unless Options say otherwise.
const DefaultMaxBytes = 256 << 20

// Options changes a Store. The zero value is useful.
type Options struct {
	// MaxBytes is how many bytes the Store writes in all, from Open to Close.
	// Zero: DefaultMaxBytes.
	MaxBytes int64
	// Redact, if not nil, is applied to every text before it is written. A panic
	// of it is an error of Put.
	Redact func(string) string
}

// Store is a directory of texts. It is safe for concurrent use.
type Store struct {
	dir  string // absolute
	root *os.Root
	opts Options

	mu   sync.Mutex
	used int64
}

// Open opens the directory for texts and makes it, with mode 0700, if it is
// missing; its parent must be there. It refuses a symbolic link, a directory of
// another user, and one that others may write to. Nil is Options of nothing.
func Open(dir string, opts *Options) (*Store, error) {
	s := &Store{}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.MaxBytes < 0 {
		return nil, fmt.Errorf("cannot open spill store %s: MaxBytes is %d; give a positive number, or 0 for %d", dir, s.opts.MaxBytes, int64(DefaultMaxBytes))
	}
	if s.opts.MaxBytes == 0 {
		s.opts.MaxBytes = DefaultMaxBytes
	}
	if err := s.open(dir); err != nil {
		return nil, fmt.Errorf("cannot open spill store %s: %w", dir, err)
	}
	return s, nil
}

func (s *Store) open(dir string) (err error) {
	if s.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	made := os.Mkdir(s.dir, 0o700)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return made
	}
	named, err := os.Lstat(s.dir)
	if err != nil {
		return err
	}
	switch {
	case named.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link; name the directory itself")
	case !named.IsDir():
		return errors.New("it is not a directory")
	}
	if made == nil && named.Mode().Perm() != 0o700 { // the umask took more than it should
		if err := os.Chmod(s.dir, 0o700); err != nil {
			return err
		}
	}
	if s.root, err = os.OpenRoot(s.dir); err != nil {
		return err
	}
	if err := s.check(named); err != nil {
		_ = s.root.Close()
		return err
	}
	return nil
}

// check looks at what was opened, which need not be what had been looked at.
func (s *Store) check(named fs.FileInfo) error {
	opened, err := s.root.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(named, opened) {
		return errors.New("it was replaced while it was being opened")
	}
	return private(opened)
}

// Put writes text to a file of its own, to the disk, and returns the file's
// absolute path. The file has mode 0600 and a name that cannot be guessed. After
// an error there is no file. A text that would bring the Store over its
// MaxBytes is refused.
func (s *Store) Put(ctx context.Context, text string) (locator string, err error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("cannot store a text of %d bytes: %w", len(text), context.Cause(ctx))
	}
	if text, err = s.redacted(text); err != nil {
		return "", err
	}
	if err := s.reserve(int64(len(text))); err != nil {
		return "", err
	}
	name := rand.Text() + ".txt"
	if err := s.write(name, text); err != nil {
		s.release(int64(len(text)))
		return "", fmt.Errorf("cannot store a text of %d bytes in %s: %w", len(text), s.dir, err)
	}
	return filepath.Join(s.dir, name), nil
}

// Save is Put in the form of codemode.Options.Store. The call's id is a model's
// word and stands nowhere in the name.
func (s *Store) Save(ctx context.Context, _ string, text string) (locator string, err error) {
	return s.Put(ctx, text)
}

func (s *Store) redacted(text string) (_ string, err error) {
	if s.opts.Redact == nil {
		return text, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("cannot store a text: the redactor crashed, and nothing is written without it")
		}
	}()
	return s.opts.Redact(text), nil
}

func (s *Store) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.opts.MaxBytes-s.used {
		return fmt.Errorf("cannot store a text of %d bytes in %s: %d of at most %d bytes are used; raise MaxBytes or keep less",
			n, s.dir, s.used, s.opts.MaxBytes)
	}
	s.used += n
	return nil
}

func (s *Store) release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
}

// write makes the file, which must be new: then no link can be in its place.
func (s *Store) write(name, text string) error {
	f, err := s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(0o600) // whatever the umask
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, s.root.Remove(name))
	}
	return nil
}

// Close gives up the directory and leaves its files. A second Close does
// nothing; Put fails from now on.
func (s *Store) Close() error { return s.root.Close() }
