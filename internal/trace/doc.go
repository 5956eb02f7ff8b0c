// Package trace reads the log of a session and shows what happened in it: which
// calls were made, by which line of which program, how long they took, what they
// were given and gave back, and who decided about them.
//
// Read takes the logs of package eventlog and those of DSH sessions, with or
// without the records of stages (pipeline.Options.Stages), and makes a Trace of
// them. Tree, Waterfall and Summary print it as text, HTML as one page that needs
// no network, Chrome as a file for Perfetto. Package oteltrace makes spans of it,
// package replay runs its programs again.
//
// What a log says is not trusted: texts are escaped for terminals, and the page
// makes text nodes of them and nothing else.
package trace
