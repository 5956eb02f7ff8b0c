package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/tools"
)

func check(t *testing.T, what string, got, want any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Values that exercise every spelling: quotes, slashes, a line break, what HTML
// and URLs escape, letters beyond ASCII.
const (
	plain   = "hunter2hunter2"
	awkward = "p\"a/s\\s<w>&o+r d=\nünïcode😀"
	closed  = "]brackets["
)

func known() *redact.Redactor {
	return redact.New(&redact.Options{
		Secrets: []redact.Secret{{"PLAIN", plain}, {"AWKWARD", awkward}, {"CLOSED", closed}},
		Names:   []string{"ssn", "card_number"},
	})
}

// key makes a text of a form in pieces, so that no scanner of sources takes it
// for a leak.
func key(parts ...string) string { return strings.Join(parts, "") }

func TestTextFormats(t *testing.T) {
	digits := strings.Repeat("aB3", 15)
	jwt := key("ey", "JhbGciOiJIUzI1NiJ9", ".", "eyJzdWIiOiIxMjM0In0", ".", "c2lnbmF0dXJl")
	pem := key("-----BEGIN RSA PRIV", "ATE KEY-----\nMIIEpAIBAAKCAQEA\nabc+/=\n-----END RSA PRIV", "ATE KEY-----")
	begin, end := key("-----BEGIN PRIV", "ATE KEY-----"), key("-----END PRIV", "ATE KEY-----")
	base64Line := strings.Repeat("lQOY/zP8", 8)
	pgp := key("-----BEGIN PGP PRIV", "ATE KEY BLOCK-----\nVersion: GnuPG v2.0.22 (GNU/Linux)\n\n", base64Line, "\n", base64Line, "\n=aB3d\n-----END PGP PRIV", "ATE KEY BLOCK-----")
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "plain text, über alles 😀", "plain text, über alles 😀"},
		{"an Anthropic key", "key " + key("sk-", "ant-api03-abc_DEF-123") + ".", "key [redacted: API key]."},
		{"an OpenAI key", key("sk", "-", digits), "[redacted: API key]"},
		{"a project key", key("sk", "-proj-", digits), "[redacted: API key]"},
		{"a CSS class", "class=sk-circle-fade-dot-before", "class=sk-circle-fade-dot-before"},
		{"names that begin like keys", "sk-learn-based-classifier-2024-version-1 hf_hub_download_and_cache_everything npm_config_cache_directory_for_node_20 gho_st_in_the_machine_token",
			"sk-learn-based-classifier-2024-version-1 hf_hub_download_and_cache_everything npm_config_cache_directory_for_node_20 gho_st_in_the_machine_token"},
		{"a short one", "sk-1", "sk-1"},
		{"inside a word", "task-" + digits, "task-" + digits},
		{"GitHub", key("gh", "p_", digits) + "\n" + key("gh", "o_", digits), "[redacted: GitHub token]\n[redacted: GitHub token]"},
		{"a fine-grained GitHub token", key("github", "_pat_", digits), "[redacted: GitHub token]"},
		{"after an escape", `{"a":"\n` + key("gh", "p_", digits), `{"a":"\n[redacted: GitHub token]`},
		{"after a URL's escape", `?a=%3D` + key("gh", "p_", digits), `?a=%3D[redacted: GitHub token]`},
		{"AWS", key("AK", "IAIOSFODNN7EXAMPLE") + ";", "[redacted: AWS access key];"},
		{"longer than AWS", key("AK", "IAIOSFODNN7EXAMPLEX"), key("AK", "IAIOSFODNN7EXAMPLEX")},
		{"Slack", key("xo", "xb-", "1234567890-abc"), "[redacted: Slack token]"},
		{"Google", key("AI", "za", digits), "[redacted: Google API key]"},
		{"a JWT", "cookie: " + jwt + ", next", "cookie: [redacted: JWT], next"},
		{"a base64 object alone", "eyJhbGciOiJIUzI1NiJ9 ", "eyJhbGciOiJIUzI1NiJ9 "},
		{"a private key", "a " + pem + " b", "a [redacted: private key] b"},
		{"a private key in JSON", strings.ReplaceAll(pem, "\n", `\n`), "[redacted: private key]"},
		{"a private key that is cut", pem[:55], "[redacted: private key]"},
		{"a PGP key", pgp + "\nafter", "[redacted: private key]\nafter"},
		{"a quoted key", "> " + strings.ReplaceAll(pgp, "\n", "\n> ") + "\n> after", "> [redacted: private key]\n> after"},
		{"a key in a list of matches", "k.asc:1:" + strings.ReplaceAll(pgp, "\n", "\nk.asc:2:"), "k.asc:1:[redacted: private key]"},
		{"a quoted key that is cut", "> " + strings.ReplaceAll(pgp[:180], "\n", "\n> "), "> [redacted: private key]"},
		{"the lines around a key in a manual", begin + " is followed by many lines, none of which you should show to anybody.", begin + " is followed by many lines, none of which you should show to anybody."},
		{"the lines around a key in a program", "const begin = \"" + begin + "\"\nconst endOfPrivateKeys = \"" + end + "\"\n", "const begin = \"" + begin + "\"\nconst endOfPrivateKeys = \"" + end + "\"\n"},
		{"a key with a remark in it", begin + "\n" + base64Line + "\n[sic]\n" + end, "[redacted: private key]\n[sic]\n" + end},
		{"two lines too far apart for a key", begin + strings.Repeat(" ab", 11_000) + base64Line + end, begin + strings.Repeat(" ab", 11_000) + base64Line + end},
		{"two keys, the first of which is cut", pgp[:120] + "\n" + pgp, "[redacted: private key]\n[redacted: private key]"},
		{"a public key", "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nMIIEpAIBAAKCAQEA\n-----END PUBLIC KEY-----"},
		{"a header", "Authorization: Bearer x\r\nHost: y", "Authorization: Bearer [redacted: authorization]\r\nHost: y"},
		{"a header in JSON", `{"authorization":"Basic dTpw"}`, `{"authorization":"Basic [redacted: authorization]"}`},
		{"a header in a command", `curl -H 'authorization: token abc'`, `curl -H 'authorization: token [redacted: authorization]'`},
		{"a header without a scheme", "Authorization: 0123456789abcdef", "Authorization: [redacted: authorization]"},
		{"a header with parameters", `curl -H 'Authorization: Digest username="u", realm="a realm", response="1f"' x`, `curl -H 'Authorization: Digest [redacted: authorization]' x`},
		{"a header with parameters in JSON", `"Authorization: Token token=\"abc\"", "b"`, `"Authorization: Token [redacted: authorization]", "b"`},
		{"a signature", "Authorization: AWS4-HMAC-SHA256 Credential=A/1/aws4_request, SignedHeaders=host;x-amz-date, Signature=f0\nHost: y", "Authorization: AWS4-HMAC-SHA256 [redacted: authorization]\nHost: y"},
		{"a header with a scheme nobody knows", "Authorization: Bot MTk4NjIyNDgzNDcxOTI1.Cl2FMQ.ZnCj", "Authorization: Bot [redacted: authorization]"},
		{"what follows a header in a line of a log", "Authorization: Basic dTpwdw==, status=200; path=/x", "Authorization: Basic [redacted: authorization], status=200; path=/x"},
		{"a header made by a call", "authorization = base64.decodebytes(authorization)", "authorization = base64.decodebytes(authorization)"},
		{"a header made by an operator", "authorization = token + rest", "authorization = token + rest"},
		{"a group of an API", "authorization: rbac.authorization.k8s.io/v1", "authorization: rbac.authorization.k8s.io/v1"},
		{"a header made of a variable", "{Authorization: `Bearer ${token}`, authorization: auth}", "{Authorization: `Bearer ${token}`, authorization: auth}"},
		{"a bearer", "use bearer 0123456789abcdef0123", "use bearer [redacted: authorization]"},
		{"a bearer that reads like a header then", "bearer 0123456789abcdef0123: 0123456789abcdef0123", "bearer [redacted: authorization]: 0123456789abcdef0123"},
		{"a bearer of news", "the bearer of news", "the bearer of news"},
		{"a URL", "git clone https://user:pa:ss@w@host/x:y@z", "git clone https://[redacted: URL credentials]@host/x:y@z"},
		{"URLs and addresses in lists", "http://a:80,b@c http://a:80;b@c (http://a:80)|b@c ?to=http://a:80&mail=b@c", "http://a:80,b@c http://a:80;b@c (http://a:80)|b@c ?to=http://a:80&mail=b@c"},
		{"a password with a comma", "http://a:80a,b@c", "http://[redacted: URL credentials]@c"},
		{"a URL with a user", "ssh://git@host:22/x", "ssh://git@host:22/x"},
		{"a URL of a template", "https://${user}:${pass}@host", "https://${user}:${pass}@host"},
		{"an IPv6 URL", "http://[::1]:80/a@b", "http://[::1]:80/a@b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := redact.New(nil)
			check(t, "text", r.Text(tt.text), tt.want)
			check(t, "again", r.Text(tt.want), tt.want)
			check(t, "known", r.Known(tt.text), tt.text)
		})
	}
}

