package httptools

import (
	"fmt"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// shownBytes is how much of a body the rendered text holds.
const shownBytes = 32 << 10

// render is the text a model reads: the status, where it matters the address,
// the fields that say what the body is, and the body.
func render(args, value tools.JSON) ([]tools.Content, error) {
	var in httpIn
	var v httpOut
	if err := args.Unmarshal(&in); err != nil {
		return nil, err
	}
	if err := value.Unmarshal(&v); err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("status %d", v.Status)}
	if v.URL != in.URL {
		lines = append(lines, "url: "+v.URL)
	}
	for _, name := range []string{"content-type", "location", "retry-after"} {
		if v.Headers[name] != "" {
			lines = append(lines, name+": "+v.Headers[name])
		}
	}
	return []tools.Content{tools.TextContent(strings.Join(append(lines, "", v.shown()), "\n"))}, nil
}

// shown is the body for a reader.
func (v httpOut) shown() string {
	body, more := v.JSON.String(), ""
	switch {
	case v.Text != nil && *v.Text == "":
		return "(no body)"
	case v.Text != nil:
		body = *v.Text
	case v.Base64 != "":
		return fmt.Sprintf("(binary, %d characters of base64%s)", len(v.Base64), cutNote(v.Truncated))
	}
	if len(body) > shownBytes {
		more = fmt.Sprintf("\n(the first %d of %d bytes; a program has them all%s)", shownBytes, len(body), cutNote(v.Truncated))
		body = strings.ToValidUTF8(body[:shownBytes], "")
	} else if v.Truncated {
		more = "\n(the response was longer and is cut here)"
	}
	return body + more
}

func cutNote(truncated bool) string {
	if truncated {
		return ", of a response that was longer"
	}
	return ""
}

func presentCall(args tools.JSON) tools.Card {
	var in httpIn
	if args.Unmarshal(&in) != nil {
		return tools.Card{}
	}
	return tools.Card{Type: tools.CardGeneric, Title: in.method() + " " + in.URL, Action: "fetch"}
}

func presentResult(args tools.JSON, outcome tools.Final) tools.Card {
	card := presentCall(args)
	card.Content = outcome.Content
	return card
}
