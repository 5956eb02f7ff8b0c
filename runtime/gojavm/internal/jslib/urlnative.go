package jslib

import (
	"strings"

	"github.com/dop251/goja"
)

// urlNatives is what the URL classes of js/web.js need: a record is handed over
// as an array of its texts, the engine keeps no Go value.
func (l *lib) urlNatives(o *goja.Object) {
	l.method(o, "parseURL", 2, l.parseURL)
	l.method(o, "setURL", 3, l.setURL)
	l.method(o, "parseQuery", 1, l.parseQuery)
	l.method(o, "formatQuery", 1, l.formatQuery)
}

// parts is [href, origin, protocol, username, password, host, hostname, port,
// pathname, search, hash], as the URL class shows them.
func (l *lib) parts(u *urlRecord) goja.Value {
	search, hash, port := "", "", ""
	if u.query != "" {
		search = "?" + u.query
	}
	if u.fragment != "" {
		hash = "#" + u.fragment
	}
	if u.port >= 0 {
		port = strings.TrimPrefix(u.hostPort(), u.host+":")
	}
	return l.vm.NewArray(u.href(), u.origin(), u.scheme+":", u.username, u.password, u.hostPort(), u.host, port, u.pathname(), search, hash)
}

const maxURL = 1 << 20

// parseURL gives the parts of a URL, or null.
func (l *lib) parseURL(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	var base *urlRecord
	if b := call.Argument(1); !goja.IsUndefined(b) {
		parsed, err := parseURL(b.String(), nil)
		if err != nil || len(b.String()) > maxURL {
			return goja.Null()
		}
		base = parsed
	}
	u, err := parseURL(text, base)
	if err != nil || len(text) > maxURL {
		return goja.Null()
	}
	return l.parts(u)
}

// setURL gives the parts of a URL after one of them was assigned; an assignment
// that makes no sense changes nothing.
func (l *lib) setURL(call goja.FunctionCall) goja.Value {
	u, err := parseURL(call.Argument(0).String(), nil)
	if err != nil {
		return goja.Null()
	}
	changed := *u
	if changed.assign(call.Argument(1).String(), call.Argument(2).String()) {
		u = &changed
	}
	return l.parts(u)
}

// assign sets one property and reports whether the result is a URL.
func (u *urlRecord) assign(name, value string) bool {
	value = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(value)
	locked := !u.hasHost || u.host == "" || u.scheme == "file"
	switch name {
	case "protocol":
		scheme, _, ok := cutScheme(value + ":")
		if !ok {
			return false
		}
		was := u.special()
		u.scheme = scheme
		if u.special() != was || scheme == "file" && (u.username != "" || u.port >= 0) {
			return false
		}
		if u.port == specialPorts[scheme] {
			u.port = -1
		}
	case "username", "password":
		if locked {
			return false
		}
		encoded := encodeSet(value, inUserinfo)
		if name == "username" {
			u.username = encoded
		} else {
			u.password = encoded
		}
	case "host", "hostname":
		return u.assignHost(name, value)
	case "port":
		if locked {
			return false
		}
		digits := prefixOf(value, "0123456789")
		if digits == "" && value != "" {
			return false
		}
		return u.setPort(digits) == nil
	case "pathname":
		if u.isOpaque {
			return false
		}
		if value != "" && u.slash(value[0]) {
			value = value[1:]
		}
		u.segments(nil, strings.NewReplacer("?", "%3F", "#", "%23").Replace(value))
	case "search":
		value = strings.TrimPrefix(value, "?")
		u.hasQuery, u.query = value != "", u.encodeQuery(value)
	case "hash":
		value = strings.TrimPrefix(value, "#")
		u.hasHash, u.fragment = value != "", encodeSet(value, inFragment)
	default:
		return false
	}
	return true
}

func (u *urlRecord) assignHost(name, value string) bool {
	if u.isOpaque {
		return false
	}
	if end := strings.IndexAny(value, `/?#`); end >= 0 {
		value = value[:end]
	}
	port := u.port
	if name == "hostname" && strings.Contains(value, ":") && !strings.HasPrefix(value, "[") {
		return false
	}
	if err := u.setHostPort(value); err != nil {
		return false
	}
	if u.port < 0 && !strings.HasSuffix(value, ":") {
		u.port = port
	}
	return true
}

// parseQuery splits application/x-www-form-urlencoded text into name, value,
// name, value.
func (l *lib) parseQuery(call goja.FunctionCall) goja.Value {
	var items []any
	for part := range strings.SplitSeq(call.Argument(0).String(), "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		items = append(items, formDecode(name), formDecode(value))
	}
	return l.vm.NewArray(items...)
}

func formDecode(s string) string {
	return strings.ToValidUTF8(percentDecode(strings.ReplaceAll(s, "+", " ")), "\uFFFD")
}

// formatQuery is the opposite of parseQuery.
func (l *lib) formatQuery(call goja.FunctionCall) goja.Value {
	list, ok := call.Argument(0).(*goja.Object)
	if !ok {
		return l.vm.ToValue("")
	}
	var items []goja.Value
	if err := l.vm.ExportTo(list, &items); err != nil {
		panic(l.failure(err))
	}
	var b strings.Builder
	for i, item := range items {
		switch {
		case i > 0 && i%2 == 0:
			b.WriteByte('&')
		case i%2 == 1:
			b.WriteByte('=')
		}
		b.WriteString(formEncode(item.String()))
	}
	return l.vm.ToValue(b.String())
}

func formEncode(s string) string {
	encoded := encodeSet(s, func(c byte) bool {
		return !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("*-._ ", c) >= 0)
	})
	return strings.ReplaceAll(encoded, " ", "+")
}
