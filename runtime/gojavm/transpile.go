package gojavm

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/runcode-go/runcode/internal/growstack"
	"github.com/runcode-go/runcode/runtime"
)

// The program becomes the body of an async arrow, on the same lines. The prefix
// moves the columns of its first line only.
const (
	wrapPrefix = "(async()=>{"
	wrapSuffix = "\n})()"
	// wrapPrefixPrinted is the prefix as esbuild prints it.
	wrapPrefixPrinted = "(async () => {"
)

// byteOrderMark may precede a text and is no part of it.
const byteOrderMark = "\ufeff"

// defaultName names sources that have no name.
const defaultName = "program.ts"

// lowered are the syntax features goja lacks and esbuild can express otherwise.
// Everything else stays as written, so that positions and BigInts survive.
var lowered = map[string]bool{
	"async-generator": false,
	"for-await":       false,
	"decorators":      false,
	"using":           false,
	"dynamic-import":  false,
	"import-meta":     false,
}

// loweredPatterns is lowered for programs with Unicode property escapes, which
// goja has but gets wrong: literals become calls that guardPatterns sees. esbuild
// misses the escapes inside classes, so every literal with the flag u goes.
var loweredPatterns = func() map[string]bool {
	all := maps.Clone(lowered)
	all["regexp-unicode-property-escapes"] = false
	all["regexp-sticky-and-unicode-flags"] = false
	return all
}()

// program is a compiled program and what is needed to speak about its places.
// It is bound to no engine.
type program struct {
	name     string   // of its frames
	source   string   // what the author wrote
	text     string   // the function body in it, on the same lines
	lines    []string // of source, when they are needed first; see split
	compiled *goja.Program
	places   *places      // until it is ready
	notes    []string     // input that was forgiven
	tree     *ast.Program // what was compiled; only for checks
	file     *file.File   // the compiled text
	marks    *marker      // what was put into it
	checked  bool         // it never runs
	reach    *reach       // what it can get hold of, if it runs
	ended    bool         // it got an end of ours; see ending
	implicit bool         // what it returns is the value of a last expression
	returned int          // offset in the compiled text of its own return, if there is one only
}

// transpile turns TypeScript or JavaScript into a compiled program, or says why
// not. It must not be given a text that precheck refuses. A function that is all of
// the program may have globals as parameters.
func transpile(name, source string, globals ...string) (*program, *runtime.Failure) {
	return translate(name, source, globals, false)
}

// translate is transpile; esbuild says that esbuild reads every program.
func translate(name, source string, globals []string, esbuild bool) (*program, *runtime.Failure) {
	return (&program{name: frameName(name)}).from(source, globals, esbuild)
}

// check is transpile for a program that never runs.
func check(name, source string, globals ...string) (*program, *runtime.Failure) {
	return (&program{name: frameName(name), checked: true}).from(source, globals, false)
}

// from is the program when all is known of it.
func (p *program) from(source string, globals []string, esbuild bool) (done *program, failure *runtime.Failure) {
	defer func() {
		if x := recover(); x != nil {
			done, failure = nil, &runtime.Failure{
				Kind:    runtime.Exception,
				Name:    "SyntaxError",
				Message: fmt.Sprintf("SyntaxError: the compiler failed on this program: %v", x),
			}
		}
	}()
	growstack.Grow() // now, with few frames to copy: parsers go deep in any text
	source = strings.TrimPrefix(source, byteOrderMark)
	p.source = source
	p.text, p.notes = normalize(source)
	if refused := p.refuseFences(); refused != nil {
		return nil, refused
	}
	parts := withoutModules(p.text)
	if parts.refused != nil {
		parts.refused.Frame = runtime.CodeFrame(source, parts.refused.Site)
		return nil, parts.refused
	}
	p.text, p.notes = parts.text, append(p.notes, parts.notes...)
	if !esbuild {
		if read, _ := p.direct(parts, globals); read != nil {
			return read, nil
		}
	}
	return p.lowered(parts, globals)
}

