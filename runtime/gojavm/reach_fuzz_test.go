package gojavm

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// reachWriter writes programs that come by names in many ways, and do with them what
// a name may be used for.
type reachWriter struct{ random *rand.Rand }

func (w *reachWriter) one(of ...string) string { return of[w.random.IntN(len(of))] }

// names are those of the library and of guards, and some of the language.
var reachNames = []string{
	"groupBy", "toSorted", "fromAsync", "getOrInsert", "withResolvers", "hasIndices", "isWellFormed", "getFloat16", "f16round", "escape", "detached",
	"captureStackTrace", "getOwnPropertyDescriptors", "toLocaleString", "repeat", "flat", "sort", "map", "take", "toISOString", "trim", "matchAll",
	"structuredClone", "URL", "setTimeout", "tools", "ToolCallError", "Error", "Date", "Iterator", "queueMicrotask", "GoError",
	"table", "showHidden", "prototype", "constructor", "stringify", "keys", "toString", "length", "dispose", "asyncIterator",
}

// name is an expression for the text of a name, which the program may not hold.
func (w *reachWriter) name() string {
	name := reachNames[w.random.IntN(len(reachNames))]
	cut := 1 + w.random.IntN(len(name)-1)
	switch w.random.IntN(9) {
	case 0:
		return fmt.Sprintf("%q", name)
	case 1:
		return "`" + name + "`"
	case 2:
		return fmt.Sprintf("`%s${%q}`", name[:cut], name[cut:])
	case 3:
		return fmt.Sprintf("[%q, %q].join('')", name[:cut], name[cut:])
	case 4:
		return fmt.Sprintf("JSON.parse('{\"a\":\"%s\\\\u%04x%s\"}').a", name[:cut], name[cut], name[cut+1:])
	case 5:
		return fmt.Sprintf("Object.keys({ %s: 1 })[0]", name)
	case 6:
		return fmt.Sprintf("%q.slice(1)", "x"+name)
	case 7:
		return fmt.Sprintf("(%q + %q)", name[:cut], name[cut:])
	}
	return fmt.Sprintf("{ toString: () => %q + %q }", name[:cut], name[cut:])
}

func (w *reachWriter) receiver() string {
	return w.one("Object", "[3, 1]", "'abc'", "Map", "new Map([[1, 2]])", "Promise", "/a/g", "Symbol", "Math", "JSON", "Error", "Array", "Date", "new Date(0)",
		"new DataView(new ArrayBuffer(8))", "new ArrayBuffer(8)", "globalThis", "this", "console", "tools", "(() => 1)", "({ a: 1 })", "1", "0n",
		"[1].values()", "new Set([1])", "(function* () { yield 1 })()", "new Error('x')", "RegExp", "String", "String.raw", "new (class extends Map {})()",
		"(class extends Array {})", "Array[Symbol.species]", "Math.valueOf()", "(function () { return this })()")
}

// holder gives a name to a variable, and the name of that.
func (w *reachWriter) holder(at int) (line, variable string) {
	k, name := fmt.Sprintf("k%d", at), w.name()
	if w.random.IntN(8) == 0 {
		k = w.one("Math", "input", "escape", "ToolCallError", "JSON", "i", "tools", "Object")
	}
	switch w.random.IntN(22) {
	case 0:
		return fmt.Sprintf("{ let %s = 'x' }", k), k
	case 1:
		return fmt.Sprintf("var %s = 'x'; [%s] = [%s]", k, k, name), k
	case 2:
		return fmt.Sprintf("var %s = 'x'; ({ a: %s = 1 } = { a: %s })", k, k, name), k
	case 3:
		return fmt.Sprintf("var %s; for (%s of [%s]);", k, k, name), k
	case 4:
		return fmt.Sprintf("var %s; for ([%s] of [[%s]]);", k, k, name), k
	case 5:
		return fmt.Sprintf("var %s; for (%s in { [%s]: 1 });", k, k, name), k
	case 6:
		return fmt.Sprintf("var %s = 'x'; (function (%s) { arguments[0] = 1 })(%s)", k, k, name), k
	case 7:
		return fmt.Sprintf("var %s = () => 1; %s.toString = () => `${%s}`", k, k, name), k
	case 8:
		return fmt.Sprintf("{ let %s = 'x' }\ntry { %s.toString = () => `${%s}` } catch {}", k, k, name), k
	case 9:
		return fmt.Sprintf("Symbol.%s = %s", k, name), "Symbol." + k
	case 10:
		return fmt.Sprintf("var %s; %s ??= %s", k, k, name), k
	case 11:
		return fmt.Sprintf("var %s = ''; %s += %s", k, k, name), k
	case 12:
		return fmt.Sprintf("%s = %s", k, name), k
	case 13:
		return fmt.Sprintf("var %s = 'x'\ntry { throw %s } catch (%s) { var kk = %s }", k, name, k, k), "kk"
	case 14:
		return fmt.Sprintf("var %s = 0; %s++", k, k), k
	case 15:
		return fmt.Sprintf("class C%d { static k = %s; static { C%d.j = C%d.k } }", at, name, at, at), fmt.Sprintf("C%d.j", at)
	case 16:
		return fmt.Sprintf("var f%d = (a = %s) => a", at, name), fmt.Sprintf("f%d()", at)
	case 17:
		return fmt.Sprintf("var t%d = (s) => s.raw[0]", at), fmt.Sprintf("t%d`groupBy`", at)
	case 18:
		return fmt.Sprintf("var %s = 1 ? 'length' : 'x'", k), k
	case 19:
		return fmt.Sprintf("enum E%d { A, B = 'x' }", at), fmt.Sprintf("E%d[0]", at)
	case 20:
		return fmt.Sprintf("var g%d = function* () { yield %s }", at, name), fmt.Sprintf("[...g%d()][0]", at)
	}
	return fmt.Sprintf("const c%d = %s", at, name), fmt.Sprintf("c%d", at)
}

