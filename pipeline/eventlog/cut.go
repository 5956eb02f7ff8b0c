package eventlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// DefaultMaxBody is the most bytes of data one event has in the log unless
// Options say otherwise.
const DefaultMaxBody = 64 << 10

const (
	minBody = 4 << 10
	// cutDepth is how deep values are looked into for what is large; what is large
	// further down is cut with what is around it.
	cutDepth = 8
	// cutRoom is what one cut takes without path and locators: the marker in its
	// place and the entry in the list of cuts.
	cutRoom = 512
	// maxLocator is the longest locator that is written, maxSpillError the longest
	// reason for there being none; both as JSON.
	maxLocator, maxSpillError = 512, 160
)

// cut is one entry of the list of cuts in an event's data.
type cut struct {
	path       string // RFC 6901 pointer into the data
	bytes      int    // of the text that stood there
	sha256     string // of that text, in hexadecimal
	locator    string
	spillError string
}

func (c cut) size() []tools.Member {
	return []tools.Member{
		{Name: "bytes", Value: number(int64(c.bytes))},
		{Name: "sha256", Value: tools.StringJSON(c.sha256)},
		{Name: "locator", Value: textOrNone(c.locator)},
		{Name: "spillError", Value: textOrNone(c.spillError)},
	}
}

func (c cut) entry() tools.JSON {
	return tools.ComposeObject(append([]tools.Member{{Name: "path", Value: tools.StringJSON(c.path)}}, c.size()...)...)
}

// marker is what follows the head of a string that was cut.
func (c cut) marker() string {
	at := ""
	if c.locator != "" {
		at = ", at " + c.locator
	}
	return fmt.Sprintf("… [cut: %d bytes, sha256 %s%s]", c.bytes, c.sha256, at)
}

func textOrNone(s string) tools.JSON {
	if s == "" {
		return tools.JSON{}
	}
	return tools.StringJSON(s)
}

// cutter fits the data of one event into a number of bytes.
type cutter struct {
	spill  func(ctx context.Context, text string) (locator string, err error)
	redact func(string) string // of what the store says
	// long are texts by the place of the empty strings that stand for them. Each
	// is UTF-8 and longer than the data may be, so that what it is in is cut.
	long map[string]string
	cuts []cut
}

// fit returns data in at most max bytes. The members of a value share its room
// evenly; what the small ones leave goes to the others, so that they stay whole
// and the largest are cut.
func (c *cutter) fit(data tools.JSON, max int) (tools.JSON, error) {
	if data.Len() <= max && len(c.long) == 0 {
		return data, nil
	}
	const frame = len(`,"cut99":[]`)
	if data.Kind() == '{' {
		members := jsonscan.Split(data.String())
		if room, ok := c.share(members, "", max-frame); ok {
			return tools.ParseJSON(c.listed(c.shorten(members, "", 1, room)))
		}
	}
	// It has no members, or too many for each to say how it was cut.
	text := c.whole(data.String(), "")
	if data.Kind() == '"' {
		text = jsonscan.Unquote(text)
	}
	entry := c.keep("", text).entry()
	return tools.ComposeObject(
		tools.Member{Name: "head", Value: quoted(head(text, max-entry.Len()-len(`{"head":"","cut":[]}`)))},
		tools.Member{Name: "cut", Value: tools.ComposeArray(entry)},
	), nil
}

// listed is the object with the list of cuts as its last member, under a name
// it does not have yet.
func (c *cutter) listed(members []jsonscan.Part) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(members, func(m jsonscan.Part) bool { return m.Name() == name })
	}
	name := "cut"
	for n := 2; taken(name); n++ {
		name = "cut" + strconv.Itoa(n)
	}
	entries := make([]tools.JSON, len(c.cuts))
	for i, cut := range c.cuts {
		entries[i] = cut.entry()
	}
	return jsonscan.Join('{', append(members, jsonscan.Part{Key: strconv.Quote(name), Raw: tools.ComposeArray(entries...).String()}))
}

// share is the room each of the parts that must be cut gets when a value that
// has them is to take at most room bytes. It is not ok if they could not hold
// what is to be said of a cut.
func (c *cutter) share(parts []jsonscan.Part, path string, room int) (share int, ok bool) {
	room -= len("{}")
	sizes := make([]int, len(parts))
	for i, p := range parts {
		room -= len(p.Key) + len(":,")
		sizes[i] = c.size(p, path, i)
	}
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		share = room / (len(sizes) - i)
		if size > share {
			break
		}
		room -= size
	}
	for i, p := range parts {
		if sizes[i] > share && share < c.least(pathOf(p, path, i)) {
			return 0, false
		}
	}
	return share, true
}

// least is the room one cut needs.
func (c *cutter) least(path string) int {
	least := cutRoom + quoted(path).Len()
	if c.spill != nil {
		least += 2 * maxLocator
	}
	return least
}

// shorten cuts the parts that are larger than room, each with its entry in the
// list.
func (c *cutter) shorten(parts []jsonscan.Part, path string, depth, room int) []jsonscan.Part {
	for i, p := range parts {
		if c.size(p, path, i) > room {
			parts[i].Raw = c.value(p, pathOf(p, path, i), depth, room)
		}
	}
	return parts
}

