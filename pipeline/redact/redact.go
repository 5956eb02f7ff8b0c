package redact

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Secret is a value that must not be written anywhere. The name stands in its
// place, so that a reader knows which secret it was; it may be empty.
type Secret struct{ Name, Value string }

// Options says what a Redactor knows beyond the well-known formats and names.
// The zero value is useful.
type Options struct {
	// Secrets are searched for by value, without the white space around it. See
	// Redactor.Ignored for those that cannot be.
	Secrets []Secret
	// Names are further names of JSON members whose values are secret. They are
	// compared whole, without regard to case and to the characters between
	// words: "ssn" is "SSN", and "card_number" is "cardNumber".
	Names []string
}

// A Redactor is immutable and safe for concurrent use. A nil Redactor changes
// nothing; the zero Redactor knows what New(nil) knows and marks it without a
// kind.
type Redactor struct {
	first   pairs // what spellings begin with
	known   map[uint16][]spelling
	names   map[string]bool
	marks   map[string]string // by label
	ignored []string
}

// pairs has a bit for each two bytes.
type pairs [1 << 10]uint64

func (p *pairs) add(text string) {
	pair := binary.BigEndian.Uint16([]byte(text[:2]))
	p[pair>>6] |= 1 << (pair & 63)
}

func (p *pairs) has(a, b byte) bool { return p[int(a)<<2|int(b>>6)]&(1<<(b&63)) != 0 }

// minSecret is the length below which a value would be found in texts that have
// nothing to do with it.
const minSecret = 6

// New makes a Redactor; nil is Options of nothing.
func New(opts *Options) *Redactor {
	if opts == nil {
		opts = &Options{}
	}
	r := &Redactor{known: map[uint16][]spelling{}, names: map[string]bool{}, marks: map[string]string{}}
	for _, name := range opts.Names {
		r.names[flat(name)] = true
	}
	seen := map[string]bool{}
	for _, s := range opts.Secrets {
		value := searchable(s.Value, opts.Secrets)
		if value == "" {
			r.ignored = append(r.ignored, s.Name)
		} else if !seen[value] {
			seen[value] = true
			r.add(s.Name, value)
		}
	}
	for _, list := range r.known {
		slices.SortStableFunc(list, func(a, b spelling) int { return len(b.text) - len(a.text) })
	}
	for _, kind := range kinds {
		r.marks[kind] = r.mark(kind)
	}
	for _, s := range opts.Secrets {
		r.marks[s.Name] = r.mark(s.Name)
	}
	return r
}

// Ignored names the secrets that are not searched for: those shorter than six
// bytes, and those that are a part of the markers themselves.
func (r *Redactor) Ignored() []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.ignored)
}

// Text replaces known values and well-known formats in s. What it returns it
// does not change again. It takes time linear in s, allocates nothing if there
// is nothing to replace, and never splits a character.
func (r *Redactor) Text(s string) string {
	if r == nil || r.clean(s) {
		return s
	}
	return r.formats(r.Known(s))
}

// clean reports whether Text has nothing to replace in s. It is one pass that looks
// closer only where two bytes begin a spelling or a format.
func (r *Redactor) clean(s string) bool {
	f := finder{r: r, s: s}
	for i := 0; i+1 < len(s); i++ {
		if !r.first.has(s[i], s[i+1]) && !formatPairs.has(s[i], s[i+1]) {
			continue
		}
		if r.knownAt(s, i).text != "" {
			return false
		}
		if _, end, _ := f.at(i); end > 0 {
			return false
		}
	}
	return true
}

