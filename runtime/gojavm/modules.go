package gojavm

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/runcode-go/runcode/runtime"
)

// Notes about statements of modules that were forgiven.
const (
	typeImportRemoved = "imports and exports of types were left out"
	exportRemoved     = "the word export was left out: a program has no modules"
	defaultReturned   = "what the program exports by default was returned"
)

// moduleParts is a program text without the statements of modules that can be
// forgiven.
type moduleParts struct {
	text     string
	notes    []string
	exported runtime.Site // of the marker in the place of export default, or zero
	name     string       // of the function that is exported by default
	refused  *runtime.Failure
}

// exportMarker stands at the end of where export default was, as the beginning of
// an expression statement.
const exportMarker = ";0,"

var (
	importStatement = regexp.MustCompile(`^import\s*(\btype\s+)?([\w$*\s{},]*?\s*\bfrom\s*|)(?:"([^"\n]*)"|'([^'\n]*)')(?:\s*with\s*\{[^}]*\})?[ \t]*;?`)
	exportList      = regexp.MustCompile(`^export\s*(?:type\s*)?\{[^}]*\}[ \t]*(from\b)?[ \t]*(?:"[^"\n]*"|'[^'\n]*')?[ \t]*;?`)
	exportDefault   = regexp.MustCompile(`^export\s+default\b`)
	defaultClass    = regexp.MustCompile(`^\s*(?:abstract\s+)?(?:class|interface)\b`)
	exportWord      = regexp.MustCompile(`^export\s+(?:const|let|var|function|async|class|abstract|enum|interface|type|declare)\b`)
	defaultNamed    = regexp.MustCompile(`^\s*(?:async\s+function|function)\b\s*\*?\s*([A-Za-z_$][\w$]*)`)
	typeSpecifiers  = regexp.MustCompile(`^\{\s*(?:type\s+[\w$]+(?:\s+as\s+[\w$]+)?\s*,?\s*)+\}\s*from\s*$`)
)

// withoutModules takes out of a text what only a module can hold and a program
// does not need, on the same places. An import of values is refused: nothing
// can be imported.
func withoutModules(text string) moduleParts {
	p := moduleParts{text: text}
	if !strings.Contains(text, "import") && !strings.Contains(text, "export") {
		return p
	}
	for _, at := range moduleStatements(text) {
		p.statement(at)
		if p.refused != nil {
			return p
		}
	}
	slices.Reverse(p.notes)
	return p
}

// statement treats the statement of a module at an offset. The text keeps its
// length.
func (p *moduleParts) statement(at int) {
	rest := p.text[at:]
	switch {
	case strings.HasPrefix(rest, "import"):
		m := importStatement.FindStringSubmatch(rest)
		if m == nil || !typeOnly(m[1], m[2]) {
			module := ""
			if m != nil {
				module = m[3] + m[4]
			}
			p.refuse(at, "import", module)
			return
		}
		p.blank(at, len(m[0]), typeImportRemoved)
	case exportDefault.MatchString(rest):
		p.defaultExport(at, len(exportDefault.FindString(rest)))
	case exportList.MatchString(rest):
		m := exportList.FindStringSubmatch(rest)
		if m[1] != "" && !strings.HasPrefix(strings.TrimSpace(rest[len("export"):]), "type") {
			p.refuse(at, "export", "")
			return
		}
		p.blank(at, len(m[0]), exportRemoved)
	case exportWord.MatchString(rest):
		p.blank(at, len("export"), exportRemoved)
	default:
		p.refuse(at, "export", "")
	}
}

// typeOnly says whether an import takes nothing but types.
func typeOnly(keyword, clause string) bool {
	if names, _, _ := strings.Cut(clause, "from"); keyword != "" && strings.TrimSpace(names) != "" {
		return true
	}
	return typeSpecifiers.MatchString(clause)
}

func (p *moduleParts) defaultExport(at, length int) {
	rest := p.text[at+length:]
	if defaultClass.MatchString(rest) {
		p.blank(at, length, exportRemoved) // nothing a program could return
		return
	}
	if m := defaultNamed.FindStringSubmatch(rest); m != nil {
		p.name = m[1]
		p.blank(at, length, "")
		return
	}
	p.blank(at, length, "")
	marker := at + length - len(exportMarker)
	p.text = p.text[:marker] + exportMarker + p.text[marker+len(exportMarker):]
	p.exported = siteOfOffset(p.text, marker+len(";"))
}

// blank overwrites a part of the text with spaces.
func (p *moduleParts) blank(at, length int, note string) {
	var b strings.Builder
	for _, c := range p.text[at : at+length] {
		if strings.ContainsRune(lineTerminators, c) {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Repeat(" ", max(utf16.RuneLen(c), 1)))
		}
	}
	p.text = p.text[:at] + b.String() + p.text[at+length:]
	if note != "" && !slices.Contains(p.notes, note) {
		p.notes = append(p.notes, note)
	}
}

func (p *moduleParts) refuse(at int, word, module string) {
	site := siteOfOffset(p.text, at)
	what := word
	if module != "" {
		what = fmt.Sprintf("%s of %q", word, module)
	}
	instead := "remove the " + word + " statement; call tools as await tools.name(args) and end with return"
	if missing, ok := absent[strings.TrimSuffix(strings.TrimPrefix(module, "node:"), "/promises")]; ok {
		instead = missing.says + "; " + instead
	}
	p.refused = &runtime.Failure{
		Kind:    runtime.InvalidInput,
		Message: fmt.Sprintf("%s on line %d: a program is the body of an async function and has no modules; tools are on the global tools", what, site.Line),
		Site:    site,
		Hint:    instead,
	}
}

// siteOfOffset is the place of an offset in bytes.
func siteOfOffset(text string, at int) runtime.Site {
	lines := runtime.SourceLines(text[:at])
	return runtime.Site{Line: len(lines), Column: utf8.RuneCountInString(lines[len(lines)-1]) + 1}
}

// moduleStatements are the offsets of the statements outside all brackets that
// begin with import or export, the last first, so that changing one moves no
// other.
func moduleStatements(text string) []int {
	var found []int
	c := newChecker(text, runtime.Limits{Nesting: len(text), Chain: len(text)})
	for c.pos < len(c.src) {
		at, outside, after := c.pos, len(c.levels) == 1, c.last
		if problem := c.token(); problem != "" {
			return found
		}
		if word := text[at:c.pos]; outside && after != "." && (word == "export" || word == "import" && !importExpression(text[c.pos:])) {
			found = append(found, at)
		}
	}
	slices.Reverse(found)
	return found
}

// importExpression says whether import(…) or import.meta goes on like this.
func importExpression(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n")
	return strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ".")
}
