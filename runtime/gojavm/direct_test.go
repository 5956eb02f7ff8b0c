package gojavm

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"

	"github.com/runcode-go/runcode/internal/corpus"
	"github.com/runcode-go/runcode/runtime"
)

// readings are the two trees of one text.
type readings struct {
	direct, lowered *reading
	found           []string // differences
}

// reading is a tree, and its places.
type reading struct {
	tree   *ast.Program
	places *places
}

func (r *reading) site(idx file.Idx) runtime.Site {
	position := r.tree.File.Position(int(idx) - 1)
	site, _ := r.places.at(position.Line, position.Column)
	return site
}

// readBoth reads a text in both ways. It is nil if the text is left to esbuild, for
// the reason given.
func readBoth(t testing.TB, text string) (both *readings, why string) {
	t.Helper()
	r := &reader{text: wrapPrefix + text + wrapSuffix}
	direct := &reading{}
	func() {
		defer func() {
			if x := recover(); x != nil {
				r.refuse(fmt.Sprint("panic: ", x))
			}
		}()
		if direct.tree = r.read(defaultName); direct.tree == nil && r.why == "" {
			t.Fatalf("%q: neither a tree nor a reason", text)
		}
	}()
	if direct.tree == nil || r.why != "" {
		return nil, r.why
	}
	first, _, _ := strings.Cut(text, "\n")
	var err error
	if direct.places, err = writtenPlaces(defaultName, len([]rune(first))); err != nil {
		t.Fatal(err)
	}
	p := &program{name: defaultName, source: text, text: text, lines: runtime.SourceLines(text)}
	// What the engine's compiler refuses is left to esbuild as well.
	attempt := *p
	if read, refused := attempt.direct(moduleParts{text: text}, nil); read == nil {
		return nil, "the engine refuses it: " + refused
	}
	js, sourceMap, failure := p.lower()
	if failure != nil {
		return &readings{found: []string{"esbuild refuses it: " + failure.Message}}, ""
	}
	lowered := &reading{}
	if lowered.tree, err = parseProgram(js); err != nil {
		return &readings{found: []string{"the engine refuses what esbuild makes: " + err.Error()}}, ""
	}
	if lowered.places, err = newPlaces(p.name, p.lines, js, sourceMap); err != nil {
		t.Fatal(err)
	}
	both = &readings{direct: direct, lowered: lowered}
	body := func(r *reading) reflect.Value {
		wrapper := wrapped(r.tree)
		if wrapper == nil {
			both.differ("wrapper", "a wrapper", js)
			return reflect.ValueOf([]ast.Statement{})
		}
		return reflect.ValueOf(wrapper.Body.(*ast.BlockStatement).List)
	}
	both.compare("program", body(direct), body(lowered))
	return both, ""
}

func (b *readings) differ(where string, direct, lowered any) {
	b.found = append(b.found, fmt.Sprintf("%s: direct %v, esbuild %v", where, direct, lowered))
}

// unreported are places that nothing is ever reported at.
var unreported = []string{
	"ast.IfStatement.If", "ast.LabelledStatement.Colon", "ast.NewExpression.LeftParenthesis", "ast.TemplateElement.Idx",
	"ast.TemplateLiteral.CloseQuote", "ast.DoWhileStatement.RightParenthesis", "ast.ForLoopInitializerVarDeclList.Var",
	"ast.ParameterList.Opening", "ast.ParameterList.Closing", "ast.NumberLiteral.Idx",
}

var idxType = reflect.TypeFor[file.Idx]()

// compare compares parts of the two trees: their shapes, their values, and the
// places that are reported.
func (b *readings) compare(where string, direct, lowered reflect.Value) {
	if len(b.found) > 5 {
		return
	}
	if direct.Type() != lowered.Type() {
		b.differ(where, direct.Type(), lowered.Type())
		return
	}
	switch direct.Kind() {
	case reflect.Interface:
		b.compareNodes(where, direct, lowered)
	case reflect.Pointer:
		if direct.IsNil() || lowered.IsNil() {
			if direct.IsNil() != lowered.IsNil() {
				b.differ(where, direct, lowered)
			}
			return
		}
		b.compare(where, direct.Elem(), lowered.Elem())
	case reflect.Slice:
		if direct.Type() == reflect.TypeFor[[]ast.Statement]() {
			direct, lowered = withoutEmpty(direct), withoutEmpty(lowered)
		}
		if direct.Len() != lowered.Len() {
			b.differ(where+" length", direct.Len(), lowered.Len())
			return
		}
		for i := range direct.Len() {
			b.compare(fmt.Sprintf("%s[%d]", where, i), direct.Index(i), lowered.Index(i))
		}
	case reflect.Struct:
		b.compareFields(direct, lowered)
	default:
		if direct.Interface() != lowered.Interface() {
			b.differ(where, direct, lowered)
		}
	}
}

