package openapitools

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

// operation is one operation of the document, ready to be called.
type operation struct {
	set     *Set
	method  string
	path    []string // of the document; every second element names a path parameter
	args    []argument
	body    *body
	use     []credential
	accept  []string // the kinds of JSON a success is, as the document says
	docPath string

	input, output string // schemas; output is "" if the document does not tell
	cut           bool   // output does not say all the document does

	tool *tools.Tool // says whether a value is what the document describes
}

var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace"}

// place is an operation in the document.
type place struct {
	method, path string
	item         *node // holds the operation and what it shares with others
}

// places are the operations of the document. Paths that cannot be read are
// skipped.
func (s *Set) places() (all []place, err error) {
	paths := s.doc.root.get("paths")
	if paths == nil {
		return nil, errors.New("the document has no paths, so it describes no operation")
	}
	for i, path := range paths.names {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		item, err := s.doc.follow(paths.kids[i])
		if err != nil {
			s.skip("*", path, "", err)
		}
		for _, method := range item.members() {
			if slices.Contains(methods, method) {
				all = append(all, place{method, path, item})
			}
		}
	}
	if len(all) > maxOperations {
		return nil, fmt.Errorf("the document has %d operations; the most that are read are %d", len(all), maxOperations)
	}
	return all, nil
}

// importAll makes a tool of every operation that can be one.
func (s *Set) importAll() error {
	all, err := s.places()
	if err != nil {
		return err
	}
	unauthorized := map[string]int{} // by security scheme
	for _, at := range all {
		if err := s.add(at, unauthorized); err != nil {
			s.skip(strings.ToUpper(at.method), at.path, at.item.get(at.method).str("operationId"), err)
		}
	}
	if s.cut > 0 {
		s.note("tools whose values have a type in part only, since the document's is larger than %d KiB: %d", maxOutput>>10, s.cut)
	}
	for _, name := range slices.Sorted(maps.Keys(unauthorized)) {
		s.note("Options.Credentials has nothing for the security scheme %q; operations that ask for it and are sent without: %d", name, unauthorized[name])
	}
	return nil
}

func (s *Set) skip(method, path, id string, reason error) {
	s.skipped = append(s.skipped, Skipped{method, path, id, reason.Error()})
}

// add makes a tool of one operation.
func (s *Set) add(at place, unauthorized map[string]int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("it could not be read")
		}
	}()
	if time.Now().After(s.deadline) {
		return fmt.Errorf("the operations before it took longer than %v to read", maxImport)
	}
	op, ok, err := s.operation(at)
	if err != nil {
		return err
	}
	n := at.item.get(at.method)
	if !ok {
		s.countUnauthorized(n, unauthorized)
	}
	return op.define(n)
}

// operation reads one operation; it is not authorized if no credentials it asks
// for are there.
func (s *Set) operation(at place) (op *operation, authorized bool, err error) {
	n := at.item.get(at.method)
	op = &operation{set: s, method: strings.ToUpper(at.method), docPath: at.path}
	switch {
	case !n.isObject():
		return nil, false, errors.New("it is no object")
	case at.method == "trace":
		return nil, false, errors.New("TRACE sends credentials back and is not supported")
	case n.get("servers") != nil || at.item.get("servers") != nil:
		return nil, false, errors.New("it has servers of its own, and requests go to the base URL alone")
	}
	if op.path, err = splitPath(at.path); err != nil {
		return nil, false, err
	}
	op.use, authorized = s.doc.chosen(n, s.have)
	writer := newSchemaWriter(s.doc, request, &s.left)
	if err := op.parameters(writer, at.item, n); err != nil {
		return nil, false, err
	}
	if err := op.requestBody(writer, n); err != nil {
		return nil, false, fmt.Errorf("its body: %w", err)
	}
	if err := op.nameArguments(); err != nil {
		return nil, false, err
	}
	if op.input, err = op.inputSchema(writer); err != nil {
		return nil, false, err
	}
	if op.output, err = op.outputSchema(n); err != nil {
		return nil, false, fmt.Errorf("its response: %w", err)
	}
	return op, authorized, nil
}

func (s *Set) countUnauthorized(n *node, unauthorized map[string]int) {
	alternatives := n.get("security")
	if alternatives == nil {
		alternatives = s.doc.root.get("security")
	}
	for _, name := range alternatives.kids[0].members() {
		if _, ok := s.have[name]; !ok {
			unauthorized[name]++
		}
	}
}

