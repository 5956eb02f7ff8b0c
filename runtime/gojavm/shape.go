package gojavm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/runtime"
)

// fence is a line that begins or ends a block of code in Markdown.
var fence = regexp.MustCompile("^[ \t]*(```+|~~~+)[ \t]*([A-Za-z]*)[ \t\r]*$")

// fencedLanguages are what the fence of a program may say.
var fencedLanguages = []string{"", "js", "javascript", "mjs", "ts", "typescript", "mts", "jsx", "tsx"}

// Notes about fences.
const (
	fenceRemoved = "the code fence around the program was removed"
	proseRemoved = "only the code in the fence was run; the text around it was left out"
)

// normalize makes a function body of what is clearly one in another wrapping,
// without moving a line; each change is a note for the reader of the result. A
// function body passes as it is, for no program that runs begins with a fence, or
// has one among sentences: to the language it is a text that is called.
func normalize(source string) (text string, notes []string) {
	source = strings.TrimPrefix(source, byteOrderMark)
	if strings.HasPrefix(source, "#!") && !shebang.MatchString(source) {
		line, _, _ := strings.Cut(source, "\n")
		source = strings.Repeat(" ", len(line)) + source[len(line):]
	}
	if !mayHoldFence(source) {
		return source, nil
	}
	lines := strings.SplitAfter(source, "\n")
	first, last := fencedPart(lines)
	if first < 0 {
		if edge := edgeFence(lines); edge >= 0 {
			lines[edge] = emptied(lines[edge])
			return strings.Join(lines, ""), []string{fenceRemoved}
		}
		return source, nil
	}
	note := fenceRemoved
	for i, line := range lines {
		if i > first && i < last {
			continue
		}
		if i != first && i != last && strings.TrimSpace(line) != "" {
			note = proseRemoved
		}
		lines[i] = emptied(line)
	}
	return strings.Join(lines, ""), []string{note}
}

// mayHoldFence says whether a line of a text may be a fence.
func mayHoldFence(text string) bool {
	return strings.Contains(text, "```") || strings.Contains(text, "~~~")
}

// fencedPart are the lines of the two fences of a text that has no others, and
// nothing but sentences around them; otherwise first is negative.
func fencedPart(lines []string) (first, last int) {
	first, last = -1, -1
	mark := ""
	for i, line := range lines {
		m := fence.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case m == nil && (mark == "" || last >= 0):
			if kind := lineKind(line); kind != proseText && kind != commentText && strings.TrimSpace(line) != "" {
				return -1, -1
			}
		case m == nil || mark != "" && last < 0 && m[1] != mark:
			// code, or a fence inside another
		case mark == "" && slices.Contains(fencedLanguages, strings.ToLower(m[2])):
			first, mark = i, m[1]
		case mark != "" && last < 0 && m[2] == "":
			last = i
		default:
			return -1, -1 // another language, or several blocks
		}
	}
	if last < 0 {
		return -1, -1
	}
	return first, last
}

// edgeFence is the only fence of a text, if it is the first line or the last one:
// the other was cut off; otherwise negative.
func edgeFence(lines []string) int {
	edge, code := -1, false
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	for i, line := range lines {
		m := fence.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			code = code || !blank(line)
			continue
		}
		begins := slices.IndexFunc(lines, func(l string) bool { return !blank(l) }) == i && slices.Contains(fencedLanguages, strings.ToLower(m[2]))
		ends := !slices.ContainsFunc(lines[i+1:], func(l string) bool { return !blank(l) }) && m[2] == ""
		if edge >= 0 || !begins && !ends {
			return -1
		}
		edge = i
	}
	if !code {
		return -1
	}
	return edge
}

// refuseFences is the failure of a text that begins with a fence and has several
// blocks, or nil. To the language it is texts that are called.
func (p *program) refuseFences() *runtime.Failure {
	if !mayHoldFence(p.text) {
		return nil
	}
	for i, line := range runtime.SourceLines(p.text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if !fence.MatchString(line) {
			return nil
		}
		site := runtime.Site{Line: i + 1, Column: 1}
		return &runtime.Failure{
			Kind:    runtime.InvalidInput,
			Message: "the program is several blocks of code in fences",
			Site:    site,
			Frame:   runtime.CodeFrame(p.source, site),
			Hint:    "send one program, without fences",
		}
	}
	return nil
}

// emptied is a line without its text.
func emptied(line string) string {
	switch {
	case strings.HasSuffix(line, "\r\n"):
		return "\r\n"
	case strings.HasSuffix(line, "\n"):
		return "\n"
	}
	return ""
}

// refuseText is the failure of a text that does not parse because it is no
// program at all, or nil.
func (r *run) refuseText(text string) *runtime.Failure {
	what, line := foreign(text)
	if what == "" {
		return nil
	}
	tool := ""
	if what == shellText {
		tool = r.toolNamed(noShell.tools)
	}
	for _, b := range r.req.Bindings {
		if members := b.Namespace.Members(); tool == "" && len(members) > 0 {
			tool = access(b.Namespace.Global(), members[0].Name)
		}
	}
	example := "const answer = 6 * 7"
	if tool != "" {
		example = fmt.Sprintf("const answer = await %s({ /* arguments */ })", tool)
	}
	f := r.placed(runtime.Failure{
		Kind:    runtime.InvalidInput,
		Message: fmt.Sprintf("the program is %s, not JavaScript or TypeScript", what),
		Hint:    "send only the body of an async function, for example:\n" + example + "\nreturn answer",
	}, runtime.Site{Line: line, Column: 1})
	return &f
}

