package proc

import (
	"os"
	"slices"
	"strings"
)

// inherited are the variables a child gets from its parent, besides LC_*. Keys
// and tokens live in all others.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR"}

// plain asks programs for output without colours, pagers and questions.
var plain = []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"}

// Environ is the environment for a child: a few variables of this process that
// carry no secrets (PATH, HOME, LANG and the like), variables that ask for plain
// output, and the given NAME=value entries, which win over the others.
func Environ(extra ...string) []string {
	return compose(os.Environ(), extra)
}

func compose(parent, extra []string) []string {
	var env []string
	set := func(entry string) {
		name, _, _ := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		env = append(env, entry)
	}
	for _, entry := range parent {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(inherited, name) || strings.HasPrefix(name, "LC_") {
			set(entry)
		}
	}
	for _, entry := range plain {
		set(entry)
	}
	for _, entry := range extra {
		set(entry)
	}
	return env
}
