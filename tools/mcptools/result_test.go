package mcptools

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/tools"
)

// outcome is what became of a result.
type outcome struct {
	Value, Failure, Err string
	Content             []tools.Content
}

func outcomeOf(t *testing.T, schema, result string) outcome {
	t.Helper()
	now, list := importList(t, `{"name":"t","outputSchema":`+schema+`}`)
	if now["mcp__s__t"] == nil {
		t.Fatalf("import: %+v", list)
	}
	r, failure, err := now["mcp__s__t"].result([]byte(result))
	o := outcome{Value: r.Value.String(), Failure: failure, Content: r.Content}
	if err != nil {
		o.Err = err.Error()
	}
	return o
}

func TestResults(t *testing.T) {
	const (
		object  = `{"type":"object"}`
		wrapped = `{"type":"object","properties":{"result":{"type":"integer"}},"x-fastmcp-wrap-result":true}`
		texts   = `{"type":"object","properties":{"result":{"type":"string"}},"x-fastmcp-wrap-result":true}`
	)
	text := tools.TextContent
	tests := []struct {
		name, schema, result string
		want                 outcome
	}{
		{"nothing", `null`, `{}`, outcome{}},
		{"one text", `null`, `{"content":[{"type":"text","text":"a"}]}`, outcome{Value: `"a"`, Content: []tools.Content{text("a")}}},
		{"several texts", `null`, `{"content":[{"type":"text","text":"a\""},{"type":"text","text":"b"}]}`, outcome{Value: `"a\"\nb"`, Content: []tools.Content{text(`a"`), text("b")}}},
		{"text that looks like JSON stays a text", `null`, `{"content":[{"type":"text","text":"{\"a\":1}"}]}`, outcome{Value: `"{\"a\":1}"`, Content: []tools.Content{text(`{"a":1}`)}}},
		{"text the schema says is JSON", object, `{"content":[{"type":"text","text":"{\"a\":9007199254740993}"}]}`, outcome{Value: `{"a":9007199254740993}`, Content: []tools.Content{text(`{"a":9007199254740993}`)}}},
		{"text the schema allows as such", `{"type":["string","integer"]}`, `{"content":[{"type":"text","text":"1"}]}`, outcome{Value: `"1"`, Content: []tools.Content{text("1")}}},
		{"text that is no JSON though the schema wants it", object, `{"content":[{"type":"text","text":"hello"}]}`, outcome{Value: `"hello"`, Content: []tools.Content{text("hello")}}},
		{"half a surrogate pair", `null`, `{"content":[{"type":"text","text":"\ud800"}]}`, outcome{Value: `"\ud800"`, Content: []tools.Content{text("\uFFFD")}}},
		{"structured", object, `{"content":[{"type":"text","text":"one"}],"structuredContent":{"b":1,"a":2}}`, outcome{Value: `{"b":1,"a":2}`, Content: []tools.Content{text("one")}}},
		{"structured without a schema", `null`, `{"structuredContent":[1,2]}`, outcome{Value: `[1,2]`}},
		{"structured null is none", object, `{"content":[{"type":"text","text":"{}"}],"structuredContent":null}`, outcome{Value: `{}`, Content: []tools.Content{text("{}")}}},
		{"structured with an image keeps both", object, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"structuredContent":{}}`, outcome{Value: `{}`, Content: []tools.Content{tools.ImageContent("image/png", "AAAA")}}},
		{"wrapped", wrapped, `{"structuredContent":{"result":5}}`, outcome{Value: `5`}},
		{"wrapped null", wrapped, `{"structuredContent":{"result":null}}`, outcome{Value: `null`}},
		{"wrapped with more is not", wrapped, `{"structuredContent":{"result":5,"more":6}}`, outcome{Value: `{"result":5,"more":6}`}},
		{"wrapped in a text", wrapped, `{"content":[{"type":"text","text":"{\"result\":5}"}]}`, outcome{Value: `5`, Content: []tools.Content{text(`{"result":5}`)}}},
		{"bare in a text", wrapped, `{"content":[{"type":"text","text":"5"}]}`, outcome{Value: `5`, Content: []tools.Content{text("5")}}},
		{"a text of a wrapped text", texts, `{"content":[{"type":"text","text":"5"}]}`, outcome{Value: `"5"`, Content: []tools.Content{text("5")}}},
		{"not marked, not unwrapped", object, `{"structuredContent":{"result":5}}`, outcome{Value: `{"result":5}`}},
		{"image alone", `null`, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`, outcome{Content: []tools.Content{tools.ImageContent("image/png", "AAAA")}}},
		{"text and image", `null`, `{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}`,
			outcome{Value: `"a"`, Content: []tools.Content{text("a"), tools.ImageContent("image/png", "AAAA")}}},
		{"audio", `null`, `{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]}`, outcome{Content: []tools.Content{{Type: "audio", Data: "AAAA", MIMEType: "audio/wav"}}}},
		{"resource", `null`, `{"content":[{"type":"text","text":"found"},{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"inside"}}]}`,
			outcome{Value: `[{"type":"text","text":"found"},{"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"inside"}}]`,
				Content: []tools.Content{text("found"), {Type: "resource", URI: "file:///a", MIMEType: "text/plain", Text: "inside"}}}},
		{"resource of bytes", `null`, `{"content":[{"type":"resource","resource":{"uri":"u:1","blob":"AAAA"}}]}`,
			outcome{Value: `[{"type":"resource","resource":{"uri":"u:1","blob":"AAAA"}}]`, Content: []tools.Content{{Type: "resource", URI: "u:1", Data: "AAAA"}}}},
		{"link", `null`, `{"content":[{"type":"resource_link","uri":"u:1","name":"one"}]}`,
			outcome{Value: `[{"type":"resource_link","uri":"u:1","name":"one"}]`, Content: []tools.Content{{Type: "resource_link", URI: "u:1"}}}},
		{"kind of the future", `null`, `{"content":[{"type":"hologram","x":1}]}`, outcome{Value: `[{"type":"hologram","x":1}]`, Content: []tools.Content{{Type: "hologram"}}}},
		{"failure", `null`, `{"content":[{"type":"text","text":"no"}],"isError":true,"structuredContent":{"a":1}}`, outcome{Failure: "no"}},
		{"failure in structure alone", `null`, `{"content":[],"isError":true,"structuredContent":{"a":1}}`, outcome{Failure: `{"a":1}`}},
		{"failure without a word", `null`, `{"isError":true}`, outcome{Failure: "the tool failed and did not say why"}},

		{"no result", `null`, `[]`, outcome{Err: "sent a result that is no object with content blocks"}},
		{"no JSON", `null`, `{`, outcome{Err: "sent a result that cannot be read: invalid JSON at byte 1: the text ends inside an object"}},
		{"content that is no list", `null`, `{"content":"a"}`, outcome{Err: "sent a result that is no object with content blocks"}},
		{"block without a type", `null`, `{"content":[{"text":"a"}]}`, outcome{Err: "sent a content block without a type"}},
		{"text that is none", `null`, `{"content":[{"type":"text","text":7}]}`, outcome{Err: "sent a text block without a text"}},
		{"image that is none", `null`, `{"content":[{"type":"image","data":"?","mimeType":"image/png"}]}`, outcome{Err: "sent an image block that is not base64"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := outcomeOf(t, tt.schema, tt.result)
			if tt.want.Err != "" && strings.HasPrefix(got.Err, "sent a result that cannot be read") {
				tt.want.Err, got.Err = "sent a result that cannot be read", got.Err[:len("sent a result that cannot be read")]
			}
			if tt.want.Err != "" {
				got.Content = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzResult(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"a\ud800"},{"type":"text","text":"b"}]}`)
	f.Add(`{"content":[{"type":"resource","resource":{"uri":"u"}}],"structuredContent":{"result":1}}`)
	f.Add(`{"content":[{"type":"image","data":"AAAA"}],"isError":true}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, schema := range []string{`null`, `{"type":"object","properties":{"result":{"type":"integer"}},"x-fastmcp-wrap-result":true}`} {
			d, err := readDeclaration(`{"name":"t","outputSchema":` + schema + `}`)
			if err != nil {
				t.Fatal(err)
			}
			tool, err := testServer(t, Server{}).importTool(d)
			if err != nil {
				t.Fatal(err)
			}
			r, _, err := tool.result([]byte(text))
			if err != nil || r.Value.IsZero() {
				continue
			}
			if again, err := tools.ParseJSON(r.Value.String()); err != nil || again != r.Value {
				t.Errorf("the value %s is not canonical JSON: %v", r.Value, err)
			}
		}
	})
}
