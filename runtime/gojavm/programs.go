package gojavm

import (
	"slices"
	"strings"
	"sync"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// What a Runtime remembers of programs: so many, and so many bytes of their texts.
// Compiled, a text takes some twenty times its length.
const (
	maxPrograms     = 64
	maxProgramBytes = 256 << 10
)

// programs are the programs that were compiled last: most of a short run is the
// reading of its text. A program is its text and names alone and is bound to no
// engine, so that one serves runs which share nothing else. It is safe for
// concurrent use.
type programs struct {
	esbuild bool // it reads every program; only for tests

	mu    sync.Mutex
	known []*knownProgram // the latest first
	bytes int
}

// knownProgram is a program and all that it was compiled from.
type knownProgram struct {
	name, source string
	globals      string
	program      *program
}

// compile is transpile, of which it remembers what succeeded. The program is
// shared: it must not be changed, and its tree is gone.
func (p *programs) compile(name, source string, globals []string) (*program, *runtime.Failure) {
	wanted := knownProgram{name: name, source: source, globals: strings.Join(globals, " ")}
	if found := p.find(wanted); found != nil {
		return found, nil
	}
	made, failure := translate(name, source, globals, p.esbuild)
	if failure != nil {
		return nil, failure
	}
	made.ready()
	wanted.program = made
	p.keep(&wanted)
	return made, nil
}

// wantSpare guesses whether a text is a program that gets the whole library; see
// reach. It costs time alone to be wrong.
func (p *programs) wantSpare(source string) bool {
	p.mu.Lock()
	i := slices.IndexFunc(p.known, func(k *knownProgram) bool { return k.source == source })
	if i >= 0 {
		defer p.mu.Unlock()
		return p.known[i].program.reach.Everything()
	}
	p.mu.Unlock()
	named := func(name string) bool { return strings.Contains(source, name) }
	return computesKeys(source) || slices.ContainsFunc(nameless, named) || slices.ContainsFunc(jslib.Scripted, named) || slices.ContainsFunc(codeNames, named)
}

// computesKeys says whether a text seems to hold object[name].
func computesKeys(source string) bool {
	for i := 1; i+1 < len(source); i++ {
		if source[i] == '[' && isWord(source[i+1]) && (source[i+1] < '0' || source[i+1] > '9') && (isWord(source[i-1]) || strings.IndexByte(`)].'"`, source[i-1]) >= 0) {
			return true
		}
	}
	return false
}

// find is the program that was compiled from the same, or nil.
func (p *programs) find(wanted knownProgram) *program {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.known, func(k *knownProgram) bool {
		return k.source == wanted.source && k.name == wanted.name && k.globals == wanted.globals
	})
	if i < 0 {
		return nil
	}
	found := p.known[i]
	p.known = slices.Insert(slices.Delete(p.known, i, i+1), 0, found)
	return found.program
}

// keep remembers a program, and forgets those that were not wanted for longest.
func (p *programs) keep(k *knownProgram) {
	if len(k.source) > maxProgramBytes/2 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = slices.Insert(p.known, 0, k)
	p.bytes += len(k.source)
	for len(p.known) > maxPrograms || p.bytes > maxProgramBytes {
		last := len(p.known) - 1
		p.bytes -= len(p.known[last].source)
		p.known[last] = nil
		p.known = p.known[:last]
	}
}