// value is a value that is larger than room, cut to it.
func (c *cutter) value(p jsonscan.Part, path string, depth, room int) string {
	switch kind := p.Raw[0]; kind {
	case '"':
		text, ok := c.long[path]
		if !ok {
			text = jsonscan.Unquote(p.Raw)
		}
		cut := c.keep(path, text)
		return cut.text(text, room).String()
	case '{', '[':
		if depth < cutDepth {
			parts := jsonscan.Split(p.Raw)
			if room, ok := c.share(parts, path, room); ok {
				return jsonscan.Join(kind, c.shorten(parts, path, depth+1, room))
			}
		}
	}
	p.Raw = c.whole(p.Raw, path)
	cut := c.keep(path, p.Raw)
	if p.Name() == "content" && strings.HasPrefix(p.Raw, "[{") {
		// Readers expect blocks there.
		const block = `[{"type":"text","text":}]`
		return tools.ComposeArray(tools.ComposeObject(
			tools.Member{Name: "type", Value: tools.StringJSON(tools.ContentText)},
			tools.Member{Name: "text", Value: cut.text(p.Raw, room-len(block))},
		)).String()
	}
	return cut.object(p.Raw, room).String()
}

// size is the length of part i of the value at path, or a lower one that no room is
// large enough for: a long text is written in no fewer bytes than it has.
func (c *cutter) size(p jsonscan.Part, path string, i int) int {
	size := len(p.Raw)
	if c.holds(path) {
		size += c.longBelow(pathOf(p, path, i))
	}
	return size
}

// holds reports whether a long text stands at path or below.
func (c *cutter) holds(path string) bool { return len(c.long) > 0 && c.longBelow(path) > 0 }

// longBelow is the length of the long texts at path and below.
func (c *cutter) longBelow(path string) (n int) {
	for at, text := range c.long {
		if rest, ok := strings.CutPrefix(at, path); ok && (rest == "" || rest[0] == '/') {
			n += len(text)
		}
	}
	return n
}

// whole is the JSON text at path with its long texts in their places.
func (c *cutter) whole(raw, path string) string {
	if text, ok := c.long[path]; ok {
		return quoted(text).String()
	}
	if !c.holds(path) {
		return raw
	}
	parts := jsonscan.Split(raw)
	for i, p := range parts {
		parts[i].Raw = c.whole(p.Raw, pathOf(p, path, i))
	}
	return jsonscan.Join(raw[0], parts)
}

// text is the head of a text and the marker, with the entry in at most room
// bytes.
func (c cut) text(text string, room int) tools.JSON {
	marker := c.marker()
	return quoted(head(text, room-quoted(marker).Len()-c.entry().Len()-len(",")) + marker)
}

// object stands in the place of what is no string.
func (c cut) object(text string, room int) tools.JSON {
	inner := func(head string) tools.JSON {
		return tools.ComposeObject(tools.Member{Name: "cut", Value: tools.ComposeObject(
			append([]tools.Member{{Name: "head", Value: quoted(head)}}, c.size()...)...)})
	}
	return inner(head(text, room-inner("").Len()-c.entry().Len()-len(",")))
}

// keep notes that the text at path is cut, and stores it.
func (c *cutter) keep(path, text string) cut {
	cut := cut{path: path, bytes: len(text), sha256: sum(text)}
	if c.spill != nil {
		var err error
		if cut.locator, err = c.store(text); err != nil {
			cut.locator, cut.spillError = "", head(c.redact(err.Error()), maxSpillError)
		}
	}
	c.cuts = append(c.cuts, cut)
	return cut
}

// sum is the sha256 of a text in hexadecimal. It copies no more of the text at once
// than a little.
func sum(text string) string {
	h, part := sha256.New(), make([]byte, min(len(text), 16<<10))
	for len(text) > 0 {
		n := copy(part, text)
		_, _ = h.Write(part[:n]) // never fails
		text = text[n:]
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c *cutter) store(text string) (locator string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the store crashed: %v", r)
		}
	}()
	if locator, err = c.spill(context.Background(), text); err != nil {
		return "", err
	}
	locator = c.redact(locator)
	switch {
	case locator == "":
		return "", fmt.Errorf("the store gave no locator")
	case quoted(locator).Len() > maxLocator:
		return "", fmt.Errorf("the store gave a locator of %d bytes, too long for the log", len(locator))
	}
	return locator, nil
}

// quoted is the JSON string of a text that may hold unpaired surrogates.
func quoted(text string) tools.JSON { return tools.StringJSON(text) }

// head is the longest start of text that takes at most room bytes in a JSON
// string. It splits no character.
func head(text string, room int) string {
	for i := 0; i < len(text); {
		r, n := jsonscan.DecodeRune(text[i:])
		size := n
		switch {
		case r == '"' || r == '\\':
			size = 2
		case r < ' ' || utf16.IsSurrogate(r):
			size = len(`\u0000`)
		case n == 1 && r >= 0x80: // no text: becomes U+FFFD
			size = 3
		}
		if room -= size; room < 0 {
			return text[:i]
		}
		i += n
	}
	return text
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// pathOf is the pointer to part i of the value at parent.
func pathOf(p jsonscan.Part, parent string, i int) string {
	if p.Key == "" {
		return parent + "/" + strconv.Itoa(i)
	}
	return parent + "/" + escapePointer.Replace(strings.ToValidUTF8(p.Name(), "\uFFFD"))
}
