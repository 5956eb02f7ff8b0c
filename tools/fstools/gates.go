package fstools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"runtime/debug"

	"github.com/runcode-go/runcode/tools"
)

// Target is a file as the gates see it.
type Target struct {
	Path string // from the root, slash-separated, links resolved: the file's one name
	Abs  string // the same as an absolute path in the operating system's form
}

// State is what is known of a file. The zero State says that there is none.
type State struct {
	Present bool
	Version string // of a file that is present: "sha256:" and the hash of its bytes in hex
}

// Intent is a condition on a write. The zero Intent is none: the file is created
// or replaced, whatever is there.
type Intent struct {
	create  bool
	version string
}

// CreateIfAbsent lets a write make a new file only. Of several that try, the
// operating system lets one succeed.
func CreateIfAbsent() Intent { return Intent{create: true} }

// ReplaceIfVersion lets a write replace a file of this version only.
func ReplaceIfVersion(version string) Intent { return Intent{version: version} }

// Gates are asked below all policy, when a file is about to be changed, and told
// what a call has seen of a file (DSH's fs/write-intent, fs/edit-intent and
// fs/observed, of which the first listener answers for all: one function each).
// A nil field asks for nothing and tells nobody; see Observations for the ready
// policy. The functions must be safe for concurrent use; none is called while
// files are locked. An error or a panic of the first two refuses the change;
// errors with the codes FS_NOT_OBSERVED and FS_STALE_VERSION get the remedy added
// to their text.
type Gates struct {
	// WriteIntent is the condition under which a call may write target.
	WriteIntent func(ctx context.Context, target Target, call tools.Call) (Intent, error)
	// EditIntent is the version a call may edit; "" is any.
	EditIntent func(ctx context.Context, target Target, call tools.Call) (version string, err error)
	// Observed is told what a read found, and what a write or an edit left
	// behind. An error or a panic fails the call; what was written stays.
	Observed func(ctx context.Context, target Target, state State, call tools.Call) error
}

func (s *Set) target(at place) Target {
	return Target{Path: at.real, Abs: absolute(s.realRoot(), at.real)}
}

// writeIntent asks the gate.
func (s *Set) writeIntent(ctx context.Context, run *tools.Run, at place) (intent Intent, err error) {
	if s.opts.Gates.WriteIntent == nil {
		return Intent{}, nil
	}
	defer crashed("the write-intent gate", &err)
	intent, err = s.opts.Gates.WriteIntent(ctx, s.target(at), run.Call())
	return intent, withRemedy(err)
}

// editIntent asks the gate.
func (s *Set) editIntent(ctx context.Context, run *tools.Run, at place) (intent Intent, err error) {
	if s.opts.Gates.EditIntent == nil {
		return Intent{}, nil
	}
	defer crashed("the edit-intent gate", &err)
	version, err := s.opts.Gates.EditIntent(ctx, s.target(at), run.Call())
	return Intent{version: version}, withRemedy(err)
}

// observe tells the gate.
func (s *Set) observe(ctx context.Context, run *tools.Run, at place, state State) (err error) {
	if s.opts.Gates.Observed == nil {
		return nil
	}
	defer crashed("the observed gate", &err)
	return s.opts.Gates.Observed(ctx, s.target(at), state, run.Call())
}

// crashed makes an error of a gate's panic. It is deferred.
func crashed(where string, err *error) {
	if r := recover(); r != nil {
		*err = &tools.PanicError{Where: where, Value: r, Stack: debug.Stack()}
	}
}

// permits checks the condition against the file there is, nil for none.
func (i Intent) permits(rel string, old *content) error {
	switch {
	case i.create && old != nil:
		return withRemedy(fail(codeNotObserved, nil, "cannot overwrite existing %q without reading it first", rel))
	case i.version != "" && old == nil:
		return withRemedy(fail(codeStale, nil, "%q does not exist any more", rel))
	case i.version != "" && old.version != i.version:
		return withRemedy(fail(codeStale, nil, "%q has changed since it was read", rel))
	}
	return nil
}

// withRemedy adds to a refusal what to do about it.
func withRemedy(err error) error {
	switch info := tools.InfoOf(err); info.Code {
	case codeNotObserved:
		return fail(info.Code, err, "%v — read the file, then retry", err)
	case codeStale:
		return fail(info.Code, err, "%v — re-read the file, then retry", err)
	}
	return err
}

// versionPrefix says what kind of hash a version is.
const versionPrefix = "sha256:"

func versionOf(sum hash.Hash) string { return versionPrefix + hex.EncodeToString(sum.Sum(nil)) }

func versionOfBytes(data []byte) string {
	sum := sha256.New()
	sum.Write(data)
	return versionOf(sum)
}
