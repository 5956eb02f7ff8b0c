package shellcmd

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The rules of the table of spellings.
var (
	allowRules = []string{"git status", "git log:*", "npm run test:*", "echo *", "cd *", "printf *", "./build.sh *", "sudo echo *", "[ *"}
	denyRules  = []string{"rm *", "git push *", "npm publish", "export *", "* --force"}
)

func patterns(t testing.TB, specs ...string) []Pattern {
	t.Helper()
	list := make([]Pattern, len(specs))
	for i, spec := range specs {
		var err error
		if list[i], err = ParsePattern(spec); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// spellings are texts with both verdicts. Each name is the argument for them.
var spellings = []struct {
	name, text  string
	allow, deny bool
}{
	// Plain.
	{"an exact rule matches the command", "git status", true, false},
	{"an exact rule covers no further words", "git status -s", false, false},
	{"a prefix rule covers further words", "git log --oneline -n 5", true, false},
	{"a prefix rule covers the bare command", "npm run test", true, false},
	{"a prefix ends at a word", "npm run tests", false, false},
	{"spaces between words are one", "git   \t status", true, false},
	{"space around a text is nothing", "\n  git status \n", true, false},
	{"a name is compared with its case", "Git status", false, false},
	{"an empty text runs nothing, which no rule is about", "", false, false},
	{"a comment runs nothing", "# git status", false, false},
	{"a comment after a command is nothing", "git status # rm -rf x", true, false},
	// Lists.
	{"every command of a list is allowed", "cd src && git status; git log | echo x || echo y", true, false},
	{"a list may be on lines", "cd src\ngit status\n", true, false},
	{"one command that no rule names is enough to ask", "git status && curl example.org", false, false},
	{"a denied command after an allowed one", "git status; rm -rf x", false, true},
	{"a denied command in a pipe", "echo x | rm -rf x", false, true},
	{"a negated command is the same command", "! git status", true, false},
	{"|& is a redirection", "git log |& echo x", false, false},
	{"a background job outlives its judgement", "git status &", false, false},
	{"a denied command in the background", "git status & rm x", false, true},
	{"a line goes on after a backslash", "git log \\\n  --oneline", true, false},
	{"a continued word", "git st\\\natus", false, false},
	{"a denied continued word", "r\\\nm x", false, true},
	{"a comment does not go on after a backslash", "echo a # b \\\nrm x", false, true},
	{"a carriage return is a character to bash and a blank to others", "echo a\\\r\nrm x", false, true},
	{"NUL cannot be given to a shell", "git status\x00", false, false},
	{"bytes that are not UTF-8", "echo \xff; rm x", false, true},
	// Quoting.
	{"quotes are not part of a word", `"git" 'status'`, true, false},
	{"a quoted space is part of a word", `'git status'`, false, false},
	{"an escaped letter is the letter", `r\m x`, false, true},
	{"a name in double quotes", `"rm" x`, false, true},
	{"a name in pieces", `r'm' x`, false, true},
	{"an empty piece", `r""m x`, false, true},
	{"ANSI-C quotes", `$'rm' x`, false, true},
	{"ANSI-C escapes", `$'\x72\155' x`, false, true},
	{"ANSI-C escapes with braces", `$'\x{72}m' x`, false, true},
	{"ANSI-C quotes are literal", `echo $'a\tb'`, true, false},
	{"ANSI-C escapes of characters depend on the locale", `echo $'\u00e9'`, false, false},
	{"translated quotes depend on the locale", `echo $"a"`, false, false},
	{"quoted metacharacters are text", `echo "a; rm b" 'c | rm d' \; rm`, true, false},
	{"a word like a separator after a name", "echo ';' rm x", true, false},
	{"an exact deny rule has no further words", "npm publish --dry-run", false, false},
	{"an exact deny rule", "npm 'publish'", false, true},
	{"a wildcard in front finds the last word", "git fetch --force", false, true},
	{"non-ASCII text is text", "echo grüße", true, false},
	// Expansions.
	{"a variable", "echo $HOME", false, false},
	{"a variable in double quotes", `echo "$HOME"`, false, false},
	{"a dollar that expands nothing", `echo "a$" b$ '$HOME'`, true, false},
	{"a dollar before a continued line", "echo $\\\nHOME", false, false},
	{"a command substitution", "echo $(git status)", false, false},
	{"a denied command in a substitution", "echo $(rm x)", false, true},
	{"a denied command in backquotes", "echo `rm x`", false, true},
	{"a denied command in nested backquotes", "echo `echo \\`rm x\\``", false, true},
	{"a denied command in a default value", "echo ${x:-$(rm x)}", false, true},
	{"a denied command in double quotes", `echo "a $(rm x) b"`, false, true},
	{"a denied command in arithmetic", "echo $((1 + $(rm x)))", false, true},
	{"a denied command in an index", "x[$(rm x)]=1", false, true},
	{"a denied command in a process substitution", "echo <(rm x)", false, true},
	{"a denied command in an extended pattern", "echo @(a|$(rm x))", false, true},
	{"arithmetic", "echo $((1+1))", false, false},
	{"a file name pattern", "echo *.go", false, false},
	{"a quoted file name pattern is text", "echo '*.go' a[ {} HEAD~1 stash@{0}", true, false},
	{"a class", "echo a[bc]", false, false},
	{"a home directory", "cd ~/x", false, false},
	{"a home directory after an equals sign", "echo a=~/x", false, false},
	{"a home directory after a colon", "echo a:~/x", false, false},
	{"braces", "echo {a,b}", false, false},
	{"a range in braces", "echo {1..3}", false, false},
	{"a denied command made of braces", "{rm,-rf,x}", false, true},
	{"blanks made of a variable", "rm${IFS}-rf${IFS}x", false, true},
	{"a name that is expanded is not known", "$x -rf y", false, false},
	{"words after a name that is expanded", "$x rm y", false, true},
	{"an index test would evaluate", `[ -v 'a[$(rm x)]' ]`, false, false},
	{"an index of nothing", `printf '%s' 'a[$(rm x)]'`, true, false},
	{"test without an index", "[ -f x ]", true, false},
	{"printf -v assigns", "printf -v PATH .", false, false},
	// Assignments and redirections.
	{"an assignment changes what a command means", "PATH=. git status", false, false},
	{"an assignment alone", "X=1", false, false},
	{"a denied command behind an assignment", "X=1 Y=2 rm x", false, true},
	{"a declaration", "declare x=1", false, false},
	{"a denied declaration", "export PATH=.", false, true},
	{"output to a file", "echo x > y", false, false},
	{"output to nowhere", "git log >/dev/null 2>&1 </dev/null", true, false},
	{"output to both", "git log &>> /dev/null", true, false},
	{"errors to the output", "git log 2>&1 | echo x", true, false},
	{"a file beside nowhere", "git log >/dev/null >x", false, false},
	{"a path that goes on", "git log >/dev/null/../x", false, false},
	{"a descriptor nobody knows", "echo x >&3", false, false},
	{"a descriptor closed", "echo x 2>&-", false, false},
	{"a descriptor in a variable", "echo x {a}>/dev/null", false, false},
	{"input from a file", "git log < x", false, false},
	{"a denied command behind a redirection", "</dev/null 2>&1 rm x", false, true},
	{"a here-document", "echo <<E\nrm x\nE", false, false},
	{"a substitution in a here-document", "echo <<E\n$(rm x)\nE", false, true},
	{"a quoted here-document is text", "echo <<'E'\n$(rm x)\nE", false, false},
	{"a here-document is what a shell runs", "sh <<'E'\nrm x\nE", false, true},
	{"a here-string is what a shell runs", "bash -s a <<< 'rm x'", false, true},
	{"a text printed into a shell", "echo 'rm x' | sh", false, true},
	{"words printed into a shell", "echo rm x | sudo bash", false, true},
	// Compound commands.
	{"a subshell", "(git status)", false, false},
	{"a denied command in a subshell", "(cd x; rm y)", false, true},
	{"a denied command in a group", "{ rm x; }", false, true},
	{"a denied command as a condition", "if rm x; then echo y; fi", false, true},
	{"a denied command in a branch", "case a in b) rm x;; esac", false, true},
	{"a denied command in a loop", "for f in a b; do rm $f; done", false, true},
	{"a denied command until", "until rm x; do echo; done", false, true},
	{"a denied command in a function", "f() { rm x; }; f", false, true},
	{"a test", "[[ -f x ]]", false, false},
	{"a denied command after a test", "[[ -f x ]] && rm x", false, true},
	{"arithmetic as a command", "((x++))", false, false},
	{"a denied command timed", "time -p rm x", false, true},
	{"a denied coprocess", "coproc rm x", false, true},
	{"words of the language as arguments", "echo if then fi", true, false},
	{"a quoted word of the language is a name", `"if" rm x`, false, false},
	// Paths.
	{"a path is another program to an allow rule", "/tmp/git status", false, false},
	{"a path that the rule names", "./build.sh all", true, false},
	{"a denied command by its path", "/bin/rm x", false, true},
	{"a denied command by a path from here", "../../bin/rm x", false, true},
	{"a path to an argument", "echo /bin/rm x", true, false},
	// Wrappers.
	{"an allow rule does not see through a wrapper", "sudo git status", false, false},
	{"an allow rule may name the wrapper", "sudo echo x", true, false},
	{"sudo", "sudo -n -u root -- rm x", false, true},
	{"sudo with a long option", "sudo --user root rm x", false, true},
	{"sudo takes a user for -u", "sudo -u rm git log", false, false},
	{"doas", "doas rm x", false, true},
	{"env", "env -i -u A B=c rm x", false, true},
	{"env with an assignment after its options", "env -i -- A=b rm x", false, true},
	{"env with a text", "env -iS 'rm x'", false, true},
	{"nohup", "nohup rm x", false, true},
	{"nice", "nice -n 5 rm x", false, true},
	{"timeout", "timeout -s KILL 5 rm x", false, true},
	{"an argument of the inner command is none", "timeout 5 grep rm x", false, false},
	{"stdbuf", "stdbuf -oL rm x", false, true},
	{"setsid", "setsid -f rm x", false, true},
	{"exec", "exec -a name rm x", false, true},
	{"command", "command rm x", false, true},
	{"command -v only looks", "command -v rm", false, false},
	{"builtin", "builtin export A=b", false, true},
	{"xargs", "echo x | xargs -0 -n 1 rm", false, true},
	{"find", `find . -name x -exec rm {} \;`, false, true},
	{"find with a deny word as a name", "find . -name rm", false, false},
	{"timeout with a long option", "timeout --signal KILL 5 rm x", false, true},
	{"fd", "fd -e tmp -x rm", false, true},
	{"programs that start another", "fakeroot caffeinate -t 5 systemd-run -u a unshare -r setarch x86_64 rm x", false, true},
	{"a shell of another kind", "fish -c 'rm x'", false, true},
	{"source of what is printed", "source <(echo rm x)", false, true},
	{"wrappers in wrappers", "sudo env A=b nice timeout 5 /bin/rm x", false, true},
	{"eval", "eval 'r''m x'", false, true},
	{"eval with words", "eval rm x", false, true},
	{"eval of a variable", "x='rm y'; eval $x", false, true},
	{"eval in eval", `eval "eval 'rm x'"`, false, true},
	{"a trap", "trap 'rm x' EXIT", false, true},
	{"sh -c", "sh -c 'cd x && rm y'", false, true},
	{"bash with options", "bash --norc -eo pipefail -c 'rm x' y", false, true},
	{"a shell in a shell", `/bin/bash -lc "sh -c 'rm x'"`, false, true},
	{"an alias", "shopt -s expand_aliases\nalias e='rm x'\ne", false, true},
	{"an alias of a name to which words are added", "alias a=b -- e=rm\ne x", false, true},
	{"an alias in pieces", "command alias e='if true; then sudo r''m x; '\ne fi", false, true},
	{"an alias by assignment", "shopt -s expand_aliases\nBASH_ALIASES[e]='rm x'\ne", false, true},
	{"aliases by assignment", "declare -A BASH_ALIASES=([a]=b [e]=rm)\ne x", false, true},
	{"a name that is a denied command", "alias rm=echo", false, false},
	{"a callback", "mapfile -c 1 -C 'rm x' a <y", false, true},
	{"a shell by another user", "su root -c 'rm x'", false, true},
	{"a shell elsewhere", "ssh -p 22 host rm x", false, true},
	{"a shell with a script", "bash build.sh", false, false},
	// What cannot be parsed.
	{"an open quote", "echo 'x; rm y", false, true},
	{"an open parenthesis", "git status (", false, false},
	{"a denied command in it", `x ( "rm" y`, false, true},
	{"with a path", "x ( /bin/rm y", false, true},
	{"an alias is an argument", "alias x=y", false, false},
}

func TestSpellings(t *testing.T) {
	allow, deny := patterns(t, allowRules...), patterns(t, denyRules...)
	for _, tt := range spellings {
		t.Run(tt.name, func(t *testing.T) {
			c := Parse(tt.text)
			ok, why := c.Allowed(allow)
			if ok != tt.allow || ok != (why == "") {
				t.Errorf("%q: allowed %v (%s), want %v", tt.text, ok, why, tt.allow)
			}
			if i := c.Denied(deny); (i >= 0) != tt.deny {
				t.Errorf("%q: denied by rule %d, want a denial: %v; found %q, searched %q", tt.text, i, tt.deny, c.found, c.loose)
			}
		})
	}
}

// TestBuiltinsThatExpand is about literal words of which a builtin makes more.
// Each refused text runs a command or changes the path of those after it.
func TestBuiltinsThatExpand(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		allow      bool
	}{
		{"an index evaluates a name, which is the last word before", `echo 'b[$(rm x)]'; [ -v 'a[_]' ]`, false},
		{"the same by its other name", `echo 'b[$(rm x)]'; test ! -v 'a[_]'`, false},
		{"the same behind builtin", `builtin -- test -v 'a[_]'`, false},
		{"the same behind command", `command -p [ -v 'a[_]' ]`, false},
		{"an index of a reference", `[ -R 'a[_]' ]`, false},
		{"a variable is looked up without an index", `[ -v HOME ]`, true},
		{"a text with brackets is compared", `[ 'a[$(rm x)]' = 'app/[id]' ]`, true},
		{"a number that is read is calculated", `echo 'a[$(rm x)]' | read RANDOM`, false},
		{"an index that is read", `read 'a[$(rm x)]'`, false},
		{"a path that is read", `read PATH; git status`, false},
		{"lines that are read", `mapfile PATH`, false},
		{"lines that are read by the other name", `readarray -C 'rm x' -c 1 a`, false},
		{"options", `getopts a PATH`, false},
		{"an index that is taken away", `unset 'GROUPS[$(rm x)]'`, false},
		{"a path that is taken away", `unset PATH; git status`, false},
		{"a path that is taken away by wait", `wait -n -p PATH`, false},
		{"to wait", `wait`, true},
		{"a quoted declaration", `\declare 'a[$(rm x)]=1'`, false},
		{"another", `"export" PATH=.`, false},
		{"behind builtin", `builtin export PATH=.`, false},
		{"quoted arithmetic", `\let 'a[$(rm x)]'`, false},
		{"printf writes a text to a variable", `printf -vPATH .`, false},
		{"printf writes a count to a variable", `printf '%n' PATH; git status`, false},
		{"a count with a width, a length and text before", `printf -- '%d%% %*ln' 1 2 PATH`, false},
		{"a percent sign before an n", `printf '100%%n%s' n`, true},
		{"an n that is printed", `printf '%s' '%n'`, true},
		{"a format without an end", `printf '%'`, true},
		{"jobs runs a command", `jobs -x rm x`, false},
		{"jobs lists jobs", `jobs -l`, true},
		{"compgen expands words", `compgen -W '$(rm x)'`, false},
		{"command alone", `command`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if ok, why := Parse(tt.text).Allowed(patterns(t, "*")); ok != tt.allow {
				t.Errorf("%q: allowed %v (%s), want %v", tt.text, ok, why, tt.allow)
			}
		})
	}
}

// TestReasons shows for every spelling what a person would read.
func TestReasons(t *testing.T) {
	allow, deny := patterns(t, allowRules...), patterns(t, denyRules...)
	var b strings.Builder
	for _, tt := range spellings {
		c := Parse(tt.text)
		fmt.Fprintf(&b, "%q\n", tt.text)
		for _, command := range c.Commands() {
			fmt.Fprintf(&b, "\tcommand %q\n", command)
		}
		if ok, why := c.Allowed(allow); ok {
			b.WriteString("\tallowed\n")
		} else {
			fmt.Fprintf(&b, "\tnot allowed: %s\n", why)
		}
		if i := c.Denied(deny); i >= 0 {
			fmt.Fprintf(&b, "\tdenied by %s\n", denyRules[i])
		}
	}
	golden(t, "spellings.golden", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
