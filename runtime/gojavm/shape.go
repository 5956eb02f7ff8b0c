package gojavm

import (
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

// fenceRemoved is the note about a fence.
const fenceRemoved = "the code fence around the program was removed"

// normalize makes a function body of what is clearly one in another wrapping,
// without moving a line; each change is a note for the reader of the result. A
// function body passes as it is, for no program that runs begins with a fence:
// to the language it is a text that is called.
func normalize(source string) (text string, notes []string) {
	source = strings.TrimPrefix(source, byteOrderMark)
	if start := strings.TrimLeft(source, " \t\r\n"); !strings.HasPrefix(start, "```") && !strings.HasPrefix(start, "~~~") {
		return source, nil
	}
	lines := strings.SplitAfter(source, "\n")
	first, last := 0, len(lines)-1
	for first < last && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	open := fence.FindStringSubmatch(strings.TrimSuffix(lines[first], "\n"))
	if open == nil || !slices.Contains(fencedLanguages, strings.ToLower(open[2])) {
		return source, nil
	}
	for last > first && strings.TrimSpace(lines[last]) == "" {
		last--
	}
	end := fence.FindStringSubmatch(strings.TrimSuffix(lines[last], "\n"))
	if last == first || end == nil || end[1] != open[1] || end[2] != "" {
		return source, nil
	}
	for _, line := range lines[first+1 : last] {
		if inner := fence.FindStringSubmatch(strings.TrimSuffix(line, "\n")); inner != nil && inner[1] == open[1] {
			return source, nil // several blocks
		}
	}
	lines[first], lines[last] = emptied(lines[first]), emptied(lines[last])
	return strings.Join(lines, ""), []string{fenceRemoved}
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
	// shortLine is a few words of prose that end as sentences do.
	shortLine = regexp.MustCompile("^" + proseWord + "(?: " + proseWord + "){0,2}[.:!?]$")
	// statement is how lines of code and of its comments begin, or end.
	statement = regexp.MustCompile(`^(?:const|let|var|return|await|async|function|class|throw|new|if|for|while|case|default|import|export)\b|[;{}=]$|=>|^//|/\*|\*/`)
)

const proseWord = "[\\w'\u2018\u2019\u201c\u201d\"`*_./-]+[,:.!?]{0,2}"

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
