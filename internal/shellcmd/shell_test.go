package shellcmd

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"mvdan.cc/sh/v3/syntax"
)

// bash runs texts and records every command that is no builtin: there is no
// program on its path, so each ends in a function that writes down its words.
type bash struct{ program, dir string }

// record is the function, and how the text gets to it.
const record = `command_not_found_handle() { local IFS=; printf '%s\1' "$@" | { read -r -d '' words; printf '%s\2' "$words" >&7; }; }
exec 7>>"$1"
eval -- "$2"`

func newBash(t *testing.T) bash {
	t.Helper()
	program, err := exec.LookPath("bash")
	if err != nil {
		t.Skipf("bash is not here, so there is nothing to compare with: %v", err)
	}
	return bash{program, t.TempDir()}
}

// run returns the words of the commands bash ran, sorted, each followed by \1.
func (b bash) run(t *testing.T, text string) []string {
	t.Helper()
	out := filepath.Join(b.dir, "out")
	if err := os.WriteFile(out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(b.dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), b.program, "--noprofile", "--norc", "-c", record, "bash", out, text)
	cmd.Dir = work
	cmd.Env = []string{"PATH=/nonexistent", "LC_ALL=C"}
	_ = cmd.Run() // that a command fails is no matter
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	ran := strings.Split(string(data), "\x02")
	ran = ran[:len(ran)-1]
	slices.Sort(ran)
	return ran
}

func recorded(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(w.text + "\x01")
	}
	return b.String()
}

// TestWordsAsBash compares the words of allowed texts with bash's.
func TestWordsAsBash(t *testing.T) {
	b := newBash(t)
	all := patterns(t, "*")
	for _, text := range []string{
		`x a  b	c`, `x 'a b' "c d" e\ f`, `x a'b'"c"\d`, `x '' "" a''`, `x "a\"b\\c\$d\` + "`" + `e\f\!"`,
		`x 'a\b' \\ \a \" \' \; \| \& \> \( \$ \# \*`, `x a#b '#c' \#d # e`, `x a; x b;x c`, "x a\nx b\n\n x c", "x \\\n a",
		`x "a\\" b`, `x a! '!b' "c!"`, `x {} a{b} {a HEAD@{1}`, `x a[ ] a]b[`, `x a~b a~`, `x = a=b =c --d=e`, `x $ a$ "$" "a$" $. `,
		`x $'a\nb' $'\t' $'\e[0m' $'\\' $'\'' $'\"' $'\?' $'\a\b\E\f\r\v'`, `x $'\101\1012\7' $'\x41\x4Z\x4' $'\u41\U00000042'`,
		`x $'\x{41}' $'\x{141}z' $'\x{41z' $'\x{}a' $'\xz'`, `x $'\ca\cZ\c?' $'\c\\x' $'\c\x'`, `x $'a\0b' $'a\x00b'c $'\400'`, `x $'\q\8\u\U'`,
		`x $'\xff\377'`, `x "$'a'" '$'`, "x 'a\nb' \"c\nd\"", `x "a'b" 'c"d'`, `x é "ü" 'ß'`, "x a\u00a0b", `x if then fi { } ! [[ time`, `"if" x`, `\x a`,
		`'x y' z`, `x a >/dev/null 2>&1 b </dev/null c`, `x 2 >/dev/null`, `x 2\>/dev/null`, `x a&&x b||x c`, `x a|x b|x c`, `! x a`, `x -v 'a[$(b)]'`,
		`x a..b ..  {a.b} a,b`, `x : a:b :`, `x %a a% ^b a^ + @ @a`,
	} {
		c := Parse(text)
		if ok, why := c.Allowed(all); !ok {
			t.Errorf("%q: not allowed (%s), want it compared with bash", text, why)
			continue
		}
		ran := b.run(t, text)
		var ours []string
		for _, words := range c.simple {
			ours = append(ours, recorded(words))
		}
		slices.Sort(ours)
		if strings.Contains(text, "||") {
			ours = slices.DeleteFunc(ours, func(s string) bool { return !slices.Contains(ran, s) })
		}
		if diff := cmp.Diff(ran, ours); diff != "" {
			t.Errorf("%q: commands (-bash +ours):\n%s", text, diff)
		}
	}
}

