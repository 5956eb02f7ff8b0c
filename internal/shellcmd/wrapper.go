package shellcmd

import "strings"

// wrapper describes a program whose arguments are another command.
type wrapper struct {
	// valued are the letters of the options that take the next word.
	valued string
	// operands is how many words may stand between the options and the command.
	operands int
	// assigns says that NAME=value may stand before the command.
	assigns bool
}

func wrapperOf(name string) (w wrapper, ok bool) {
	switch name {
	case "nohup", "setsid", "command", "builtin", "chronic", "unbuffer", "busybox", "toybox", "parallel", "entr", "jobs",
		"fakeroot", "firejail", "prlimit", "setpriv", "linux32", "linux64", "dbus-run-session", "torsocks", "valgrind":
		return wrapper{}, true
	case "env":
		return wrapper{valued: "uCSP", assigns: true}, true
	case "sudo":
		return wrapper{valued: "ugpCDhRrtTU", assigns: true}, true
	case "doas":
		return wrapper{valued: "uCa", assigns: true}, true
	case "nice":
		return wrapper{valued: "n"}, true
	case "ionice":
		return wrapper{valued: "cnpPu"}, true
	case "time":
		return wrapper{valued: "fo"}, true
	case "timeout", "gtimeout":
		return wrapper{valued: "ks", operands: 1}, true
	case "stdbuf":
		return wrapper{valued: "ioe"}, true
	case "exec":
		return wrapper{valued: "a"}, true
	case "xargs", "gxargs":
		return wrapper{valued: "adEIJLnPRsS"}, true
	case "chrt", "taskset", "chroot", "setarch", "gosu", "su-exec":
		return wrapper{operands: 1}, true
	case "caffeinate":
		return wrapper{valued: "tw"}, true
	case "systemd-run":
		return wrapper{valued: "pEuGDMH"}, true
	case "unshare", "nsenter":
		return wrapper{valued: "tSGR"}, true
	case "flock":
		return wrapper{valued: "wE", operands: 1}, true
	case "strace", "ltrace":
		return wrapper{valued: "abeEoOpPsSuUX"}, true
	case "runuser", "pkexec":
		return wrapper{valued: "ugG"}, true
	case "watch":
		return wrapper{valued: "n"}, true
	case "ssh":
		return wrapper{valued: "BbcDEeFIiJLlmOopQRSWw", operands: 1}, true
	}
	return wrapper{}, false
}

// wrapped are the commands that a command starts by its arguments. Where it
// cannot be told where the inner one begins, each place is tried.
func wrapped(name string, words []word) [][]word {
	switch name {
	case "find", "fd", "fdfind":
		return findActions(words)
	}
	w, ok := wrapperOf(name)
	if !ok || name == "command" && len(words) > 1 && strings.EqualFold(words[1].text, "-v") {
		return nil // "command -v" only looks a name up
	}
	var inner [][]word
	rest := words[1:]
	for len(rest) > 0 {
		text := rest[0].text
		switch {
		case text == "--":
			rest = rest[1:]
		case strings.HasPrefix(text, "--"):
			// Whether a long option takes the next word is not known.
			if len(rest) > 2 && !strings.Contains(text, "=") && !strings.HasPrefix(rest[1].text, "-") {
				inner = append(inner, w.commands(rest[2:])...)
			}
			rest = rest[1:]
		case strings.HasPrefix(text, "-"):
			rest = rest[min(w.length(text), len(rest)):]
		case w.assigns && strings.Contains(text, "="):
			rest = rest[1:]
		default:
			return append(inner, w.commands(rest)...)
		}
	}
	return inner
}

// length is how many words a group of short options takes.
func (w wrapper) length(option string) int {
	if i := strings.IndexAny(option[1:], w.valued); w.valued != "" && i >= 0 && i == len(option)-2 {
		return 2
	}
	return 1
}

// commands are the places among the words after the options where the command
// may begin.
func (w wrapper) commands(words []word) [][]word {
	var list [][]word
	for i := 0; i <= w.operands && i < len(words); i++ {
		list = append(list, words[i:])
	}
	return list
}

// findActions are the commands find or fd runs.
func findActions(words []word) [][]word {
	var list [][]word
	start := 0 // of the command, if it is within one
	for i, w := range words {
		switch w.text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch": // the last four are fd's
			if start == 0 {
				start = i + 1
			}
		case ";", "+":
			if start > 0 {
				list = append(list, words[start:i])
			}
			start = 0
		}
	}
	if start > 0 {
		list = append(list, words[start:])
	}
	return list
}

// scripts are the texts among the arguments of a command that it runs as a
// shell does. It feeds a shell if what that runs is not among them.
func scripts(name string, words []word) (texts []string, feeds bool) {
	args := words[1:]
	switch name {
	case "eval":
		return []string{joined(args)}, first(args, word.open) >= 0
	case "trap", "watch", "parallel", "ssh":
		for _, w := range args {
			texts = append(texts, w.text)
		}
		return texts, false
	case "alias":
		for _, w := range args {
			if _, value, ok := strings.Cut(w.text, "="); ok {
				texts = append(texts, value)
			}
		}
		return texts, false
	case "env":
		return optionTexts(args, 'S', "--split-string"), false
	case "mapfile", "readarray", "compgen", "complete":
		return optionTexts(args, 'C', "-C"), false
	case "su", "runuser", "sg", "script", "flock":
		return optionTexts(args, 'c', "--command"), false
	case "source", ".":
		return nil, len(args) > 0 && (args[0].open() || strings.HasPrefix(args[0].text, "/dev/"))
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash", "fish", "csh", "tcsh":
		return shellTexts(args)
	}
	return nil, false
}

func (w word) open() bool { return w.why != "" }

// optionTexts are the values of an option.
func optionTexts(args []word, short byte, long string) []string {
	var list []string
	for i, w := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1].text
		}
		switch value, ok := strings.CutPrefix(w.text, long+"="); {
		case ok:
			list = append(list, value)
		case w.text == long:
			list = append(list, next)
		case strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--"):
			if at := strings.IndexByte(w.text, short); at == len(w.text)-1 {
				list = append(list, next)
			} else if at > 0 {
				list = append(list, w.text[at+1:])
			}
		}
	}
	return list
}

// shellTexts is the text a shell is given with -c. Without one, and without a
// file, it reads its input.
func shellTexts(args []word) (texts []string, feeds bool) {
	command, input := false, true
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case text == "--rcfile" || text == "--init-file":
			i++
		case strings.HasPrefix(text, "--"):
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+"):
			command = command || text[0] == '-' && strings.Contains(text, "c")
			input = input && !strings.Contains(text, "n")
			if strings.HasSuffix(text, "o") || strings.HasSuffix(text, "O") {
				i++ // the option's name
			}
		case command:
			return []string{text}, args[i].open()
		default:
			// A file; with -s it would be an argument.
			return nil, first(args[:i], func(w word) bool { return strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "s") }) >= 0
		}
	}
	return nil, input
}
