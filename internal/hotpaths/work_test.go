package hotpaths

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/eventlog"
	"github.com/runcode-go/runcode/tools"
)

// rowText is what the tool row returns, about 200 bytes.
const rowText = `{"id":7,"name":"a name of some length","email":"somebody@example.com","active":true,"balance":1034.25,` +
	`"tags":["one","two"],"address":{"city":"Zürich","zip":"8001"},"note":null,"more":"text up to some length"}`

// nap is how long the tool nap sleeps.
const nap = 5 * time.Millisecond

// manyRows is a JSON array of so many megabytes, of objects of some 190 bytes.
var manyRows = func() map[int]tools.JSON {
	all := map[int]tools.JSON{}
	for _, megabytes := range []int{1, 10} {
		var b strings.Builder
		for n := 0; b.Len() < megabytes*1_000_000; n++ {
			fmt.Fprintf(&b, `,{"id":%d,"name":"row number %d","price":%d.25,"tags":["a","b"],"open":true,"note":null,"text":"%s"}`, n, n, n, strings.Repeat("some text ", 8))
		}
		all[megabytes] = tools.MustJSON("[" + b.String()[1:] + "]")
	}
	return all
}()

// definitions are 50 tools, of which three do something.
func definitions() []*tools.Definition {
	value := tools.MustJSON(rowText)
	defs := []*tools.Definition{
		{
			Name: "row", Description: "Return a row.",
			Input:   tools.MustJSON(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
			Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{Value: value}, nil },
		},
		{
			Name: "rows", Description: "Return megabytes of rows.",
			Handler: func(_ context.Context, run *tools.Run) (tools.Result, error) {
				var in struct {
					MB int `json:"mb"`
				}
				err := run.Args().Unmarshal(&in)
				return tools.Result{Value: manyRows[in.MB]}, err
			},
		},
		{
			Name: "nap", Description: "Sleep a little.", Concurrent: func(tools.JSON) bool { return true },
			Handler: func(context.Context, *tools.Run) (tools.Result, error) {
				time.Sleep(nap)
				return tools.Result{}, nil
			},
		},
	}
	for n := len(defs); n < 50; n++ {
		defs = append(defs, &tools.Definition{
			Name: fmt.Sprintf("mcp__server%d__tool_%d", n%5, n), Description: "A tool.",
			Handler: func(context.Context, *tools.Run) (tools.Result, error) { return tools.Result{}, nil },
		})
	}
	return defs
}

// logged is a pipeline of the 50 tools that writes its events to a file.
func logged(tb testing.TB, more ...*tools.Definition) *pipeline.Pipeline {
	tb.Helper()
	reg, err := tools.NewRegistry(append(definitions(), more...)...)
	must(tb, err)
	log, err := eventlog.Open(filepath.Join(tb.TempDir(), "events.jsonl"), nil)
	must(tb, err)
	tb.Cleanup(func() { must(tb, log.Close()) })
	return pipeline.New(reg, &pipeline.Options{Sink: log})
}

// opened runs programs in a code mode over such a pipeline.
func opened(tb testing.TB, opts *codemode.Options, more ...*tools.Definition) func(program string) {
	tb.Helper()
	cm, err := codemode.New(logged(tb, more...), opts)
	must(tb, err)
	tb.Cleanup(func() { must(tb, cm.Close()) })
	return func(program string) {
		must(tb, cm.Run(context.Background(), codemode.Program{Code: program}).Err())
	}
}

func must(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

// bareRun is the same program in the engine alone: it is compiled and run in a
// fresh engine that knows a function tools.row, and nothing bounds it.
func bareRun(program string) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		return func() {
			compiled, err := goja.Compile("program.js", "(async()=>{"+program+"\n})()", false)
			must(tb, err)
			vm := goja.New()
			var answers []func()
			if strings.Contains(program, "tools.") {
				must(tb, vm.Set("tools", map[string]any{"row": func(goja.FunctionCall) goja.Value {
					promise, resolve, _ := vm.NewPromise()
					answers = append(answers, func() { must(tb, resolve(bareRow(vm))) })
					return vm.ToValue(promise)
				}}))
			}
			v, err := vm.RunProgram(compiled)
			must(tb, err)
			for len(answers) > 0 {
				answer := answers[0]
				answers = answers[1:]
				answer()
			}
			if v.Export().(*goja.Promise).State() != goja.PromiseStateFulfilled {
				must(tb, errors.New("the program did not end"))
			}
		}
	}
}

// bareRow makes the value of rowText out of parts that need no reading.
func bareRow(vm *goja.Runtime) goja.Value {
	row, address := vm.NewObject(), vm.NewObject()
	_ = address.Set("city", "Zürich")
	_ = address.Set("zip", "8001")
	_ = row.Set("id", 7)
	_ = row.Set("name", "a name of some length")
	_ = row.Set("email", "somebody@example.com")
	_ = row.Set("active", true)
	_ = row.Set("balance", 1034.25)
	_ = row.Set("tags", vm.NewArray("one", "two"))
	_ = row.Set("address", address)
	_ = row.Set("note", goja.Null())
	_ = row.Set("more", "text up to some length")
	return row
}

// compileAlone is esbuild and the engine's compiler and nothing else.
func compileAlone(program string) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		return func() {
			res := api.Transform("(async()=>{"+program+"\n})()", api.TransformOptions{
				Loader: api.LoaderTS, Target: api.ESNext, Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
				LogLevel: api.LogLevelSilent,
			})
			if len(res.Errors) > 0 {
				must(tb, errors.New(res.Errors[0].Text))
			}
			_, err := goja.Compile("program.js", string(res.Code), false)
			must(tb, err)
		}
	}
}

