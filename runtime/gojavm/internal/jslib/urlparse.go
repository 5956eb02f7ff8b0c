package jslib

import (
	"errors"
	"strconv"
	"strings"
)

// urlRecord is a URL as the URL Standard takes it apart. Texts are in their
// serialized, percent-encoded form.
type urlRecord struct {
	scheme             string // without the colon
	username, password string
	host               string
	hasHost            bool
	port               int // -1: none, or the scheme's own
	path               []string
	opaque             string // the path of a URL such as mailto:a@b
	isOpaque           bool
	query, fragment    string
	hasQuery, hasHash  bool
}

var errURL = errors.New("Invalid URL")

// specialPorts is the special schemes and the ports they imply.
var specialPorts = map[string]int{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": -1}

func (u *urlRecord) special() bool { _, ok := specialPorts[u.scheme]; return ok }

// parseURL parses text, against base if that is not nil.
func parseURL(text string, base *urlRecord) (*urlRecord, error) {
	text = strings.Trim(text, c0AndSpace)
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
	u := &urlRecord{port: -1}
	text, fragment, hasHash := strings.Cut(text, "#")
	u.hasHash, u.fragment = hasHash, encodeSet(fragment, inFragment)
	scheme, rest, ok := cutScheme(text)
	var err error
	switch {
	case ok:
		u.scheme = scheme
		err = u.afterScheme(rest, base)
	case base == nil:
		err = errURL
	case base.isOpaque:
		if text != "" || !hasHash {
			return nil, errURL
		}
		u.scheme, u.isOpaque, u.opaque, u.query, u.hasQuery = base.scheme, true, base.opaque, base.query, base.hasQuery
	default:
		u.scheme = base.scheme
		err = u.relative(text, base)
	}
	if err != nil {
		return nil, err
	}
	return u, nil
}

const c0AndSpace = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

func cutScheme(text string) (scheme, rest string, ok bool) {
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return strings.ToLower(text[:i]), text[i+1:], true
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// slash reports whether c separates path segments of u.
func (u *urlRecord) slash(c byte) bool { return c == '/' || c == '\\' && u.special() }

func (u *urlRecord) slashes(text string) int {
	n := 0
	for n < len(text) && u.slash(text[n]) {
		n++
	}
	return n
}

func (u *urlRecord) afterScheme(rest string, base *urlRecord) error {
	switch {
	case u.scheme == "file":
		if base != nil && base.scheme == "file" {
			return u.file(rest, base)
		}
		return u.file(rest, nil)
	case u.special():
		if base != nil && base.scheme == u.scheme && !strings.HasPrefix(rest, "//") {
			return u.relative(rest, base)
		}
		return u.authority(rest[u.slashes(rest):])
	case strings.HasPrefix(rest, "//"):
		return u.authority(rest[2:])
	case strings.HasPrefix(rest, "/"):
		u.setPath(nil, rest)
		return nil
	default:
		u.isOpaque = true
		path := u.cutQuery(rest)
		u.opaque = encodeSet(path, inC0)
		if strings.HasSuffix(u.opaque, " ") && (u.hasQuery || u.hasHash) {
			u.opaque = u.opaque[:len(u.opaque)-1] + "%20"
		}
		return nil
	}
}

// cutQuery takes the query off text and keeps it.
func (u *urlRecord) cutQuery(text string) string {
	path, query, ok := strings.Cut(text, "?")
	if ok {
		u.hasQuery, u.query = true, u.encodeQuery(query)
	}
	return path
}

func (u *urlRecord) encodeQuery(query string) string {
	if u.special() {
		return encodeSet(query, inSpecialQuery)
	}
	return encodeSet(query, inQuery)
}

// relative parses a reference without a scheme.
func (u *urlRecord) relative(text string, base *urlRecord) error {
	if u.scheme == "file" {
		return u.file(text, base)
	}
	if n := u.slashes(text); n >= 2 {
		if u.special() {
			return u.authority(text[n:])
		}
		return u.authority(text[2:])
	}
	u.username, u.password, u.host, u.hasHost, u.port = base.username, base.password, base.host, base.hasHost, base.port
	u.resolve(text, base)
	return nil
}

// resolve takes the path and the query from text, and from base what text lacks.
func (u *urlRecord) resolve(text string, base *urlRecord) {
	path := u.cutQuery(text)
	switch {
	case path == "":
		u.path = append([]string(nil), base.path...)
		if !u.hasQuery {
			u.query, u.hasQuery = base.query, base.hasQuery
		}
	case u.slash(path[0]):
		u.segments(nil, path[1:])
	default:
		var start []string
		if n := len(base.path); n > 0 {
			start = append(start, base.path[:n-1]...)
			if u.scheme == "file" && n == 1 && isDrive(base.path[0], true) {
				start = append(start, base.path[0])
			}
		}
		u.segments(start, path)
	}
}

func (u *urlRecord) setPath(start []string, text string) {
	path := u.cutQuery(text)
	if path == "" {
		if u.special() {
			u.path = []string{""}
		}
		return
	}
	u.segments(start, path[1:])
}

// segments appends the segments of path, which has no leading slash, to start.
func (u *urlRecord) segments(start []string, path string) {
	u.path = start
	for {
		end := 0
		for end < len(path) && !u.slash(path[end]) {
			end++
		}
		segment, last := path[:end], end == len(path)
		switch dots(segment) {
		case 2:
			if n := len(u.path); n > 0 && !(u.scheme == "file" && n == 1 && isDrive(u.path[0], true)) {
				u.path = u.path[:n-1]
			}
			if last {
				u.path = append(u.path, "")
			}
		case 1:
			if last {
				u.path = append(u.path, "")
			}
		default:
			if u.scheme == "file" && len(u.path) == 0 && isDrive(segment, false) {
				segment = segment[:1] + ":"
			}
			u.path = append(u.path, encodeSet(segment, inPath))
		}
		if last {
			return
		}
		path = path[end+1:]
	}
}

// dots is 1 for ".", 2 for "..", also percent-encoded, else 0.
func dots(segment string) int {
	s := strings.ReplaceAll(strings.ToLower(segment), "%2e", ".")
	if s == "." || s == ".." {
		return len(s)
	}
	return 0
}

func isDrive(s string, normalized bool) bool {
	return len(s) == 2 && 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z' && (s[1] == ':' || s[1] == '|' && !normalized)
}

// startsWithDrive reports whether text begins with a Windows drive letter that
// ends there.
func startsWithDrive(text string) bool {
	return len(text) >= 2 && isDrive(text[:2], false) && (len(text) == 2 || strings.IndexByte(`/\?#`, text[2]) >= 0)
}

func (u *urlRecord) file(text string, base *urlRecord) error {
	u.hasHost = true
	switch n := u.slashes(text); {
	case n >= 2:
		return u.fileHost(text[2:])
	case n == 1:
		if base != nil {
			u.host = base.host
			if !startsWithDrive(text[1:]) && len(base.path) > 0 && isDrive(base.path[0], true) {
				path := u.cutQuery(text[1:])
				u.segments([]string{base.path[0]}, path)
				return nil
			}
		}
		u.setPath(nil, text)
		return nil
	case base != nil:
		u.host = base.host
		if startsWithDrive(text) {
			u.segments(nil, u.cutQuery(text))
			return nil
		}
		u.resolve(text, base)
		return nil
	default:
		u.segments(nil, u.cutQuery(text))
		return nil
	}
}

func (u *urlRecord) fileHost(text string) error {
	end := strings.IndexAny(text, `/\?`)
	if end < 0 {
		end = len(text)
	}
	if isDrive(text[:end], false) {
		u.segments(nil, u.cutQuery(text))
		return nil
	}
	if end > 0 {
		host, err := u.parseHost(text[:end])
		if err != nil {
			return err
		}
		if host != "localhost" {
			u.host = host
		}
	}
	u.setPath(nil, text[end:])
	return nil
}

// authority parses "user:password@host:port" and what follows.
func (u *urlRecord) authority(text string) error {
	stop := "/?"
	if u.special() {
		stop = `/\?`
	}
	end := strings.IndexAny(text, stop)
	if end < 0 {
		end = len(text)
	}
	host, rest := text[:end], text[end:]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		user, password, _ := strings.Cut(host[:at], ":")
		u.username, u.password = encodeSet(user, inUserinfo), encodeSet(password, inUserinfo)
		host = host[at+1:]
		if host == "" {
			return errURL
		}
	}
	if err := u.setHostPort(host); err != nil {
		return err
	}
	u.setPath(nil, rest)
	return nil
}

func (u *urlRecord) setHostPort(host string) error {
	port, hasPort := "", false
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		// The first colon outside brackets ends the host.
		if first := strings.IndexByte(host, ':'); !strings.HasPrefix(host, "[") {
			colon = first
		}
		host, port, hasPort = host[:colon], host[colon+1:], true
	}
	if host == "" && (u.special() || hasPort) {
		return errURL
	}
	parsed, err := u.parseHost(host)
	if err != nil {
		return err
	}
	u.host, u.hasHost = parsed, true
	return u.setPort(port)
}

