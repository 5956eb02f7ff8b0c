package nethttp

import (
	"errors"
	"net/netip"
	"testing"
)

func TestSpecial(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ addr, want string }{
		{"0.0.0.0", "this network"},
		{"0.255.255.255", "this network"},
		{"1.0.0.0", ""},
		{"9.255.255.255", ""},
		{"10.0.0.0", "private"},
		{"10.255.255.255", "private"},
		{"11.0.0.0", ""},
		{"100.63.255.255", ""},
		{"100.64.0.0", "shared by a provider's customers"},
		{"100.127.255.255", "shared by a provider's customers"},
		{"100.128.0.0", ""},
		{"126.255.255.255", ""},
		{"127.0.0.1", "loopback"},
		{"127.255.255.255", "loopback"},
		{"128.0.0.0", ""},
		{"169.253.255.255", ""},
		{"169.254.169.254", "link-local"},
		{"169.255.0.0", ""},
		{"172.15.255.255", ""},
		{"172.16.0.0", "private"},
		{"172.31.255.255", "private"},
		{"172.32.0.0", ""},
		{"192.0.0.170", "reserved"},
		{"192.0.2.1", "for documentation"},
		{"192.88.99.1", "a relay to other addresses"},
		{"192.167.255.255", ""},
		{"192.168.0.0", "private"},
		{"192.168.255.255", "private"},
		{"192.169.0.0", ""},
		{"198.17.255.255", ""},
		{"198.18.0.0", "for benchmarks"},
		{"198.19.255.255", "for benchmarks"},
		{"198.20.0.0", ""},
		{"198.51.100.7", "for documentation"},
		{"203.0.113.7", "for documentation"},
		{"223.255.255.255", ""},
		{"224.0.0.1", "multicast"},
		{"239.255.255.255", "multicast"},
		{"240.0.0.0", "reserved"},
		{"255.255.255.255", "reserved"},
		{"8.8.8.8", ""},

		{"::", "unspecified"},
		{"::1", "loopback"},
		{"::2", "reserved"},
		{"::7f00:1", "reserved"},
		{"::ffff:127.0.0.1", "loopback"},
		{"::ffff:10.1.2.3", "private"},
		{"::ffff:8.8.8.8", ""},
		{"::ffff:0:127.0.0.1", "reserved"},
		{"64:ff9b::7f00:1", "a translation of an IPv4 address"},
		{"64:ff9b::808:808", "a translation of an IPv4 address"},
		{"64:ff9b:1::a00:1", "a translation of an IPv4 address"},
		{"100::1", "reserved"},
		{"1fff:ffff::1", "reserved"},
		{"2000::1", ""},
		{"2001::1", "reserved"},
		{"2001:0:7f00:1::", "reserved"},
		{"2001:200::1", ""},
		{"2001:db8::1", "for documentation"},
		{"2001:4860:4860::8888", ""},
		{"2002:7f00:1::1", "a tunnel to an IPv4 address"},
		{"2002:808:808::1", "a tunnel to an IPv4 address"},
		{"2003::1", ""},
		{"3fff::1", "for documentation"},
		{"3fff:1000::1", ""},
		{"4000::1", "reserved"},
		{"5f00::1", "reserved"},
		{"fc00::1", "private"},
		{"fdff::1", "private"},
		{"fe80::1", "link-local"},
		{"fe80::1%eth0", "link-local"},
		{"fec0::1", "reserved"},
		{"ff02::1", "multicast"},
		{"2606:4700::1111", ""},
	} {
		if got := Special(netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("Special(%s) = %q, want %q", tt.addr, got, tt.want)
		}
	}
	if got := Special(netip.Addr{}); got != "reserved" {
		t.Errorf("the zero address is %q, want reserved", got)
	}
}

func TestRefuseSpecial(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:80":              "the address 127.0.0.1 is loopback",
		"[::1]:443":                 "the address ::1 is loopback",
		"[::ffff:192.168.1.1]:443":  "the address ::ffff:192.168.1.1 is private",
		"[fe80::1%lo]:80":           "the address fe80::1%lo is link-local",
		"8.8.8.8:53":                "",
		"[2606:4700:4700::1111]:80": "",
		"example.org:80":            "the address example.org:80 is not one that can be judged",
		"":                          "the address  is not one that can be judged",
	} {
		err := refuseSpecial("tcp", address, nil)
		var special *addressError
		if want == "" && err == nil || want != "" && errors.As(err, &special) && err.Error() == want {
			continue
		}
		t.Errorf("connecting to %q: %v, want %q", address, err, want)
	}
}
