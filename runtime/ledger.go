package runtime

import (
	"fmt"
	"unicode/utf8"
)

// Ledger keeps the output of one run within Limits.Output, with the arithmetic
// of DSH: the UTF-8 bytes of the JSON serialization of the log array plus the
// completion value, or plus the failure message as a JSON string. Exactly the
// limit passes. Lines are counted too (see MaxLines). It is for implementations of
// Runtime and is not safe for concurrent use.
type Ledger struct {
	limit int
	size  int // of the JSON array of logs
	logs  []string
	over  bool   // a line did not fit
	next  string // that line, if it was too long
	many  bool   // it was one too many
}

// MaxLines is how many lines of output a run may have, however short they are and
// whatever Limits.Output says: a line costs the host more memory than its text.
const MaxLines = 1_000_000

// NewLedger returns an empty ledger. The limit is at least MinOutput.
func NewLedger(limit int) *Ledger { return &Ledger{limit: max(limit, MinOutput), size: 2} }

// Log adds one line and says whether the logs are still within the limit. After
// the first line that is not, lines are dropped.
func (l *Ledger) Log(text string) bool {
	if l.over {
		return false
	}
	if len(l.logs) == MaxLines {
		l.over, l.many = true, true
		return false
	}
	grown := l.size + comma(len(l.logs))
	grown += jsonStringSize(text, l.limit-grown)
	if grown > l.limit {
		l.over, l.next = true, text
		return false
	}
	l.size = grown
	l.logs = append(l.logs, text)
	return true
}

// Over says whether a line did not fit.
func (l *Ledger) Over() bool { return l.over }

// Value settles the ledger for a run that ended with the JSON text value: the
// logs, and nil or the failure that replaces the value.
func (l *Ledger) Value(value string) ([]string, *Failure) {
	if !l.over && len(value) <= l.limit-l.size {
		return l.logs, nil
	}
	return l.exceeded(Failure{})
}

// Failure settles the ledger for a run that ended badly: the logs, and f or the
// failure that replaces it.
func (l *Ledger) Failure(f Failure) ([]string, *Failure) {
	if !l.over && f.Kind != OutputLimit && jsonStringSize(f.Message, l.limit-l.size) <= l.limit-l.size {
		return l.logs, &f
	}
	return l.exceeded(f)
}

// exceeded says so in as much text as the limit holds, and keeps what fits
// beside it: whole lines, then the longest prefix of the next one. No text of f
// is carried, only its place.
func (l *Ledger) exceeded(f Failure) ([]string, *Failure) {
	message := fmt.Sprintf("outer output exceeded %d bytes", l.limit)
	if l.many {
		message = fmt.Sprintf("outer output exceeded %d lines", MaxLines)
	}
	message = jsonPrefix(message, l.limit-2)
	room := l.limit - jsonStringSize(message, l.limit)
	lines := l.logs
	if l.over && !l.many {
		lines = append(lines[:len(lines):len(lines)], l.next)
	}
	size := 2
	kept := []string{}
	for i, line := range lines {
		size += comma(i)
		n := jsonStringSize(line, room-size)
		if size+n > room {
			if prefix := jsonPrefix(line, room-size); prefix != "" {
				kept = append(kept, prefix)
			}
			break
		}
		size += n
		kept = append(kept, line)
	}
	return kept, &Failure{Kind: OutputLimit, Message: message, Site: f.Site, Frame: f.Frame}
}

func comma(before int) int {
	if before == 0 {
		return 0
	}
	return 1
}

// jsonStringSize is the length in bytes of text as a JSON string, the quotes
// included. It stops counting soon after limit is passed, so that a large text
// costs no more than the limit. Text may hold lone surrogates in their
// three-byte spelling; other invalid bytes count as U+FFFD.
func jsonStringSize(text string, limit int) int {
	size := 2
	for i := 0; i < len(text) && size <= limit; {
		cost, width := jsonCost(text[i:])
		size += cost
		i += width
	}
	return size
}

// jsonPrefix is the longest prefix of text, cut between code points, whose JSON
// string takes at most size bytes.
func jsonPrefix(text string, size int) string {
	used := 2
	for i := 0; i < len(text); {
		cost, width := jsonCost(text[i:])
		if used+cost > size {
			return text[:i]
		}
		used += cost
		i += width
	}
	return text
}

// jsonCost is what the first character of text takes in a JSON string, and how
// long it is in text.
func jsonCost(text string) (cost, width int) {
	c := text[0]
	switch {
	case c == '"' || c == '\\' || c == '\b' || c == '\t' || c == '\n' || c == '\f' || c == '\r':
		return 2, 1
	case c < 0x20:
		return 6, 1
	case c < utf8.RuneSelf:
		return 1, 1
	}
	if r, width := utf8.DecodeRuneInString(text); r != utf8.RuneError || width > 1 {
		return width, width
	}
	if len(text) >= 3 && c == 0xED && text[1] >= 0xA0 && text[1] <= 0xBF && text[2] >= 0x80 && text[2] <= 0xBF {
		return 6, 3 // a lone surrogate: \uD800
	}
	return 3, 1
}
