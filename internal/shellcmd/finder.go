package shellcmd

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// finder fills a Command.
type finder struct {
	Command
	incomplete bool // see misread
	left       int  // see spend
	// feeds says that a shell gets its commands from somewhere in the text
	// that is not known, so every word in texts may be some.
	feeds bool
	texts []string
}

// read takes the whole text apart. A crash is as if it could not be parsed.
func (f *finder) read(text string) {
	if why := oddity(text); why != "" {
		f.misread(why)
		if len(text) > maxText || nesting(text) > maxNesting {
			return
		}
	}
	defer func() {
		if r := recover(); r != nil {
			f.misread(fmt.Sprintf("cannot be parsed: the parser's result crashed the search: %v", r))
		}
	}()
	file, err := parse(text)
	if err != nil {
		f.misread(cannotParse(err))
		return
	}
	f.because(beyond(text, file.Stmts))
	f.walk(text, file, 0)
	if f.feeds {
		for _, t := range f.texts {
			f.inner(t, 1)
		}
	}
}

func (f *finder) because(why string) {
	if f.problem == "" {
		f.problem = why
	}
}

// walk collects the commands of a syntax tree. Level 0 is the text itself.
func (f *finder) walk(text string, file *syntax.File, level int) {
	mended := []byte(text)
	defer func() {
		if string(mended) != text {
			f.inner(string(mended), level+1)
		}
	}()
	syntax.Walk(file, func(n syntax.Node) bool {
		if f.left < 0 {
			return false
		}
		switch n := n.(type) {
		case *syntax.Comment:
			// Here the parser goes on with the line before; bash does not.
			if strings.HasSuffix(n.Text, "\\\n") {
				f.misread("has a comment that ends in a backslash")
				hash := int(n.Hash.Offset())
				mended[hash+strings.IndexByte(text[hash:], '\n')-1] = ' '
			}
		case *syntax.CoprocClause:
			// The parser takes what follows for words, even an assignment.
			if _, ok := n.Stmt.Cmd.(*syntax.CallExpr); ok {
				f.inner(strings.TrimPrefix(source(text, n), "coproc"), level+1)
			}
		case *syntax.ExtGlob:
			// What stands in it is not parsed.
			if strings.ContainsAny(n.Pattern.Value, "$`<>") {
				f.misread("expands a file name pattern")
			}
		case *syntax.Assign:
			if n.Name != nil && n.Name.Value == "BASH_ALIASES" {
				f.aliases(text, n, level)
			}
		case *syntax.Word:
			f.text(readWord(text, n).text)
		case syntax.Command:
			f.command(simpleCommand(text, n), n, level)
		}
		return true
	})
}

// aliases takes apart the values of aliases that are made by an assignment.
func (f *finder) aliases(text string, assign *syntax.Assign, level int) {
	syntax.Walk(assign, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			f.inner(readWord(text, w).text, level+1)
		}
		return true
	})
}

// spend takes from what may still be examined. If nothing is left, the text is
// as one that was not understood.
func (f *finder) spend(n int) bool {
	if f.left -= n; f.left < 0 {
		f.misread("is too large to be examined")
		return false
	}
	return true
}

// enter is spend for what stands in other words.
func (f *finder) enter(level, n int) bool {
	if level > maxLevel {
		f.misread("is nested too deeply to be examined")
		return false
	}
	return f.spend(n)
}

// misread notes that the text or a part of it was not understood, or that bash
// may read it differently.
func (f *finder) misread(why string) {
	f.incomplete = true
	f.because(why)
}

// text remembers a word that could be commands for a shell.
func (f *finder) text(text string) {
	if !strings.ContainsAny(text, " \t\n") {
		return
	}
	if f.spend(len(text)) {
		f.texts = append(f.texts, text)
	}
}

func (f *finder) command(words []word, n syntax.Command, level int) {
	if len(words) == 0 {
		return
	}
	if _, timed := n.(*syntax.TimeClause); level == 0 && !timed { // else its command follows
		f.simple = append(f.simple, words)
	}
	f.text(joined(words[1:]))
	f.add(words, level)
}

func joined(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// add puts a command on the list Denied compares, by its name as written and
// without a path, and what it runs in its turn.
func (f *finder) add(words []word, level int) {
	if f.left < 0 {
		return
	}
	flat := flatten(words)
	if !f.enter(level, 2*len(flat)) {
		return
	}
	f.found = append(f.found, flat)
	name := base(words[0].text)
	if dir := len(words[0].text) - len(name); dir > 0 && name != "" {
		f.found = append(f.found, flat[dir:])
	}
	if words[0].why != "" || strings.Contains(flat, "IFS") {
		f.addLoose(sources(words)) // what its name or its words are is not known
	}
	for _, inner := range wrapped(name, words) {
		if len(inner) > 0 {
			f.add(inner, level+1)
		}
	}
	texts, feeds := scripts(name, words)
	f.feeds = f.feeds || feeds
	for _, t := range texts {
		f.inner(t, level+1)
	}
}

// inner takes apart a text that a command of the text runs.
func (f *finder) inner(text string, level int) {
	if !f.enter(level, len(text)) {
		return
	}
	if oddity(text) == "" {
		if file, err := parse(text); err == nil {
			f.walk(text, file, level)
			return
		}
	}
	f.addLoose(text)
}

func (f *finder) addLoose(text string) {
	f.loose = append(f.loose, looseWords(text))
}

func sources(words []word) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.source
	}
	return strings.Join(list, " ")
}

// base is the name of a program without the path before it.
func base(name string) string {
	return name[strings.LastIndexByte(name, '/')+1:]
}
