package redact

import (
	"slices"
	"strings"
)

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
// rest. Where people give such names too, as in npm_config_cache, so many as run
// says are letters and digits without a break.
var prefixes = []struct {
	text, kind string
	rest, run  int
	digit      bool // one of them is a digit
}{
	{"sk-ant-", kindAPIKey, 8, 0, false},
	{"sk-proj-", kindAPIKey, 16, 0, false},
	{"sk-", kindAPIKey, 20, 16, true},
	{"sk_live_", kindStripe, 10, 0, false},
	{"sk_test_", kindStripe, 10, 0, false},
	{"rk_live_", kindStripe, 10, 0, false},
	{"rk_test_", kindStripe, 10, 0, false},
	{"whsec_", kindStripe, 16, 0, false},
	{"ghp_", kindGitHub, 16, 16, false},
	{"gho_", kindGitHub, 16, 16, false},
	{"ghu_", kindGitHub, 16, 16, false},
	{"ghs_", kindGitHub, 16, 16, false},
	{"ghr_", kindGitHub, 16, 16, false},
	{"github_pat_", kindGitHub, 16, 16, false},
	{"glpat-", kindGitLab, 16, 0, false},
	{"AIza", kindGoogle, 30, 0, false},
	{"xoxa-", kindSlack, 10, 0, true},
	{"xoxb-", kindSlack, 10, 0, true},
	{"xoxc-", kindSlack, 10, 0, true},
	{"xoxd-", kindSlack, 10, 0, true},
	{"xoxe-", kindSlack, 10, 0, true},
	{"xoxo-", kindSlack, 10, 0, true},
	{"xoxp-", kindSlack, 10, 0, true},
	{"xoxr-", kindSlack, 10, 0, true},
	{"xoxs-", kindSlack, 10, 0, true},
	{"xapp-", kindSlack, 10, 0, true},
	{"npm_", kindNPM, 30, 30, true},
	{"hf_", kindHuggingFace, 30, 30, false},
}

// formatPairs are the two bytes that a secret known by its form, or what announces
// it, begins with: at finds nothing elsewhere.
var formatPairs = func() *pairs {
	var all pairs
	for _, begin := range []string{
		"--", ":/", "au", "aU", "Au", "AU", "be", "bE", "Be", "BE", "AK", "AS", "ey",
	} {
		all.add(begin)
	}
	for _, p := range prefixes {
		all.add(p.text)
	}
	return &all
}()

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
	pemEnd int // where the next last line of a PEM block is, as of the last look
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
		seen := f.s[body:min(end, body+64)]
		if end-body < p.rest || longestRun(seen) < p.run || p.digit && !hasDigit(seen) {
			continue
		}
		return end, p.kind
	}
	return 0, ""
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// longestRun is the most letters and digits in a row.
func longestRun(s string) (longest int) {
	for i := 0; i < len(s); i++ {
		end := runOf(s, i, isAlnum)
		longest = max(longest, end-i)
		i = end
	}
	return longest
}

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

const (
	pemBegin, pemEnd, pemDashes = "-----BEGIN ", "-----END ", "-----"
	maxPEM                      = 32 << 10 // bytes of a private key, however it is escaped
)

// privateKey finds a PEM or PGP block, whatever stands before its lines: the
// marks of a quotation, a comment or a diff, the names of files. One whose end
// is missing, as in a text that was cut, goes as far as it looks like a key.
func (f *finder) privateKey(i int) int {
	rest, ok := strings.CutPrefix(f.s[i:], pemBegin)
	if !ok {
		return 0
	}
	label := strings.Index(rest[:min(len(rest), 64)], pemDashes)
	if label < 0 || !strings.Contains(rest[:label], "PRIVATE KEY") {
		return 0
	}
	body := i + len(pemBegin) + label + len(pemDashes)
	if end := f.wholeKey(body, rest[:label]); end > 0 {
		return end
	}
	return f.cutKey(body)
}

// wholeKey is where the block of that label ends whose body begins at i, 0 if
// it does not. What stands between two such lines need not be a key: programs
// and manuals name them too.
func (f *finder) wholeKey(i int, label string) int {
	if f.pemEnd < i {
		f.pemEnd = len(f.s)
		if n := strings.Index(f.s[i:], pemEnd); n >= 0 {
			f.pemEnd = i + n
		}
	}
	last := pemEnd + label + pemDashes
	if f.pemEnd-i > maxPEM || !strings.HasPrefix(f.s[f.pemEnd:], last) {
		return 0
	}
	// A marker of ours is in no key. To look further would make what is found
	// depend on what was replaced before.
	body := f.s[i:f.pemEnd]
	if strings.Contains(body, pemBegin) || strings.IndexByte(body, '[') >= 0 || !holdsKey(body) {
		return 0
	}
	return f.pemEnd + len(last)
}

const (
	keyWord = 16 // characters of base64 in a row that may be a key
	keyLine = 32 // those that are one
)

// holdsKey reports whether the body of a block has a line of a key.
func holdsKey(body string) bool {
	least := keyWord
	if next := strings.TrimLeft(body, `\`); next != "" && strings.IndexByte("\"'`", next[0]) >= 0 {
		least = keyLine // the first line is a constant of a program
	}
	for i := 0; i < len(body); i++ {
		end := runOf(body, i, isBase64)
		if end-i >= least {
			return true
		}
		i = end
	}
	return false
}

