package redact

import (
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// JSON replaces secrets in a value: every string and every member name passes
// Text, and so does a number that is a known secret; a string that is itself the
// text of a JSON object or array, such as a model's arguments, is treated as
// that value. Strings and numbers that are the value of a member with a secret
// name, and the strings of an array there, become "[redacted]"; an empty string
// stays. Of two names that become equal the later is numbered: "[redacted: X]
// (2)". Everything else, the order of members and the spelling of numbers too,
// stays as it is; if nothing is replaced, v itself is returned.
func (r *Redactor) JSON(v tools.JSON) tools.JSON {
	if r == nil || v.IsZero() {
		return v
	}
	text, err := r.rewrite(v.String())
	if err == nil && text == v.String() {
		return v
	}
	redacted, bad := tools.ParseJSON(text)
	if err != nil || bad != nil {
		// Not reached with a value of that type; if it were, nothing may pass.
		return tools.StringJSON(anonymous)
	}
	return redacted
}

// level is one open object or array.
type level struct {
	object bool
	secret bool           // an array that is the value of a member with a secret name
	first  int            // where an object's names begin in rewriter.names
	taken  map[string]int // an object's names so far, once one was replaced; see unique
}

// rewriter replaces tokens of one text and copies the rest, white space too. It
// does not recurse for nesting.
type rewriter struct {
	r      *Redactor
	text   string
	out    []byte
	last   int // text[:last] is written, if anything is
	levels []level
	names  []string // of the open objects as written, inner after outer
	secret bool     // the value that comes is that of a member with a secret name
}

// rewrite redacts the text of a JSON value, canonical or not. It fails on a text
// that is none.
func (r *Redactor) rewrite(text string) (string, error) {
	w := rewriter{r: r, text: text}
	s := jsonscan.New(text)
	for {
		tok, err := s.Next()
		if err != nil {
			return "", err
		}
		if tok.Kind == jsonscan.EOF {
			return finish(w.out, text, w.last), nil
		}
		w.take(tok)
	}
}

func (w *rewriter) take(tok jsonscan.Token) {
	switch tok.Kind {
	case jsonscan.Key:
		w.name(tok)
	case jsonscan.ObjectStart, jsonscan.ArrayStart:
		object := tok.Kind == jsonscan.ObjectStart
		w.levels = append(w.levels, level{object: object, secret: !object && w.underSecretName(), first: len(w.names)})
	case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
		top := w.top()
		w.names = w.names[:top.first]
		w.levels = w.levels[:len(w.levels)-1]
	case jsonscan.String:
		if w.underSecretName() || w.top().secret {
			if len(tok.Raw) > len(`""`) {
				w.replace(tok, anonymous)
			}
			return
		}
		value := jsonscan.Unquote(tok.Raw)
		if redacted := w.r.value(value); redacted != value {
			w.replace(tok, redacted)
		}
	case jsonscan.Number:
		if w.underSecretName() {
			w.replace(tok, anonymous)
		} else if redacted := w.r.Known(tok.Raw); redacted != tok.Raw {
			w.replace(tok, redacted)
		}
	}
}

// value redacts the characters of a string.
func (r *Redactor) value(s string) string {
	start := strings.TrimLeft(s, " \t\r\n")
	if start == "" || start[0] != '{' && start[0] != '[' {
		return r.Text(s)
	}
	// Quoting doubles at every level, so this ends soon.
	inside, err := r.rewrite(s)
	if err != nil {
		return r.Text(s)
	}
	// A known value may reach from one token into the next.
	if r.Known(inside) == inside {
		return inside
	}
	return r.Text(inside)
}

// top is the innermost open container, an array around the root value.
func (w *rewriter) top() level {
	if len(w.levels) == 0 {
		return level{}
	}
	return w.levels[len(w.levels)-1]
}

func (w *rewriter) underSecretName() bool { return w.top().object && w.secret }

// name redacts a member's name and keeps it different from the others of its
// object.
func (w *rewriter) name(tok jsonscan.Token) {
	name := jsonscan.Unquote(tok.Raw)
	w.secret = w.r.secretName(name)
	written := w.r.Text(name)
	top := &w.levels[len(w.levels)-1]
	if top.taken == nil && written != name {
		top.taken = map[string]int{}
		for _, earlier := range w.names[top.first:] {
			top.taken[earlier] = 2
		}
	}
	if top.taken != nil {
		written = unique(written, top.taken)
	} else {
		w.names = append(w.names, written)
	}
	if written != name {
		w.replace(tok, written)
	}
}

// unique is the name, numbered if it is taken, and takes it. With each name
// stands the number to try next, since thousands may become equal.
func unique(name string, taken map[string]int) string {
	n, used := taken[name]
	if !used {
		taken[name] = 2
		return name
	}
	for {
		free := name + " (" + strconv.Itoa(n) + ")"
		n++
		if _, used := taken[free]; !used {
			taken[name], taken[free] = n, 2
			return free
		}
	}
}

func (w *rewriter) replace(tok jsonscan.Token, with string) {
	w.out = append(w.out, w.text[w.last:tok.Offset]...)
	w.out = jsonscan.AppendQuote(w.out, with)
	w.last = tok.Offset + len(tok.Raw)
}
