package openapitools

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

// handle is the body of an operation's tool.
func (op *operation) handle(ctx context.Context, run *tools.Run) (tools.Result, error) {
	req, wrong := op.request(run.Args())
	if wrong != nil {
		return tools.Result{}, &tools.ArgsError{Tool: run.Call().Name(), Problems: []tools.Problem{*wrong}}
	}
	resp, err := op.set.client.Do(ctx, req)
	if err != nil {
		return tools.Result{}, err
	}
	return op.result(resp)
}

func (op *operation) subjects(tools.JSON) ([]tools.Subject, error) {
	return []tools.Subject{{Access: tools.AccessNet, Host: nethttp.HostPort(op.set.base)}}, nil
}

func (op *operation) presentCall(args tools.JSON) tools.Card {
	req, wrong := op.request(args)
	if wrong != nil {
		return tools.Card{}
	}
	return tools.Card{Type: tools.CardGeneric, Title: req.Method + " " + req.URL.String(), Action: "fetch"}
}

// problem is what is wrong with one argument.
func problem(arg string, err error) *tools.Problem {
	return &tools.Problem{Pointer: "/" + escapeStep.Replace(arg), Text: fmt.Sprintf("%q %v", arg, err)}
}

// request is what a call sends; credentials are added later.
func (op *operation) request(args tools.JSON) (nethttp.Request, *tools.Problem) {
	values := parse(args)
	req := nethttp.Request{
		Method: op.method, Header: op.set.headers.Clone(),
		Authorize: op.authorize, Timeout: op.set.opts.Timeout, MaxBody: op.set.opts.MaxBytes,
	}
	if len(op.accept) > 0 && req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", strings.Join(op.accept, ", "))
	}
	pathValues := map[string]string{}
	var query []pair
	for _, a := range op.args {
		v := values.get(a.arg)
		if v == nil {
			continue
		}
		var err error
		switch a.in {
		case inPath:
			pathValues[a.name], err = a.path(v)
		case inQuery:
			var pairs []pair
			pairs, err = a.query(v)
			query = append(query, pairs...)
			if err == nil && op.credentialIn(pairs) {
				err = errors.New("has a member of the name under which the credential is sent")
			}
		case inHeader:
			var text string
			text, err = a.header(v)
			req.Header.Set(a.name, text)
		case inCookie:
			var text string
			text, err = a.cookie(v)
			addCookie(req.Header, a.name, text)
		}
		if err != nil {
			return req, problem(a.arg, err)
		}
	}
	if wrong := op.setURL(&req, pathValues, joinPairs(query)); wrong != nil {
		return req, wrong
	}
	return req, op.setBody(&req, values)
}

// credentialIn reports whether one of the pairs, whose names an argument may choose,
// would stand beside a credential in the query, where a server may take either.
func (op *operation) credentialIn(pairs []pair) bool {
	return slices.ContainsFunc(op.use, func(c credential) bool {
		return c.in == inQuery && slices.ContainsFunc(pairs, func(p pair) bool {
			name, err := url.QueryUnescape(p.name)
			return err == nil && strings.EqualFold(name, c.field)
		})
	})
}

func (op *operation) authorize(req *http.Request) {
	for _, c := range op.use {
		c.add(req)
	}
}

// setURL puts the address together and makes sure that it is the one that is
// sent.
func (op *operation) setURL(req *nethttp.Request, values map[string]string, query string) *tools.Problem {
	path := strings.TrimSuffix(op.set.base.EscapedPath(), "/")
	for i, part := range op.path {
		if i%2 == 0 {
			path += part
			continue
		}
		value := values[part]
		if value == "" { // arguments that fit the schema give one
			return problem(part, errors.New("is missing"))
		}
		path += value
	}
	if err := checkSegments(path); err != nil {
		return &tools.Problem{Text: "the path made of the arguments " + err.Error()}
	}
	text := op.set.base.Scheme + "://" + op.set.base.Host + path
	if query != "" {
		text += "?" + query
	}
	u, err := nethttp.ParseURL(text)
	if err == nil && (u.EscapedPath() != path || u.RawQuery != query || nethttp.Origin(u) != nethttp.Origin(op.set.base)) {
		err = errors.New("would be sent as another one")
	}
	if err != nil {
		return &tools.Problem{Text: "the address made of the arguments " + err.Error()}
	}
	req.URL = u
	return nil
}

func (op *operation) setBody(req *nethttp.Request, values *node) *tools.Problem {
	if op.body == nil {
		return nil
	}
	v := values.get(op.body.arg)
	if v == nil {
		return nil
	}
	req.Header.Set("Content-Type", op.body.mediaType)
	if !op.body.form {
		req.Body = []byte(v.text)
		return nil
	}
	if !v.isObject() {
		return problem(op.body.arg, errors.New("must be an object, which a form is made of"))
	}
	pairs := []pair{}
	for i, name := range v.names {
		more, err := formField(name, op.body.encoding.get(name), v.kids[i])
		if err != nil {
			return problem(op.body.arg, fmt.Errorf("cannot be a form: %q %w", name, err))
		}
		pairs = append(pairs, more...)
	}
	req.Body = []byte(joinPairs(pairs))
	return nil
}

// formField is a property of a form. If the document does not say how it is
// written, a list is one field for each element, and an object is JSON.
func formField(name string, encoding, v *node) ([]pair, error) {
	p := parameter{name: name, in: inQuery, style: "form", explode: true}
	if style := encoding.str("style"); style != "" {
		p.style, p.explode = style, style == "form"
		if !slices.Contains(styles[inQuery], style) {
			return nil, fmt.Errorf("has the unknown style %q in the document", style)
		}
	}
	if encoding.get("explode") != nil {
		p.explode = encoding.isTrue("explode")
	}
	styled := encoding.get("style") != nil || encoding.get("explode") != nil
	if nethttp.IsJSON(encoding.str("contentType")) {
		p.json = true
	}
	if styled || p.json {
		return p.form(v)
	}
	if !v.is(jsonscan.ArrayStart) {
		p.json = v.isObject()
		return p.form(v)
	}
	var pairs []pair
	for _, kid := range v.kids {
		p.json = kid.isObject() || kid.is(jsonscan.ArrayStart)
		more, err := p.form(kid)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, more...)
	}
	return pairs, nil
}
