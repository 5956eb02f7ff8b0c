package redact

import "strings"

// The kinds of secret that are known by their form.
const (
	kindPrivateKey    = "private key"
	kindAPIKey        = "API key"
	kindGitHub        = "GitHub token"
	kindGitLab        = "GitLab token"
	kindAWS           = "AWS access key"
	kindSlack         = "Slack token"
	kindGoogle        = "Google API key"
	kindStripe        = "Stripe key"
	kindNPM           = "npm token"
	kindHuggingFace   = "Hugging Face token"
	kindJWT           = "JWT"
	kindAuthorization = "authorization"
	kindURL           = "URL credentials"
)

var kinds = []string{
	kindPrivateKey, kindAPIKey, kindGitHub, kindGitLab, kindAWS, kindSlack, kindGoogle, kindStripe, kindNPM,
	kindHuggingFace, kindJWT, kindAuthorization, kindURL,
}

// prefixes are how the keys of well-known services begin. A key is the prefix
// and the letters, digits, _ and - that follow, of which there are at least
// rest.
var prefixes = []struct {
	text, kind string
	rest       int
	digit      bool // one of them is a digit: the prefix alone is also a word
}{
	{"sk-ant-", kindAPIKey, 8, false},
	{"sk-proj-", kindAPIKey, 16, false},
	{"sk-", kindAPIKey, 20, true},
	{"sk_live_", kindStripe, 10, false},
	{"sk_test_", kindStripe, 10, false},
	{"rk_live_", kindStripe, 10, false},
	{"rk_test_", kindStripe, 10, false},
	{"whsec_", kindStripe, 16, false},
	{"ghp_", kindGitHub, 16, false},
	{"gho_", kindGitHub, 16, false},
	{"ghu_", kindGitHub, 16, false},
	{"ghs_", kindGitHub, 16, false},
	{"ghr_", kindGitHub, 16, false},
	{"github_pat_", kindGitHub, 16, false},
	{"glpat-", kindGitLab, 16, false},
	{"AIza", kindGoogle, 30, false},
	{"xoxa-", kindSlack, 10, true},
	{"xoxb-", kindSlack, 10, true},
	{"xoxe-", kindSlack, 10, true},
	{"xoxo-", kindSlack, 10, true},
	{"xoxp-", kindSlack, 10, true},
	{"xoxr-", kindSlack, 10, true},
	{"xoxs-", kindSlack, 10, true},
	{"xapp-", kindSlack, 10, true},
	{"npm_", kindNPM, 30, true},
	{"hf_", kindHuggingFace, 30, false},
}

// formats replaces what has the form of a secret. Every secret it knows ends
// before a character that could not begin another one right there, so that the
// markers of one pass change nothing for the next.
func (r *Redactor) formats(s string) string {
	f := finder{r: r, s: s}
	var out []byte
	last := 0
	for i := 0; i < len(s); i++ {
		from, end, kind := f.at(i)
		if end == 0 {
			continue
		}
		out = append(append(out, s[last:from]...), r.written(kind)...)
		last = end
		i = end - 1
	}
	return finish(out, s, last)
}

// finder looks for secrets in one text. No position costs more than a constant
// but for what is replaced and for runs, which are walked once.
type finder struct {
	r      *Redactor
	s      string
	runEnd int // of the run of key characters looked at last
}

// at finds a secret that begins, or whose announcement begins, at i. End is 0
// for none.
func (f *finder) at(i int) (from, end int, kind string) {
	switch c := f.s[i]; c {
	case '-':
		return i, f.privateKey(i), kindPrivateKey
	case ':':
		from, end = f.credentials(i)
		return from, end, kindURL
	case 'a', 'A', 'b', 'B':
		if from, end = f.authorization(i); end > 0 {
			return from, end, kindAuthorization
		}
		if c == 'A' && f.begins(i) {
			if end = f.accessKey(i); end > 0 {
				return i, end, kindAWS
			}
			end, kind = f.prefixed(i)
			return i, end, kind
		}
	case 'e':
		if f.begins(i) {
			return i, f.jwt(i), kindJWT
		}
	case 's', 'r', 'w', 'g', 'x', 'n', 'h':
		if f.begins(i) {
			end, kind = f.prefixed(i)
			return i, end, kind
		}
	}
	return i, 0, ""
}

// begins reports whether a word may begin at i: no letter or digit stands
// before it, or one that ends an escape such as \n or %3D.
func (f *finder) begins(i int) bool {
	s := f.s
	switch {
	case i == 0 || !isAlnum(s[i-1]):
		return true
	case i >= 2 && s[i-2] == '\\':
		return strings.IndexByte("nrtbf", s[i-1]) >= 0
	case i >= 3 && s[i-3] == '%':
		return true
	}
	return i >= 6 && s[i-6] == '\\' && s[i-5] == 'u'
}

func isKeyChar(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }

// run is the end of the letters, digits, _ and - from i on.
func (f *finder) run(i int) int {
	if i < f.runEnd {
		return f.runEnd
	}
	f.runEnd = runOf(f.s, i, isKeyChar)
	return f.runEnd
}

func runOf(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) {
		i++
	}
	return i
}

