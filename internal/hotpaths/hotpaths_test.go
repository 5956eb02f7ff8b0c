package hotpaths

import (
	"fmt"
	"testing"

	"github.com/runcode-go/runcode/codemode"
)

// arm is one way to do the work of a row. Open prepares it and gives the work,
// once.
type arm struct {
	name string
	open func(testing.TB) func()
}

// row is work, and the ways to do it. A ratio compares an arm with the sum of
// others, each so many times.
type row struct {
	name   string
	arms   []arm
	ratios []ratio
	// rounds is how often each arm is measured for the ratios.
	rounds int
}

// ratio is arm over the sum of others, and the most that it should be.
type ratio struct {
	arm  string
	over []share
	goal float64
}

// share is an arm, so many times.
type share struct {
	times float64
	arm   string
}

func whole(name string) []share { return []share{{1, name}} }

// The arms that most rows have.
const (
	inProcess = "in-process"
	inWorker  = "worker"
	bare      = "bare"
	direct    = "direct"
)

// hosted are the two arms of a program in code mode. With fresh texts no run finds
// its program compiled already.
func hosted(program string, fresh bool) []arm {
	var arms []arm
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		arms = append(arms, arm{isolation.String(), func(tb testing.TB) func() {
			run := opened(tb, &codemode.Options{Isolation: isolation})
			n := 0
			return func() {
				text := program
				if fresh {
					n++
					text += fmt.Sprint("\n// ", n)
				}
				run(text)
			}
		}})
	}
	return arms
}

func with(arms []arm, more ...arm) []arm { return append(more, arms...) }

const (
	empty      = "return 1"
	emptyTyped = "const one: number = 1\nreturn one"
	calls10    = "let sum = 0\nfor (let n = 0; n < 10; n++) sum += (await tools.row({ n })).id\nreturn sum"
	calls1000  = "let sum = 0\nfor (let n = 0; n < 1000; n++) sum += (await tools.row({ n })).id\nreturn sum"
	picked     = ").filter(x => x.id % 1000 === 0).map(x => x.name).slice(0, 10)"
	numbers    = "const a = []\nlet seed = 1\nfor (let i = 0; i < 20000; i++) { seed = seed * 16807 % 2147483647; a.push(seed) }\n" +
		"let sum = 0\nfor (const n of a) sum += n\na.sort((x, y) => x - y)\nreturn sum + a[0]"
	appends = "let s = ''\nfor (let i = 0; i < 20000; i++) s += 'line ' + i + '\\n'\nreturn s.length"
	joined  = "const s = []\nfor (let i = 0; i < 20000; i++) s.push('line ' + i + '\\n')\nreturn s.join('').length"
)

var rows = []row{
	{
		name:   "W0-empty",
		arms:   with(hosted(empty, false), arm{bare, bareRun(empty)}, arm{"pipe", roundTrip}),
		ratios: []ratio{{inProcess, whole(bare), 2.5}, {inWorker, []share{{1, inProcess}, {4, "pipe"}}, 1}},
		rounds: 300,
	},
	{
		name:   "W0-new-text",
		arms:   with(hosted(empty, true), arm{bare, bareRun(empty)}),
		ratios: []ratio{{inProcess, whole(bare), 2.5}},
		rounds: 200,
	},
	{
		name:   "W0-typescript",
		arms:   with(hosted(emptyTyped, true), arm{bare, compileAlone(emptyTyped)}),
		ratios: []ratio{{inProcess, whole(bare), 1.3}},
		rounds: 200,
	},
	{
		name:   "W1-10-calls",
		arms:   with(hosted(calls10, false), arm{bare, bareRun(calls10)}, arm{direct, directCalls(10)}),
		ratios: []ratio{{inProcess, []share{{1, bare}, {1, direct}}, 1.5}, {inWorker, whole(inProcess), 0}},
		rounds: 200,
	},
	{
		name:   "W1-typescript",
		arms:   with(hosted("type Row = { id: number }\n"+calls10, true), arm{bare, bareRun(calls10)}, arm{direct, directCalls(10)}, arm{"compile", compileAlone(calls10)}),
		ratios: []ratio{{inProcess, []share{{1, bare}, {1, direct}, {1, "compile"}}, 1.3}},
		rounds: 100,
	},
	{
		name:   "W2-1000-calls",
		arms:   with(hosted(calls1000, false), arm{bare, bareRun(calls1000)}, arm{direct, directCalls(1000)}),
		ratios: []ratio{{inProcess, []share{{1, bare}, {1, direct}}, 0}, {inWorker, whole(inProcess), 45.0 / 20}},
		rounds: 15,
	},
	{
		name:   "W3-100-at-once",
		arms:   []arm{{"go", sleepInGo}, {"serialized", atOnce(1)}, {"parallel-10", atOnce(10)}, {"parallel-100", atOnce(100)}},
		ratios: []ratio{{"serialized", []share{{100, "go"}}, 0}, {"parallel-10", []share{{10, "go"}}, 1.15}, {"parallel-100", whole("go"), 1.5}},
		rounds: 5,
	},
	{
		name:   "W4-1MB",
		arms:   with(hosted("return (await tools.rows({ mb: 1 })"+picked, false), arm{"json", jsonRoundTrip(1)}),
		ratios: []ratio{{inProcess, whole("json"), 0.9}, {inWorker, whole(inProcess), 0}},
		rounds: 15,
	},
	{
		name:   "W5-10MB",
		arms:   with(hosted("return (await tools.rows({ mb: 10 })"+picked, false), arm{"json", jsonRoundTrip(10)}),
		ratios: []ratio{{inProcess, whole("json"), 1.15}, {inWorker, whole(inProcess), 0}},
		rounds: 5,
	},
	{
		name:   "W6a-numbers",
		arms:   with(hosted(numbers, false), arm{bare, bareRun(numbers)}),
		ratios: []ratio{{inProcess, whole(bare), 1.1}, {inWorker, whole(bare), 1.1}},
		rounds: 7,
	},
	{
		name:   "W6b-appends",
		arms:   with(hosted(appends, false), arm{bare, bareRun(appends)}, arm{"join", bareRun(joined)}),
		ratios: []ratio{{inProcess, whole(bare), 1.1}, {bare, whole("join"), 0}},
		rounds: 5,
	},
	{
		name:   "W7-219-lines",
		arms:   []arm{{"check", check(long)}, {bare, compileAlone(long)}},
		ratios: []ratio{{"check", whole(bare), 1.2}},
		rounds: 15,
	},
	{
		name:   "W7-219-lines-javascript",
		arms:   []arm{{"check", check(longPlain)}, {bare, engineCompiles(longPlain)}},
		ratios: []ratio{{"check", whole(bare), 1.3}},
		rounds: 15,
	},
	{
		name:   "W8-64-runs-16-at-a-time",
		arms:   []arm{{bare, together(bareRun(calls10))}, {direct, together(directCalls(10))}, {inProcess, crowd(codemode.IsolationInProcess)}, {inWorker, crowd(codemode.IsolationWorker)}},
		ratios: []ratio{{inProcess, []share{{1, bare}, {1, direct}}, 0}, {inWorker, whole(inProcess), 2.5}},
		rounds: 7,
	},
}

// BenchmarkHotPath is every arm of every row.
func BenchmarkHotPath(b *testing.B) {
	for _, row := range rows {
		for _, arm := range row.arms {
			b.Run(fmt.Sprintf("work=%s/arm=%s", row.name, arm.name), func(b *testing.B) {
				work := arm.open(b)
				work()
				b.ReportAllocs()
				for b.Loop() {
					work()
				}
			})
		}
	}
}
