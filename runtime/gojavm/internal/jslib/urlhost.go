package jslib

import (
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The percent-encode sets of the URL Standard, for bytes up to 0x7E; every other
// byte is always encoded.
func inC0(c byte) bool       { return c < ' ' || c > '~' }
func inFragment(c byte) bool { return inC0(c) || strings.IndexByte(" \"<>`", c) >= 0 }
func inQuery(c byte) bool    { return inC0(c) || strings.IndexByte(" \"#<>", c) >= 0 }
func inSpecialQuery(c byte) bool {
	return inQuery(c) || c == '\''
}
func inPath(c byte) bool     { return inQuery(c) || strings.IndexByte("?^`{}", c) >= 0 }
func inUserinfo(c byte) bool { return inPath(c) || strings.IndexByte("/:;=@[\\]|", c) >= 0 }

// encodeSet percent-encodes the bytes of text that are in a set.
func encodeSet(text string, in func(byte) bool) string {
	const upper = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; in(c) {
			b.WriteByte('%')
			b.WriteByte(upper[c>>4])
			b.WriteByte(upper[c&15])
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// percentDecode decodes what is well-formed and leaves the rest.
func percentDecode(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil && text[i+1] != '+' {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// forbidden is the characters no host may hold; a domain must not hold
// controls, % and DEL either.
const forbidden = "\x00\t\n\r #/:<>?@[\\]^|"

func (u *urlRecord) parseHost(host string) (string, error) {
	if strings.HasPrefix(host, "[") {
		if !strings.HasSuffix(host, "]") {
			return "", errURL
		}
		address, err := netip.ParseAddr(host[1 : len(host)-1])
		if err != nil || !address.Is6() || address.Zone() != "" {
			return "", errURL
		}
		return "[" + ipv6Text(address) + "]", nil
	}
	if !u.special() {
		if strings.ContainsAny(host, forbidden) {
			return "", errURL
		}
		return encodeSet(host, inC0), nil
	}
	host = percentDecode(host)
	if !utf8.ValidString(host) {
		return "", errURL
	}
	host, err := toASCII(host)
	if err != nil || host == "" || strings.ContainsAny(host, forbidden+"%\x7f") || strings.ContainsFunc(host, func(r rune) bool { return r < ' ' }) {
		return "", errURL
	}
	if endsInNumber(host) {
		return ipv4(host)
	}
	return host, nil
}

// ipv6Text prints an address with the longest run of zeros left out and never
// in mixed notation.
func ipv6Text(a netip.Addr) string {
	bytes := a.As16()
	var groups [8]uint16
	for i := range groups {
		groups[i] = uint16(bytes[2*i])<<8 | uint16(bytes[2*i+1])
	}
	start, length := -1, 1
	for i := 0; i < 8; i++ {
		n := 0
		for i+n < 8 && groups[i+n] == 0 {
			n++
		}
		if n > length {
			start, length = i, n
		}
		i += n
	}
	var b strings.Builder
	for i := 0; i < 8; i++ {
		if i == start {
			b.WriteString("::")
			i += length - 1
			continue
		}
		if i > 0 && i != start+length {
			b.WriteByte(':')
		} else if i > 0 && start < 0 {
			b.WriteByte(':')
		}
		b.WriteString(strconv.FormatUint(uint64(groups[i]), 16))
	}
	return b.String()
}

func endsInNumber(host string) bool {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	last := parts[len(parts)-1]
	if last != "" && strings.Trim(last, "0123456789") == "" {
		return true
	}
	_, ok := ipv4Number(last)
	return ok && last != ""
}

func ipv4Number(s string) (*big.Int, bool) {
	base := 10
	switch {
	case s == "":
		return nil, false
	case len(s) >= 2 && (s[:2] == "0x" || s[:2] == "0X"):
		s, base = s[2:], 16
	case len(s) >= 2 && s[0] == '0':
		s, base = s[1:], 8
	}
	if s == "" {
		return new(big.Int), true
	}
	if strings.ContainsAny(s, "+-_") || len(s) > 200 {
		return nil, false
	}
	return new(big.Int).SetString(s, base)
}

func ipv4(host string) (string, error) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if len(parts) > 4 {
		return "", errURL
	}
	total := new(big.Int)
	for i, part := range parts {
		n, ok := ipv4Number(part)
		if !ok {
			return "", errURL
		}
		bits := uint(8)
		if i == len(parts)-1 {
			bits = uint(8 * (5 - len(parts)))
		}
		if n.BitLen() > int(bits) {
			return "", errURL
		}
		total.Lsh(total, bits).Or(total, n)
	}
	v := total.Uint64()
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String(), nil
}

// toASCII lower-cases a domain and writes labels with other letters in
// Punycode (RFC 3492). It maps case only, not the compatibility forms.
func toASCII(domain string) (string, error) {
	domain = strings.NewReplacer("。", ".", "．", ".", "｡", ".", "\u00ad", "", "\u200b", "", "\u2060", "").Replace(domain)
	domain = strings.Map(fold, domain)
	labels := strings.Split(strings.ToLower(domain), ".")
	for i, label := range labels {
		if isASCII(label) {
			continue
		}
		encoded, ok := punycode(label)
		if !ok || strings.ContainsFunc(label, func(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }) {
			return "", errURL
		}
		labels[i] = "xn--" + encoded
	}
	return strings.Join(labels, "."), nil
}

// fold maps full-width forms to the characters they stand for.
func fold(r rune) rune {
	if 0xFF01 <= r && r <= 0xFF5E {
		return r - 0xFEE0
	}
	return r
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func punycode(label string) (string, bool) {
	const base, tMin, tMax, skew, damp = 36, 1, 26, 38, 700
	runes := []rune(label)
	if len(runes) > 255 {
		return "", false
	}
	var out []byte
	for _, r := range runes {
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
		}
	}
	basic := len(out)
	done := basic
	if basic > 0 {
		out = append(out, '-')
	}
	digit := func(d int) byte {
		if d < 26 {
			return byte('a' + d)
		}
		return byte('0' + d - 26)
	}
	n, delta, bias := rune(0x80), 0, 72
	for done < len(runes) {
		next := rune(0x10FFFF)
		for _, r := range runes {
			if r >= n && r < next {
				next = r
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tMin), tMax)
				if q < t {
					break
				}
				out = append(out, digit(t+(q-t)%(base-t)))
				q = (q - t) / (base - t)
			}
			out = append(out, digit(q))
			if done == basic {
				delta /= damp
			} else {
				delta /= 2
			}
			delta += delta / (done + 1)
			k := 0
			for ; delta > (base-tMin)*tMax/2; k += base {
				delta /= base - tMin
			}
			bias = k + (base-tMin+1)*delta/(delta+skew)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return string(out), true
}