// split makes the lines of a program that runs, or of which something is said. What is
// checked and good needs none.
func (p *program) split() {
	if p.lines == nil {
		p.lines = runtime.SourceLines(p.source)
	}
}

// lowered is the program read by esbuild.
func (p *program) lowered(parts moduleParts, globals []string) (*program, *runtime.Failure) {
	p.split()
	js, sourceMap, failure := p.lower()
	if failure != nil {
		return nil, failure
	}
	places, err := newPlaces(p.name, p.lines, js, sourceMap)
	if err != nil {
		return nil, p.syntaxFailure(fmt.Sprintf("the compiler's source map is broken: %v", err), runtime.Site{})
	}
	p.places = places
	if failure := p.compile(js, parts, globals); failure != nil {
		return nil, failure
	}
	return p, nil
}

// plainFileName are the names that the engine shows unchanged in a stack.
var plainFileName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// frameName is the name of a program's frames.
func frameName(name string) string {
	if !plainFileName.MatchString(name) || name == compiledName {
		return defaultName
	}
	return name
}

// textAt is the author's text from a place on, that of its line and the next.
func (p *program) textAt(site runtime.Site) string {
	if site.Line < 1 || site.Line > len(p.lines) {
		return ""
	}
	line := p.lines[site.Line-1]
	for i := range line {
		if site.Column <= 1 {
			line = line[i:]
			break
		}
		site.Column--
	}
	if site.Line < len(p.lines) {
		line += "\n" + p.lines[site.Line]
	}
	return line
}

// lower removes types and what goja lacks.
func (p *program) lower() (js string, sourceMap []byte, failure *runtime.Failure) {
	supported := lowered
	if hasProperty(p.text) {
		supported = loweredPatterns
	}
	res := api.Transform(wrapPrefix+p.text+wrapSuffix, api.TransformOptions{
		Loader:         api.LoaderTS,
		Target:         api.ESNext,
		Supported:      supported,
		Charset:        api.CharsetUTF8,
		LegalComments:  api.LegalCommentsNone,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		Sourcefile:     p.name,
		LogLevel:       api.LogLevelSilent,
		LogLimit:       1,
		TsconfigRaw:    `{"compilerOptions":{"target":"esnext","useDefineForClassFields":true}}`,
	})
	if len(res.Errors) > 0 {
		return "", nil, p.syntaxError(res.Errors[0])
	}
	return replaceAsyncHelpers(string(res.Code)), res.Map, nil
}

// syntaxError is what esbuild says, in the author's places.
func (p *program) syntaxError(m api.Message) *runtime.Failure {
	text := strings.TrimSuffix(strings.TrimSpace(m.Text), ":")
	var site runtime.Site
	if m.Location != nil {
		site = p.authorSite(m.Location)
	}
	// What esbuild says of the wrapper would not help.
	odd, opens := unbalanced(p.text, runtime.Limits{Nesting: len(p.text), Chain: len(p.text)})
	switch {
	case odd.why != "" && !opens && odd.site.Line <= site.Line:
		text, site = odd.why, odd.site
	case site.Line > len(p.lines) && odd.why != "" && opens:
		text, site = "unexpected end of the program; "+odd.why, odd.site
	case site.Line > len(p.lines):
		last := p.lines[len(p.lines)-1]
		text, site = "unexpected end of the program", runtime.Site{Line: len(p.lines), Column: utf8.RuneCountInString(last) + 1}
	}
	if site.Line > 0 {
		if refusal := p.refuseSyntax(p.lines[site.Line-1], site); refusal != nil {
			refusal.Frame = runtime.CodeFrame(p.source, refusal.Site)
			return refusal
		}
	}
	f := p.syntaxFailure(text, site)
	f.Hint = p.syntaxHint(text, site)
	return f
}

func (p *program) syntaxFailure(text string, site runtime.Site) *runtime.Failure {
	return &runtime.Failure{
		Kind:    runtime.Exception,
		Name:    "SyntaxError",
		Message: "SyntaxError: " + text,
		Site:    site,
		Frame:   runtime.CodeFrame(p.source, site),
	}
}

