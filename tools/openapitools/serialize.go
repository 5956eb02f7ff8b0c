package openapitools

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

// Where a parameter stands.
const (
	inPath   = "path"
	inQuery  = "query"
	inHeader = "header"
	inCookie = "cookie"
)

// styles are the ways to write a value, by where a parameter stands; the first
// is the default.
var styles = map[string][]string{
	inPath:   {"simple", "label", "matrix"},
	inQuery:  {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	inHeader: {"simple"},
	inCookie: {"form"},
}

// parameter is how one argument becomes a part of a request.
type parameter struct {
	name, in string
	style    string
	explode  bool
	reserved bool // allowReserved: in a query, what separates nothing there stays as it is
	json     bool // the value is written as JSON
}

// pair is one name and value of a query or a form, both encoded.
type pair struct{ name, value string }

// item is an element of an array, or a member of an object.
type item struct{ name, value string }

// flat is a value as styles write it: the texts of a scalar, of the elements of
// an array, or of the members of an object, none of them nested.
type flat struct {
	kind  jsonscan.Kind // ObjectStart, ArrayStart, or 0 for a scalar
	items []item
}

// flatten takes a value apart; encode writes each text.
func (p parameter) flatten(v *node, encode func(string) (string, error)) (flat, error) {
	if p.json {
		text, err := encode(v.text)
		return flat{items: []item{{value: text}}}, err
	}
	if v.kind != jsonscan.ObjectStart && v.kind != jsonscan.ArrayStart {
		text, err := scalar(v)
		if err == nil {
			text, err = encode(text)
		}
		return flat{items: []item{{value: text}}}, err
	}
	f := flat{kind: v.kind}
	for i, kid := range v.kids {
		var it item
		text, err := scalar(kid)
		if err == nil {
			it.value, err = encode(text)
		}
		if err == nil && v.kind == jsonscan.ObjectStart {
			it.name, err = encode(v.names[i])
		}
		if err != nil {
			return flat{}, err
		}
		f.items = append(f.items, it)
	}
	return f, nil
}

// scalar is the text of a value that is no object and no array.
func scalar(v *node) (string, error) {
	switch v.kind {
	case jsonscan.String:
		json, err := tools.ParseJSON(v.text)
		if err != nil {
			return "", err
		}
		return nethttp.StringOf(json)
	case jsonscan.Null:
		return "", errors.New("is or holds null, which cannot be written here; leave it out")
	case jsonscan.ObjectStart, jsonscan.ArrayStart:
		return "", errors.New("holds an object or an array inside another, which cannot be written here")
	}
	return v.text, nil
}

// join writes the items with a mark between them, and another between a name and
// its value.
func (f flat) join(between, equals string) string {
	parts := make([]string, len(f.items))
	for i, it := range f.items {
		parts[i] = it.value
		if f.kind == jsonscan.ObjectStart {
			parts[i] = it.name + equals + it.value
		}
	}
	return strings.Join(parts, between)
}

// path writes a value into a path.
func (p parameter) path(v *node) (string, error) {
	f, err := p.flatten(v, func(text string) (string, error) {
		if text == "" {
			return "", errors.New("is or holds an empty text, which a path cannot")
		}
		return escape(text, ""), nil
	})
	if err != nil {
		return "", err
	}
	if len(f.items) == 0 {
		return "", errors.New("is empty, which a part of a path cannot be")
	}
	name := escape(p.name, "")
	equals := ","
	if p.explode {
		equals = "="
	}
	switch {
	case p.style == "label" && p.explode:
		return "." + f.join(".", "="), nil
	case p.style == "label":
		return "." + f.join(",", ","), nil
	case p.style == "matrix" && p.explode && f.kind == jsonscan.ObjectStart:
		return ";" + f.join(";", "="), nil
	case p.style == "matrix" && p.explode:
		return ";" + name + "=" + f.join(";"+name+"=", ""), nil
	case p.style == "matrix":
		return ";" + name + "=" + f.join(",", ","), nil
	}
	return f.join(",", equals), nil
}

// header writes a value into a header field, where nothing can be encoded.
func (p parameter) header(v *node) (string, error) {
	list := v.kind == jsonscan.ArrayStart || v.kind == jsonscan.ObjectStart
	f, err := p.flatten(v, func(text string) (string, error) {
		if list && !p.json && strings.ContainsAny(text, ",=") {
			return "", errors.New(`holds a text with "," or "=" in a list, where they separate`)
		}
		return text, nil
	})
	if err != nil {
		return "", err
	}
	equals := ","
	if p.explode {
		equals = "="
	}
	text := f.join(",", equals)
	return text, nethttp.CheckHeaderValue(text)
}

// cookie writes a value into a cookie.
func (p parameter) cookie(v *node) (string, error) {
	f, err := p.flatten(v, func(text string) (string, error) {
		// Many servers do not decode cookies, so only what none can hold is encoded.
		return escape(text, "!#$&'()*+/:<=>?@[]^`{|}"), nil
	})
	if err != nil {
		return "", err
	}
	if f.kind != 0 && p.explode {
		return "", errors.New("is a list, which this cookie cannot hold")
	}
	return f.join(",", ","), nil
}

// query writes a value as pairs of a query. A list without elements is none.
func (p parameter) query(v *node) ([]pair, error) {
	keep := ""
	if p.reserved {
		keep = ":/?@!$'()*,;"
	}
	return p.pairs(v, func(text string) string { return escape(text, keep) })
}

// form writes a value as pairs of a form.
func (p parameter) form(v *node) ([]pair, error) { return p.pairs(v, url.QueryEscape) }

func (p parameter) pairs(v *node, encode func(string) string) ([]pair, error) {
	delimiter := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[p.style]
	single := v.kind != jsonscan.ArrayStart && v.kind != jsonscan.ObjectStart || p.json
	f, err := p.flatten(v, func(text string) (string, error) {
		if delimiter != "" && !p.explode && !single && strings.Contains(text, delimiter) {
			return "", fmt.Errorf("holds a text with %q in a list, where it separates", delimiter)
		}
		return encode(text), nil
	})
	if err != nil {
		return nil, err
	}
	name := encode(p.name)
	between := ","
	if delimiter != "" {
		between = encode(delimiter)
	}
	var out []pair
	switch {
	case len(f.items) == 0:
	case p.style == "deepObject" && f.kind == jsonscan.ArrayStart:
		return nil, errors.New("is an array, where only an object can be written")
	case p.style == "deepObject" && f.kind == jsonscan.ObjectStart:
		for _, it := range f.items {
			out = append(out, pair{name + "%5B" + it.name + "%5D", it.value})
		}
	case p.explode && f.kind == jsonscan.ObjectStart:
		for _, it := range f.items {
			out = append(out, pair(it))
		}
	case p.explode:
		for _, it := range f.items {
			out = append(out, pair{name, it.value})
		}
	default:
		out = []pair{{name, f.join(between, between)}}
	}
	return out, nil
}

func joinPairs(pairs []pair) string {
	texts := make([]string, len(pairs))
	for i, p := range pairs {
		texts[i] = p.name + "=" + p.value
	}
	return strings.Join(texts, "&")
}

// escape percent-encodes a text but for letters, digits, -._~ and what is in
// keep.
func escape(text, keep string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// checkSegments refuses a path that servers, or what stands before them, would
// take for another one: some decode it before they take it apart, separate at
// backslashes too, and leave out what follows a semicolon.
func checkSegments(path string) error {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return errors.New("has a malformed escape")
	}
	for segment := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == '/' || r == '\\' }) {
		segment, _, _ = strings.Cut(segment, ";")
		if segment == "." || segment == ".." {
			return fmt.Errorf("has the segment %q, which leads to another path", segment)
		}
	}
	return nil
}