// foreign says what a text is that is clearly no program, and on which line that
// shows. It must be asked only about texts that do not parse, and is silent
// when any line may be code that is merely broken.
func foreign(text string) (what string, line int) {
	if object := strings.TrimSpace(text); strings.HasPrefix(object, "{") && json.Valid([]byte(object)) {
		return jsonText, 1 + strings.Count(text[:strings.Index(text, "{")], "\n")
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "<") && strings.HasSuffix(trimmed, ">") {
		return markupText, 1 + strings.Count(text[:strings.Index(text, "<")], "\n")
	}
	blocks := 0
	inBlock := false
	kinds := map[string]int{} // first line of each kind
	for i, l := range runtime.SourceLines(text) {
		if fence.MatchString(l) {
			inBlock = !inBlock
			blocks++
			continue
		}
		if inBlock || strings.TrimSpace(l) == "" {
			continue
		}
		kind := lineKind(l)
		if kind == "" {
			return "", 0
		}
		if _, ok := kinds[kind]; !ok {
			kinds[kind] = i + 1
		}
	}
	if line, ok := kinds[pythonText]; ok {
		return pythonText, line
	}
	if _, unclear := kinds[pythonPart]; unclear {
		return "", 0
	}
	shell, isShell := kinds[shellText]
	prose, isProse := kinds[proseText]
	switch {
	case isShell && !isProse:
		return shellText, shell
	case isProse && !isShell && blocks > 0:
		return proseText + " with the code in a fence", prose
	case isProse && !isShell:
		return proseText, prose
	}
	return "", 0
}

const (
	shellText   = "shell text"
	proseText   = "prose"
	pythonText  = "Python"
	pythonPart  = "a line of Python" // or of JavaScript
	jsonText    = "a JSON value"
	markupText  = "markup"
	commentText = "a comment" // of a shell, or a heading
)

// lineKind is what a line can be that is no code, or empty.
func lineKind(line string) string {
	line = strings.TrimSpace(line)
	switch {
	case shellLine(line):
		return shellText
	case heading.MatchString(line):
		return commentText
	case pythonLine.MatchString(line):
		return pythonText
	case pythonPlain.MatchString(line) && !scriptLine.MatchString(line):
		return pythonPart
	case statement.MatchString(line):
		return ""
	case proseLine.MatchString(line):
		return proseText
	case shortLine.MatchString(line):
		return commentText
	}
	return ""
}

var (
	// heading is a comment of a shell, or a heading of Markdown.
	heading = regexp.MustCompile(`^#{1,6} `)
	// proseLine is at least four words, perhaps behind the mark of a list, that
	// hold nothing of code but the names that prose quotes.
	proseLine = regexp.MustCompile("^(?:[-*>] |\\d+[.)] )?" + proseWord + "(?: " + proseWord + "){3,}$")
	// pythonLine is a line that Python alone has; pythonPlain may stand beside one.
	pythonLine  = regexp.MustCompile(`^(?:(?:async )?def \w+\(.*\).*:|class \w+(?:\(.*\))?:|for [\w, ]+ in .+:|(?:if|elif|while|with) [^{]+:|(?:else|try|finally|except.*):|from [\w.]+ import .+|import [\w.]+(?: as \w+)?)(?:\s*#.*)?$`)
	pythonPlain = regexp.MustCompile(`^(?:[\w.\[\]'", ]+ ?[-+*/]?= ?[^;]+|(?:return|print|raise|yield|assert|await|pass|break|continue|del)\b[^;]*|[\w.]+\(.*\)|[\])}],?)$`)
	// scriptLine is a line that Python does not have.
	scriptLine = regexp.MustCompile(`^(?:const|let|var|async|function|throw|new|switch|case|default|export)\b|[;{]$|=>|^//|/\*|\*/|\bawait\b`)
	// shortLine is a few words of prose that end as sentences do.
	shortLine = regexp.MustCompile("^" + proseWord + "(?: " + proseWord + "){0,2}[.:!?]$")
	// statement is how lines of code and of its comments begin, or end.
	statement = regexp.MustCompile(`^(?:const|let|var|return|await|async|function|class|throw|new|if|for|while|case|default|import|export)\b|[;{}=]$|=>|^//|/\*|\*/`)
)

const proseWord = "(?:\\(?[\\w'\u2018\u2019\u201c\u201d\"`*_./-]+\\)?|`[^`]+`)[,:;.!?]{0,2}"

// shellWords are commands that programs in JavaScript have no variables of before
// another word.
var shellWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`ls cat cd grep rg find echo mkdir rmdir rm cp mv ln touch chmod chown pwd which head tail wc sed awk
		sort uniq xargs tee diff tar zip unzip curl wget git npm npx yarn pnpm pip pip3 python python3 node deno bun go cargo make
		docker kubectl sudo bash sh zsh source ssh scp rsync apt apt-get brew systemctl ps kill jq env printenv`) {
		words[w] = true
	}
	return words
}()

// shellArgument is what follows a command: an option, a path, a word, a quoted
// text or a variable.
var shellArgument = regexp.MustCompile(`^(?:--?[A-Za-z]|[./~*]|[\w][\w.:@/=-]*(?:\s|$)|["'$])`)

var shebang = regexp.MustCompile(`^#!.*\b(?:sh|bash|zsh|python3?)\b`)

// shellLine says whether a line starts a command of a shell.
func shellLine(line string) bool {
	if shebang.MatchString(line) {
		return true
	}
	line = strings.TrimPrefix(line, "$ ")
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if !shellWords[word] || statement.MatchString(line) {
		return false
	}
	return shellArgument.MatchString(rest) && !strings.HasPrefix(rest, "instanceof ") && !strings.HasPrefix(rest, "in ") && !strings.HasPrefix(rest, "of ")
}
