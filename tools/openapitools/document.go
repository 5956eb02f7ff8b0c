package openapitools

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// Bounds of a document. The largest public ones have some 13 MB and 1,200
// operations.
const (
	maxDocument   = 32 << 20
	maxMarks      = 2_000_000 // see marks; the largest have half of that
	maxOperations = 5_000
	maxInput      = 256 << 10 // bytes of the arguments' schema of one operation, with all it refers to
	maxOutput     = 16 << 10  // of its value's, beyond which a type is no help
	maxSchemas    = 32 << 20  // of all schemas of all tools
	maxRefs       = 32        // references that lead from one to the next
)

// maxImport is how long operations are made tools of. An honest document takes a
// few seconds at most.
const maxImport = 2 * time.Minute

// document is an OpenAPI document.
type document struct {
	root *node
	old  bool // 3.0: what stands beside a $ref has no meaning

	converted bool // from Swagger 2.0
}

func load(text []byte) (*document, error) {
	if len(text) > maxDocument {
		return nil, fmt.Errorf("the document has %d bytes; the largest that is read has %d MiB", len(text), maxDocument>>20)
	}
	if n := marks(text); n > maxMarks {
		return nil, fmt.Errorf("the document has some %d values; the most that are read are %d", n, maxMarks)
	}
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	source := string(text)
	if !strings.HasPrefix(strings.TrimLeft(source, " \t\r\n"), "{") {
		var err error
		if source, err = yamlToJSON(text); err != nil {
			return nil, err
		}
	}
	canonical, err := tools.ParseJSON(source)
	if err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	d := &document{root: parse(canonical)}
	if d.root.str("swagger") == "2.0" {
		if canonical, err = fromSwagger(canonical); err != nil {
			return nil, err
		}
		d = &document{root: parse(canonical), converted: true}
	}
	return d, d.checkVersion()
}

// marks counts what stands before values in JSON and YAML, so that a document of very
// many, each of which costs a hundred times its text, is known before it is read.
func marks(text []byte) (n int) {
	for _, mark := range []string{"\n", ",", "[", "{", "- ", "? "} {
		n += bytes.Count(text, []byte(mark))
	}
	return n
}

func (d *document) checkVersion() error {
	if !d.root.isObject() {
		return errors.New("the document is no object, so it is no OpenAPI document")
	}
	version := d.root.str("openapi")
	switch {
	case strings.HasPrefix(version, "3.0."):
		d.old = true
	case strings.HasPrefix(version, "3.1."):
	case d.root.get("swagger") != nil:
		return fmt.Errorf("the document is Swagger %.20s; OpenAPI 3.0 and 3.1 and Swagger 2.0 are read", d.root.get("swagger").text)
	case version != "":
		return fmt.Errorf("the document is OpenAPI %.20q; 3.0 and 3.1 are read", version)
	default:
		return errors.New(`the document has no text "openapi" with a version, so it is no OpenAPI document`)
	}
	if dialect := d.root.str("jsonSchemaDialect"); dialect != "" && !knownDialect(dialect) {
		return fmt.Errorf("the document's schemas are of the dialect %.100q; that of OpenAPI 3.1 and JSON Schema 2020-12 are read", dialect)
	}
	return nil
}

func knownDialect(uri string) bool {
	return strings.HasPrefix(uri, "https://spec.openapis.org/oas/3.1/dialect/") ||
		strings.TrimSuffix(uri, "#") == "https://json-schema.org/draft/2020-12/schema"
}

// target is what a reference means.
func (d *document) target(reference string) (*node, error) {
	fragment, local := strings.CutPrefix(reference, "#")
	if !local {
		return nil, fmt.Errorf("it refers to %.200q, which lies outside the document and is not loaded", reference)
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil, fmt.Errorf("the reference %.200q is no pointer into the document such as #/components/schemas/Name", reference)
	}
	n := d.root.at(pointer)
	if n == nil {
		return nil, fmt.Errorf("it refers to %.200q, which the document does not have", reference)
	}
	return n, nil
}

// follow is the object n stands for: itself, or what its references lead to.
func (d *document) follow(n *node) (*node, error) {
	for range maxRefs {
		reference := n.get("$ref")
		if reference == nil {
			return n, nil
		}
		if !reference.is(jsonscan.String) {
			return nil, errors.New("a $ref is no text")
		}
		var err error
		if n, err = d.target(reference.string()); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("more than %d references lead from one to the next", maxRefs)
}
