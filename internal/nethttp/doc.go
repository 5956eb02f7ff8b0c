// Package nethttp is the HTTP client of tools whose peers, and whose addresses,
// nobody here vouches for: an address a program wrote, an API a document
// describes.
//
// It connects to public addresses only, judged after the name is resolved, so
// that no name leads into the machine or the network it stands in. It follows
// redirects within one origin and hands any other to its caller. It takes no
// proxy from the environment, keeps no cookies, and bounds the time, the headers
// and the body of a response. Credentials are added below the redirects, by the
// origin of each request, and are in no error.
package nethttp
