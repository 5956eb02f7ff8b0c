// Package eventlog keeps the events of a session in an append-only file of JSON
// lines, one event a line in the envelope of DSH's session log, and reads such
// files back, DSH's own included.
//
//	log, err := eventlog.Open("session.jsonl", nil)
//	...
//	defer log.Close()
//	p := pipeline.New(reg, &pipeline.Options{Sink: log, FirstSeq: log.NextSeq()})
//
// A file has one writer at a time, in any process. A writer that dies in the
// middle of a line leaves a torn tail; the next Open seals it: it ends the line
// and appends an event of type "log/sealed" that says where the torn bytes
// stand and how many they are. No byte is removed, and readers skip exactly
// what a seal names. See Read for what they refuse.
//
// A session that ends in the middle of a call leaves it without a result.
// Contents.OpenCalls says which calls these are and what may have become of
// them, Contents.Repair makes the results that let the session go on.
//
// The data of an event passes Options.Redact and is then, where it is larger
// than Options.MaxBody, cut: of a long string its head stays, followed by
//
//	… [cut: 81920 bytes, sha256 9f86d0…, at /path/of/session.spill/ABC.txt]
//
// and anything else that is long becomes {"cut": {"head", "bytes", "sha256",
// "locator"}}, a list of content blocks one text block. What is small, such as
// ids, names and states, stays as it is. The data of such an event ends with a
// member "cut" (or "cut2", if it has one of its own), which lists the path,
// bytes, sha256 and locator of everything that was cut; "spillError" says why
// there is no locator. Bytes and sha256 are of the text that was stored, and
// that is the redacted one: the hash of a text with a secret in it would let the
// secret be guessed.
package eventlog
