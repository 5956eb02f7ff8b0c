package jslib_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
	"github.com/runcode-go/runcode/runtime/gojavm/internal/jsvalue"
)

// TestNaughtyStrings sends strings that break naive code through everything that
// reads and writes texts.
func TestNaughtyStrings(t *testing.T) {
	var list []string
	if err := json.Unmarshal(corpus.ReadFile(t, "json-edge-cases", "naughty-strings.json"), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 200 {
		t.Fatalf("only %d strings", len(list))
	}
	e := newEngine(t, jslib.Host{})
	check := e.run(t, `(text) => {
		const failed = [];
		const same = (name, got) => { if (got !== text) failed.push(name + " gives " + JSON.stringify(got)) };
		same("JSON", JSON.parse(JSON.stringify(text)));
		same("JSON of a name", Object.keys(JSON.parse(JSON.stringify({[text]: 1}, null, 2)))[0]);
		same("TextDecoder", new TextDecoder().decode(new TextEncoder().encode(text)));
		same("Buffer", Buffer.from(text).toString());
		same("Buffer in base64", Buffer.from(Buffer.from(text).toString("base64"), "base64").toString());
		same("Buffer in utf16le", Buffer.from(text, "utf16le").toString("utf16le"));
		same("structuredClone", structuredClone(new Map([[text, [text]]])).get(text)?.[0]);
		same("encodeURIComponent", decodeURIComponent(encodeURIComponent(text)));
		same("URLSearchParams", new URLSearchParams(new URLSearchParams([[text, text]]).toString()).get(text));
		const u = new URL("http://x/"); u.searchParams.set("q", text);
		same("URL", new URL(u.href).searchParams.get("q"));
		same("toWellFormed", text.toWellFormed());
		same("RegExp.escape", new RegExp("^" + RegExp.escape(text) + "$").exec(text)?.[0]);
		same("Intl.ListFormat", new Intl.ListFormat("en").format([text]));
		if (text.localeCompare(text) !== 0) failed.push("localeCompare");
		return failed.join("; ");
	}`)
	_ = e.vm.Set("check", check)
	for _, text := range list {
		quoted := string(jsonscan.AppendQuote(nil, text))
		document := `{"key":` + quoted + `,` + string(jsonscan.AppendQuote(nil, "k"+text)) + `:[` + quoted + `]}`
		v, err := jsvalue.Decode(e.vm, document, jsvalue.DecodeOptions{})
		if err != nil {
			t.Errorf("Decode(%s): %v", document, err)
			continue
		}
		if got, err := jsvalue.Encode(e.vm, v, jsvalue.EncodeOptions{}); err != nil || got != document {
			t.Errorf("%q comes back from the engine as %s, %v", text, got, err)
		}
		_ = e.vm.Set("value", v)
		_ = e.vm.Set("text", v.ToObject(e.vm).Get("key"))
		if failed := e.run(t, `check(text)`).String(); failed != "" {
			t.Errorf("%q: %s", text, failed)
		}
		e.entries = nil
		e.run(t, `console.log(text); console.log("%s", text); console.log([text]); console.table([text]); console.group(text); console.groupEnd(); console.count(text); console.countReset(text)`)
		if len(e.entries) != 6 || e.entries[0].text != text || e.entries[1].text != text || e.entries[4].text != text || e.entries[5].text != text+": 1" {
			t.Errorf("%q printed %q", text, e.entries)
			continue
		}
		// What is printed inside a value is a literal of the language.
		_ = e.vm.Set("printed", e.entries[2].text)
		if !e.run(t, `eval(printed)[0] === text`).ToBoolean() {
			t.Errorf("%q printed inside an array as %s", text, e.entries[2].text)
		}
		if !strings.Contains(e.entries[3].text, "(index)") {
			t.Errorf("%q gave the table %s", text, e.entries[3].text)
		}
	}
}
