package jslib

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// collation says how texts are compared: a locale and the options of
// Intl.Collator.
type collation struct {
	locale      string
	numeric     bool
	sensitivity string // "base", "accent", "case", or "variant" for all differences
}

// localeCompare is String.prototype.localeCompare. The engine's own takes no
// options: a list sorted with numeric would be sorted as text.
func (l *lib) localeCompare(call goja.FunctionCall) goja.Value {
	return l.compare(l.this(call, "localeCompare"), call.Argument(0), l.collation(call.Argument(1), call.Argument(2)))
}

func (l *lib) collation(locale, options goja.Value) collation {
	s := l.settings(options)
	c := collation{locale: l.locale(locale), sensitivity: s.text("sensitivity", "base", "accent", "case", "variant")}
	if v := s.get("numeric"); v != nil {
		c.numeric = v.ToBoolean()
	}
	if v := s.get("ignorePunctuation"); v != nil && v.ToBoolean() {
		l.unsupported("comparing with the option", "ignorePunctuation", "remove the punctuation first")
	}
	if first := s.text("caseFirst", "upper", "lower", "false"); first == "upper" {
		l.unsupported("comparing with caseFirst", first, "compare twice instead")
	}
	return c
}

func (l *lib) compare(a, b goja.Value, c collation) goja.Value {
	x, y := norm.NFD.String(collated(l.toString(a))), norm.NFD.String(collated(l.toString(b)))
	if c.sensitivity == "case" {
		// The collator drops accents only where it drops case too.
		x, y = withoutMarks(x), withoutMarks(y)
	}
	return l.vm.ToValue(l.collator(c).CompareString(x, y))
}

// collated is a text in which each unpaired surrogate is a private character: of
// its own, behind all letters, in the order of the surrogates.
func collated(s goja.String) string {
	if unpaired(s, 0) < 0 {
		return s.String()
	}
	const private = 0x100000 - 0xD800
	var out strings.Builder
	for text := jsvalue.WTF8(s); text != ""; {
		r, n := jsonscan.DecodeRune(text)
		if utf16.IsSurrogate(r) {
			r += private
		}
		out.WriteRune(r)
		text = text[n:]
	}
	return out.String()
}

// withoutMarks is decomposed text without its combining marks.
func withoutMarks(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, text)
}

// collator makes each kind of comparison once: that takes longer than most
// comparisons.
func (l *lib) collator(c collation) *collate.Collator {
	if made := l.collators[c]; made != nil {
		return made
	}
	var options []collate.Option
	if c.numeric {
		options = append(options, collate.Numeric)
	}
	switch c.sensitivity {
	case "base":
		options = append(options, collate.IgnoreCase, collate.IgnoreDiacritics)
	case "accent":
		options = append(options, collate.IgnoreCase)
	}
	const most = 20
	if len(l.collators) >= most || l.collators == nil {
		l.collators = map[collation]*collate.Collator{}
	}
	l.collators[c] = collate.New(collationLanguage(c.locale), options...)
	return l.collators[c]
}

// collationLanguage is the language whose order a locale has. A language without
// an order of its own has the root's, as in Node.
func collationLanguage(locale string) language.Tag {
	switch base, _, _ := strings.Cut(locale, "-"); base {
	case "nb", "nn", "no":
		return language.Danish // one order; only Danish is in the tables
	}
	return language.Make(locale)
}

// ownCases are the languages whose letters change case by rules of their own.
var ownCases = []string{"az", "el", "lt", "tr"}

// checkCase refuses a locale by whose rules the engine cannot change case.
func (l *lib) checkCase(call goja.FunctionCall) goja.Value {
	if language, _, _ := strings.Cut(l.locale(call.Argument(0)), "-"); slices.Contains(ownCases, language) {
		l.unsupported("changing case for the language", language, "use toLowerCase() or toUpperCase()")
	}
	return goja.Undefined()
}
