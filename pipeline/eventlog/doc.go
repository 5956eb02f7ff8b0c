// Package eventlog keeps the events of a session in an append-only file of JSON
// lines, one event a line in the envelope of DSH's session log, and reads such
// files back, DSH's own included.
//
//	log, err := eventlog.Open("session.jsonl")
//	...
//	defer log.Close()
//	p := pipeline.New(reg, &pipeline.Options{Sink: log, FirstSeq: log.NextSeq()})
//
// A file has one writer at a time, in any process. A writer that dies in the
// middle of a line leaves a torn tail; the next Open seals it: it ends the line
// and appends an event of type "log/sealed" that says where the torn bytes
// stand and how many they are. No byte is removed, and readers skip exactly
// what a seal names. See Read for what they refuse.
package eventlog