func spelled(v any) string {
	text, _ := json.Marshal(v)
	return string(text[1 : len(text)-1])
}

func TestTextSpellings(t *testing.T) {
	base := func(before, after string) string {
		return base64.StdEncoding.EncodeToString([]byte(before + awkward + after))
	}
	for _, tt := range []struct{ name, text string }{
		{"as it is", awkward},
		{"JSON", spelled(awkward)},
		{"JSON in JSON", spelled(spelled(awkward))},
		{"JSON in ASCII", `p\"a/s\\s<w>&o+r d=\n\u00fcn\u00efcode\ud83d\ude00`},
		{"JSON with slashes escaped", `p\"a\/s\\s<w>&o+r d=\nünïcode😀`},
		{"a query", url.QueryEscape(awkward)},
		{"a path", url.PathEscape(awkward)},
		{"a component", strings.ReplaceAll(url.QueryEscape(awkward), "+", "%20")},
		{"small hexadecimal digits", strings.ToLower(url.QueryEscape(awkward))},
		{"base64", base("", "")},
		{"base64 for URLs", base64.URLEncoding.EncodeToString([]byte(awkward))},
		{"base64 after one byte", base("u", "")},
		{"base64 after two bytes", base("u:", "x")},
		{"base64 after three bytes", base("usr", "xyz")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, got := range []string{known().Text("<" + tt.text + ">"), known().Known("<" + tt.text + ">")} {
				if !strings.Contains(got, "[redacted: AWKWARD]") || len(got) > len("<[redacted: AWKWARD]>")+12 {
					t.Errorf("%q became %q", tt.text, got)
				}
			}
		})
	}
	check(t, "exactly", known().Text("x="+base("", "")+";"), "x=[redacted: AWKWARD];")
}

