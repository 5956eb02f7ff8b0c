// Package todotools is the built-in tool todo_write, with which an agent keeps
// the list of what it has to do.
//
//	lists := todotools.New(&todotools.Options{
//		Emit: func(t string, d tools.JSON) error { return p.Emit(t, d) },
//	})
//	reg, err := tools.NewRegistry(lists.Tools()...)
//
// Every call gives the whole list, and the last one wins. Each agent has a list
// of its own; a call without an agent has none to write and is refused. What is
// refused changes nothing and is not logged.
//
// The lists live in memory. Every accepted list is also the data of an event
// todo/write, and [Lists.Restore] takes that data when a session is resumed.
package todotools
