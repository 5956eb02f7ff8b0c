// Package spill keeps texts that are too large for a log or for a model's
// context in files of their own, and tells where each is.
//
//	store, err := spill.Open("session.spill", &spill.Options{Redact: redactor.Text})
//	...
//	defer store.Close()
//	log, err := eventlog.Open("session.jsonl", &eventlog.Options{Spill: store.Put})
//	cm, err := codemode.New(p, &codemode.Options{Store: store.Save})
//
// Only the owner may read the files, nobody can guess their names, and nothing
// is ever overwritten or removed: what a log points to stays until somebody
// deletes the directory.
package spill
