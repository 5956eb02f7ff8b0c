// Package proc runs a child process that its parent controls: a session of its
// own, so that it can neither ask at the person's terminal nor type into it, an
// environment from a list of allowed names, bounded output, and an end that
// takes everything along that the child has started.
//
// It knows no shell and no policy. Hook commands and the shell tool Run it, MCP
// servers are Started.
package proc
