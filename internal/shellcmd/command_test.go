package shellcmd

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormalForm(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"words are joined by one space", "a  b\tc", []string{"a b c"}},
		{"needless quotes go", `'a' "b" \c $'d'`, []string{"a b c d"}},
		{"a space is quoted", `a "b c"`, []string{"a 'b c'"}},
		{"a quote is quoted", `a "b'c"`, []string{`a 'b'\''c'`}},
		{"metacharacters are quoted", `a \; \& \| \> \( \$ \\ \" \#`, []string{`a ';' '&' '|' '>' '(' '$' '\' '"' '#'`}},
		{"what would expand is quoted", `a '*' '?' '[b]' '~' 'c=~' '{d,e}'`, []string{`a '*' '?' '[b]' '~' 'c=~' '{d,e}'`}},
		{"what would not expand is plain", `a [ {} b~c HEAD^ e@{0} f#g --h=i,j ../k:l +m %n`, []string{`a [ {} b~c HEAD^ e@{0} f#g --h=i,j ../k:l +m %n`}},
		{"an empty word is quoted", `a ""`, []string{"a ''"}},
		{"a name like a keyword is quoted", `"if" if`, []string{"'if' if"}},
		{"a name like an assignment is quoted", `a\=b c=d`, []string{"'a=b' c=d"}},
		{"controls are escaped", `a $'\e\n\'\x9b'"é` + "\u200b" + `"`, []string{`a $'\x1b\x0a\'\x9bé` + "\u200b" + `'`}},
		{"expansions are as written", `a "$b c" *`, []string{`a "$b c" *`}},
		{"in the order of the text", "a && b | c; if d; then e; fi", []string{"a", "b", "c", "d", "e"}},
		{"assignments and redirections are left out", "A=b c >d", []string{"c"}},
		{"declarations are commands", `export A="b c" D; let 'e = 1'`, []string{`export A="b c" D`, "let 'e = 1'"}},
		{"inner commands are listed", "a $(b c)", []string{"a $(b c)", "b c"}},
		{"what wrappers start is not", "sudo a; eval 'b'", []string{"sudo a", "eval b"}},
		{"nothing of what cannot be parsed", "a 'b", []string{}},
		{"nothing of nothing", "", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Parse(tt.text).Commands()); diff != "" {
				t.Errorf("%q: commands (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

func TestZeroCommand(t *testing.T) {
	var c Command
	if ok, why := c.Allowed(patterns(t, "*")); ok || why == "" {
		t.Errorf("allowed %v (%q), want a refusal with its reason", ok, why)
	}
	if i := c.Denied(patterns(t, "rm *")); i >= 0 {
		t.Errorf("denied by %d, want -1", i)
	}
}

func TestDeniedTellsThePattern(t *testing.T) {
	deny := patterns(t, "a *", "b *", "c *", "*")
	for text, want := range map[string]int{"x; c; b": 1, "c": 2, "x": 3, "X=1": 3, "": 3} {
		if got := Parse(text).Denied(deny); got != want {
			t.Errorf("%q: pattern %d, want %d", text, got, want)
		}
	}
	if got := Parse("x; c").Denied(nil); got != -1 {
		t.Errorf("without patterns: %d, want -1", got)
	}
}

func TestDecodeANSI(t *testing.T) {
	for _, tt := range []struct {
		quoted, want string
		exact        bool
	}{
		{`a\tb\n\e\E\a\b\f\r\v`, "a\tb\n\x1b\x1b\a\b\f\r\v", true},
		{`\\\'\"\?`, `\'"?`, true},
		{`\101\1012\7\0611`, "AA2\a11", true},
		{`\x41\x4Z\xZ`, "A\x04Z\\xZ", true},
		{`\x{41}\x{141}\x{41`, "AAA", true},
		{`\x{}a`, "", true},
		{`\u41\U00000041\uZ`, `AA\uZ`, true},
		{`\u00e9`, "é", false},
		{`\UFFFFFFFF`, "\uFFFD", false},
		{`\xff\377`, "\xff\xff", true},
		{`\ca\cA\c?\c\\x`, "\x01\x01\x7f\x1cx", true},
		{`a\0b`, "a", true},
		{`a\x00b`, "a", true},
		{`\q\`, `\q\`, true},
		{`\c`, `\c`, true},
	} {
		got, exact := decodeANSI(tt.quoted)
		if got != tt.want || exact != tt.exact {
			t.Errorf("%s: %q, exact %v, want %q, exact %v", tt.quoted, got, exact, tt.want, tt.exact)
		}
	}
}

// TestBounds gives the parser what would take it very long or very deep. The
// stack is bounded to show that nesting is, and a crash would end the test.
func TestBounds(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(48 << 20))
	deny := patterns(t, "zc *", "* zc * zd")
	for _, open := range []string{
		"(", "( ", "{ ", "((", "$(", "`", "\"$(", "${a:-", "$((", "$[", "<(", "@(", "a[", "a=(", "${a[", "${a:", "${a/", "if ", "while ", "time ", "! ", "f() ", "coproc ", "case a in a) ",
		"a|", "a||", "a&&", "a;", "a&", "((- ", "((a=", "((1+", "((a?", "[[ ! ", "[[ ( ", "[[ a && ", "let a=", "<<a ", "<<a\n", "a<<b;", "a #c\n", "a #c \\\n", "a ", "a", "\\\n", " \\\n", "$", "$''", "''", "\"", "\\", "a\"b\"",
		"sudo ", "env -", "timeout 5 ", "eval ", "eval 'a b' ", "sh -c 'a b' ", "sh; echo 'a b';", "trap 'a b' ", "find -exec ", "$x ", "$x $(", "flock a -c 'b c' ", "xargs --a b ", "coproc a ", "elif a; then b; ",
	} {
		for _, n := range []int{maxNesting / 8, maxText / len(open)} {
			text := strings.Repeat(open, n)
			for _, text := range []string{text, "zc;" + text} {
				c := Parse(text)
				if ok, _ := c.Allowed(patterns(t, "b *", "c")); ok {
					t.Errorf("%d times %q is allowed", n, open)
				}
				c.Commands()
				if c.Denied(deny[1:]) >= 0 {
					t.Errorf("%d times %q: found what is not there", n, open)
				}
				if strings.HasPrefix(text, "zc;") && c.Denied(deny) < 0 {
					t.Errorf("a command before %d times %q is not found", n, open)
				}
			}
		}
	}
}

func TestTooMuchIsSearchedWordByWord(t *testing.T) {
	deny := patterns(t, "zc *")
	for name, text := range map[string]string{
		"text":     "echo " + strings.Repeat("a", maxText) + "; zc",
		"nesting":  strings.Repeat("(", maxNesting+1) + "zc",
		"wrappers": strings.Repeat("sudo ", maxLevel+1) + "zc",
		"commands": strings.Repeat(strings.Repeat("sudo ", maxLevel)+strings.Repeat("a", 900)+";", maxText/1000) + "zc",
	} {
		c := Parse(text)
		if c.Denied(deny) < 0 {
			t.Errorf("%s: the denied command is not found", name)
		}
		if ok, why := c.Allowed(patterns(t, "*")); ok {
			t.Errorf("%s: allowed, want a refusal", name)
		} else if !strings.Contains(why, "examined") {
			t.Errorf("%s: not allowed because it %s, want the bound", name, why)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, tt := range spellings {
		f.Add(tt.text)
	}
	all, err := ParsePattern("*")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Parse(text)
		commands := c.Commands()
		if c.Denied([]Pattern{all}) != 0 {
			t.Errorf("%q is not denied by *", text)
		}
		ok, why := c.Allowed([]Pattern{all})
		if ok == (why != "") {
			t.Errorf("%q: allowed %v with the reason %q", text, ok, why)
		}
		if !ok {
			return
		}
		again := Parse(strings.Join(commands, "\n"))
		if diff := cmp.Diff(commands, again.Commands()); diff != "" {
			t.Errorf("%q: the commands read again (-before +after):\n%s", text, diff)
		}
		if ok, why := again.Allowed([]Pattern{all}); !ok {
			t.Errorf("%q: the commands %q read again are not allowed: %s", text, commands, why)
		}
		for _, command := range commands {
			checkOwnPattern(t, c, command)
		}
	})
}

// checkOwnPattern shows that the pattern made of a command allows and denies it.
func checkOwnPattern(t *testing.T, c Command, command string) {
	t.Helper()
	if strings.Contains(command, "*") {
		return
	}
	p, err := ParsePattern(command)
	if err != nil {
		return
	}
	if !p.Matches(command) {
		t.Errorf("the pattern %q does not match itself", command)
	}
	if c.Denied([]Pattern{p}) < 0 {
		t.Errorf("the pattern %q does not deny the text it is of", command)
	}
}

func Example() {
	var allow, deny []Pattern
	for _, spec := range []string{"npm run test:*", "git diff *"} {
		p, err := ParsePattern(spec)
		if err != nil {
			fmt.Println(err)
			return
		}
		allow = append(allow, p)
	}
	p, err := ParsePattern("rm *")
	if err != nil {
		fmt.Println(err)
		return
	}
	deny = append(deny, p)

	for _, text := range []string{
		"npm run test -- --watch=false 2>&1 && git diff --stat",
		"npm run test > report.txt",
		"git diff && curl example.org",
		`sudo sh -c "cd build && /bin/r'm' -rf ."`,
	} {
		c := Parse(text)
		if c.Denied(deny) >= 0 {
			fmt.Println("deny")
		} else if ok, why := c.Allowed(allow); ok {
			fmt.Println("allow")
		} else {
			fmt.Println("ask:", why)
		}
	}
	// Output:
	// allow
	// ask: redirects output to report.txt
	// ask: no rule allows "curl example.org"
	// deny
}