func TestKnownValues(t *testing.T) {
	for _, tt := range []struct {
		name    string
		secrets []redact.Secret
		text    string
		want    string
		ignored []string
	}{
		{"twice", []redact.Secret{{"A", "secret"}}, "secret secretsecret", "[redacted: A] [redacted: A][redacted: A]", nil},
		{"the longer of two", []redact.Secret{{"A", "secret"}, {"B", "secret-and-more"}}, "secret-and-more", "[redacted: B]", nil},
		{"two that overlap", []redact.Secret{{"A", "abcdefgh"}, {"B", "efghijkl"}}, "1abcdefghijkl2", "1[redacted: A]2", nil},
		{"the same value twice", []redact.Secret{{"A", "secret"}, {"B", "secret"}}, "secret", "[redacted: A]", nil},
		{"white space around it", []redact.Secret{{"A", " secret\n"}}, "secret", "[redacted: A]", nil},
		{"no name", []redact.Secret{{"", "secret"}}, "secret", "[redacted]", nil},
		{"a name that is the value", []redact.Secret{{"secret", "secret"}}, "secret", "[redacted]", nil},
		{"a name that holds another's value", []redact.Secret{{"my secret", "abcdef"}, {"B", "secret"}}, "abcdef", "[redacted]", nil},
		{"a name that does not fit", []redact.Secret{{"a]b\n", "secret"}}, "secret", "[redacted]", nil},
		{"too short", []redact.Secret{{"A", "short"}, {"B", "secret"}}, "short secret", "short [redacted: B]", []string{"A"}},
		{"a part of a marker", []redact.Secret{{"A", "redacted"}, {"B", "secret"}}, "secret redacted", "[redacted: B] redacted", []string{"A"}},
		{"what follows reads on from a marker", []redact.Secret{{"A", "secret"}, {"B", "A]after"}, {"C", "before["}}, "beforesecretafter", "[redacted: C][redacted: A]after", []string{"B"}},
		{"a URL's user", []redact.Secret{{"A", "secret"}}, "https://secret:pw@h https://u:secret@h", "https://[redacted: URL credentials]@h https://u:[redacted: A]@h", nil},
		{"bytes that are no text", []redact.Secret{{"A", "\x80abcdef"}}, "\u0080abcdef %80abcdef", "\u0080abcdef [redacted: A]", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := redact.New(&redact.Options{Secrets: tt.secrets})
			got := r.Text(tt.text)
			check(t, "text", got, tt.want)
			check(t, "again", r.Text(got), got)
			check(t, "ignored", r.Ignored(), tt.ignored)
		})
	}
}