// cutKey is where a key ends whose block begins at i and has no end, 0 if there
// is none.
func (f *finder) cutKey(i int) int {
	const headers, margin = 160, 24 // the most bytes before the first line, and before the others
	end := f.lineOfKey(i, headers)
	if end == 0 {
		return 0
	}
	for next := end; next > 0; next = f.lineOfKey(end, margin) {
		end = next
	}
	// The last line may be short.
	if last := f.blanks(end); runOf(f.s, last, isBase64) > last {
		end = skipPadding(f.s, runOf(f.s, last, isBase64))
	}
	return end
}

// lineOfKey is where the first line of a key ends that begins no more than room
// bytes behind i; 0 if there is none. Right behind i it may be shorter.
func (f *finder) lineOfKey(i, room int) int {
	if first := f.blanks(i); runOf(f.s, first, isBase64)-first >= keyWord {
		return runOf(f.s, first, isBase64)
	}
	for at := i; at < min(len(f.s), i+room); at++ {
		end := runOf(f.s, at, isBase64)
		if end-at >= keyLine {
			return end
		}
		at = end
		if at < len(f.s) && (f.s[at] == '[' || strings.HasPrefix(f.s[at:], pemDashes)) {
			break
		}
	}
	return 0
}

// blanks is where the white space from i on ends, the padding of base64 and what
// stands between the lines of a text in a program.
func (f *finder) blanks(i int) int {
	for ; i < len(f.s) && strings.IndexByte(" \t\r\n\\\"'`+,=", f.s[i]) >= 0; i++ {
		if f.s[i] == '\\' && i+1 < len(f.s) && strings.IndexByte("nrt", f.s[i+1]) >= 0 {
			i++
		}
	}
	return i
}

func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' }

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
		case strings.IndexByte(",;|)&", c) >= 0 && isPort(s[password:j]) && password > 0:
			return 0, 0 // what follows is no part of the URL, as in a list
		case c == '[':
			j += max(f.r.markLen(s[j:]), 1) - 1
		case c <= ' ' || strings.IndexByte("/?#\"'<>`{}\\", c) >= 0:
			return f.withPassword(from, password, end)
		}
	}
	return f.withPassword(from, password, end)
}

func isPort(s string) bool { return len(s) <= 5 && strings.Trim(s, "0123456789") == "" && s != "" }

// withPassword drops what has no password, or one that is a marker already.
func (f *finder) withPassword(from, password, end int) (int, int) {
	if password == 0 || password >= end || f.r.markLen(f.s[password:end]) == end-password {
		return 0, 0
	}
	return from, end
}

// schemes are the words that stand before the credentials in an Authorization
// header. Before what looks like a key, any word is one.
var schemes = []string{"bearer", "basic", "token", "apikey", "api-key", "digest", "negotiate", "ntlm", "ssws", "aws4-hmac-sha256"}

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
	end = runOf(s[:min(len(s), from+64)], from, isCredentialChar)
	word, next := s[from:end], skip(s, end, " \t")
	isScheme := slices.ContainsFunc(schemes, func(scheme string) bool { return strings.EqualFold(word, scheme) })
	if next > end && (isScheme || word != "" && looksLikeKey(s[next:])) {
		return next, parameters(s, next)
	}
	// Without a scheme it may be the name of a variable, or a call.
	if isScheme || !looksLikeKey(word) {
		return 0, 0
	}
	if end = runOf(s, from, isCredentialChar); end < len(s) && s[end] == '(' {
		return 0, 0
	}
	return from, end
}

// looksLikeKey reports whether s begins with what is no word or name: a long run
// of letters and digits.
func looksLikeKey(s string) bool {
	s = s[:runOf(s[:min(len(s), 64)], 0, isCredentialChar)]
	return longestRun(s) >= 16 && hasDigit(s)
}

// parameters is where the credentials at i end: one word, or several parameters
// that may be quoted, as in Digest's username="u", response="1f". It is 0 if
// there are none.
func parameters(s string, i int) int {
	end := 0
	for {
		next := runOf(s, i, isCredentialChar)
		if strings.Trim(s[i:next], "-._~+/=") == "" { // at most an operator of a program
			return end
		}
		if end = next; s[end-1] == '=' {
			end = quoted(s, end)
		}
		for end+1 < len(s) && s[end] == ';' && isKeyChar(s[end+1]) { // a list of names
			end = runOf(s, end+1, isKeyChar)
		}
		separator := runOf(s, end, func(c byte) bool { return c == ',' || c == ';' || c == ' ' })
		if separator == end || !isParameter(s[i:]) || !isParameter(s[separator:]) {
			return end
		}
		i = separator
	}
}

// isParameter reports whether s begins with a name, = and a value. What ends in
// the padding of base64 is none.
func isParameter(s string) bool {
	name := runOf(s, 0, isKeyChar)
	return 0 < name && name+1 < len(s) && s[name] == '=' && (isKeyChar(s[name+1]) || strings.IndexByte(`"\`, s[name+1]) >= 0)
}

// quoted is the end of a short text in quotes, escaped or not, that begins at i;
// i if none does.
func quoted(s string, i int) int {
	const most = 1024
	begin := runOf(s, i, func(c byte) bool { return c == '\\' })
	if begin >= len(s) || s[begin] != '"' {
		return i
	}
	quote := s[i : begin+1]
	rest := s[begin+1 : min(len(s), begin+1+most)]
	if n := strings.Index(rest, quote); n >= 0 && !strings.Contains(rest[:n], "\n") {
		return begin + 1 + n + len(quote)
	}
	return i
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