func (f *finder) prefixed(i int) (end int, kind string) {
	for _, p := range prefixes {
		if !strings.HasPrefix(f.s[i:], p.text) {
			continue
		}
		body := i + len(p.text)
		end := f.run(i)
		if end-body < p.rest || p.digit && !hasDigit(f.s[body:min(end, body+64)]) {
			continue
		}
		return end, p.kind
	}
	return 0, ""
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// accessKey finds AKIA or ASIA and sixteen capitals and digits.
func (f *finder) accessKey(i int) int {
	const length = 20
	s := f.s[i:]
	if len(s) < length || s[:4] != "AKIA" && s[:4] != "ASIA" || len(s) > length && isAlnum(s[length]) {
		return 0
	}
	if strings.Trim(s[4:length], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return 0
	}
	return i + length
}

// jwt finds two or more parts of base64, joined by dots, the first of which
// begins an object.
func (f *finder) jwt(i int) int {
	const least = 8
	if !strings.HasPrefix(f.s[i:], "eyJ") {
		return 0
	}
	end := f.run(i)
	if end-i < least || runOf(f.s[:min(len(f.s), end+1+least)], min(len(f.s), end+1), isKeyChar) < end+1+least {
		return 0
	}
	for end < len(f.s) && f.s[end] == '.' {
		next := runOf(f.s, end+1, isKeyChar)
		if next == end+1 {
			break
		}
		end = next
	}
	return end
}

// privateKey finds a PEM block. One whose end is missing, as in a text that was
// cut, goes as far as it may be a key.
func (f *finder) privateKey(i int) int {
	const begin, dashes = "-----BEGIN ", "-----"
	rest, ok := strings.CutPrefix(f.s[i:], begin)
	if !ok {
		return 0
	}
	label := strings.Index(rest[:min(len(rest), 64)], dashes)
	if label < 0 || !strings.Contains(rest[:label], "PRIVATE KEY") {
		return 0
	}
	body := i + len(begin) + label + len(dashes)
	end := body
	for end < len(f.s) && isPEMChar(f.s[end]) && !strings.HasPrefix(f.s[end:], dashes) {
		end++
	}
	if end-body < 16 {
		return 0
	}
	const last = "-----END "
	if rest, ok := strings.CutPrefix(f.s[end:], last); ok {
		if label := strings.Index(rest[:min(len(rest), 64)], dashes); label >= 0 {
			end += len(last) + label + len(dashes)
		}
	}
	return end
}

// isPEMChar takes what stands in a block and what may stand between its lines
// where it is written in a program.
func isPEMChar(c byte) bool {
	return isAlnum(c) || strings.IndexByte("+/= \t\r\n\\\"',:-", c) >= 0
}

// credentials finds the user and password of a URL whose "://" is at i.
func (f *finder) credentials(i int) (from, end int) {
	s := f.s
	if !strings.HasPrefix(s[i:], "://") || i == 0 || !isAlnum(s[i-1]) {
		return 0, 0
	}
	from = i + len("://")
	password := 0 // where it begins
	for j := from; j < len(s); j++ {
		switch c := s[j]; {
		case c == '@':
			end = j
		case c == ':' && password == 0:
			password = j + 1
		case c == '[':
			j += max(f.r.markLen(s[j:]), 1) - 1
		case c <= ' ' || strings.IndexByte("/?#\"'<>`{}\\", c) >= 0:
			return f.withPassword(from, password, end)
		}
	}
	return f.withPassword(from, password, end)
}

// withPassword drops what has no password, or one that is a marker already.
func (f *finder) withPassword(from, password, end int) (int, int) {
	if password == 0 || password >= end || f.r.markLen(f.s[password:end]) == end-password {
		return 0, 0
	}
	return from, end
}

// schemes are the words that stand before the credentials in an Authorization
// header.
var schemes = []string{"bearer", "basic", "token", "apikey"}

// authorization finds the credentials of an Authorization header, in whatever
// notation, and a long word after "Bearer".
func (f *finder) authorization(i int) (from, end int) {
	const header, bearer = "authorization", "bearer "
	s := f.s
	if hasFold(s[i:], bearer) && f.begins(i) {
		from = i + len(bearer)
		if end = runOf(s, from, isCredentialChar); end-from >= 20 && hasDigit(s[from:min(end, from+64)]) {
			return from, end
		}
		return 0, 0
	}
	at := i + len(header)
	if !hasFold(s[i:], header) || at < len(s) && s[at] == ']' { // the end of a marker
		return 0, 0
	}
	at = skip(s, at, "\\\"'`] \t")
	if at >= len(s) || s[at] != ':' && s[at] != '=' {
		return 0, 0
	}
	from = skip(s, at+1, "\\\"'` \t")
	word := s[from:runOf(s[:min(len(s), from+64)], from, isCredentialChar)]
	for _, scheme := range schemes {
		if !strings.EqualFold(word, scheme) {
			continue
		}
		end = from + len(scheme)
		from = skip(s, end, " \t")
		if from == end || runOf(s, from, isCredentialChar) == from {
			return 0, 0
		}
		return from, runOf(s, from, isCredentialChar)
	}
	// Without a scheme it may be the name of a variable.
	if len(word) < 16 || !hasDigit(word) {
		return 0, 0
	}
	return from, runOf(s, from, isCredentialChar)
}

func isCredentialChar(c byte) bool { return isAlnum(c) || strings.IndexByte("-._~+/=", c) >= 0 }

// skip passes over a few characters of that set.
func skip(s string, i int, set string) int {
	for n := 0; n < 8 && i < len(s) && strings.IndexByte(set, s[i]) >= 0; n++ {
		i++
	}
	return i
}

// hasFold reports whether s begins with the lower-case word, in any case.
func hasFold(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}
