package openapitools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

// maxYAMLDepth is how deep a YAML document may be nested, aliases followed.
const maxYAMLDepth = 500

// yamlToJSON writes a YAML document as JSON: what is a string in YAML 1.2 and
// dates are strings, names of any kind are their text. Order and numbers are
// kept as they are written.
func yamlToJSON(document []byte) (text string, err error) {
	defer func() {
		if r := recover(); r != nil { // a fault of the YAML parser
			text, err = "", errors.New("the document cannot be read as YAML")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(document))
	var root, second yaml.Node
	if err := decoder.Decode(&root); err != nil {
		return "", fmt.Errorf("the document cannot be read as YAML: %w", err)
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return "", errors.New("the document holds several YAML documents; give one")
	}
	w := yamlWriter{}
	if err := w.node(&root, 0); err != nil {
		return "", err
	}
	return string(w.out), nil
}

type yamlWriter struct{ out []byte }

func (w *yamlWriter) node(n *yaml.Node, depth int) error {
	if depth > maxYAMLDepth {
		return fmt.Errorf("line %d: nested deeper than %d levels, or an alias that contains itself", n.Line, maxYAMLDepth)
	}
	if len(w.out) > maxDocument {
		return fmt.Errorf("line %d: the document is larger than %d MiB when its aliases are followed", n.Line, maxDocument>>20)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return w.node(n.Content[0], depth)
	case yaml.AliasNode:
		return w.node(n.Alias, depth+1)
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i, element := range n.Content {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.node(element, depth+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
		return nil
	case yaml.MappingNode:
		return w.mapping(n, depth)
	}
	return w.scalar(n)
}

func (w *yamlWriter) mapping(n *yaml.Node, depth int) error {
	w.out = append(w.out, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return fmt.Errorf("line %d: a name must be a text; merging (<<) and composite names are not supported", key.Line)
		}
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(jsonscan.AppendQuote(w.out, key.Value), ':')
		if err := w.node(n.Content[i+1], depth+1); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *yamlWriter) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		w.out = append(w.out, "null"...)
	case "!!bool":
		w.out = append(w.out, strings.ToLower(n.Value)...)
	case "!!int", "!!float":
		scan := jsonscan.New(n.Value)
		if tok, err := scan.Next(); err != nil || tok.Raw != n.Value {
			return fmt.Errorf("line %d: the number %.40s is not written as in JSON; write it so, or quote it", n.Line, n.Value)
		}
		w.out = append(w.out, n.Value...)
	default:
		w.out = jsonscan.AppendQuote(w.out, n.Value)
	}
	return nil
}
