package openapitools

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nethttp"
)

// argument is an argument that is a parameter.
type argument struct {
	parameter
	arg      string // the argument's name
	schema   string
	required bool
}

// body is how the argument for the body is sent.
type body struct {
	arg       string
	schema    string
	required  bool
	mediaType string
	form      bool
	encoding  *node // of a form, by property
}

// parameters reads those of the path item and of the operation, which replace
// the former.
func (op *operation) parameters(w *schemaWriter, item, n *node) error {
	type key struct{ name, in string }
	at := map[key]int{}
	for _, list := range [][]*node{item.elements("parameters"), n.elements("parameters")} {
		for _, p := range list {
			p, err := op.set.doc.follow(p)
			if err != nil {
				return fmt.Errorf("a parameter: %w", err)
			}
			name, in := p.str("name"), p.str("in")
			a, used, err := op.parameter(w, p)
			if err != nil {
				return fmt.Errorf("the parameter %q in %s: %w", name, in, err)
			}
			if !used {
				continue
			}
			if i, ok := at[key{name, in}]; ok {
				op.args[i] = a
				continue
			}
			at[key{name, in}] = len(op.args)
			op.args = append(op.args, a)
		}
	}
	for i := 1; i < len(op.path); i += 2 {
		if _, ok := at[key{op.path[i], inPath}]; !ok {
			return fmt.Errorf("its path has {%s}, and no parameter says what that is", op.path[i])
		}
	}
	return nil
}

// parameter reads one parameter; it is not used if the specification or the
// operator says what it is.
func (op *operation) parameter(w *schemaWriter, p *node) (a argument, used bool, err error) {
	a = argument{parameter: parameter{name: p.str("name"), in: p.str("in")}, required: p.isTrue("required")}
	known := styles[a.in]
	switch {
	case a.name == "":
		return a, false, errors.New("it has no name")
	case known == nil:
		return a, false, errors.New("a parameter stands in path, query, header or cookie")
	case a.in == inPath && !op.hasVariable(a.name), a.in == inHeader && op.fixed(a.name):
		return a, false, nil
	case a.in == inHeader:
		if err := nethttp.CheckHeaderName(a.name); err != nil {
			return a, false, fmt.Errorf("the name %w", err)
		}
	case a.in == inCookie && !nethttp.IsToken(a.name):
		return a, false, errors.New("it is no name of a cookie")
	case a.in == inPath:
		a.required = true
	}
	for _, c := range op.use {
		if c.in == a.in && c.field == a.name {
			return a, false, nil
		}
	}
	schema := p.get("schema")
	if content := p.get("content"); schema == nil && content != nil {
		if len(content.members()) != 1 || !nethttp.IsJSON(content.names[0]) {
			return a, false, errors.New("its content is not JSON")
		}
		a.json, schema = true, content.kids[0].get("schema")
	}
	if a.style = p.str("style"); a.style == "" {
		a.style = known[0]
	}
	if !slices.Contains(known, a.style) {
		return a, false, fmt.Errorf("the style %q is not one of %q", a.style, known)
	}
	a.explode = a.style == "form"
	if p.get("explode") != nil {
		a.explode = p.isTrue("explode")
	}
	a.reserved = p.isTrue("allowReserved")
	a.schema, err = w.schema(schema, p.str("description"))
	return a, true, err
}

func (op *operation) hasVariable(name string) bool {
	for i := 1; i < len(op.path); i += 2 {
		if op.path[i] == name {
			return true
		}
	}
	return false
}

// fixed reports whether a header field is not a program's to set: the
// specification leaves these out, and the operator's come with every request.
func (op *operation) fixed(name string) bool {
	key := http.CanonicalHeaderKey(name)
	if key == "Accept" || key == "Content-Type" || key == "Authorization" || op.set.headers[key] != nil {
		return true
	}
	return slices.ContainsFunc(op.use, func(c credential) bool {
		return c.in == inHeader && http.CanonicalHeaderKey(c.field) == key || c.in == inCookie && key == "Cookie"
	})
}

// requestBody reads the body, JSON if there is a choice.
func (op *operation) requestBody(w *schemaWriter, n *node) error {
	given, err := op.set.doc.follow(n.get("requestBody"))
	if err != nil {
		return err
	}
	if given == nil {
		return nil
	}
	if op.method == http.MethodGet || op.method == http.MethodHead {
		return fmt.Errorf("servers ignore or refuse that of a %s", op.method)
	}
	content := given.get("content")
	i := slices.IndexFunc(content.members(), acceptsJSON)
	form := i < 0
	if form {
		i = slices.IndexFunc(content.members(), isForm)
	}
	if i < 0 {
		return fmt.Errorf("it is %s; JSON and forms are supported", listNames(content))
	}
	op.body = &body{
		arg: "body", required: given.isTrue("required"), mediaType: content.names[i], form: form,
		encoding: content.kids[i].get("encoding"),
	}
	if !form && !nethttp.IsJSON(op.body.mediaType) {
		op.body.mediaType = "application/json"
	}
	op.body.schema, err = w.schema(content.kids[i].get("schema"), given.str("description"))
	return err
}

func acceptsJSON(mediaType string) bool {
	return nethttp.IsJSON(mediaType) || mediaType == "*/*" || mediaType == "application/*"
}

func isForm(mediaType string) bool {
	kind, _, _ := strings.Cut(mediaType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded")
}

// nameArguments gives every argument a name that differs from the others in more
// than case.
func (op *operation) nameArguments() error {
	count := map[string]int{}
	for i := range op.args {
		op.args[i].arg = op.args[i].name
		count[strings.ToLower(op.args[i].name)]++
	}
	if op.body != nil {
		count[op.body.arg]++
	}
	for i, a := range op.args {
		if count[strings.ToLower(a.name)] > 1 {
			op.args[i].arg = a.in + "_" + a.name
		}
	}
	if op.body != nil && count[op.body.arg] > 1 {
		op.body.arg = "request_body"
	}
	for i, a := range op.args {
		others := op.args[:i]
		clash := slices.ContainsFunc(others, func(b argument) bool { return strings.EqualFold(a.arg, b.arg) }) ||
			op.body != nil && strings.EqualFold(a.arg, op.body.arg)
		if clash {
			return fmt.Errorf("two of its arguments would be called %q but for case", a.arg)
		}
	}
	return nil
}

// inputSchema is the schema of the arguments.
func (op *operation) inputSchema(w *schemaWriter) (string, error) {
	properties, required := objectWriter{}, []string{}
	for _, a := range op.args {
		properties.add(a.arg, a.schema)
		if a.required {
			required = append(required, jsonscan.Quote(a.arg))
		}
	}
	if op.body != nil {
		properties.add(op.body.arg, op.body.schema)
		if op.body.required {
			required = append(required, jsonscan.Quote(op.body.arg))
		}
	}
	o := objectWriter{}
	o.add("type", `"object"`)
	o.add("properties", properties.close())
	if len(required) > 0 {
		o.add("required", "["+strings.Join(required, ",")+"]")
	}
	o.add("additionalProperties", "false")
	return w.whole(o.close())
}
