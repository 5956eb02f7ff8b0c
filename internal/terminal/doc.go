// Package terminal asks a person at the terminal whether a call may run, and
// owns what is written there meanwhile.
//
//	tty, err := terminal.Open()
//	var screen terminal.Screen
//	stderr := screen.Writer(os.Stderr)
//	approver := terminal.NewApprover(&terminal.Options{Terminal: tty, Screen: &screen})
//	p := pipeline.New(registry, &pipeline.Options{Approver: approver})
//
// The question is asked at the controlling terminal itself, so that redirected
// streams neither hide nor answer it. What is typed before it, or goes on being
// typed when it appears, is thrown away, what others write waits until it is
// answered, and everything a script, a tool or a model chose is escaped and
// stands behind a margin, where it cannot pass for a line of the question.
//
// It knows no rules and no tools: which calls are asked about is policy's
// business, what a call looks like is its card's.
//
// A process that runs in a session of its own, as internal/proc starts them, has
// no terminal to write to or to type into. One that the same user runs can still
// open the terminal's device by its name where the system lets it, and write over
// a question, or take away what is typed there; where it has the rights of an
// administrator it can type an answer. Nothing here protects from that: whoever
// starts processes has to see to it that none runs while a question is open.
package terminal
