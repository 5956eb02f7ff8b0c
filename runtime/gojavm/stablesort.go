package gojavm

import "slices"

const (
	// longRun is the length from which a list is cut into runs.
	longRun = 64
	// gallopWins is how often in a row one side wins before whole stretches are
	// looked for.
	gallopWins = 7
	// askEvery is how many comparisons are made between two looks at whether the run
	// was stopped.
	askEvery = 1024
)

// sorter is a stable sort that makes few comparisons: natural runs are found, short
// ones made longer by insertion, and merged, where one side may win in stretches.
// It is V8's, comparison by comparison, so that a comparator sees the same
// pairs, and one that contradicts itself gives the same order.
type sorter[T any] struct {
	list []T
	// before says whether x stands before y. It may panic; list is then in disorder.
	before func(x, y T) bool
	// ask is called every so many comparisons, and may panic to end the sort.
	ask func()

	asked  int
	runs   []span // still to be merged, from left to right
	spare  []T    // room for the shorter side of a merge
	gallop int    // wins in a row from which a merge gallops
}

// span is a part of the list.
type span struct{ start, length int }

func (s span) end() int { return s.start + s.length }

// sortStable sorts a list.
func sortStable[T any](list []T, before func(x, y T) bool, ask func()) {
	s := &sorter[T]{list: list, before: before, ask: ask, gallop: gallopWins}
	for start, shortest := 0, shortestRun(len(list)); start < len(list); {
		run := span{start, s.countRun(start)}
		if run.length < shortest {
			sorted := run.end()
			run.length = min(shortest, len(list)-start)
			s.insert(run, sorted)
		}
		s.runs = append(s.runs, run)
		s.balance()
		start = run.end()
	}
	for len(s.runs) > 1 {
		s.merge(s.smaller(len(s.runs) - 2))
	}
}

// shortestRun is such that the runs of a list are about a power of two.
func shortestRun(n int) int {
	odd := 0
	for n >= longRun {
		odd |= n & 1
		n >>= 1
	}
	return n + odd
}

// less is before, counted.
func (s *sorter[T]) less(x, y T) bool {
	if s.asked++; s.asked%askEvery == 0 {
		s.ask()
	}
	return s.before(x, y)
}

// countRun is the length of the run that begins at start. One that falls is
// reversed: no two of its elements are equal.
func (s *sorter[T]) countRun(start int) int {
	rest := s.list[start:]
	if len(rest) < 2 {
		return len(rest)
	}
	falls := s.less(rest[1], rest[0])
	n := 2
	for n < len(rest) && s.less(rest[n], rest[n-1]) == falls {
		n++
	}
	if falls {
		slices.Reverse(rest[:n])
	}
	return n
}

// insert sorts a run of which the elements before sorted are in order.
func (s *sorter[T]) insert(run span, sorted int) {
	for ; sorted < run.end(); sorted++ {
		pivot := s.list[sorted]
		left, right := run.start, sorted
		for left < right {
			if middle := left + (right-left)/2; s.less(pivot, s.list[middle]) {
				right = middle
			} else {
				left = middle + 1
			}
		}
		copy(s.list[left+1:sorted+1], s.list[left:sorted])
		s.list[left] = pivot
	}
}

// balance merges runs until each is longer than the next, and than the next two
// together.
func (s *sorter[T]) balance() {
	for len(s.runs) > 1 {
		n := len(s.runs) - 2
		switch {
		case !s.balanced(n+1) || !s.balanced(n):
			s.merge(s.smaller(n))
		case s.runs[n].length <= s.runs[n+1].length:
			s.merge(n)
		default:
			return
		}
	}
}

func (s *sorter[T]) balanced(n int) bool {
	return n < 2 || s.runs[n-2].length > s.runs[n-1].length+s.runs[n].length
}

// smaller is n, or the run before it where that is shorter than the one behind n.
func (s *sorter[T]) smaller(n int) int {
	if n > 0 && s.runs[n-1].length < s.runs[n+1].length {
		return n - 1
	}
	return n
}

// merge makes one run of two that follow each other.
func (s *sorter[T]) merge(n int) {
	a, b := s.runs[n], s.runs[n+1]
	s.runs[n].length += b.length
	s.runs = slices.Delete(s.runs, n+1, n+2)

	// What stands before all of b, or behind all of a, is where it belongs.
	skipped := s.upTo(s.list[b.start], s.list[a.start:a.end()], 0)
	a.start += skipped
	if a.length -= skipped; a.length == 0 {
		return
	}
	b.length = s.below(s.list[a.end()-1], s.list[b.start:b.end()], b.length-1)
	switch {
	case b.length == 0:
	case a.length <= b.length:
		up := &mergeUp[T]{sorter: s, a: s.take(a), b: s.list[b.start:b.end()], to: a.start}
		up.merge()
	default:
		down := &mergeDown[T]{sorter: s, a: s.list[a.start:a.end()], b: s.take(b), to: b.end()}
		down.merge()
	}
}

// take copies a part of the list to where the merge does not write.
func (s *sorter[T]) take(part span) []T {
	if cap(s.spare) < part.length {
		s.spare = make([]T, part.length, max(part.length, min(2*cap(s.spare), len(s.list)/2)))
	}
	s.spare = s.spare[:part.length]
	copy(s.spare, s.list[part.start:part.end()])
	return s.spare
}

