package fstools

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

type editIn struct {
	FilePath   string `json:"file_path" jsonschema:"the file, relative to the root directory or absolute"`
	OldString  string `json:"old_string" jsonschema:"the exact text to replace, as read returns it in content"`
	NewString  string `json:"new_string" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitzero" jsonschema:"replace every occurrence; without it there must be exactly one"`
}

// editOut is the canonical value of edit.
type editOut struct {
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Note         string `json:"note,omitempty"`
}

func (s *Set) edit(ctx context.Context, run *tools.Run, in editIn, dryRun bool) (tools.Result, error) {
	if err := checkEdit(in); err != nil {
		return tools.Result{}, err
	}
	at, err := judged(s, "edit", run, in, s.editSubjects)
	if err != nil {
		return tools.Result{}, err
	}
	intent, err := s.editIntent(ctx, run, at)
	if err != nil {
		return tools.Result{}, err
	}
	out := editOut{Path: at.rel}
	c := change{set: s, op: "edit", at: at, intent: intent, dryRun: dryRun, edits: true}
	c.make = func(old *content) ([]byte, error) {
		if err := checkText("edit", at.rel, old.data, old.data, 1); err != nil {
			return nil, err
		}
		bom, text := cutBOM(old.data)
		r := replacement{old: in.OldString, new: in.NewString, all: in.ReplaceAll, fits: c.fits}
		edited, err := r.apply(at.rel, text)
		out.Replacements, out.Note = r.count, r.note
		return append(bom, edited...), err
	}
	done, err := c.apply(ctx)
	if err == nil {
		err = c.settle(ctx, run, done)
	}
	if err != nil {
		return tools.Result{}, err
	}
	return resultOf(out, done.diff(at.rel))
}

// cutBOM splits the byte order mark off, which is no part of the text.
func cutBOM(data []byte) (bom []byte, text string) {
	if rest, ok := bytes.CutPrefix(data, []byte("\uFEFF")); ok {
		return []byte("\uFEFF"), string(rest)
	}
	return nil, string(data)
}

// editSubjects is the file an edit reads and replaces.
func (s *Set) editSubjects(in editIn) ([]tools.Subject, error) {
	reads, err := s.subject("edit", tools.AccessRead, in.FilePath, false)
	writes := reads
	writes.Access = tools.AccessWrite
	return []tools.Subject{reads, writes}, err
}

func checkEdit(in editIn) error {
	switch {
	case in.FilePath == "":
		return badArgs("edit", "file_path", "is empty; give the path of a file")
	case in.OldString == "":
		return badArgs("edit", "old_string", "is empty; give the text to replace, or use write for a whole file")
	case in.OldString == in.NewString:
		return badArgs("edit", "new_string", "is the same as old_string, so nothing would change; give another text")
	}
	return nil
}

// renderEdit is the text a model reads.
func renderEdit(v editOut) string {
	text := fmt.Sprintf("replaced %s in %s", count(v.Replacements, "occurrence", "occurrences"), nameText(v.Path))
	if v.Note != "" {
		text += " (" + v.Note + ")"
	}
	return text
}

// replacement replaces a text by another, exactly, but for the ends of lines: a
// model writes LF, and means CRLF in a file that has it.
type replacement struct {
	old, new string
	all      bool
	fits     func(size int64) error // refuses a result before it takes memory; nil refuses none

	count int // replacements made
	note  string
}

// apply makes the new text of a file. The path is for errors.
func (r *replacement) apply(rel, text string) (string, error) {
	old, new := r.old, r.new
	if r.meansCRLF(text) {
		old, new = toCRLF(old), toCRLF(new)
		if new != r.new {
			r.note = "the lines of the file end in CRLF, and so do those of the replacement"
		}
	}
	r.count = strings.Count(text, old)
	if r.count == 0 {
		return "", fail(codeNoMatch, nil, "edit %q: old_string is not in the file; %s", rel, r.near(text))
	}
	if !r.all {
		if n := occurrences(text, old); n > 1 {
			return "", fail(codeAmbiguous, nil, "edit %q: old_string is in the file %d times, in lines %s; give more of the text around the one meant, or set replace_all to true",
				rel, n, linesOf(text, old))
		}
	}
	if r.fits != nil {
		if err := r.fits(int64(len(text)) + int64(r.count)*int64(len(new)-len(old))); err != nil {
			return "", err
		}
	}
	return strings.ReplaceAll(text, old, new), nil
}

// occurrences counts the places where old stands in text. Of two that overlap it
// is not clear either which one is meant.
func occurrences(text, old string) int {
	n := strings.Count(text, old)
	if n == 1 && strings.Contains(text[strings.Index(text, old)+1:], old) {
		return 2
	}
	return n
}

// meansCRLF reports whether the line ends of the two texts stand for CRLF: all
// lines of the file end so, or the text is found in no other way.
func (r *replacement) meansCRLF(text string) bool {
	crlf := strings.Count(text, "\r\n")
	if crlf == 0 || strings.Contains(r.old, "\r") || strings.Contains(r.new, "\r") {
		return false
	}
	if crlf == strings.Count(text, "\n") {
		return true
	}
	return !strings.Contains(text, r.old) && strings.Contains(text, toCRLF(r.old))
}

func toCRLF(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

func toLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// shownLines is how many line numbers an ambiguous edit names.
const shownLines = 5

// linesOf lists the lines in which the occurrences of a text begin.
func linesOf(text, old string) string {
	var lines []string
	line := 1
	for len(lines) < shownLines {
		at := strings.Index(text, old)
		if at < 0 {
			return strings.Join(lines, ", ")
		}
		line += strings.Count(text[:at], "\n")
		lines = append(lines, fmt.Sprint(line))
		line += strings.Count(text[at:at+1], "\n")
		text = text[at+1:]
	}
	if strings.Contains(text, old) {
		lines = append(lines, "...")
	}
	return strings.Join(lines, ", ")
}

// near says what is like a text that is not found.
func (r *replacement) near(text string) string {
	for _, like := range []struct {
		what   string
		reduce func(string) string
	}{
		{"its line ends are LF or CRLF as in the file", toLF},
		{"the white space at the ends of lines is the file's", trimLines(func(line string) string { return strings.TrimRight(line, " \t\r") })},
		{"the indentation is the file's", trimLines(strings.TrimSpace)},
	} {
		needle := like.reduce(r.old)
		if strings.TrimSpace(needle) == "" {
			continue
		}
		reduced := like.reduce(text)
		if at := strings.Index(reduced, needle); at >= 0 {
			return fmt.Sprintf("it would match at line %d if %s; copy the text from what read returns", 1+strings.Count(reduced[:at], "\n"), like.what)
		}
	}
	return "read the file and copy the text exactly, without line numbers"
}

// trimLines is trim for each line of a text.
func trimLines(trim func(string) string) func(string) string {
	return func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			body, ended := strings.CutSuffix(line, "\n")
			b.WriteString(trim(body))
			if ended {
				b.WriteByte('\n')
			}
		}
		return b.String()
	}
}
