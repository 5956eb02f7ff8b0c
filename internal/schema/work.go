package schema

import (
	"sync"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// work is the memory of one check of a small value. Nearly every call has a few
// arguments, and to make all this anew would cost more than the check.
type work struct {
	scanner jsonscan.Scanner
	parser  parser
	arena   arena
	quick   checking
	small   bool
}

// smallText is the longest text whose check leaves its memory to the next.
const smallText = 4 << 10

var works = sync.Pool{New: func() any { return new(work) }}

func takeWork(text string) *work {
	if len(text) > smallText {
		return new(work)
	}
	w := works.Get().(*work)
	w.small = true
	return w
}

// parse is parse with this memory: the value is gone with release.
func (w *work) parse(text string) (*value, error) {
	w.scanner.Reset(text)
	if w.small {
		w.parser.closed = &w.arena
	}
	return w.parser.parse(text, &w.scanner)
}

// release forgets the value and the check, and keeps their memory. A work that is
// not released, since the check failed, is left to the collector.
func (w *work) release() {
	if !w.small {
		return
	}
	w.scanner.Reset("")
	// What was taken off the parser's lists stands in the arena, so they held no more.
	w.parser = parser{
		open:   emptied(w.parser.open, 0),
		values: emptied(w.parser.values, len(w.arena.items)+1),
		names:  emptied(w.parser.names, len(w.arena.names)),
	}
	w.arena.items = emptied(w.arena.items, len(w.arena.items))
	w.arena.names = emptied(w.arena.names, len(w.arena.names))
	w.quick = checking{}
	works.Put(w)
}

// mostKept is how long a list may be whose memory is kept.
const mostKept = 256

// emptied is a list without its elements, of which the first n places hold some.
func emptied[E any](list []E, n int) []E {
	if cap(list) > mostKept {
		return nil
	}
	clear(list[:min(n, cap(list))])
	return list[:0]
}

// arena holds what the containers of one value hold, one after the other.
type arena struct {
	items []value
	names []string
}

// keepItems copies items. Their capacity ends with them, so that nothing is ever
// written into those of the next container.
func (a *arena) keepItems(items []value) []value {
	if a == nil {
		return append(make([]value, 0, len(items)), items...)
	}
	from := len(a.items)
	a.items = append(a.items, items...)
	return a.items[from:len(a.items):len(a.items)]
}

func (a *arena) keepNames(names []string) []string {
	if a == nil {
		return append(make([]string, 0, len(names)), names...)
	}
	from := len(a.names)
	a.names = append(a.names, names...)
	return a.names[from:len(a.names):len(a.names)]
}
