// Package permission judges calls by the permission rules people already have:
// the lists allow, ask and deny of Claude Code's settings. Its Policy.Rule is a
// pipeline.Rule, so it holds for direct and for nested calls alike and can be
// explained without a call.
//
//	own, err := permission.Load("policy.json", permission.Source{Trusted: true})
//	if err != nil { ... }
//	policy, err := permission.New(p.Registry(), []*permission.Settings{own}, permission.Options{Root: workspace})
//	if err != nil { ... }
//	p.UseRule("permissions", policy.Rule)
//	files.SetHide(policy.Hidden)
//
// # Rules
//
// A rule is Tool or Tool(spec). Claude Code's names mean the built-in tools here
// and, like these tools' own names, count in any case; any other name is that
// of one tool, to the letter.
//
//	Read, Read(path)     what read, grep, glob and edit read
//	Edit, Edit(path)     what edit and write change; MultiEdit and NotebookEdit mean the same
//	Write, Write(path)   denying: as Edit; allowing: what write changes
//	Glob, Grep, LS       that tool alone, with a path or without; LS is glob
//	Bash, Bash(command)  what bash runs: "npm test", "npm run test:*", "git * main";
//	                     in another directory than the root only with a rule for cd
//	WebFetch(domain:d)   hosts http connects to: example.org, *.example.org for those below
//	mcp__server, mcp__server__*, mcp__server__tool
//	                     imported tools, which no other rule names
//
// Rules that deny or ask are about what any tool touches, rules that allow only
// about the tools named. "*" in a name stands for any text where a rule denies
// or asks; where it allows, only in the tool of an mcp rule.
//
// # Paths
//
// A path is a pattern as in .gitignore. It begins at the top of the file system
// (//x), at home (~/x), at the directory of the settings (/x), or at the root (./x,
// and x/y); a name without a slash is meant at any depth below the root. What
// matches a directory matches all that lies in it, and x/** denies x itself.
//
// What is tested is never the spelling of an argument but the file the call would
// touch (tools.Subject), by the name it was reached by and by its real one. A rule
// that denies or asks applies if either matches, a rule that allows only if both
// do. Case counts as it does in the file system. A search is judged by where it
// begins; what it would find and nobody may read, Policy.Hidden hides.
//
// # Verdicts
//
// The strictest verdict over all a call touches decides: a denial before an ask,
// an ask before a permission, whichever file they stand in. What no rule is about
// is asked about if it writes a file, runs a command, connects to a host, is
// destructive by its annotations or imported; anything else is allowed, so reading
// needs no rule. A tool that does not say what it touches is covered by every
// rule that denies or asks about some of its uses, and by none that allows some.
//
// Writing below .git and .claude, to .mcp.json, to a settings file that was loaded,
// to a file its hooks run and to Options.Protected is always asked about: no rule
// allows it, and Policy.OnlyOnce says that no standing answer should.
//
// # Settings
//
// A mistake must not open anything. Within permissions every key, type and form
// must be known, or the file does not load. A rule that is well formed and cannot
// be understood (a negated path, a command pattern that does not parse) covers the
// whole tool where it denies or asks, has no effect where it allows, and is noted.
// The allow rules of settings that are not Source.Trusted have no effect.
//
// # What rules cannot do
//
// They are no boundary around a shell: a command opens what it likes, so Bash
// rules spare questions and slow the honest down (see Policy.Warnings). A hard link
// is a file of its own name. Names that differ only in Unicode normalisation are
// two names here, and full case folding (ß and ss) is not done. A rule that denies
// or asks covers a link it names and, by its own name, what the link leads to; but
// only of trusted settings, if the link is among the plain names the pattern begins
// with, and if it is there when the policy is made. Whether case counts is found
// out then, too, once, at the root.
package permission