// engineCompiles is what plain JavaScript needs: the engine's compiler alone.
func engineCompiles(program string) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		return func() {
			_, err := goja.Compile("program.js", "(async()=>{"+program+"\n})()", false)
			must(tb, err)
		}
	}
}

// check compiles a program and runs nothing of it.
func check(program string) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		cm, err := codemode.New(logged(tb), &codemode.Options{Isolation: codemode.IsolationInProcess})
		must(tb, err)
		tb.Cleanup(func() { must(tb, cm.Close()) })
		return func() {
			res, err := cm.Check(context.Background(), program)
			must(tb, err)
			if res.Failure != nil {
				must(tb, errors.New(res.Failure.Message))
			}
		}
	}
}

// long is a TypeScript program of 219 lines.
var long = func() string {
	var b strings.Builder
	b.WriteString("interface Row { id: number; name: string; tags?: string[] }\nconst out: Row[] = []\n")
	for i := range 54 {
		fmt.Fprintf(&b, "const v%d = [1, 2, %d].map((x: number) => x * 2)\n", i, i)
		fmt.Fprintf(&b, "for (const x of v%d) {\n", i)
		fmt.Fprintf(&b, "  out.push({ id: x ?? 0, name: `row ${x}`, tags: ['a', \"b\"] } as Row)\n}\n")
	}
	b.WriteString("return out.length\n")
	return b.String()
}()

// longPlain is long without its types.
var longPlain = strings.NewReplacer(
	"interface Row { id: number; name: string; tags?: string[] }", "const one = 1", ": Row[]", "", "(x: number)", "(x)", " as Row", "",
).Replace(long)

// directCalls are so many calls of row through the pipeline, without a program.
func directCalls(n int) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		p := logged(tb)
		return func() {
			for i := range n {
				must(tb, p.Execute(context.Background(), pipeline.Request{Name: "row", Args: fmt.Sprintf(`{"n":%d}`, i)}).Err())
			}
		}
	}
}

// sleepInGo is 100 naps at once in Go alone.
func sleepInGo(testing.TB) func() {
	return func() {
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() { time.Sleep(nap) })
		}
		all.Wait()
	}
}

// atOnce is 100 naps at once in a program, of which so many may overlap.
func atOnce(parallel int) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		run := opened(tb, &codemode.Options{Isolation: codemode.IsolationInProcess, Parallel: parallel})
		return func() { run("await Promise.all(Array.from({ length: 100 }, () => tools.nap({})))") }
	}
}

// jsonRoundTrip reads and writes the rows with encoding/json.
func jsonRoundTrip(megabytes int) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		return func() {
			var v any
			must(tb, json.Unmarshal(manyRows[megabytes].Bytes(), &v))
			_, err := json.Marshal(v)
			must(tb, err)
		}
	}
}

// roundTrip sends a byte through a socket and back.
func roundTrip(tb testing.TB) func() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(tb, err)
	defer listener.Close()
	go func() {
		there, err := listener.Accept()
		if err != nil {
			return
		}
		defer there.Close()
		buffer := make([]byte, 1)
		for {
			if _, err := there.Read(buffer); err != nil {
				return
			}
			if _, err := there.Write(buffer); err != nil {
				return
			}
		}
	}()
	here, err := net.Dial("tcp", listener.Addr().String())
	must(tb, err)
	tb.Cleanup(func() { here.Close() })
	buffer := make([]byte, 1)
	return func() {
		_, err := here.Write(buffer)
		must(tb, err)
		_, err = here.Read(buffer)
		must(tb, err)
	}
}

// together does work 64 times, 16 at a time.
func together(open func(testing.TB) func()) func(testing.TB) func() {
	return func(tb testing.TB) func() {
		work := open(tb)
		return func() {
			var all sync.WaitGroup
			for range 16 {
				all.Go(func() {
					for range 4 {
						work()
					}
				})
			}
			all.Wait()
		}
	}
}

// crowd is ten calls in each of 64 runs, 16 at a time.
func crowd(isolation codemode.Isolation) func(testing.TB) func() {
	return together(func(tb testing.TB) func() {
		run := opened(tb, &codemode.Options{Isolation: isolation})
		return func() { run(calls10) }
	})
}

// suspended is how many KiB of memory each of n runs holds that wait for a tool.
func suspended(tb testing.TB, n int) float64 {
	release := make(chan struct{})
	var waiting, all sync.WaitGroup
	run := opened(tb, &codemode.Options{Isolation: codemode.IsolationInProcess}, &tools.Definition{
		Name: "wait", Description: "Wait.",
		Handler: func(context.Context, *tools.Run) (tools.Result, error) {
			waiting.Done()
			<-release
			return tools.Result{}, nil
		},
	})
	before := inUse()
	waiting.Add(n)
	for range n {
		all.Go(func() { run("await tools.wait({})") })
	}
	waiting.Wait()
	after := inUse()
	close(release)
	all.Wait()
	return float64(after-before) / 1024 / float64(n)
}

// inUse is the memory that a collection leaves, stacks included.
func inUse() int64 {
	goruntime.GC()
	goruntime.GC()
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// BenchmarkSuspended reports the memory of suspended runs.
func BenchmarkSuspended(b *testing.B) {
	var held float64
	for b.Loop() {
		held = suspended(b, 500)
	}
	b.ReportMetric(held, "KiB/run")
}
