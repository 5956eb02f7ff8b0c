package gojavm

import "github.com/dop251/goja"

// The whole library costs several times as much as a short run, and it is the same
// for every program that gets it; see reach. So when such a run has ended, the engine
// of a later one is equipped, while nobody waits for it. No engine sees two programs.

// takeSpare is a run whose engine is equipped, or nil. A program with a clock or
// a seed of its own does not get one: the library asks for those at once.
func (rt *Runtime) takeSpare() *run {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	spare := rt.spare
	rt.spare = nil
	return spare
}

// replaceSpare equips the next spare on a goroutine of its own, for which Close
// waits; rt.mu is held.
func (rt *Runtime) replaceSpare() {
	if rt.spare != nil || rt.sparing || rt.closed {
		return
	}
	rt.sparing = true
	rt.runs.Add(1)
	go func() {
		defer rt.runs.Done()
		spare := &run{vm: goja.New()}
		spare.wholly.Store(true)
		if contained(func() error { return spare.equip(nil) }) != nil {
			spare = nil // the next run says what is wrong
		}
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.spare, rt.sparing = spare, false
		if rt.closed {
			rt.spare = nil
		}
	}()
}
