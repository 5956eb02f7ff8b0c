// Package httptools is the tool http: one request to an address a program names.
//
//	set, err := httptools.New(&httptools.Options{
//		Credentials: map[string]map[string]string{
//			"https://api.example.org": {"Authorization": "Bearer " + token},
//		},
//	})
//	if err != nil { ... }
//	defer set.Close()
//	reg, err := tools.NewRegistry(set.Tools()...)
//
// The host a call connects to is its subject, so rules such as
// WebFetch(domain:example.org) apply; without one policy asks. A redirect within
// one origin (scheme, host and port) is followed. One that leads elsewhere is the
// result, with its location: going there is another call, which is judged by
// itself.
//
// Only public addresses are connected to, judged when the name is resolved, and
// of the ports below 1024 only 80 and 443, since the others belong to other
// protocols; Options.Private names the exceptions. No proxy is taken from the
// environment, and no cookies are kept.
//
// Any status is a value and no failure. A failure has one of the codes
// HTTP_ADDRESS_REFUSED, HTTP_CONNECT_FAILED, HTTP_TIMEOUT, HTTP_PROTOCOL_ERROR
// and HTTP_TOO_MANY_REDIRECTS.
//
// Credentials go to their origin and nowhere else; no program sees them, unless
// the server sends them back.
package httptools
