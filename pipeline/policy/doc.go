// Package policy has the listeners most harnesses want around their tools:
// time limits, retries, limits on how many calls run and start, reminders to a
// model that repeats itself, large results kept elsewhere, and counters. Each
// works alone; none knows programs, logs or persons.
//
//	p.Execution.Use("retry", policy.Retry(nil))
//	p.Execution.Use("limit", policy.Limit(policy.LimitOptions{Concurrent: 4}))
//	p.Execution.Use("timeout", policy.Timeout())
//
//	p.PostExecute.Prepend("spill", policy.Spill(store.Save, nil))
//	repeat := policy.NewRepeat(nil)
//	p.PostExecute.Use("repeat", repeat.PostExecute)
//
//	var metrics policy.Metrics
//	p.OnResult("metrics", metrics.Observe)
//
// The names are the host's: they are what Pipeline.Explain lists and what the
// events of Options.Stages say.
//
// # Order
//
// The first wrapper registered in Execution is the outermost, and what is
// further in runs again for each attempt:
//
//   - Retry, Limit, Timeout, as above: each attempt waits for its own permit and
//     has its own time; waiting for either an attempt or a permit costs none of it.
//   - Timeout outside Retry: one time for all attempts and the waits between.
//   - Limit outside Retry: a call keeps its permit while it waits to try again.
//   - Limit inside Timeout: waiting for a permit costs the tool's time.
//   - A cache of results belongs outside all three.
//
// In PostExecute, Spill goes to the outer end, so that it sees what other
// listeners block or put in a result's place. Repeat may stand anywhere.
//
// # Calls of programs
//
// All of this holds for the calls a program makes as for those of a model, but
// for Spill, since a program wants whole values. run_code itself is neither
// timed, retried, limited nor watched for repetition: it has limits of its own,
// and its calls come past all of this anyway. Spill and Metrics see it.
package policy