// authorSite converts esbuild's place, a 1-based line and a 0-based byte, to the
// author's line and column.
func (p *program) authorSite(l *api.Location) runtime.Site {
	text, column := l.LineText, l.Column
	if l.Line == 1 {
		text = strings.TrimPrefix(text, wrapPrefix)
		column = max(column-len(wrapPrefix), 0)
	}
	return runtime.Site{Line: l.Line, Column: len([]rune(text[:min(column, len(text))])) + 1}
}

// namespaceLine begins a namespace of TypeScript, which esbuild knows at the top
// of a file only.
var namespaceLine = regexp.MustCompile(`^\s*(?:declare\s+)?(?:namespace|module|global)\b\s*[\w$."']*\s*\{`)

// tagStart is where a line begins with JSX, in or behind an expression.
var tagStart = regexp.MustCompile(`(?:^|[=(,:?&|]|\breturn)\s*(<[A-Za-z>])`)

// refuseSyntax recognizes what esbuild reports in words that do not help.
func (p *program) refuseSyntax(line string, site runtime.Site) *runtime.Failure {
	switch {
	case namespaceLine.MatchString(line):
		site.Column = len(line) - len(strings.TrimLeft(line, " \t")) + 1
		return &runtime.Failure{
			Kind:    runtime.InvalidInput,
			Message: fmt.Sprintf("namespace on line %d: a program is the body of a function, which holds no namespaces", site.Line),
			Site:    site,
			Hint:    "write an object with functions, or plain functions",
		}
	case p.isJSX():
		if at := tagStart.FindStringSubmatchIndex(line); at != nil {
			site.Column = utf8.RuneCountInString(line[:at[2]]) + 1
		}
		return &runtime.Failure{
			Kind:    runtime.InvalidInput,
			Message: fmt.Sprintf("JSX on line %d: a program renders nothing", site.Line),
			Site:    site,
			Hint:    "build texts with templates, such as `<b>${name}</b>`",
		}
	}
	return nil
}

// isJSX says whether a text that does not compile does so with JSX in it.
func (p *program) isJSX() bool {
	if !strings.Contains(p.text, "/>") && !strings.Contains(p.text, "</") {
		return false
	}
	res := api.Transform(wrapPrefix+p.text+wrapSuffix, api.TransformOptions{
		Loader: api.LoaderTSX, Target: api.ESNext, LogLevel: api.LogLevelSilent, LogLimit: 1,
	})
	return len(res.Errors) == 0
}

// compile makes the engine's program. Code is compiled as sloppy mode, for
// models assign undeclared names.
func (p *program) compile(js string, parts moduleParts, globals []string) *runtime.Failure {
	if line, column := overread(js); line > 0 {
		site, _ := p.places.at(line, column)
		return &runtime.Failure{
			Kind:    runtime.InvalidInput,
			Message: fmt.Sprintf("%s on line %d", manyAgain, site.Line),
			Site:    site,
			Frame:   runtime.CodeFrame(p.source, site),
			Hint:    "split the program into functions and statements",
		}
	}
	tree, err := parseProgram(js)
	if err != nil {
		return p.engineRefusal(err)
	}
	return p.compileTree(tree, parts, globals)
}