func (u *urlRecord) setPort(port string) error {
	u.port = -1
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || strings.Trim(port, "0123456789") != "" {
		return errURL
	}
	if def, ok := specialPorts[u.scheme]; !ok || def != int(n) {
		u.port = int(n)
	}
	return nil
}

// href is the serialized URL.
func (u *urlRecord) href() string {
	var b strings.Builder
	b.WriteString(u.scheme + ":")
	if u.hasHost {
		b.WriteString("//")
		if u.username != "" || u.password != "" {
			b.WriteString(u.username)
			if u.password != "" {
				b.WriteString(":" + u.password)
			}
			b.WriteByte('@')
		}
		b.WriteString(u.hostPort())
	} else if !u.isOpaque && len(u.path) > 1 && u.path[0] == "" {
		b.WriteString("/.")
	}
	b.WriteString(u.pathname())
	if u.hasQuery {
		b.WriteString("?" + u.query)
	}
	if u.hasHash {
		b.WriteString("#" + u.fragment)
	}
	return b.String()
}

func (u *urlRecord) hostPort() string {
	if u.port >= 0 {
		return u.host + ":" + strconv.Itoa(u.port)
	}
	return u.host
}

func (u *urlRecord) pathname() string {
	if u.isOpaque {
		return u.opaque
	}
	if len(u.path) == 0 {
		return ""
	}
	return "/" + strings.Join(u.path, "/")
}

func (u *urlRecord) origin() string {
	switch u.scheme {
	case "http", "https", "ws", "wss", "ftp":
		return u.scheme + "://" + u.hostPort()
	case "blob":
		if inner, err := parseURL(u.pathname(), nil); err == nil && (inner.scheme == "http" || inner.scheme == "https") {
			return inner.origin()
		}
	}
	return "null"
}
