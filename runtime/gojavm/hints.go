package gojavm

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/runtime"
)

// absence is a global that programs expect from other environments.
type absence struct {
	says string
	// tools are words in the names of tools that may do instead, the best first.
	tools []string
}

var (
	noModules  = absence{says: "a program has no modules; tools are on the global tools"}
	noNetwork  = absence{"a program has no network", []string{"fetch", "http", "request", "url", "web", "download"}}
	noFiles    = absence{"a program has no file system", []string{"read", "file", "fs", "write", "glob"}}
	noShell    = absence{"a program starts no processes", []string{"bash", "shell", "exec", "command", "terminal"}}
	noPage     = absence{says: "a program runs in no browser and has no page"}
	noProcess  = absence{says: "a program has no process, environment or arguments; data comes from tools and the global input"}
	noPlace    = absence{says: "a program is no file and has no directory"}
	noPython   = absence{says: "a program is JavaScript or TypeScript, not Python"}
	noCaller   = absence{says: "a tool is called as await tools.name({ … })"}
	noLibrary  = absence{says: "a program has no libraries; Date and Intl have most of it"}
	noEntities = absence{says: "write < > & and quotes as they are, not as HTML entities"}
	noPrint    = absence{says: "use console.log, or return the value"}
)

// absent are the names that a program finds missing here, and what is said.
var absent = map[string]absence{
	"require": noModules, "module": noModules, "exports": noModules, "define": noModules,
	"fetch": noNetwork, "XMLHttpRequest": noNetwork, "WebSocket": noNetwork, "EventSource": noNetwork, "axios": noNetwork,
	"http": noNetwork, "https": noNetwork, "net": noNetwork, "Request": noNetwork, "Response": noNetwork, "Headers": noNetwork,
	"fs": noFiles, "fsp": noFiles, "readFile": noFiles, "readFileSync": noFiles, "writeFile": noFiles, "writeFileSync": noFiles,
	"readdir": noFiles, "readdirSync": noFiles, "existsSync": noFiles, "Deno": noFiles, "Bun": noFiles,
	"child_process": noShell, "exec": noShell, "execSync": noShell, "spawn": noShell, "spawnSync": noShell, "execa": noShell,
	"ls": noShell, "cat": noShell, "cd": noShell, "pwd": noShell, "git": noShell, "npm": noShell,
	"process": noProcess, "os": noProcess,
	"window": noPage, "document": noPage, "navigator": noPage, "location": noPage, "localStorage": noPage, "sessionStorage": noPage,
	"__dirname": noPlace, "__filename": noPlace,
	"path":  {says: "a program has no modules; join paths as text, with /"},
	"util":  {says: "a program has no modules; console.log formats values"},
	"_":     {says: "a program has no libraries; arrays, Object, Map and Set have most of them"},
	"alert": noPrint, "print": noPrint, "echo": noPrint,
	"prompt": {says: "a program cannot ask the user"}, "confirm": {says: "a program cannot ask the user"},
	"global": {says: "use globalThis"}, "self": {says: "use globalThis"},
	"sleep":    {says: "use await new Promise(r => setTimeout(r, milliseconds))"},
	"callTool": noCaller, "call_tool": noCaller, "invokeTool": noCaller, "runTool": noCaller, "useTool": noCaller,
	"functions": noCaller, "default_api": noCaller, "mcp": noCaller,
	"moment": noLibrary, "dayjs": noLibrary, "luxon": noLibrary,
	"len": noPython, "range": noPython, "enumerate": noPython, "isinstance": noPython, "sorted": noPython,
	"lt": noEntities, "gt": noEntities, "amp": noEntities, "quot": noEntities,
	"None": noPython, "True": noPython, "False": noPython,
}

