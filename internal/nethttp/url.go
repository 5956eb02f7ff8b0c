package nethttp

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// maxURL is the longest URL in bytes.
const maxURL = 16 << 10

// ParseURL reads an absolute http or https URL. What it returns is what Do
// connects to, character by character: the host is in lower case and ASCII.
func ParseURL(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fmt.Errorf("has %d bytes; the longest URL that is sent has %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err // without the URL, which may be long or hold a secret
		}
		return nil, fmt.Errorf("is no URL: %w", err)
	}
	u.Host = strings.ToLower(u.Host)
	switch host := u.Hostname(); {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("must begin with https:// or http://")
	case u.User != nil:
		return nil, errors.New("must not hold a user name or password; send them as a header")
	case host == "":
		return nil, errors.New("names no host")
	case strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return nil, errors.New("must name its host in ASCII, with xn-- for other letters")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("has the port %q; ports are 1 to 65535", port)
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// HostPort is "host:port" of a URL of ParseURL.
func HostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Origin is "scheme://host:port" of a URL of ParseURL.
func Origin(u *url.URL) string { return u.Scheme + "://" + HostPort(u) }
