package shellcmd

import (
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

// hiddenExpansion finds what builtins that look harmless make of literal words:
// "printf -v" assigns a variable, and "test" evaluates the index of one, as in
// "a[$(rm x)]".
func hiddenExpansion(words []word) string {
	switch words[0].text {
	case "printf":
		if len(words) > 1 && strings.HasPrefix(words[1].text, "-v") {
			return "assigns a variable"
		}
	case "test", "[":
		for _, w := range words[1:] {
			if _, index, ok := strings.Cut(w.text, "["); ok && strings.ContainsAny(index, "$`") {
				return "may evaluate " + clip(w.source)
			}
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