// withoutEmpty is a list without the empty statements, which mean nothing.
func withoutEmpty(list reflect.Value) reflect.Value {
	return reflect.ValueOf(slices.DeleteFunc(slices.Clone(list.Interface().([]ast.Statement)), func(s ast.Statement) bool {
		_, empty := s.(*ast.EmptyStatement)
		return empty
	}))
}

func (b *readings) compareNodes(where string, direct, lowered reflect.Value) {
	if direct.IsNil() || lowered.IsNil() {
		if direct.IsNil() != lowered.IsNil() {
			b.differ(where, direct, lowered)
		}
		return
	}
	x, isExpression := direct.Interface().(ast.Expression)
	if y, ok := lowered.Interface().(ast.Expression); ok && isExpression {
		if folded(x) && folded(y) {
			if sameConstant(x, y) {
				return
			}
			b.differ(where, x, y)
			return
		}
		if text, ok := appended(x); ok && direct.Elem().Type() == lowered.Elem().Type() {
			if other, ok := appended(y); ok && (text.count > 1) {
				if text.text != other.text {
					b.differ(where, text, other)
				}
				b.compare(where, reflect.ValueOf(&text.to).Elem(), reflect.ValueOf(&other.to).Elem())
				return
			}
		}
		if renamed(x, y) {
			return
		}
		if key, name, initializer := nameOfProperty(x); initializer != nil {
			if other, otherName, otherInitializer := nameOfProperty(y); key == other && sameName(name, otherName) && otherInitializer != nil {
				b.compare(where, reflect.ValueOf(&initializer).Elem(), reflect.ValueOf(&otherInitializer).Elem())
				return
			}
		}
	}
	if block, ok := lowered.Interface().(*ast.BlockStatement); ok && len(block.List) == 1 {
		if _, ok := direct.Interface().(*ast.IfStatement); ok { // esbuild puts braces around an if in an if
			lowered = reflect.ValueOf(block.List).Index(0)
		}
	}
	if direct.Elem().Type() != lowered.Elem().Type() {
		b.differ(where, direct.Elem().Type(), lowered.Elem().Type())
		return
	}
	b.compare(where, direct.Elem(), lowered.Elem())
}

// appending is an expression to which strings are appended.
type appending struct {
	to    ast.Expression
	text  string
	count int
}

// appended takes x + 'a' + 'b' apart, which esbuild makes x + 'ab' of.
func appended(x ast.Expression) (a appending, ok bool) {
	for {
		binary, isBinary := x.(*ast.BinaryExpression)
		if !isBinary || binary.Operator != token.PLUS {
			break
		}
		text, isString := binary.Right.(*ast.StringLiteral)
		if !isString {
			break
		}
		a.text = text.Value.String() + a.text
		a.count++
		x = binary.Left
	}
	a.to = x
	return a, a.count > 0
}

// renamed says whether one is a short property and the other the same in full, as
// esbuild writes a name that it gave a number, or shortens { a: a }.
func renamed(x, y ast.Expression) bool {
	key, name, initializer := nameOfProperty(x)
	other, otherName, otherInitializer := nameOfProperty(y)
	return key != "" && key == other && sameName(name, otherName) && initializer == nil && otherInitializer == nil
}

// nameOfProperty is the key of a property and the name that is its value.
func nameOfProperty(x ast.Expression) (key, name string, initializer ast.Expression) {
	switch x := x.(type) {
	case *ast.PropertyShort:
		return x.Name.Name.String(), x.Name.Name.String(), x.Initializer
	case *ast.PropertyKeyed:
		value := x.Value
		if assign, ok := value.(*ast.AssignExpression); ok {
			value, initializer = assign.Left, assign.Right
		}
		key, isString := x.Key.(*ast.StringLiteral)
		id, isName := value.(*ast.Identifier)
		if isString && isName && !x.Computed {
			return key.Value.String(), id.Name.String(), initializer
		}
	}
	return "", "", nil
}

// sameName says whether a name is the other, or with a number behind it: esbuild
// gives such names to what hides another of the same name.
func sameName(direct, lowered string) bool {
	rest, ok := strings.CutPrefix(lowered, direct)
	return ok && strings.Trim(rest, "0123456789") == ""
}

// folded says whether an expression is a constant that esbuild computes.
func folded(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral, *ast.BooleanLiteral, *ast.NullLiteral:
		return true
	case *ast.TemplateLiteral:
		return x.Tag == nil && !slices.ContainsFunc(x.Expressions, func(x ast.Expression) bool { return !folded(x) })
	case *ast.Identifier:
		return x.Name == "NaN" || x.Name == "Infinity"
	case *ast.UnaryExpression:
		return x.Operator != token.DELETE && x.Operator != token.INCREMENT && x.Operator != token.DECREMENT && (folded(x.Operand) || x.Operator == token.TYPEOF && constant(x.Operand))
	case *ast.BinaryExpression:
		return folded(x.Left) && folded(x.Right)
	}
	return false
}

func sameConstant(x, y ast.Expression) bool {
	a, b := evaluated(x), evaluated(y)
	return a != nil && b != nil && a.SameAs(b)
}