func TestNil(t *testing.T) {
	var r *redact.Redactor
	check(t, "text", r.Text(plain), plain)
	check(t, "known", r.Known(plain), plain)
	check(t, "ignored", r.Ignored(), []string(nil))
}

func TestZeroRedactor(t *testing.T) {
	var r redact.Redactor
	check(t, "text", r.Text("Authorization: Bearer x "+plain), "Authorization: Bearer [redacted] "+plain)
	check(t, "value", r.JSON(tools.MustJSON(`{"password":"x"}`)).String(), `{"password":"[redacted]"}`)
}

func TestTextAllocatesNothingForNothing(t *testing.T) {
	r := known()
	text := strings.Repeat(`A plain line: {"key": "value"} https://host/path sk-1 eyJ ü `, 100)
	if n := testing.AllocsPerRun(10, func() { r.Text(text) }); n != 0 {
		t.Errorf("%v allocations for a text without secrets, want none", n)
	}
}

// Texts made to be read again and again from every place in them.
func TestTextIsLinear(t *testing.T) {
	const size = 1 << 17
	r := known()
	for _, piece := range []string{
		"sk-", "eyJ", "eyJ-", "eyJaaaaaaaa.", "authorization=", "Authorization: ", "bearer ", "a://", "a://b:", "-----BEGIN PRIVATE KEY-----",
		"-----BEGIN ", "hunter2", plain, "[redacted: ", "[", "xoxb-", "ghp_", "https://[redacted: JWT]:", "hunter2hunter", "\\u", "=",
	} {
		text := strings.Repeat(piece, size/len(piece))
		got := r.Text(text)
		if again := r.Text(got); again != got {
			t.Errorf("many %q: a second pass changes the text", piece)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	r := known()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got := r.Text("x " + plain); got != "x [redacted: PLAIN]" {
					t.Errorf("got %q", got)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzText(f *testing.F) {
	f.Add("Authorization: Bearer x https://u:p@h -----BEGIN PRIVATE KEY-----aaaaaaaaaaaaaaaaaaaa", 3)
	f.Add("sk-ant-aaaaaaaaaaaa eyJaaaaaaaaaa.eyJaaaaaaaaaaaa.", 0)
	f.Add("[redacted: PLAIN", 16)
	f.Add("https://[redacted: JWT]:[redacted: URL credentials]@", 10)
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = max(0, min(at, len(text)))
		for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
			at--
		}
		r := known()
		for _, secret := range []string{"", plain, awkward, closed, spelled(awkward), url.QueryEscape(awkward), base64.StdEncoding.EncodeToString([]byte(awkward))} {
			with := text[:at] + secret + text[at:]
			got := r.Text(with)
			if again := r.Text(got); again != got {
				t.Errorf("%q became %q, then %q", with, got, again)
			}
			if utf8.ValidString(with) && !utf8.ValidString(got) {
				t.Errorf("%q became invalid text %q", with, got)
			}
			if secret != "" && strings.Contains(got, secret) {
				t.Errorf("%q still holds %q: %q", with, secret, got)
			}
			if r.Known(with) == with && r.Text(with) != got {
				t.Errorf("two answers for %q", with)
			}
		}
	})
}
