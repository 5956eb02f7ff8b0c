package tools

import "github.com/runcode-go/runcode/internal/jsonscan"

// Member is one property of an object ComposeObject makes.
type Member struct {
	Name  string
	Value JSON
}

// ComposeObject makes an object of values that are JSON already, in the order
// given, without reading them again. Members whose value is the zero JSON are
// left out. The caller answers for the names being different; the nesting limit
// of ParseJSON is not applied, so an object around the deepest accepted value
// is one level deeper.
func ComposeObject(members ...Member) JSON {
	size := 2
	for _, m := range members {
		size += len(m.Name) + len(m.Value.text) + 4
	}
	out := append(make([]byte, 0, size), '{')
	for _, m := range members {
		if m.Value.IsZero() {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendQuote(out, m.Name), ':')
		out = append(out, m.Value.text...)
	}
	return JSON{text: string(append(out, '}'))}
}

// ComposeArray is ComposeObject for arrays; a zero JSON becomes null, as
// JSON.stringify does with undefined.
func ComposeArray(items ...JSON) JSON {
	size := 2
	for _, item := range items {
		size += len(item.text) + 5
	}
	out := append(make([]byte, 0, size), '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		if item.IsZero() {
			out = append(out, "null"...)
			continue
		}
		out = append(out, item.text...)
	}
	return JSON{text: string(append(out, ']'))}
}
