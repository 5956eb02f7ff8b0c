package permission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline"
)

// deniesPath and allowsPath report what a rule about reading covers.
func deniesPath(b *bases, source place, spec, path string) (bool, error) {
	r, err := pathRuleOf(b, source, spec)
	return err == nil && r.covers(b.key(path), false, true), err
}

func pathRuleOf(b *bases, source place, spec string) (*pathRule, error) {
	s, err := parsePath(spec)
	if err != nil {
		return nil, err
	}
	return b.compile(s, source, false)
}

func TestPathPatterns(t *testing.T) {
	b := &bases{root: place{"/w/root"}, home: place{"/home/me"}}
	source := place{"/w/conf"}
	for _, tt := range []struct {
		spec           string
		covers, spares string // paths
		allows         string // those of covers that a permission covers as well
	}{
		{"./secrets/**", "/w/root/secrets /w/root/secrets/a/b", "/w/root/x/secrets/a /w/root/secretsx /w/secrets/a /w/root", "/w/root/secrets/a/b"},
		{"secrets/**", "/w/root/secrets /w/root/secrets/a", "/w/root/x/secrets/a", "/w/root/secrets/a"},
		{"secrets", "/w/root/secrets /w/root/x/secrets /w/root/x/secrets/a", "/w/root/secretsx /w/secrets", "/w/root/secrets /w/root/x/secrets /w/root/x/secrets/a"},
		{"secrets/", "/w/root/secrets /w/root/x/secrets/a", "/w/root/secretsx", "/w/root/x/secrets/a"},
		{"./secrets", "/w/root/secrets /w/root/secrets/a", "/w/root/x/secrets", "/w/root/secrets /w/root/secrets/a"},
		{".env", "/w/root/.env /w/root/x/.env", "/w/root/.env.local /w/.env", "/w/root/.env /w/root/x/.env"},
		{"*.pem", "/w/root/a.pem /w/root/x/a.pem", "/w/root/a.pems", "/w/root/a.pem /w/root/x/a.pem"},
		{"**/*.pem", "/w/root/a.pem /w/root/x/a.pem", "/w/a.pem", "/w/root/a.pem /w/root/x/a.pem"},
		{"src/*/gen", "/w/root/src/a/gen/x", "/w/root/src/a/b/gen", "/w/root/src/a/gen/x"},
		{"*", "/w/root /w/root/a /w/root/a/b", "/w /w/rootx", "/w/root/a /w/root/a/b"},
		{"**", "/w/root /w/root/a /w/root/a/b", "/w /w/rootx", "/w/root/a /w/root/a/b"},
		{"./", "/w/root /w/root/a", "/w", "/w/root/a"},
		{"./**", "/w/root /w/root/a", "/w", "/w/root/a"},
		{"./*", "/w/root/a /w/root/a/b", "/w/root /w/x", "/w/root/a /w/root/a/b"},
		{"/x", "/w/conf/x /w/conf/x/y", "/w/root/x /x", "/w/conf/x /w/conf/x/y"},
		{"/", "/w/conf /w/conf/x", "/w/root", "/w/conf/x"},
		{"~/x/**", "/home/me/x /home/me/x/y", "/home/x", "/home/me/x/y"},
		{"~/.ssh", "/home/me/.ssh/id", "/home/me/x/.ssh", "/home/me/.ssh/id"},
		{"//etc/passwd", "/etc/passwd", "/w/root/etc/passwd /etc", "/etc/passwd"},
		{"//**", "/ /etc /w/root/a", "", "/etc /w/root/a"},
		{"//", "/ /etc", "", "/etc"},
		{"../x/**", "/w/x /w/x/y", "/w/root/x/y", "/w/x/y"},
		{"../../../etc", "/etc /etc/passwd", "/w/etc", "/etc /etc/passwd"},
		{"src/../x", "/w/root/x", "/w/root/src/x", "/w/root/x"},
		{"secrets/**/**", "/w/root/secrets /w/root/secrets/a", "/w/root/x/secrets/a", "/w/root/secrets/a"},
		{".//a//b/./c", "/w/root/a/b/c", "/w/root/a/c", "/w/root/a/b/c"},
		{" ./a ", "/w/root/a", "/w/root/b", "/w/root/a"},
		{"#a", "/w/root/#a", "/w/root/a", "/w/root/#a"},
		{`\!a`, "/w/root/!a", "/w/root/a", "/w/root/!a"},
		{`./app/\[id\]/**`, "/w/root/app/[id]/x", "/w/root/app/i/x", "/w/root/app/[id]/x"},
		{"./app/(group)/x", "/w/root/app/(group)/x", "/w/root/app/group/x", "/w/root/app/(group)/x"},
	} {
		t.Run(tt.spec, func(t *testing.T) {
			r, err := pathRuleOf(b, source, tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			var allowed []string
			for path := range strings.FieldsSeq(tt.covers) {
				if !r.covers(b.key(path), false, true) {
					t.Errorf("%s is not covered", path)
				}
				if r.covers(b.key(path), false, false) {
					allowed = append(allowed, path)
				}
				if !r.covers(b.key(path), true, false) {
					t.Errorf("%s is not covered as a directory", path)
				}
			}
			if diff := cmp.Diff(strings.Fields(tt.allows), allowed); diff != "" {
				t.Errorf("covered by a permission (-want +got):\n%s", diff)
			}
			for path := range strings.FieldsSeq(tt.spares) {
				if r.covers(b.key(path), true, true) {
					t.Errorf("%s is covered", path)
				}
			}
		})
	}
}

func TestFolding(t *testing.T) {
	b := &bases{root: place{"/w/root"}, fold: true}
	for path, want := range map[string]bool{"/w/Root/secrets/KEY": true, "/w/root/SECRETS": true, "/w/root/ſecrets/x": true, "/w/root/secret": false} {
		if got, err := deniesPath(b, nil, "./Secrets/**", path); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", path, got, err, want)
		}
	}
}