// Known replaces only the values New was told of, for texts in which something
// that looks like a secret may be meant to be read: what a program prints to
// the person who runs it.
func (r *Redactor) Known(s string) string {
	if r == nil || len(r.known) == 0 {
		return s
	}
	var out []byte
	last := 0
	for i := 0; i+1 < len(s); i++ {
		if !r.first.has(s[i], s[i+1]) {
			continue
		}
		found := r.knownAt(s, i)
		if found.text == "" {
			continue
		}
		end := i + len(found.text)
		// What begins inside it and reaches further belongs to it, or the rest
		// would give that secret's end away.
		for j := i + 1; j < end; j++ {
			end = max(end, j+len(r.knownAt(s, j).text))
		}
		if found.padded {
			end = skipPadding(s, end)
		}
		out = append(append(out, s[last:i]...), r.written(found.name)...)
		last = end
		i = end - 1
	}
	return finish(out, s, last)
}

// finish appends what follows the last replacement; without one s is returned.
func finish(out []byte, s string, last int) string {
	if last == 0 {
		return s
	}
	return string(append(out, s[last:]...))
}

// knownAt is the longest known spelling that stands at i, the zero spelling for
// none.
func (r *Redactor) knownAt(s string, i int) spelling {
	if i+1 >= len(s) {
		return spelling{}
	}
	if !r.first.has(s[i], s[i+1]) {
		return spelling{}
	}
	for _, k := range r.known[uint16(s[i])<<8|uint16(s[i+1])] {
		if strings.HasPrefix(s[i:], k.text) {
			return k
		}
	}
	return spelling{}
}

func (r *Redactor) add(name, value string) {
	for _, k := range spellings(name, value) {
		pair := binary.BigEndian.Uint16([]byte(k.text[:2]))
		r.first.add(k.text)
		r.known[pair] = append(r.known[pair], k)
	}
}

const (
	anonymous = "[redacted]"
	markStart = "[redacted: "
)

// mark is what stands in the place of a secret with that label. A label that
// does not fit into a marker, or that holds what is to be hidden, is left out.
func (r *Redactor) mark(label string) string {
	if label == "" || len(label) > 64 || strings.Trim(label, labelChars) != "" {
		return anonymous
	}
	if mark := markStart + label + "]"; r.Known(mark) == mark && r.formats(mark) == mark {
		return mark
	}
	return anonymous
}

const labelChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./ "

// written is the marker for a label. The zero Redactor has none of its own.
func (r *Redactor) written(label string) string {
	if mark := r.marks[label]; mark != "" {
		return mark
	}
	return anonymous
}

// markLen is the length of the marker of ours that s begins with, or 0.
func (r *Redactor) markLen(s string) int {
	if strings.HasPrefix(s, anonymous) {
		return len(anonymous)
	}
	rest, ok := strings.CutPrefix(s, markStart)
	if !ok {
		return 0
	}
	end := strings.IndexByte(rest[:min(len(rest), 65)], ']')
	if end < 0 || r.marks[rest[:end]] == "" {
		return 0
	}
	return len(markStart) + end + 1
}

// searchable is the part of a value to search for, "" if there is none. An end
// of it that a marker also has is left out, so that no text around a marker
// reads as the value and is replaced once more.
func searchable(value string, all []Secret) string {
	value = strings.TrimSpace(value)
	for trimmed := true; trimmed; {
		before := len(value)
		value = trimEnds(value, anonymous)
		for _, s := range all {
			value = trimEnds(value, markStart+s.Name+"]")
		}
		for _, kind := range kinds {
			value = trimEnds(value, markStart+kind+"]")
		}
		trimmed = len(value) < before
	}
	if len(value) < minSecret || strings.Contains(value, anonymous[:len(anonymous)-1]) || strings.Contains(markStart, value) {
		return ""
	}
	return value
}

// trimEnds cuts from the start of value what mark ends with, and from its end
// what mark begins with.
func trimEnds(value, mark string) string {
	for n := min(len(value), len(mark)); n > 0; n-- {
		if strings.HasSuffix(mark, value[:n]) {
			value = value[n:]
			break
		}
	}
	for n := min(len(value), len(mark)); n > 0; n-- {
		if strings.HasPrefix(mark, value[len(value)-n:]) {
			value = value[:len(value)-n]
			break
		}
	}
	return value
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
