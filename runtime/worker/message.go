package worker

import (
	"encoding/binary"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime"
)

// Largest sizes of what is not a value of the program's.
const (
	helloCap     = 4 << 10
	smallCap     = 4 << 10
	runMetaCap   = 64 << 20 // names of namespaces; the parent writes it
	doneMetaCap  = 4 << 20
	reasonCap    = 1 << 20 // of a stop and of a call's error, before shorten's mark
	replyMetaCap = 16 << 20
	programCap   = 256 << 20
	maxBody      = 1 << 30
)

// helloMeta is the first thing a worker says.
type helloMeta struct {
	Nonce   string  `json:"nonce"` // argv[1] again
	Version int     `json:"version"`
	Build   string  `json:"build"`
	Layers  []Layer `json:"layers"` // as far as the worker knows them
}

// runMeta describes a run. The frame's body is the program followed by the
// input.
type runMeta struct {
	Name       string
	Program    int // bytes of the body that are the program
	Namespaces []namespaceMeta
	Limits     runtime.Limits
	Parallel   int
	Clock      bool // ask the parent for the time
	Seed       *uint64
	CheckOnly  bool
}

// namespaceMeta is a namespace, or where the worker keeps it.
type namespaceMeta struct {
	Place   int  // where it is kept, from 1; 0 is nowhere
	Known   bool // it is there; the rest is empty
	Global  string
	Class   runtime.ErrorClass
	Members []runtime.Member
}

func (m *runMeta) pack() string {
	size := len(m.Name) + 200
	for _, n := range m.Namespaces {
		size += 100 + 50*len(n.Members)
	}
	p := make(packer, 0, size)
	p.text(m.Name)
	p.number(int64(m.Program))
	p.limits(&m.Limits)
	p.number(int64(m.Parallel))
	p.flag(m.Clock)
	p.flag(m.CheckOnly)
	p.flag(m.Seed != nil)
	if m.Seed != nil {
		p.bits(*m.Seed)
	}
	p.count(len(m.Namespaces))
	for i := range m.Namespaces {
		p.namespace(&m.Namespaces[i])
	}
	return string(p)
}

func (m *runMeta) unpack(f frame) error {
	u := &unpacker{rest: f.meta}
	m.Name, m.Program, m.Limits, m.Parallel = u.text(), u.int(), u.limits(), u.int()
	m.Clock, m.CheckOnly = u.flag(), u.flag()
	if u.flag() {
		seed := u.bits()
		m.Seed = &seed
	}
	for n := u.count(); n > 0 && !u.bad; n-- {
		m.Namespaces = append(m.Namespaces, u.namespace())
	}
	return u.close(f.kind)
}

func (p *packer) limits(l *runtime.Limits) {
	for _, n := range [...]int64{
		int64(l.Wall), int64(l.Compute), l.Heap, int64(l.Source), int64(l.Nesting), int64(l.Chain), int64(l.Output),
		int64(l.Calls), int64(l.Argument), int64(l.Result), int64(l.ResultNodes), l.Bytes, int64(l.Depth),
	} {
		p.number(n)
	}
}

func (u *unpacker) limits() runtime.Limits {
	return runtime.Limits{
		Wall: time.Duration(u.number()), Compute: time.Duration(u.number()), Heap: u.number(), Source: u.int(), Nesting: u.int(), Chain: u.int(), Output: u.int(),
		Calls: u.int(), Argument: u.int(), Result: u.int(), ResultNodes: u.int(), Bytes: u.number(), Depth: u.int(),
	}
}

func (p *packer) namespace(n *namespaceMeta) {
	p.number(int64(n.Place))
	p.flag(n.Known)
	if n.Known {
		return
	}
	p.text(n.Global)
	p.text(n.Class.Name)
	p.text(n.Class.Property)
	p.count(len(n.Members))
	for _, m := range n.Members {
		p.text(m.Name)
		p.count(len(m.Path))
		for _, part := range m.Path {
			p.text(part)
		}
	}
}

func (u *unpacker) namespace() namespaceMeta {
	n := namespaceMeta{Place: u.int(), Known: u.flag()}
	if n.Known {
		return n
	}
	n.Global, n.Class.Name, n.Class.Property = u.keep(), u.keep(), u.keep()
	for left := u.count(); left > 0 && !u.bad; left-- {
		m := runtime.Member{Name: u.keep()}
		for parts := u.count(); parts > 0 && !u.bad; parts-- {
			m.Path = append(m.Path, u.keep())
		}
		n.Members = append(n.Members, m)
	}
	return n
}