func TestWildNames(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"*", "", true}, {"a*", "a", true}, {"a*b", "ab", true}, {"a*b", "a", false}, {"ab*b", "ab", false},
		{"*x*x*", "axbx", true}, {"*x*x*", "ax", false}, {"a**b", "axb", true}, {"mcp__a__*", "mcp__a__b", true}, {"mcp__a__*", "mcp__ab__c", false},
	} {
		if got := wildName(tt.pattern, tt.name); got != tt.want {
			t.Errorf("wildName(%q, %q) = %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

// FuzzPath holds that a path pattern that is accepted covers the same paths
// whatever words mean nothing in it, and as a denial all that it does as a
// permission.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{"./secrets/**", "x/", "//a/../b", "~/[a-c]*", `\*`, "**/a/**"} {
		f.Add(seed, "secrets/key")
	}
	b := &bases{root: place{"/w/root"}, home: place{"/home/me"}}
	f.Fuzz(func(t *testing.T, spec, path string) {
		if len(spec) > 200 || len(path) > 200 || strings.TrimSpace(spec) != spec {
			return
		}
		r, err := pathRuleOf(b, place{"/w/conf"}, spec)
		if err != nil {
			return
		}
		key := b.key("/w/root/" + path)
		if r.covers(key, false, false) && !r.covers(key, false, true) {
			t.Errorf("%q allows %q and does not deny it", spec, key)
		}
		same, err := pathRuleOf(b, place{"/w/conf"}, spec+"/.")
		if err == nil && !strings.HasSuffix(spec, "/") && strings.Contains(spec, "/") && same.covers(key, true, true) != r.covers(key, true, true) {
			t.Errorf("%q covers %q: %v, not so %q", spec, key, r.covers(key, true, true), spec+"/.")
		}
	})
}

// FuzzForm holds that a rule that is accepted is the text it was made of, and
// that what cannot be scoped still names its tool.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{"Read", "Read(x)", "Bash(npm run test:*)", "mcp__a__b", "WebFetch(domain:a.b)", "x*"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, err := parseForm(text)
		if err != nil {
			return
		}
		if again := form.name + "(" + form.spec + ")"; form.scoped && again != text || !form.scoped && form.name != text {
			t.Errorf("%q is read as %+v", text, form)
		}
		r, _ := newRule(form, pipeline.VerdictDeny)
		if !form.scoped && r.scoped() || !r.wild && !r.names(canonical(form.name)) {
			t.Errorf("%q becomes %+v", text, r)
		}
	})
}