// upTo counts the elements of a sorted part that do not stand behind key. The search
// begins at hint and takes longer and longer steps.
func (s *sorter[T]) upTo(key T, part []T, hint int) int {
	return gallop(part, hint, func(x T) bool { return !s.less(key, x) })
}

// below counts the elements of a sorted part that stand before key.
func (s *sorter[T]) below(key T, part []T, hint int) int {
	return gallop(part, hint, func(x T) bool { return s.less(x, key) })
}

// gallop counts the elements for which counts holds: all up to one place, and none
// from there.
func gallop[T any](part []T, hint int, counts func(T) bool) int {
	low, high := 0, 1 // distances from hint
	if counts(part[hint]) {
		most := len(part) - hint
		for high < most && counts(part[hint+high]) {
			low, high = high, 2*high+1
		}
		low, high = hint+low, hint+min(high, most)
	} else {
		most := hint + 1
		for high < most && !counts(part[hint-high]) {
			low, high = high, 2*high+1
		}
		low, high = hint-min(high, most), hint-low
	}
	for low++; low < high; {
		if middle := low + (high-low)/2; counts(part[middle]) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return high
}

// mergeUp merges from the left, with the left side out of the way. The last of a is
// known to stand behind all of b. A comparator that contradicts itself must not
// lead beyond either side.
type mergeUp[T any] struct {
	*sorter[T]
	a, b []T
	to   int // where the next element goes
}

func (m *mergeUp[T]) merge() {
	if !m.putB(1) && len(m.a) > 1 {
		for !m.oneByOne() && !m.inStretches() {
		}
	}
	if len(m.a) == 1 {
		m.putB(len(m.b))
	}
	m.putA(len(m.a))
}

// putA moves the next elements of a to their place and says whether the merge is
// done but for what is left of both.
func (m *mergeUp[T]) putA(n int) (done bool) {
	m.to += copy(m.list[m.to:], m.a[:n])
	m.a = m.a[n:]
	return n > 0 && len(m.a) <= 1
}

func (m *mergeUp[T]) putB(n int) (done bool) {
	m.to += copy(m.list[m.to:], m.b[:n])
	m.b = m.b[n:]
	return len(m.b) == 0
}

// oneByOne compares the first of both sides until one has won often in a row.
func (m *mergeUp[T]) oneByOne() (done bool) {
	for winsA, winsB := 0, 0; winsA < m.gallop && winsB < m.gallop && !done; {
		if m.less(m.b[0], m.a[0]) {
			done = m.putB(1)
			winsA, winsB = 0, winsB+1
		} else {
			done = m.putA(1)
			winsA, winsB = winsA+1, 0
		}
	}
	return done
}

// inStretches looks for how far each side wins, while that is far. The farther, the
// sooner it will be done again.
func (m *mergeUp[T]) inStretches() (done bool) {
	for m.gallop++; ; {
		m.gallop = max(1, m.gallop-1)
		winsA := m.upTo(m.b[0], m.a, 0)
		if m.putA(winsA) || m.putB(1) {
			return true
		}
		winsB := m.below(m.a[0], m.b, 0)
		if m.putB(winsB) || m.putA(1) {
			return true
		}
		if winsA < gallopWins && winsB < gallopWins {
			m.gallop++
			return false
		}
	}
}

// mergeDown merges from the right, with the right side out of the way. The first of
// b is known to stand before all of a.
type mergeDown[T any] struct {
	*sorter[T]
	a, b []T
	to   int // the end of where the next element goes
}

func (m *mergeDown[T]) merge() {
	if !m.putA(1) && len(m.b) > 1 {
		for !m.oneByOne() && !m.inStretches() {
		}
	}
	if len(m.b) == 1 {
		m.putA(len(m.a))
	}
	m.putB(len(m.b))
}

func (m *mergeDown[T]) putA(n int) (done bool) {
	m.a = m.put(m.a, n)
	return len(m.a) == 0
}

func (m *mergeDown[T]) putB(n int) (done bool) {
	m.b = m.put(m.b, n)
	return n > 0 && len(m.b) <= 1
}

// put moves the last elements of a side to their place.
func (m *mergeDown[T]) put(side []T, n int) (rest []T) {
	m.to -= n
	copy(m.list[m.to:], side[len(side)-n:])
	return side[:len(side)-n]
}

func (m *mergeDown[T]) oneByOne() (done bool) {
	for winsA, winsB := 0, 0; winsA < m.gallop && winsB < m.gallop && !done; {
		if m.less(last(m.b), last(m.a)) {
			done = m.putA(1)
			winsA, winsB = winsA+1, 0
		} else {
			done = m.putB(1)
			winsA, winsB = 0, winsB+1
		}
	}
	return done
}

func (m *mergeDown[T]) inStretches() (done bool) {
	for m.gallop++; ; {
		m.gallop = max(1, m.gallop-1)
		winsA := len(m.a) - m.upTo(last(m.b), m.a, len(m.a)-1)
		if m.putA(winsA) || m.putB(1) {
			return true
		}
		winsB := len(m.b) - m.below(last(m.a), m.b, len(m.b)-1)
		if m.putB(winsB) || m.putA(1) {
			return true
		}
		if winsA < gallopWins && winsB < gallopWins {
			m.gallop++
			return false
		}
	}
}

func last[T any](list []T) T { return list[len(list)-1] }
