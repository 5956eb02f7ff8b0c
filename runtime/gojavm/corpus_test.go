package gojavm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/gojavm"
)

// assertPrelude makes console.assert throw, as the collection's tests expect, and
// gives them the one module they ask for. It is one line, so that positions hold.
var assertPrelude = strings.Join(strings.Fields(`
console.assert = (ok, ...text) => { if (!ok) throw new Error('console.assert failed ' + text.join(' ')) };
const require = name => { if (name !== 'js-md5') throw new Error('no module ' + name); return md5 };
function md5(text) {
	const bytes = [...new TextEncoder().encode(text)], bits = bytes.length * 8, rot = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
	bytes.push(128); while (bytes.length % 64 !== 56) bytes.push(0);
	for (let i = 0; i < 8; i++) bytes.push(Math.floor(bits / 2 ** (8 * i)) & 255);
	let a0 = 0x67452301, b0 = 0xefcdab89, c0 = 0x98badcfe, d0 = 0x10325476;
	for (let at = 0; at < bytes.length; at += 64) {
		let [a, b, c, d] = [a0, b0, c0, d0];
		for (let i = 0; i < 64; i++) {
			let f, g;
			if (i < 16) { f = b & c | ~b & d; g = i }
			else if (i < 32) { f = d & b | ~d & c; g = (5 * i + 1) % 16 }
			else if (i < 48) { f = b ^ c ^ d; g = (3 * i + 5) % 16 }
			else { f = c ^ (b | ~d); g = 7 * i % 16 }
			const o = at + 4 * g, w = bytes[o] | bytes[o + 1] << 8 | bytes[o + 2] << 16 | bytes[o + 3] << 24;
			f = (f + a + w + Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1)))) | 0;
			const s = rot[(i >> 4) * 4 + i % 4];
			[a, d, c, b] = [d, c, b, (b + (f << s | f >>> 32 - s)) | 0];
		}
		a0 = a0 + a | 0; b0 = b0 + b | 0; c0 = c0 + c | 0; d0 = d0 + d | 0;
	}
	return [a0, b0, c0, d0].map(w => [0, 8, 16, 24].map(s => (w >>> s & 255).toString(16).padStart(2, '0')).join('')).join('');
}`), " ") + "\n"

// TestHumanEval runs programs with tests of their own and compares the outcome
// with Node's. The differences must be those docs/conformance.md lists.
func TestHumanEval(t *testing.T) {
	type task struct {
		ID       string `json:"task_id"`
		Prompt   string `json:"prompt"`
		Solution string `json:"canonical_solution"`
		Test     string `json:"test"`
	}
	type outcome struct{ ID, Node string }
	node := map[string]string{}
	for _, o := range corpus.ReadLines[outcome](t, "humaneval-x-js", "outcomes.jsonl") {
		node[o.ID] = o.Node
	}
	rt := newRuntime(t)
	got := map[string]string{}
	for _, task := range corpus.ReadLines[task](t, "humaneval-x-js", "humaneval_js.jsonl") {
		res, err := rt.Run(t.Context(), runtime.Request{
			Program: assertPrelude + task.Prompt + task.Solution + task.Test,
			Limits:  runtime.Limits{Wall: time.Minute},
		})
		if err != nil {
			t.Fatal(err)
		}
		here := "ok"
		if res.Failure != nil {
			here = "run"
			if !strings.Contains(res.Failure.Message, "console.assert failed") {
				t.Errorf("%s failed otherwise than by its own test (%s): %s\n%s", task.ID, res.Failure.Kind, res.Failure.Message, res.Failure.Frame)
			}
		}
		if here != node[task.ID] {
			got[task.ID] = here
		}
	}
	if diff := cmp.Diff(listedDifferences(t), got); diff != "" {
		t.Errorf("differences from Node (-docs/conformance.md +measured); list a new one with its reason, and take out one that is gone:\n%s", diff)
	}
	if agree := len(node) - len(got); len(node) != 164 || agree < 161 {
		t.Errorf("%d of %d programs agree with Node, want at least 161 of 164", agree, len(node))
	}
}

// listedDifferences reads the rows of docs/conformance.md that name a program,
// its outcome on Node and here, and why.
func listedDifferences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (JavaScript/\d+) \| (\w+) \| (\w+) \| (.*) \|$`).FindAllStringSubmatch(string(text), -1) {
		if len(strings.TrimSpace(row[4])) < 20 {
			t.Errorf("%s is listed without a reason", row[1])
		}
		listed[row[1]] = row[3]
	}
	return listed
}

// shopPrelude is a shop's tables behind the functions that the programs ask for,
// on one line.
var shopPrelude = strings.Join(strings.Fields(`
const external_getSchemaInfo = async () => ({ tables: Object.keys(shopTables) });
const external_queryTable = async ({ table, columns, where, limit }) => {
	let rows = shopTables[table];
	if (!rows) throw new Error('no table ' + table);
	for (const [name, value] of Object.entries(where ?? {})) rows = rows.filter(r => r[name] === value);
	if (columns) rows = rows.map(r => Object.fromEntries(columns.map(c => [c, r[c]])));
	return { rows: rows.slice(0, limit ?? rows.length) };
};
const shopTables = {
	customers: [{ id: 1, name: 'Ada', email: 'ada@x.test', city: 'Graz', joined: '2023-01-05' }, { id: 2, name: 'Bo', email: 'bo@x.test', city: 'Oslo', joined: '2023-02-01' }],
	products: [{ id: 1, name: 'Tea', category: 'Food', price: 4.5, stock: 9 }, { id: 2, name: 'Lamp', category: 'Home', price: 30, stock: 2 }],
	purchases: [
		{ id: 1, customer_id: 1, product_id: 1, quantity: 2, total: 9, purchased_at: '2024-01-10' },
		{ id: 2, customer_id: 1, product_id: 2, quantity: 1, total: 30, purchased_at: '2024-02-11' },
		{ id: 3, customer_id: 2, product_id: 1, quantity: 4, total: 18, purchased_at: '2024-02-12' }
	]
};`), " ")

// TestModelWrittenTypeScript runs programs that a model wrote for another code
// mode, against a mock of its tools. What they compute was computed by Node too.
func TestModelWrittenTypeScript(t *testing.T) {
	const golden = "testdata/shop.json"
	var programs []string
	for n := range 4 {
		var chat struct {
			Messages []struct {
				Parts []struct{ Name, Arguments string }
			}
		}
		if err := json.Unmarshal(corpus.ReadFile(t, "tanstack-code-mode", fmt.Sprintf("db-gold-messages-%d.json", n+1)), &chat); err != nil {
			t.Fatal(err)
		}
		for _, m := range chat.Messages {
			for _, part := range m.Parts {
				var args struct{ TypescriptCode string }
				if part.Name == "execute_typescript" && json.Unmarshal([]byte(part.Arguments), &args) == nil {
					programs = append(programs, shopPrelude+args.TypescriptCode)
				}
			}
		}
	}
	if *update {
		text, err := json.MarshalIndent(askNode(t, programs), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	rt := newRuntime(t)
	for _, program := range programs {
		got = append(got, outcome(t, rt, program))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-node +here):\n%s", diff)
	}
}

func newRuntime(t *testing.T) *gojavm.Runtime {
	t.Helper()
	rt, err := gojavm.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}
