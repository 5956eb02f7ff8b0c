package shellcmd

import (
	"strings"
	"testing"
)

func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		spec    string
		matches []string
		not     []string
	}{
		{"npm run build", []string{"npm run build", "npm  run  'build'"}, []string{"npm run build x", "npm run", "npm run builds", "'npm run' build"}},
		{"npm *", []string{"npm", "npm install", "npm run 'a b'", "npm ''"}, []string{"npmx", "npmx y", "pnpm install", "./npm x"}},
		{"npm:*", []string{"npm", "npm install"}, []string{"npmx"}},
		{"npm*", []string{"npm", "npm install", "npmx", "npmx y"}, []string{"pnpm", "np"}},
		{"npm run test:*", []string{"npm run test", "npm run test --watch"}, []string{"npm run test:unit", "npm run tests"}},
		{"npm run test:unit", []string{"npm run test:unit"}, []string{"npm run test", "npm run test unit"}},
		{"npm run test*", []string{"npm run test", "npm run test:unit", "npm run test x"}, []string{"npm run"}},
		{"* install", []string{"npm install", "a b install"}, []string{"install", "npm install x", "npm reinstall"}},
		{"*install", []string{"npm install", "install", "reinstall"}, []string{"npm install x"}},
		{"git * main", []string{"git push main", "git push -f origin main"}, []string{"git main", "git push mains", "git push main x", "git push 'x main'"}},
		{"git * main *", []string{"git push main", "git push main x"}, []string{"git main"}},
		{"* --force", []string{"git push --force"}, []string{"--force", "git push --force x"}},
		{"*", []string{"a", "a b", "''", "'a b' c"}, nil},
		{"* *", []string{"a", "a b"}, nil},
		{"a ** b", []string{"a x b", "a x y b"}, []string{"a b"}},
		{"a*b*c", []string{"abc", "a b c", "aXbbXcc"}, []string{"acb", "ab", "ac"}},
		{"aa*aa", []string{"aaaa", "aa aa"}, []string{"aaa", "aa"}},
		{`echo "a b"`, []string{`echo 'a b'`, `echo a\ b`}, []string{"echo a b"}},
		{`echo "a *"`, []string{`echo 'a b'`, `echo 'a '`, `echo 'a b' c`}, []string{"echo a b"}},
		{`find . -name "*.go"`, []string{`find . -name '*.go'`, "find . -name x.go"}, []string{"find . -name x.c"}},
		{`echo \*`, []string{"echo '*'"}, []string{"echo x"}},
		{`echo '\*'`, []string{`echo '\*'`}, []string{"echo 'x'"}},
		{`echo $HOME/*`, []string{"echo $HOME/x", `echo "$HOME/x"`, `echo '$HOME/x'`}, []string{"echo /home/x"}},
		{"echo $(cat *)", []string{"echo $(cat x)"}, []string{"echo x"}},
		{"export A=*", []string{"export A=b", "export A='b c'"}, []string{"export B=b"}},
		{"time *", []string{"time x", "time -p x"}, []string{"x"}},
		{"grüße *", []string{"grüße x"}, []string{"gruße x"}},
		{"  npm\u0020 test  ", []string{"npm test"}, nil},
	} {
		t.Run(tt.spec, func(t *testing.T) {
			p, err := ParsePattern(tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			for _, command := range tt.matches {
				if !p.Matches(command) {
					t.Errorf("does not match %q, want a match", command)
				}
			}
			for _, command := range tt.not {
				if p.Matches(command) {
					t.Errorf("matches %q, want no match", command)
				}
			}
		})
	}
}

func TestPatternMatchesOneSimpleCommand(t *testing.T) {
	p := patterns(t, "*")[0]
	for _, text := range []string{"", "a; b", "a && b", "(a)", "a > b", "A=b c", "A=b", "! a", "a &", "a # b", "'a", "a\x00", "if a; then b; fi", strings.Repeat("a ", maxText)} {
		if p.Matches(text) {
			t.Errorf("* matches %.40q, want no match: it is not one simple command", text)
		}
	}
	if (Pattern{}).Matches("a") {
		t.Error("the zero Pattern matches a command, want none")
	}
}

