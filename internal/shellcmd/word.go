package shellcmd

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command.
type word struct {
	text   string // what the program gets; an expansion stands as it is written
	source string // as written, with its quotes
	// why says what keeps text from being exactly what the program gets. It is
	// empty for a literal word.
	why string
}

// end follows each word in the flat form. No argument of a program can have it.
const end = "\x00"

// flatten writes words so that a pattern can tell a space within a word from
// one between two.
func flatten(words []word) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ReplaceAll(w.text, end, ""))
		b.WriteString(end)
	}
	return b.String()
}

// normal writes words so that a shell reads the same ones again.
func normal(words []word) string {
	parts := make([]string, len(words))
	for i, w := range words {
		parts[i] = w.source
		if w.why == "" {
			parts[i] = quote(w.text, i == 0)
		}
	}
	return strings.Join(parts, " ")
}

// quote writes a literal word, with quotes if a shell would otherwise read it
// differently; name says that it comes first.
func quote(text string, name bool) string {
	plain := text != "" && text[0] != '#' && expands(text) == "" &&
		!strings.ContainsFunc(text, needsQuote) &&
		!(name && (strings.Contains(text, "=") || syntax.IsKeyword(text)))
	if plain {
		return text
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return quoteANSI(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// quoteANSI writes what is not text by its bytes, which mean the same in every
// locale.
func quoteANSI(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		char := text[i : i+size]
		i += size
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + char)
		case unicode.IsControl(r) || r == utf8.RuneError && size == 1:
			for _, c := range []byte(char) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(char)
		}
	}
	return b.String() + "'"
}

func needsQuote(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+:,./^-=~#{}[]", r)
}

// expands says what a shell would make of the unquoted characters of a word
// besides themselves.
func expands(bare string) string {
	_, class, _ := strings.Cut(bare, "[")
	_, brace, _ := strings.Cut(bare, "{")
	switch {
	case strings.ContainsAny(bare, "*?") || strings.Contains(class, "]"):
		return "expands a file name pattern"
	case strings.HasPrefix(bare, "~") || strings.Contains(bare, ":~") || strings.Contains(bare, "=~"):
		return "expands a home directory"
	case strings.Contains(brace, ",") || strings.Contains(brace, ".."):
		return "expands braces"
	}
	return ""
}

// wordReader collects the parts of one word.
type wordReader struct {
	script string // the text the positions of the parts are in
	text   strings.Builder
	// bare is the word with every quoted character hidden.
	bare strings.Builder
	why  string
}

func readWord(script string, w *syntax.Word) word {
	r := wordReader{script: script}
	for _, part := range w.Parts {
		r.part(part)
	}
	r.note(expands(r.bare.String()))
	return word{text: r.text.String(), source: source(script, w), why: r.why}
}

func readWords(script string, list []*syntax.Word) []word {
	words := make([]word, len(list))
	for i, w := range list {
		words[i] = readWord(script, w)
	}
	return words
}

// source is the text of a node.
func source(script string, n syntax.Node) string {
	from := min(int(n.Pos().Offset()), len(script))
	to := min(int(n.End().Offset()), len(script))
	return script[from:max(from, to)]
}

func (r *wordReader) note(why string) {
	if r.why == "" {
		r.why = why
	}
}

func (r *wordReader) quoted(text string) {
	r.text.WriteString(text)
	r.bare.WriteString("x") // no quoted text has a meaning, but it separates
}

func (r *wordReader) part(part syntax.WordPart) {
	switch part := part.(type) {
	case *syntax.Lit:
		r.unquoted(part.Value)
	case *syntax.SglQuoted:
		if !part.Dollar {
			r.quoted(part.Value)
			return
		}
		text, exact := decodeANSI(part.Value)
		if !exact {
			r.note("has an escape that depends on the locale")
		}
		r.quoted(text)
	case *syntax.DblQuoted:
		if part.Dollar {
			r.note("has a text that depends on the locale")
		}
		r.quoted("")
		for _, inner := range part.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				r.quoted(unescapeDouble(lit.Value))
			} else {
				r.expansion(inner)
			}
		}
	default:
		r.expansion(part)
	}
}

// unquoted takes the backslashes out of text that stands without quotes.
func (r *wordReader) unquoted(lit string) {
	for i := 0; i < len(lit); i++ {
		if lit[i] != '\\' {
			r.text.WriteByte(lit[i])
			r.bare.WriteByte(lit[i])
			continue
		}
		i++
		if i == len(lit) || lit[i] == '\n' {
			// The parser and bash differ in what these mean.
			r.note("ends in a backslash")
			r.quoted(`\`)
			continue
		}
		r.quoted(lit[i : i+1])
	}
}

// unescapeDouble takes out the backslashes that mean something in double quotes.
func unescapeDouble(lit string) string {
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] == '\\' && i+1 < len(lit) && strings.IndexByte("$`\"\\", lit[i+1]) >= 0 {
			i++
		}
		b.WriteByte(lit[i])
	}
	return b.String()
}

func (r *wordReader) expansion(part syntax.WordPart) {
	text := source(r.script, part)
	r.text.WriteString(text)
	r.bare.WriteString("x")
	switch part.(type) {
	case *syntax.ParamExp:
		r.note("expands " + clip(text))
	case *syntax.ArithmExp:
		r.note("calculates " + clip(text))
	case *syntax.CmdSubst, *syntax.ProcSubst:
		r.note("runs a command within another: " + clip(text))
	default:
		r.note("expands " + clip(text))
	}
}

// clip shortens text that is quoted in a reason.
func clip(text string) string {
	const most = 120
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + "..."
}
