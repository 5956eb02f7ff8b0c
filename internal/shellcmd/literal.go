package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// beyond says what a list of statements does besides running literal simple
// commands one after another; "" is nothing.
func beyond(text string, stmts []*syntax.Stmt) string {
	for _, s := range stmts {
		if why := beyondSimple(text, s); why != "" {
			return why
		}
	}
	return ""
}

func beyondSimple(text string, s *syntax.Stmt) string {
	if s.Background || s.Coprocess || s.Disown {
		return "runs in the background"
	}
	for _, r := range s.Redirs {
		if why := redirects(text, r); why != "" {
			return why
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt, syntax.OrStmt, syntax.Pipe:
		default:
			return "joins commands with " + cmd.Op.String()
		}
		if why := beyondSimple(text, cmd.X); why != "" {
			return why
		}
		return beyondSimple(text, cmd.Y)
	case *syntax.CallExpr:
		return beyondLiteral(text, cmd)
	}
	return construct(s.Cmd)
}

// construct says what a command that is no simple command does.
func construct(cmd syntax.Command) string {
	switch cmd := cmd.(type) {
	case nil:
		return "has no command"
	case *syntax.BinaryCmd:
		return "joins commands with " + cmd.Op.String()
	case *syntax.Subshell:
		return "runs a subshell"
	case *syntax.Block:
		return "groups commands"
	case *syntax.IfClause, *syntax.CaseClause:
		return "has a condition"
	case *syntax.WhileClause, *syntax.ForClause:
		return "has a loop"
	case *syntax.FuncDecl:
		return "defines a function"
	case *syntax.DeclClause:
		return "declares variables with " + cmd.Variant.Value
	case *syntax.LetClause, *syntax.ArithmCmd:
		return "calculates"
	case *syntax.TestClause:
		return "tests with [["
	case *syntax.TimeClause:
		return "times commands"
	case *syntax.CoprocClause:
		return "runs a coprocess"
	}
	return "does more than run simple commands"
}

func beyondLiteral(text string, call *syntax.CallExpr) string {
	if len(call.Assigns) > 0 {
		return "assigns a variable"
	}
	words := readWords(text, call.Args)
	for _, w := range words {
		if w.why != "" {
			return w.why
		}
	}
	return hiddenExpansion(words)
}

// hiddenExpansion finds what builtins make of literal words besides passing them
// on: they set variables, of which some are calculated ("read RANDOM") and all
// change what later commands do, and they evaluate indexes, in which any name is
// a text to evaluate in its turn: a[_] evaluates the last word of the command
// before.
func hiddenExpansion(words []word) string {
	words = builtin(words)
	if len(words) == 0 {
		return ""
	}
	name, args := words[0].text, words[1:]
	switch name {
	case "read", "mapfile", "readarray", "getopts", "unset":
		return "changes variables with " + name
	case "declare", "typeset", "local", "export", "readonly": // quoted, else it is no simple command
		return "declares variables with " + name
	case "let":
		return "calculates"
	case "printf":
		if len(args) > 0 && args[0].text == "--" {
			args = args[1:]
		} else if hasOption(args[:min(1, len(args))], "v") {
			return "assigns a variable"
		}
		if len(args) > 0 && counts(args[0].text) {
			return `assigns a variable with "%n"`
		}
	case "wait":
		if hasOption(args, "p") {
			return "assigns a variable"
		}
	case "jobs", "compgen":
		if hasOption(args, "xCFW") {
			return "runs a command within another"
		}
	case "test", "[":
		return indexes(args)
	}
	return ""
}

// builtin is a command without "command" and "builtin" before it.
func builtin(words []word) []word {
	for len(words) > 0 && (words[0].text == "command" || words[0].text == "builtin") {
		words = words[1:]
		for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
			words = words[1:]
		}
	}
	return words
}

// hasOption reports whether a word may be an option with one of the letters.
func hasOption(args []word, letters string) bool {
	return slices.ContainsFunc(args, func(w word) bool {
		return strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, letters)
	})
}

// counts reports whether a format of printf has the conversion %n, which writes
// how much was printed to a variable.
func counts(format string) bool {
	for {
		_, rest, ok := strings.Cut(format, "%")
		if !ok {
			return false
		}
		format = strings.TrimLeft(rest, "-+ #'0123456789.*hjlLtz")
		if strings.HasPrefix(format, "n") {
			return true
		}
		format = strings.TrimPrefix(format, "%")
	}
}

// indexes says which index a test whether a variable is set evaluates.
func indexes(args []word) string {
	if !slices.ContainsFunc(args, func(w word) bool { return w.text == "-v" || w.text == "-R" }) {
		return ""
	}
	for _, w := range args {
		if strings.LastIndexByte(w.text, '[') > 0 {
			return "may evaluate " + clip(w.source)
		}
	}
	return ""
}

// redirects says what a redirection does; "" if it only drops output, gives
// empty input, or sends standard output and error the same way.
func redirects(text string, r *syntax.Redirect) string {
	target := readWord(text, r.Word)
	fd := r.N == nil || r.N.Value == "0" || r.N.Value == "1" || r.N.Value == "2"
	literal := target.why == "" && target.text == target.source
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		if fd && literal && target.text == "/dev/null" {
			return ""
		}
		return "redirects output to " + clip(target.source)
	case syntax.DplOut:
		if fd && literal && (target.text == "1" || target.text == "2") {
			return ""
		}
		return "redirects output to " + clip(target.source)
	case syntax.RdrIn:
		if fd && literal && target.text == "/dev/null" {
			return ""
		}
		return "reads input from " + clip(target.source)
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return "has a text as input"
	}
	return "redirects with " + r.Op.String()
}