// callMeta names a call: namespace, member, and the site's line and column.
// Names cross once, in a run frame; afterwards a worker can only point at one.
type callMeta [4]int

func (m callMeta) pack() string {
	var room [4 * binary.MaxVarintLen64]byte
	text := room[:0]
	for _, n := range m {
		text = binary.AppendVarint(text, int64(n)) // as a packer would, but on the stack
	}
	return string(text)
}

func (m *callMeta) unpack(f frame) error {
	u := unpacker{rest: f.meta}
	for i := range m {
		m[i] = u.int()
	}
	return u.close(f.kind)
}

func (m callMeta) site() runtime.Site { return runtime.Site{Line: m[2], Column: m[3]} }

// checkSite refuses what is no place in a program. Zero is one that is unknown.
func checkSite(site runtime.Site) error {
	if site.Line < 0 || site.Column < 0 {
		return faultf("there is no line %d, column %d", site.Line, site.Column)
	}
	return nil
}

// replyMeta describes a call's error, whose text is the body, and the time of an
// answer. A reply without a meta has a value.
type replyMeta struct {
	Failed bool              `json:"failed,omitzero"`
	Typed  bool              `json:"typed,omitzero"` // the error is a *runtime.CallError
	Code   string            `json:"code,omitzero"`
	CallID string            `json:"callId,omitzero"`
	Extra  map[string]string `json:"extra,omitzero"`
	Time   *timeMeta         `json:"time,omitzero"` // runtime.Reply's
}

type timeMeta struct {
	Seconds int64 `json:"s"`
	Nanos   int   `json:"ns"`
	// Offset is the zone's, in seconds east of UTC, where it is not local time.
	Offset int    `json:"offset"`
	Zone   string `json:"zone"`
	Local  bool   `json:"local"`
}

// packTime keeps what a program can see of a time: the instant and, outside
// local time, the zone.
func packTime(t time.Time) timeMeta {
	zone, offset := t.Zone()
	return timeMeta{Seconds: t.Unix(), Nanos: t.Nanosecond(), Zone: zone, Offset: offset, Local: t.Location() == time.Local}
}

func (m timeMeta) time() time.Time {
	t := time.Unix(m.Seconds, int64(m.Nanos))
	if m.Local {
		return t
	}
	return t.In(time.FixedZone(m.Zone, m.Offset))
}

// doneMeta is the end of a run. The body is the failure's message, or the value.
type doneMeta struct {
	Misuse     string           `json:"misuse,omitzero"` // Run returned this error
	Failure    *runtime.Failure `json:"failure,omitzero"`
	Notes      []string         `json:"notes,omitzero"`
	NotStarted []callMeta       `json:"notStarted,omitzero"`
	Compute    time.Duration    `json:"compute"`
	Stuck      int              `json:"stuck"` // goroutines of the engine that could not be ended
}

// metaOptions are those of every meta that is JSON, in both directions.
var metaOptions = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true), json.RejectUnknownMembers(true), jsonv1.FormatDurationAsNano(true))

func encode(v any) string {
	text, err := json.Marshal(v, metaOptions)
	if err != nil {
		// Metas are structs of numbers and texts, and any text is allowed.
		panic("worker: " + err.Error())
	}
	return string(text)
}

// decode reads a meta strictly: an unknown or repeated member, a wrong type or
// text after the value is a fault.
func decode(f frame, v any) error {
	if err := json.Unmarshal([]byte(f.meta), v, metaOptions); err != nil {
		return faultf("malformed %s frame: %v", f.kind, err)
	}
	return nil
}

// validJSON reports whether text is one JSON text.
func validJSON(text string) bool {
	s := jsonscan.New(text)
	for {
		tok, err := s.Next()
		if err != nil {
			return false
		}
		if tok.Kind == jsonscan.EOF {
			return true
		}
	}
}

// levels are the console levels there are. A line without one belongs to the
// result alone.
var levels = map[string]bool{"log": true, "info": true, "warn": true, "error": true, "debug": true}

// failureKinds are the kinds a worker may report. The parent alone reports
// worker-exit and worker-unavailable.
var failureKinds = map[runtime.Kind]bool{
	runtime.Exception: true, runtime.Timeout: true, runtime.Abort: true, runtime.InvalidOutput: true, runtime.OutputLimit: true,
	runtime.MemoryLimit: true, runtime.CallLimit: true, runtime.BytesLimit: true, runtime.InvalidInput: true,
}