func TestPatternErrors(t *testing.T) {
	for _, tt := range []struct{ name, spec, want string }{
		{"empty", "", "is empty"},
		{"blank", "  ", "is empty"},
		{"NUL", "npm\x00", "has control characters"},
		{"line break", "npm\ntest", "has control characters"},
		{"tab", "npm\ttest", "has control characters"},
		{"not UTF-8", "npm \xff", "is not valid UTF-8"},
		{"reserved character", "npm \uFDD0", "has control characters"},
		{"too long", strings.Repeat("a", maxPattern+1), "is 4097 bytes long, at most 4096"},
		{"too many wildcards", strings.Repeat("a*", maxWildcards+1), "has 33 wildcards, at most 32"},
		{"colon star inside", "git:* push", `has ":*" before its end`},
		{"colon star twice", "git:*:*", `has ":*" before its end`},
		{"colon star alone", ":*", `has no command before ":*"`},
		{"list", "npm test && git push *", "is not one simple command, it joins commands with &&"},
		{"commands", "npm test; git push", "is not one simple command, it has 2 commands"},
		{"pipe", "git log | cat", "it joins commands with |"},
		{"redirection", "echo * > x", "it redirects input or output"},
		{"assignment", "A=b npm *", "it assigns a variable"},
		{"background", "npm start &", "it has an operator"},
		{"negation", "! npm test", "it has an operator"},
		{"comment", "npm test # all", "it has a comment"},
		{"comment alone", "# npm", "it has 0 commands"},
		{"open quote", `echo "*`, "it cannot be parsed"},
		{"open parenthesis", "echo (*", "it cannot be parsed"},
		{"subshell", "(npm test)", "it runs a subshell"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := ParsePattern(tt.spec)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "shell command pattern ") {
				t.Errorf("%q: error %v, want one with %q", tt.spec, err, tt.want)
			}
			if p.pieces != nil {
				t.Errorf("%q: pattern %q beside the error, want the zero Pattern", tt.spec, p.pieces)
			}
		})
	}
}

func TestWithin(t *testing.T) {
	for _, tt := range []struct {
		spec, text string
		want       bool
	}{
		{"rm *", `( "rm" x`, true},
		{"rm *", "( /bin/rm", true},
		{"rm *", "( r\\\nm x", true},
		{"rm *", "( $'rm' x", true},
		{"rm *", `( $'\x72m' x`, true},
		{"rm *", `( '$'\0; rm x; ''`, true},
		{"rm *", "( rm${IFS}x", true},
		{"rm *", "( a;rm;b", true},
		{"rm *", "( charm x", false},
		{"rm *", "( rmdir x", false},
		{"rm*", "( rmdir x", true},
		{"npm publish", "( npm publish --dry-run", true},
		{"npm publish", "( npm install; publish", false},
		{"a * b", "( b a c", false},
		{"a * b", "( xa b a c a b", true},
		{"* --force", "( git push --force x", true},
		{"* --force", "( git push --forced", false},
		{"*", "(", true},
	} {
		if got := Parse(tt.text).Denied(patterns(t, tt.spec)) >= 0; got != tt.want {
			t.Errorf("%s in %q: found %v, want %v", tt.spec, tt.text, got, tt.want)
		}
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, tt := range spellings {
		f.Add(tt.text, tt.text)
	}
	for _, spec := range append(allowRules, denyRules...) {
		f.Add(spec, "npm run test")
	}
	f.Fuzz(func(t *testing.T, spec, text string) {
		p, err := ParsePattern(spec)
		if err != nil {
			if p.pieces != nil || p.Matches(text) {
				t.Errorf("%q is refused but matches %q", spec, text)
			}
			return
		}
		// Without wildcards a pattern is a command, which it matches.
		if !strings.Contains(spec, "*") && !p.Matches(spec) {
			t.Errorf("%q does not match itself", spec)
		}
		p.Matches(text)
		for _, command := range Parse(text).Commands() {
			p.Matches(command)
		}
	})
}
