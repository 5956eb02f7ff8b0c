package permission

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"
)

// parseHost reads the spec of a rule about hosts: domain:example.org, or
// domain:*.example.org for what lies below.
func parseHost(spec string) (string, error) {
	host, ok := strings.CutPrefix(strings.TrimSpace(spec), "domain:")
	if !ok {
		return "", errors.New("hosts are written as domain:example.org or domain:*.example.org")
	}
	host = plainHost(host)
	name := strings.TrimPrefix(host, "*.")
	if host == "*" {
		return host, nil
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", errors.New("a domain is written in ASCII, with xn-- for other letters")
	}
	if name == "" || strings.ContainsAny(name, "*/@?#()[] ,") || strings.Contains(name, ":") && net.ParseIP(name) == nil {
		return "", errors.New("a domain is a host name alone, without scheme, port and path, and only its beginning may be *.")
	}
	return host, nil
}

// plainHost is a host name as it is compared; of the spellings of an address it is
// the shortest.
func plainHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().WithZone("").String()
	}
	return host
}

// hostOf is the host of "host:port".
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	return plainHost(host)
}

// checkHost refuses a host no rule could name.
func checkHost(address string) error {
	host := hostOf(address)
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > unicode.MaxASCII }) {
		return fmt.Errorf("does not give the host it would connect to as ASCII text, but %q, so no rule can be tested", address)
	}
	return nil
}

// matchHost reports whether a pattern of parseHost names a host.
func matchHost(pattern, host string) bool {
	switch suffix, wild := strings.CutPrefix(pattern, "*"); {
	case !wild:
		return host == pattern
	case suffix == "":
		return true
	default:
		return strings.HasSuffix(host, suffix)
	}
}