// splitPath takes a path template apart: text, name, text, name, text.
func splitPath(path string) ([]string, error) {
	if !strings.HasPrefix(path, "/") {
		return nil, errors.New("its path does not begin with /")
	}
	var parts []string
	for rest := path; ; {
		text, after, found := strings.Cut(rest, "{")
		if strings.ContainsAny(text, "}?#") {
			return nil, errors.New("its path holds }, ? or #, which no path does")
		}
		parts = append(parts, text)
		if !found {
			break
		}
		name, after, found := strings.Cut(after, "}")
		if !found || name == "" {
			return nil, errors.New("its path has a brace without a partner, or no name in braces")
		}
		parts = append(parts, name)
		rest = after
	}
	plain := ""
	for i, part := range parts {
		if i%2 == 1 {
			part = "x"
		}
		plain += part
	}
	u, err := nethttp.ParseURL("http://host" + plain)
	if err != nil || u.EscapedPath() != plain || u.Path == "" {
		return nil, errors.New("its path holds characters that must be escaped")
	}
	if err := checkSegments(plain); err != nil {
		return nil, fmt.Errorf("its path %w", err)
	}
	return parts, nil
}

// outputSchema is the schema of the value, "" if the document does not tell, or
// tells too much.
func (op *operation) outputSchema(n *node) (string, error) {
	if op.method == http.MethodHead {
		return `{"type":"null"}`, nil
	}
	w := newSchemaWriter(op.set.doc, response, &op.set.left)
	schemas, err := op.successes(w, n.get("responses"))
	if isTooLarge(err) {
		op.cut = true
		return "", nil
	}
	if err != nil || len(schemas) == 0 || slices.Contains(schemas, "{}") {
		return "", err
	}
	text, err := w.whole(union(schemas))
	op.cut = w.cut
	return text, err
}

// successes are the schemas of what a response with a status of success may hold.
func (op *operation) successes(w *schemaWriter, responses *node) (schemas []string, err error) {
	for i, status := range responses.members() {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		given, err := op.set.doc.follow(responses.kids[i])
		if err != nil {
			return nil, err
		}
		more, err := op.values(w, given)
		if err != nil {
			return nil, err
		}
		schemas = append(schemas, more...)
	}
	return schemas, nil
}

// values are the schemas of what one response may hold.
func (op *operation) values(w *schemaWriter, given *node) (schemas []string, err error) {
	content := given.get("content")
	if len(content.members()) == 0 {
		return []string{`{"type":"null"}`}, nil
	}
	for i, mediaType := range content.names {
		schema := `{}`
		switch {
		case acceptsJSON(mediaType):
			op.accepts(mediaType)
			if schema, err = w.schema(content.kids[i].get("schema"), ""); err != nil {
				return nil, err
			}
		case strings.HasPrefix(mediaType, "text/"):
			schema = `{"type":"string"}`
		}
		schemas = append(schemas, schema)
	}
	return schemas, nil
}

// accepts adds a kind of JSON a response may be.
func (op *operation) accepts(mediaType string) {
	kind, _, _ := strings.Cut(mediaType, ";")
	if strings.HasSuffix(kind, "*") {
		kind = "application/json"
	}
	if !slices.Contains(op.accept, kind) {
		op.accept = append(op.accept, kind)
	}
}

// define makes the definition.
func (op *operation) define(n *node) error {
	name, renamed := op.set.toolName(n.str("operationId"), op.method, op.docPath)
	def := &tools.Definition{
		Name: name, Description: op.describe(n), OutputDescribes: true, Handler: op.handle,
		Annotations: op.annotations(), Subjects: op.subjects, PresentCall: op.presentCall,
	}
	if def.Annotations.ReadOnly {
		def.Concurrent = func(tools.JSON) bool { return true }
	}
	var err error
	if def.Input, err = tools.ParseJSON(op.input); err != nil {
		return fmt.Errorf("its arguments: %w", err)
	}
	if op.tool, err = tools.NewTool(def); err != nil {
		return err
	}
	if op.output != "" {
		if def.Output, err = tools.ParseJSON(op.output); err != nil {
			return fmt.Errorf("its response: %w", err)
		}
		if tool, err := tools.NewTool(def); err != nil {
			op.set.note("%s: the response schema is left out: %v", name, err)
			def.Output = tools.JSON{}
		} else {
			op.tool = tool
		}
	}
	if renamed {
		op.set.note("%s %s is the tool %s, since the name it has in the document is too long or taken", op.method, op.docPath, name)
	}
	if op.cut {
		op.set.cut++
	}
	op.set.taken[name] = true
	op.set.defs = append(op.set.defs, def)
	return nil
}

// safe reports whether the method only reads, as HTTP says.
func (op *operation) safe() bool {
	return op.method == http.MethodGet || op.method == http.MethodHead || op.method == http.MethodOptions
}

func (op *operation) annotations() tools.Annotations {
	a := tools.Annotations{OpenWorld: true, Destructive: !op.safe()}
	if op.set.opts.Trusted {
		a.ReadOnly = op.safe()
		a.Idempotent = op.safe() || op.method == http.MethodPut || op.method == http.MethodDelete
	}
	return a
}

// describe is what a model reads of the operation.
func (op *operation) describe(n *node) string {
	text := n.str("summary")
	if more := n.str("description"); more != "" && more != text {
		text = strings.TrimSpace(text + "\n" + more)
	}
	if n.isTrue("deprecated") {
		text = strings.TrimSpace("Deprecated. " + text)
	}
	return strings.TrimSpace(text + "\n" + op.method + " " + op.docPath)
}
