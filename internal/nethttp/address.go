package nethttp

import "net/netip"

// special are the ranges that are no public addresses, with what they are. The
// first that holds an address names it.
var special = []struct {
	prefix netip.Prefix
	name   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a provider's customers"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay to other addresses"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},

	{netip.MustParsePrefix("::/128"), "unspecified"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("64:ff9b::/96"), "a translation of an IPv4 address"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a translation of an IPv4 address"},
	{netip.MustParsePrefix("2001::/23"), "reserved"}, // Teredo, which holds IPv4 addresses, is in it
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("2002::/16"), "a tunnel to an IPv4 address"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
}

// global holds the IPv6 addresses that are given out to be public.
var global = netip.MustParsePrefix("2000::/3")

// Special says what an address is if it is no public one, such as "loopback";
// "" for a public address. An IPv4 address inside an IPv6 one is judged as
// itself.
func Special(addr netip.Addr) string {
	addr = addr.Unmap().WithZone("")
	for _, s := range special {
		if s.prefix.Contains(addr) {
			return s.name
		}
	}
	if !addr.IsValid() || addr.Is6() && !global.Contains(addr) {
		return "reserved"
	}
	return ""
}