func evaluated(x ast.Expression) goja.Value {
	if n, ok := x.(*ast.NumberLiteral); ok {
		if big, ok := n.Value.(*big.Int); ok {
			return goja.New().ToValue("big " + big.String())
		}
	}
	compiled, err := goja.CompileAST(&ast.Program{
		Body: []ast.Statement{&ast.ExpressionStatement{Expression: &ast.SequenceExpression{Sequence: []ast.Expression{x}}}},
		File: file.NewFile("", "", 1),
	}, false)
	if err != nil {
		return nil
	}
	v, err := goja.New().RunProgram(compiled)
	if err != nil {
		return goja.New().ToValue("throws")
	}
	return v
}

func (b *readings) compareFields(direct, lowered reflect.Value) {
	literal := direct.Type() == reflect.TypeFor[ast.TemplateLiteral]() && !direct.FieldByName("Tag").IsNil()
	for i := range direct.NumField() {
		f := direct.Type().Field(i)
		where := direct.Type().String() + "." + f.Name
		x, y := direct.Field(i), lowered.Field(i)
		switch {
		case !f.IsExported(), f.Name == "DeclarationList", f.Name == "Source", slices.Contains(unreported, where), f.Type == reflect.TypeFor[*file.File]():
		case f.Name == "Literal":
		case where == "ast.TryStatement.Finally" && !x.IsNil() && !y.IsNil():
			// Its brace is at the word to esbuild; nothing is reported there.
			b.compare(where, x.Elem().FieldByName("List"), y.Elem().FieldByName("List"))
		case literal && f.Name == "Elements":
			b.compare(where, x, y)
			for n := range min(x.Len(), y.Len()) {
				if a, b2 := x.Index(n).Interface().(*ast.TemplateElement), y.Index(n).Interface().(*ast.TemplateElement); a.Literal != b2.Literal {
					b.differ(where, a.Literal, b2.Literal)
				}
			}
		case where == "ast.Identifier.Name":
			if !sameName(x.String(), y.String()) {
				b.differ(where, x, y)
			}
		case f.Type == idxType:
			if a, other := b.direct.site(file.Idx(x.Int())), b.lowered.site(file.Idx(y.Int())); a != other && x.Int() != 0 {
				b.differ(where, a, other)
			}
		default:
			b.compare(where, x, y)
		}
	}
}

// seeds are texts of programs from all there is.
func seeds(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"testdata/broken/*.ts", "../../examples/scripts/*.ts", "testdata/direct/*.js"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	for _, file := range []string{"testdata/language.txt", "testdata/asynciteration.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split("\n"+string(text), "\n== ")[1:] {
			name, rest, _ := strings.Cut(part, "\n")
			code, _, _ := strings.Cut(rest, "\n-- ")
			texts[file+" "+name] = code
		}
	}
	return texts
}

// collections are texts of programs beside the module.
func collections(t testing.TB) map[string]string {
	t.Helper()
	texts := map[string]string{}
	type task struct {
		ID       string `json:"task_id"`
		Prompt   string `json:"prompt"`
		Solution string `json:"canonical_solution"`
		Test     string `json:"test"`
	}
	for _, task := range corpus.ReadLines[task](t, "humaneval-x-js", "humaneval_js.jsonl") {
		texts[task.ID] = task.Prompt + task.Solution + task.Test
	}
	for n := range 4 {
		var chat struct {
			Messages []struct {
				Parts []struct{ Name, Arguments string }
			}
		}
		if err := json.Unmarshal(corpus.ReadFile(t, "tanstack-code-mode", fmt.Sprintf("db-gold-messages-%d.json", n+1)), &chat); err != nil {
			t.Fatal(err)
		}
		for i, m := range chat.Messages {
			for j, part := range m.Parts {
				var args struct{ TypescriptCode string }
				if part.Name == "execute_typescript" && json.Unmarshal([]byte(part.Arguments), &args) == nil {
					texts[fmt.Sprintf("tanstack %d %d %d", n, i, j)] = args.TypescriptCode
				}
			}
		}
	}
	return texts
}

func TestDirectReading(t *testing.T) {
	texts := seeds(t)
	taken, why := 0, map[string]int{}
	for name, text := range texts {
		both, reason := readBoth(t, text)
		if both == nil {
			why[reason]++
			continue
		}
		taken++
		if len(both.found) > 0 {
			t.Errorf("%s\n%s\n%s", name, text, strings.Join(both.found, "\n"))
		}
	}
	t.Logf("%d of %d: %v", taken, len(texts), why)
}

func TestDirectReadingOfCollections(t *testing.T) {
	texts := collections(t)
	taken, why := 0, map[string]int{}
	for name, text := range texts {
		both, reason := readBoth(t, text)
		if both == nil {
			why[reason]++
			continue
		}
		taken++
		if len(both.found) > 0 {
			t.Errorf("%s\n%s\n%s", name, text, strings.Join(both.found, "\n"))
		}
	}
	t.Logf("%d of %d: %v", taken, len(texts), why)
}