// hintFor suggests what to use instead of a name that is not defined.
func (r *run) hintFor(name string) string {
	if hint := r.exactHint(name); hint != "" {
		return hint
	}
	if missing, ok := absent[name]; ok {
		if tool := r.toolNamed(missing.tools); tool != "" {
			return fmt.Sprintf("%s; use the tool %s", missing.says, tool)
		}
		if len(missing.tools) > 0 {
			return missing.says + ", and no tool here stands in for it"
		}
		return missing.says
	}
	if near := nearest.Names(name, r.globals(), 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return r.nearHint(name)
}

// memberHint suggests what to use instead of a member that is not there.
func (r *run) memberHint(name string) string {
	if hint := r.exactHint(name); hint != "" {
		return hint
	}
	return r.nearHint(name)
}

// exactHint knows the names of members, which may be looked for in the wrong
// place.
func (r *run) exactHint(name string) string {
	for _, b := range r.req.Bindings {
		n := b.Namespace
		if name == "run_code" {
			return "run_code is not callable inside a program; use the functions on " + n.Global()
		}
		if n.Has(name) {
			return fmt.Sprintf("did you mean %s?", access(n.Global(), name))
		}
	}
	return ""
}

// nearHint suggests a member whose name is like the one that is missing.
func (r *run) nearHint(name string) string {
	for _, b := range r.req.Bindings {
		names := make([]string, 0, len(b.Namespace.Members()))
		for _, m := range b.Namespace.Members() {
			names = append(names, m.Name)
		}
		if near := nearest.Names(name, names, 1); len(near) > 0 {
			return fmt.Sprintf("did you mean %s?", access(b.Namespace.Global(), near[0]))
		}
	}
	return ""
}

// toolNamed is how a program writes the first member with one of the words in
// its name, or nothing.
func (r *run) toolNamed(words []string) string {
	for _, word := range words {
		for _, b := range r.req.Bindings {
			for _, m := range b.Namespace.Members() {
				if slices.Contains(nameWords(m.Name), word) {
					return access(b.Namespace.Global(), m.Name)
				}
			}
		}
	}
	return ""
}

// nameWords are the words of a name in lower case: readFile, read_file and
// read-file have the same.
func nameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, c := range name {
		if unicode.IsUpper(c) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(c)
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			c = ' '
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return strings.Fields(b.String())
}

// words are the names in a text.
var words = regexp.MustCompile(`[A-Za-z_$][\w$]{2,}`)

// nearWord suggests a name of the program's text that is like the one that is
// missing.
func (p *program) nearWord(name string) string {
	var known []string
	for _, word := range words.FindAllString(p.text, -1) {
		if word != name && !slices.Contains(known, word) {
			known = append(known, word)
		}
	}
	if near := nearest.Names(name, known, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}

// syntaxHints are hints for what is wrong with a line.
var syntaxHints = []struct {
	text, line *regexp.Regexp // in what the compiler says, and in the line from the place on or around it
	hint       string
}{
	{regexp.MustCompile(`"[&;]"$`), regexp.MustCompile(`&(?:lt|gt|amp|quot|apos|#39);`), noEntities.says},
	{regexp.MustCompile(`^Syntax error "[nrt]"`), regexp.MustCompile(`\\[nrt]`), "send line breaks themselves; here the two characters \\ and n stand between the lines"},
	{regexp.MustCompile(`near "\[object |: .*'o'.* near "object `), nil, "it is a value already, not JSON text; use it without JSON.parse"},
	{regexp.MustCompile(`near "undefined"`), nil, "what is parsed is undefined"},
	{regexp.MustCompile(`^Expected ";" but found ":"`), regexp.MustCompile(`^\s*\{|:.*\}`), "return an object as return { … }"},
	{nil, regexp.MustCompile("[\u2018\u2019\u201c\u201d]"), "write plain quotes: \" or '"},
	{nil, regexp.MustCompile(`\bf["']`), "write a template: `text ${value}`"},
	{nil, regexp.MustCompile(`\belif\b`), "write else if"},
	{nil, regexp.MustCompile(`\bfor \w+ in .+[\])]`), "write values.map(x => …), or for (const x of values)"},
	{nil, regexp.MustCompile(`[\w)\]] (?:and|or) [\w(!]|\bnot \w`), "write && for and, || for or, ! for not"},
	{regexp.MustCompile(`^"await" can only`), nil, "write async before the function that awaits"},
	{regexp.MustCompile(`^Unterminated string`), nil, "write a text of several lines between backticks"},
	{regexp.MustCompile(`^Expected "[})\]]" but found "(?:\w|\\"|['\[{(])`), nil, "a comma or an operator may be missing"},
	{regexp.MustCompile(`^Expected "[})\]]" but found "[;,})\]]"`), nil, "a closing bracket may be missing before it"},
	{regexp.MustCompile(`^'super' keyword`), nil, "super cannot stand in an async generator here; call a method that uses it"},
	{regexp.MustCompile(`^Invalid flags .*'[^']*[dv][^']*'`), nil, "the flags d and v are not supported here; match.index and the lengths of groups give places"},
	{regexp.MustCompile(`^The symbol ".*" has already`), nil, "take another name, or assign without const or let"},
}

// syntaxHint is the first that fits, or nothing.
func (p *program) syntaxHint(text string, site runtime.Site) string {
	line := ""
	if site.Line > 0 && site.Line <= len(p.lines) {
		line = p.lines[site.Line-1]
	}
	for _, h := range syntaxHints {
		if (h.text == nil || h.text.MatchString(text)) && (h.line == nil || h.line.MatchString(line)) {
			return h.hint
		}
	}
	if lineKind(line) == proseText {
		return "send the program alone; sentences go into comments"
	}
	if m := lastWord.FindStringSubmatch(line[:byteOffset(line, site.Column)]); m != nil && strings.HasPrefix(text, "Expected \";\"") {
		if near := nearest.Names(m[1], keywords, 1); len(near) > 0 && near[0] != m[1] {
			return "did you mean " + near[0] + "?"
		}
	}
	return ""
}

// keywords are those that stand before a name or an expression.
var keywords = []string{"await", "async", "const", "function", "return", "class", "throw", "typeof", "delete", "import", "export"}

// lastWord is the word that ends before a place.
var lastWord = regexp.MustCompile(`([A-Za-z]{3,})\s+$`)

// byteOffset is the offset of a column, which counts characters.
func byteOffset(line string, column int) int {
	for i := range line {
		if column <= 1 {
			return i
		}
		column--
	}
	return len(line)
}

// unawaited is a hint about a TypeError if the value it is about is a promise, or
// holds some.
func (r *run) unawaited(text string, site runtime.Site) string {
	_, read, reads := strings.Cut(text, "(reading '")
	path, called := strings.CutSuffix(text, " is not a function")
	walked, iterates := strings.CutSuffix(text, " is not iterable")
	switch {
	case reads:
		path = r.prog.objectAt(site, strings.TrimSuffix(read, "')"))
	case iterates:
		path = walked
		if call, ok := strings.CutSuffix(path, "(...)"); ok && slices.Contains(r.globals(), baseName(path)) {
			return fmt.Sprintf("write await before %s(…)", call)
		}
	case !called:
		return ""
	}
	name := baseName(path)
	if called && slices.Contains(r.globals(), path) && path != "console" {
		return noCaller.says
	}
	if called && name == path {
		return "" // a promise that is called is no mistake of waiting
	}
	return cmp.Or(r.promiseHint(name), r.promisesHint(name, site))
}

// baseName is the name that an expression begins with.
func baseName(path string) string {
	end := strings.IndexFunc(path, func(c rune) bool { return !isNameRune(c) })
	if end < 0 {
		return path
	}
	return path[:end]
}

// promisesHint says that a name is one of the promises that a call of map with an
// async function gave.
func (r *run) promisesHint(name string, site runtime.Site) string {
	if !plainName.MatchString(name) || site.Line < 1 || site.Line > len(r.prog.lines) {
		return ""
	}
	walks := regexp.MustCompile(`([A-Za-z_$][\w$]*)\.\w+\(\s*(?:async\s*)?\(?\s*` + regexp.QuoteMeta(name) +
		`\b|\b(?:const|let|var)\s+` + regexp.QuoteMeta(name) + `\s+of\s+([A-Za-z_$][\w$]*)\s*\)`)
	for _, m := range walks.FindAllStringSubmatch(strings.Join(r.prog.lines[max(site.Line-1-chainLines, 0):site.Line], "\n"), -1) {
		list := m[1] + m[2]
		made := regexp.MustCompile(`\b` + regexp.QuoteMeta(list) + `\s*(?::[^=]+)?=([^=;]*)\.map\(\s*async\b`).FindStringSubmatch(r.prog.text)
		if made != nil && !strings.Contains(made[1], "Promise.") {
			return fmt.Sprintf("%s holds promises; write await Promise.all(%s)", list, list)
		}
	}
	return ""
}

// promiseHint says that a name holds a promise, where the author's text gives it
// the call of a member and does not wait for that.
func (r *run) promiseHint(name string) string {
	if !plainName.MatchString(name) {
		return ""
	}
	given := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\s*(?::[^=]+)?=\s*((\w+)[\w.]*)\(`)
	for _, m := range given.FindAllStringSubmatch(r.prog.text, -1) {
		if slices.Contains(r.globals(), m[2]) && m[2] != "console" {
			return fmt.Sprintf("%s is a promise; write await before %s(…)", name, m[1])
		}
	}
	taken := regexp.MustCompile(`\b(?:const|let|var)\s*[{[][^=;]*\b` + regexp.QuoteMeta(name) + `\b[^=;]*[}\]]\s*=\s*((\w+)[\w.]*)\(`)
	for _, m := range taken.FindAllStringSubmatch(r.prog.text, -1) {
		if slices.Contains(r.globals(), m[2]) && m[2] != "console" {
			return fmt.Sprintf("%s was taken out of a promise; write await before %s(…)", name, m[1])
		}
	}
	return ""
}
