package worker

import (
	"slices"

	"github.com/runcode-go/runcode/runtime"
)

// The names of a namespace cross once: a process keeps the last few it was told of
// in numbered places, and later runs point at those. The parent alone decides what
// is where. A process serves one trust, and so do its places.

const (
	namePlaces = 4
	// maxNames is the size of a namespace that is kept, so that what is kept counts
	// for nothing beside a heap.
	maxNames = 64 << 10
)

// places is what the parent knows of the namespaces that a worker keeps.
type places struct {
	kept [namePlaces]*runtime.Namespace
	next int // the place to be taken next
}

// put says where a namespace is or is to be kept, from 1, or 0 if nowhere, and
// whether the worker has it there.
func (p *places) put(n *runtime.Namespace) (place int, known bool) {
	for i, old := range p.kept {
		if old != nil && sameNames(old, n) {
			p.kept[i] = n // found at once the next time
			return i + 1, true
		}
	}
	if namesSize(n) > maxNames {
		return 0, false
	}
	place = p.next + 1
	p.kept[p.next] = n
	p.next = place % namePlaces
	return place, false
}

func sameNames(a, b *runtime.Namespace) bool {
	return a == b || a.Global() == b.Global() && a.Class() == b.Class() && slices.EqualFunc(a.Members(), b.Members(), func(x, y runtime.Member) bool {
		return x.Name == y.Name && slices.Equal(x.Path, y.Path)
	})
}

// namesSize is about what a namespace takes in a frame, and no less.
func namesSize(n *runtime.Namespace) int {
	const each = 5 // for its length
	size := 8*each + len(n.Global()) + len(n.Class().Name) + len(n.Class().Property)
	for _, m := range n.Members() {
		size += 2*each + len(m.Name)
		for _, part := range m.Path {
			size += each + len(part)
		}
	}
	return size
}

// namespace is what a worker has of one: itself and where its members are.
type namespace struct {
	*runtime.Namespace
	position map[string]int // of members, by name
}

func newNamespace(meta *namespaceMeta) (*namespace, error) {
	whole, err := runtime.NewNamespace(meta.Global, meta.Class, meta.Members)
	if err != nil {
		return nil, err
	}
	n := &namespace{whole, make(map[string]int, len(meta.Members))}
	for i, m := range whole.Members() {
		n.position[m.Name] = i
	}
	return n, nil
}

// shelf is the places of a worker.
type shelf [namePlaces]*namespace

// find is the namespace that a run frame tells of or points at.
func (s *shelf) find(meta *namespaceMeta) (*namespace, error) {
	if meta.Place < 0 || meta.Place > len(s) {
		return nil, faultf("there is no place %d for a namespace", meta.Place)
	}
	if meta.Known {
		if meta.Place == 0 || s[meta.Place-1] == nil {
			return nil, faultf("no namespace is in place %d", meta.Place)
		}
		return s[meta.Place-1], nil
	}
	n, err := newNamespace(meta)
	if err != nil {
		return nil, faultf("namespace in place %d: %v", meta.Place, err)
	}
	if meta.Place > 0 {
		s[meta.Place-1] = n
	}
	return n, nil
}
