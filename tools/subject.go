package tools

import (
	"fmt"
	"slices"
	"sync"
)

// Access is what a call does to a Subject.
type Access string

// The kinds of access.
const (
	AccessRead  Access = "read"  // of a file or a directory tree
	AccessWrite Access = "write" // of a file
	AccessExec  Access = "exec"  // of a command
	AccessNet   Access = "net"   // to a host
)

// Subject is one thing a call would touch, in the form policy judges. Arguments
// can spell one file in many ways; a subject is the file. What a tool's body
// opens, runs or dials is its judged subjects and nothing else.
type Subject struct {
	Access Access `json:"access"`
	// Path is an absolute path, cleaned as text, in the operating system's
	// form: the file or directory that is read or written, the working
	// directory of a command.
	Path string `json:"path,omitempty"`
	// Real is Path with its symbolic links resolved at the time the subject
	// was made; of a file that does not exist, its directory's.
	Real string `json:"real,omitempty"`
	// Tree says that everything below Path is read as well. The tool leaves
	// out by itself what policy hides from it.
	Tree bool `json:"tree,omitempty"`
	// Command is the text a shell is given.
	Command string `json:"command,omitempty"`
	// Host is "host:port".
	Host string `json:"host,omitempty"`
}

// Subjects says what a call of the tool with these arguments would touch: nil
// if its definition does not tell, and beside an error. Arguments that do not fit
// the input schema are an *ArgsError, a panic of the definition's function is a
// *PanicError.
func (t *Tool) Subjects(args JSON) (subjects []Subject, err error) {
	if t.def.Subjects == nil {
		return nil, nil
	}
	if err := t.CheckArgs(args); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			subjects, err = nil, &PanicError{Where: fmt.Sprintf("finding the subjects of tool %q", t.def.Name), Value: r}
		}
	}()
	if subjects, err = t.def.Subjects(args); err != nil {
		return nil, err // half of them would be judged as all
	}
	return subjects, nil
}

// SubjectsOf makes CallSpec.Subjects for a tool: they are found when somebody
// first asks, once, so that policy and the body see the same.
func SubjectsOf(t *Tool, args JSON) func() ([]Subject, error) {
	if t == nil || t.def.Subjects == nil {
		return nil
	}
	return sync.OnceValues(func() ([]Subject, error) { return t.Subjects(args) })
}

// Subjects is what the call would touch, as Tool.Subjects says; nil for a tool
// that does not tell. The slice is the caller's.
func (c Call) Subjects() ([]Subject, error) {
	find := c.get().Subjects
	if find == nil {
		return nil, nil
	}
	subjects, err := find()
	if err != nil {
		return nil, err
	}
	return slices.Clone(subjects), nil
}