// compileTree is compile for what was parsed.
func (p *program) compileTree(tree *ast.Program, parts moduleParts, globals []string) *runtime.Failure {
	arrow := unwrap(tree)
	if arrow == nil {
		return &runtime.Failure{
			Kind:    runtime.InvalidInput,
			Message: "the program closes a function that it did not open; there is one } too many",
			Hint:    "send only the body of the function",
		}
	}
	p.file = tree.File
	if body, ok := arrow.Body.(*ast.BlockStatement); ok {
		p.ended = (&ending{program: p, body: body, globals: globals, parts: parts}).apply()
	}
	if !p.checked {
		p.reach = reachOf(tree, globals)
	}
	if onlyFunctions(arrow) {
		p.notes = append(p.notes, "the program only defines functions and calls none of them; end it with a call, or send the body of the function alone")
	}
	p.marks = mark(arrow, p.source, p.file, p.ended)
	if literal := p.marks.refused; literal != nil {
		position := tree.File.Position(int(literal.Idx) - tree.File.Base())
		site, _ := p.places.at(position.Line, position.Column)
		return p.syntaxFailure("Invalid regular expression: "+literal.Literal+": "+duplicateGroup, site)
	}
	compiled, err := goja.CompileAST(tree, false)
	if err != nil {
		return p.engineRefusal(err)
	}
	p.compiled, p.tree = compiled, tree
	return nil
}

// ready tells the engine the author's places, before the program runs. Only now, so
// that errors of the parser and the compiler came in one unit. Nothing may ask
// places afterwards.
func (p *program) ready() {
	p.split()
	p.file.SetSourceMap(p.places.consumer())
	p.places, p.tree = nil, nil
}

// returnSite is the author's place of the only return of a program that is ready.
func (p *program) returnSite() runtime.Site {
	if p.returned == 0 {
		return runtime.Site{}
	}
	position := p.file.Position(p.returned)
	if position.Filename != p.name {
		return runtime.Site{}
	}
	return runtime.Site{Line: position.Line, Column: position.Column}
}

// onlyFunctions says whether a program consists of functions that nothing calls.
func onlyFunctions(wrapper *ast.ArrowFunctionLiteral) bool {
	body, ok := wrapper.Body.(*ast.BlockStatement)
	if !ok {
		return false
	}
	found := false
	for _, statement := range body.List {
		switch s := statement.(type) {
		case *ast.EmptyStatement:
		case *ast.FunctionDeclaration:
			found = true
		case *ast.ExpressionStatement:
			switch s.Expression.(type) {
			case *ast.ArrowFunctionLiteral, *ast.FunctionLiteral:
				found = true
			default:
				return false
			}
		default:
			return false
		}
	}
	return found
}

// engineRefusal is a failure of goja's parser or compiler on what esbuild let
// pass, such as a regular expression.
func (p *program) engineRefusal(err error) *runtime.Failure {
	p.split()
	text, position := err.Error(), file.Position{}
	switch e := err.(type) {
	case parser.ErrorList:
		if len(e) > 0 {
			text, position = e[0].Message, e[0].Position
		}
	case *goja.CompilerSyntaxError:
		text = e.Message
		if e.File != nil {
			position = e.File.Position(e.Offset)
		}
	}
	site, _ := p.places.at(position.Line, position.Column)
	text = strings.TrimPrefix(text, "SyntaxError: ")
	if strings.HasPrefix(p.textAt(site), "/") && !strings.HasPrefix(text, "Invalid") {
		text = "Invalid regular expression: " + text
	}
	f := p.syntaxFailure(text, site)
	f.Hint = p.syntaxHint(text, site)
	return f
}

// unwrap checks that the tree is what the wrapper gives, declarations of
// esbuild's helpers and one call of one async arrow, and replaces the call by
// the arrow, which the run calls itself. It is nil for any other shape.
func unwrap(tree *ast.Program) (wrapper *ast.ArrowFunctionLiteral) {
	for _, statement := range tree.Body {
		switch s := statement.(type) {
		case *ast.VariableStatement, *ast.LexicalDeclaration, *ast.EmptyStatement:
			if wrapper != nil {
				return nil
			}
		case *ast.ExpressionStatement:
			call, ok := s.Expression.(*ast.CallExpression)
			if !ok || len(call.ArgumentList) > 0 || wrapper != nil {
				return nil
			}
			arrow, ok := call.Callee.(*ast.ArrowFunctionLiteral)
			if !ok || !arrow.Async {
				return nil
			}
			wrapper = arrow
			s.Expression = arrow
		default:
			return nil
		}
	}
	return wrapper
}
