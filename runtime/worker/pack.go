package worker

import (
	"encoding/binary"
	"math"
	"strings"
)

// The metas that every run and every call has are packed: numbers as varints of
// encoding/binary, texts and lists after their length. The others are JSON.

// packer writes such a meta.
type packer []byte

func (p *packer) number(n int64) { *p = binary.AppendVarint(*p, n) }

func (p *packer) count(n int) { *p = binary.AppendUvarint(*p, uint64(n)) }

func (p *packer) bits(n uint64) { *p = binary.BigEndian.AppendUint64(*p, n) }

func (p *packer) text(s string) {
	p.count(len(s))
	*p = append(*p, s...)
}

func (p *packer) flag(on bool) {
	if on {
		*p = append(*p, 1)
	} else {
		*p = append(*p, 0)
	}
}

// unpacker reads it again. Once something was not as it should be, all that follows
// is zero; close tells.
type unpacker struct {
	rest string
	bad  bool
}

func (u *unpacker) fail() {
	u.rest, u.bad = "", true
}

// varint is the next number in the form of binary.Uvarint, which takes bytes.
func (u *unpacker) varint() uint64 {
	var n uint64
	for i := 0; i < len(u.rest) && i < binary.MaxVarintLen64; i++ {
		c := u.rest[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			break // over 64 bits
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.rest = u.rest[i+1:]
			return n
		}
	}
	u.fail()
	return 0
}

func (u *unpacker) number() int64 {
	n := u.varint()
	if n&1 != 0 {
		return ^int64(n >> 1)
	}
	return int64(n >> 1)
}

// int is a number that an int holds.
func (u *unpacker) int() int {
	n := u.number()
	if n < math.MinInt || n > math.MaxInt {
		u.fail()
		return 0
	}
	return int(n)
}

// count is the length of what follows. Each of its parts takes a byte at least, so
// that no claim makes room for more than was sent.
func (u *unpacker) count() int {
	n := u.varint()
	if n > uint64(len(u.rest)) {
		u.fail()
		return 0
	}
	return int(n)
}

func (u *unpacker) text() string {
	n := u.count()
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

// keep is text that outlives its frame, and so does not hold it in memory.
func (u *unpacker) keep() string { return strings.Clone(u.text()) }

func (u *unpacker) bits() uint64 {
	if len(u.rest) < 8 {
		u.fail()
		return 0
	}
	var n uint64
	for i := range 8 {
		n = n<<8 | uint64(u.rest[i])
	}
	u.rest = u.rest[8:]
	return n
}

func (u *unpacker) flag() bool {
	if u.rest == "" || u.rest[0] > 1 {
		u.fail()
		return false
	}
	on := u.rest[0] == 1
	u.rest = u.rest[1:]
	return on
}

// close says whether all was as it should be and nothing is left.
func (u *unpacker) close(k kind) error {
	if u.bad || u.rest != "" {
		return faultf("malformed %s frame", k)
	}
	return nil
}