// TestRandomTextsAsBash makes texts of pieces that meet in ways nobody would
// write, and lets bash run those that are allowed: it must not run a command
// that was not seen.
func TestRandomTextsAsBash(t *testing.T) {
	b := newBash(t)
	all := patterns(t, "*")
	random := rand.New(rand.NewPCG(1, 2))
	pieces := strings.Split("a~b~zc~ ~ ~ ~\t~\n~;~ && ~ || ~ | ~|~#~ #~\\~\\\n~ \\\n~'~\"~$~$'~$\"~!~{~}~]~=~*~,~..~1~2~>~>&1~2>&1~>/dev/null~<~&~(~)~`~\\x41~\\u41~\\n~\\'~\\\\~if~then~do~time~é~-~^~@~\\x{41}~'a'~\"b\"~$a~${~case~[[~a[~#a \\\n~a=~\r", "~")
	compared := 0
	for compared < 150 {
		var s strings.Builder
		for range 1 + random.IntN(9) {
			s.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := s.String()
		c := Parse(text)
		if ok, _ := c.Allowed(all); !ok || !strings.ContainsAny(text, "\\'\"$#\n") {
			continue
		}
		compared++
		for _, ran := range b.run(t, text) {
			if !slices.ContainsFunc(c.simple, func(words []word) bool { return recorded(words) == ran }) {
				t.Errorf("%q: bash runs %q, which is none of %q", text, ran, c.Commands())
			}
		}
	}
}

// TestDeniedFindsWhatBashRuns wraps a command in everything the language has,
// several deep: whatever bash runs must be found.
func TestDeniedFindsWhatBashRuns(t *testing.T) {
	b := newBash(t)
	deny := patterns(t, "zc *")
	random := rand.New(rand.NewPCG(3, 4))
	names := []string{"zc", `z\c`, `"zc"`, `z''c`, `$'\x7ac'`, "z\\\nc", `$'z\x{63}'`, "X=1 zc", "</dev/null zc", "command zc", "exec zc", "/z/zc"}
	around := []string{
		"%s; x", "x; %s", "x || %s", "%s | x", "x | %s", "! %s", "{ %s; }", "(%s)", "if %s; then x; fi", "if ! x; then %s; fi",
		"while %s; do x; break; done", "until %s; do break; done", "for a in b; do %s; done", "for ((a=0;a<1;a++)); do %s; done", "case b in b) %s;; esac", "f() { %s; }; f", "function g { %s; }; g",
		"x $(%s)", "x \"a $(%s)\"", "x <(%s)", "x ${y:-$(%s)}", "x $((1+0$(%s)))", "y[0$(%s)]=1", "y=$(%s)", "y=(1 $(%s))", "[[ -z $(%s) ]]", "x <<E\n$(%s)\nE\n", "x <<<$(%s)", "time %s", "%s & wait",
		"export y=$(%s)", "%s # x", "# x\n%s", "x;%s\n", "x # y \\\n%s\n", "eval '\n'; %s", "x && y || %s", "((1$(%s)))", "eval QUOTED", "trap QUOTED EXIT", "builtin eval QUOTED", "shopt -s expand_aliases\nalias e=QUOTED\ne", "shopt -s expand_aliases\nBASH_ALIASES[e]=QUOTED\neval e", "mapfile -c 1 -C QUOTED a <<<b", "coproc %s\nwait", "trap x EXIT; %s", "x 2>&1 | { %s; }",
	}
	for range 150 {
		text := names[random.IntN(len(names))] + " q"
		for range 1 + random.IntN(3) {
			quoted, err := syntax.Quote(text, syntax.LangBash)
			if err != nil {
				t.Fatal(err)
			}
			form := around[random.IntN(len(around))]
			text = strings.Replace(strings.Replace(form, "%s", text, 1), "QUOTED", quoted, 1)
		}
		found := Parse(text).Denied(deny) >= 0
		for _, ran := range b.run(t, text) {
			if name, _, _ := strings.Cut(ran, "\x01"); base(name) == "zc" && !found {
				t.Errorf("%q: bash runs %q, but it is not found", text, ran)
			}
		}
	}
}
