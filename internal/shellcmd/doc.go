// Package shellcmd reads the text a shell is given the way a permission rule
// has to: which commands does it run, is that all it does, and which patterns
// match them.
//
//	allow, err := shellcmd.ParsePattern("npm run test:*")
//	ok, why := shellcmd.Parse("npm run test && rm -rf x").Allowed([]shellcmd.Pattern{allow})
//	// false, `no rule allows "rm -rf x"`
//
// None of this is a boundary. A shell can do anything, and so can most programs
// it starts: whoever may run "make" may run what the makefile says. An allow
// pattern spares a question where the answer is plain; a deny pattern is a speed
// bump for the honest. So the two read a text differently.
//
// To be allowed, a text must be literal: simple commands joined by line breaks,
// ";", "&&", "||" and "|", every word of which is exactly what the program gets,
// no variable, file name pattern, substitution, assignment or redirection in it
// (but to and from /dev/null, and of standard output and error to each other),
// and every command must match a pattern on its own. Builtins that assign or
// expand what they are given ("read", "printf -v", "test -v") count as doing
// that. Wherever the parser and bash are known to read a text differently it is
// not allowed.
//
// To be denied it is enough that a pattern matches one command found anywhere:
// in conditions, functions and substitutions, behind "sudo", "env", "xargs" and
// their like, in the text given to "eval" or "sh -c" and in the value of an
// alias, with a path before its name, in any quoting. What cannot be parsed is
// searched word by word, which rather finds too much.
//
// What stays open: names made by expansions ("$x", "r?"), options before the
// words of a pattern ("git -C x push"), programs that start others or do the same
// by themselves ("git -c core.pager=...", "find -delete"), files that are run,
// other languages, and, for allow patterns, whatever a wildcard lets through and
// what an allowed command changes for those after it ("cd", "alias", "hash").
package shellcmd
