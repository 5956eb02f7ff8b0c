// Package redact replaces secrets in texts and JSON values before they reach a
// log, a file or a screen.
//
//	r := redact.New(redact.FromEnviron(os.Environ()))
//	log, err := eventlog.Open("session.jsonl", &eventlog.Options{Redact: r.JSON})
//
// It finds three things: values it was told of, also as JSON, URLs and base64
// spell them; texts of a form that only secrets have, such as private keys and
// the keys of well-known services; and, in JSON, the values of members whose
// names say that they are secret. Each becomes a marker that says what stood
// there: "[redacted: GITHUB_TOKEN]", "[redacted: JWT]", "[redacted]".
//
// It is a net for accidents, not a boundary: a program that holds a secret and
// wants it to pass can spell it in a way nobody searches for.
//
// The package knows JSON and nothing of calls and events.
package redact