// use does something with a name.
func (w *reachWriter) use(k string) string {
	o := w.receiver()
	read := w.one(
		"typeof "+o+"["+k+"]", "typeof "+o+"?.["+k+"]", k+" in Object("+o+")", "(({ ["+k+"]: v }) => typeof v)("+o+")", "`${"+o+"["+k+"]?.length}`",
		"Object.keys(Object.assign("+o+", { ["+k+"]: 1 }))", "Object.keys(Object.assign({}, "+o+", { ["+k+"]: 1 }))",
		"Object.keys({ ..."+o+", ["+k+"]: 1 })", "JSON.stringify("+o+", ["+k+"])", "JSON.stringify("+o+", "+k+")", "JSON.stringify(..."+"["+o+", ["+k+"]])",
		"Object.values("+o+").length", "new (class extends Array { m() { return typeof super["+k+"] } })().m()", "typeof (class { static ["+k+"] = 1 })["+k+"]",
		"delete "+o+"["+k+"]", "["+o+"].map(x => typeof x["+k+"])", "typeof tools["+k+"]", "typeof input["+k+"]", "String("+o+")",
		"("+o+"["+k+"] = 5)", "Object.isFrozen(Object.freeze("+o+"))", "String("+o+" instanceof Error)", "typeof "+o+"."+reachNames[w.random.IntN(len(reachNames))],
		"await tools.fail().catch(e => [String(e), e.name, Object.keys(e), `${e.stack}`])", "typeof "+o+"[Symbol."+w.one("iterator", "species", "asyncIterator", "dispose", "k0", "toStringTag")+"]",
	)
	if w.random.IntN(4) > 0 {
		return "try { console.log('" + "r', " + read + ") } catch (e) { console.log('e', e.name, e.message) }"
	}
	return "try { " + w.one(
		"console.log("+k+", "+o+")", "console.log('%' + 'o', "+o+")", "console.dir("+o+", { ["+k+"]: true })", "console.table([["+o+"]], ["+k+"])",
		"console["+k+"]?.([[1]])", "Object.values(console).length", "console.log("+o+")", "console.assert(false, '%' + 'o', "+o+")",
		"console.log(...['%' + 'o', "+o+"])", "[['%' + 'o', "+o+"]].forEach(a => console.log.apply(console, a))", "throw "+o,
		"((f) => f('%' + 'o', "+o+"))(console.log)", "const { log: l } = console; l('%' + 'o', "+o+")", "console.timeLog('a', '%' + 'o', "+o+")",
	) + " } catch (e) { console.log('e', e?.name, e?.message) }"
}

func (w *reachWriter) program() string {
	var b strings.Builder
	var held []string
	for i := range 1 + w.random.IntN(2) {
		line, variable := w.holder(i)
		b.WriteString(line + "\n")
		held = append(held, variable)
	}
	for range 1 + w.random.IntN(3) {
		b.WriteString(w.use(held[w.random.IntN(len(held))]) + "\n")
	}
	return b.String()
}

// references are the numbers of objects that are shown more than once.
var references = regexp.MustCompile(`\*\d+`)

// inOrder sorts the lines of logs: the engine is made with its globals in another
// order each time, and so are the methods of its console.
func inOrder(logs []string) []string {
	lines := strings.Split(references.ReplaceAllString(strings.Join(logs, "\n"), "*"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], ",")
	}
	slices.Sort(lines)
	return lines
}

func sameReach(t *testing.T, lean, whole *Runtime, program string) {
	t.Helper()
	got, want := both(t, lean, whole, program)
	got.Logs, want.Logs = inOrder(got.Logs), inOrder(want.Logs)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the program ends otherwise (-whole library +what is reached):\n%s\n%s", program, diff)
	}
}

// TestReachOfRandomPrograms runs programs of a grammar both ways.
func TestReachOfRandomPrograms(t *testing.T) {
	lean, whole := newRuntime(t, nil), newRuntime(t, nil)
	whole.whole = true
	for seed := range uint64(100) {
		w := &reachWriter{rand.New(rand.NewPCG(seed, 0))}
		sameReach(t, lean, whole, w.program())
	}
}

func FuzzReach(f *testing.F) {
	lean, whole := newRuntime(f, nil), newRuntime(f, nil)
	whole.whole = true
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		w := &reachWriter{rand.New(rand.NewPCG(a, b))}
		sameReach(t, lean, whole, w.program())
	})
}
