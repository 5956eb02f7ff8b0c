package gojavm

import (
	"slices"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/runcode-go/runcode/runtime/gojavm/internal/jslib"
)

// Most of what the library and the guards define is used by no program that is
// short, and defining it costs several times as much as running one. What a
// program can get hold of is bounded by its text: a property or a global is found
// by a name, and the names are all there, unless a program computes one or asks
// the language for a list. So the names that a program holds are collected, and a
// function that has none of them is not made. A program for which that cannot be
// told gets all of them.

// reach is what a program can get hold of by name. Nil: everything.
type reach struct {
	// names are those in the text. True: it is that of a variable that was taken to
	// hold known keys, which may be no global: the program may have given that a
	// toString of its own.
	names     map[string]bool
	any       bool // every property of every object
	globals   bool // every global
	iterators bool // see Iterators
	patterns  bool // it holds a regular expression that is written out
}

// meets says whether one of the variables that hold known keys may be this global.
func (r *reach) meets(global string) bool { return r != nil && r.names[global] }

// holds says whether a name is in the text.
func (r *reach) holds(name string) bool {
	_, found := r.names[name]
	return found
}

// Has says whether the program can get hold of a property of this name.
func (r *reach) Has(name string) bool { return r == nil || r.any || r.holds(name) }

// hasAny is Has for one of several.
func (r *reach) hasAny(names ...string) bool { return slices.ContainsFunc(names, r.Has) }

// Iterators says whether the program may hold an iterator of the engine's, and not
// only let the language walk it.
func (r *reach) Iterators() bool { return r == nil || r.iterators }

// HasGlobal says whether the program can get hold of a global of this name.
func (r *reach) HasGlobal(name string) bool { return r == nil || r.globals || r.holds(name) }

// Everything says whether there is nothing that may be left out.
func (r *reach) Everything() bool { return r == nil || r.any }

// codeNames lead to code that is no part of the text, as the globals of
// jslib.Scripted do.
var codeNames = []string{"eval", "Function", "constructor"}

// nameless are properties and functions of the language that lead from an object
// to what no name in the text tells: to its prototype, whose properties it may
// then copy or change, or to a list of its properties, as the console's %o does.
// table and Proxy hand names to and from the program.
var nameless = []string{
	"prototype", "__proto__", "getPrototypeOf", "setPrototypeOf", "Reflect", "Proxy", "table", "showHidden",
	"getOwnPropertyNames", "getOwnPropertySymbols", "getOwnPropertyDescriptor", "getOwnPropertyDescriptors",
	"hasOwn", "hasOwnProperty", "propertyIsEnumerable", "defineProperty", "defineProperties",
	"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
}

// plainGlobals are globals of the host whose properties are as those of any object.
var plainGlobals = []string{"console", "input"}

// iteratorNames are the methods that give an iterator of the engine's. The
// functions of Object of the same names give arrays.
var iteratorNames = []string{"keys", "values", "entries", "matchAll", "iterator", "asyncIterator", "Iterator"}

// bytesOfName is about how many bytes of a text have a name that is in it for the
// first time. It is no limit: lists are made as long as they will be.
const bytesOfName = 100

// reachOf reads what a program can get hold of from its tree, before anything is
// put into it. Globals are the names that the host defines; except for plainGlobals
// they are those of namespaces, whose objects lead to nothing but calls.
func reachOf(tree *ast.Program, globals []string) *reach {
	r := &reach{names: make(map[string]bool, len(tree.File.Source())/bytesOfName)}
	c := &reacher{reach: r, variables: map[unistring.String]*variable{}, host: make(map[unistring.String]bool, len(globals))}
	for _, name := range globals {
		c.host[unistring.NewFromString(name)] = !slices.Contains(plainGlobals, name)
	}
	eachNodeOf(tree.Body, c.node)
	c.settle()
	for _, x := range c.members {
		if c.altered(x.Left.(*ast.Identifier).Name) {
			c.keys = append(c.keys, x.Member)
		}
	}
	k := c.known()
	code := r.hasAny(codeNames...) || r.hasAny(jslib.Scripted...)
	r.any = code || c.with || c.hidden || c.stringify != 0 || r.hasAny(nameless...) ||
		slices.ContainsFunc(c.keys, func(x ast.Expression) bool { return !k.key(x) }) ||
		slices.ContainsFunc(c.replacers, func(x ast.Expression) bool { return !k.replacer(x) })
	r.globals = code || r.any && (c.this || r.holds("globalThis"))
	named := c.altered("Object") || slices.ContainsFunc(c.keys, func(x ast.Expression) bool { return !isLiteral(x) && !k.number(x) })
	r.iterators = r.any || r.iterators || named && r.hasAny(iteratorNames...)
	if !r.any {
		c.keepKnown()
	}
	return r
}

// reacher collects what reachOf needs of a tree.
type reacher struct {
	*reach
	host      map[unistring.String]bool // globals of the host; true: of a namespace
	keys      []ast.Expression          // of properties, where they are computed
	members   []*ast.BracketExpression  // the same of what may be a namespace
	replacers []ast.Expression          // of JSON.stringify
	loose     looseUses
	stringify int // how often it is named where it is not called
	with      bool
	hidden    bool // a text holds %o
	this      bool

	variables map[unistring.String]*variable
	all       []*variable // of them
	unused    []variable
}

// variable is what is known of a variable, by its name alone, whatever its scope.
type variable struct {
	name     unistring.String
	declared bool             // by let, const or var
	open     bool             // it is set to what is not in the text, such as a parameter
	sources  []ast.Expression // what it is set to

	// It holds nothing but such values; see known.
	number, key, replacer bool
}

// variable is the one of a name, which has something done to it.
func (c *reacher) variable(name unistring.String) *variable {
	if v := c.variables[name]; v != nil {
		return v
	}
	if len(c.unused) == 0 {
		c.unused = make([]variable, min(2*len(c.all)+4, 64)) // most programs have some
	}
	v := &c.unused[0]
	c.unused = c.unused[1:]
	v.name = name
	c.variables[name] = v
	c.all = append(c.all, v)
	return v
}

func (c *reacher) name(s unistring.String) { c.named(s.String()) }

// text is a text that is written out.
func (c *reacher) text(s unistring.String) {
	c.name(s)
	c.hidden = c.hidden || strings.Contains(s.String(), "%o")
}

func (c *reacher) named(name string) {
	if !c.holds(name) {
		c.names[name] = false
	}
	switch name {
	case "stringify":
		c.stringify++
	case "assign":
		c.loose.assign++
	}
}

// altered says whether the program has a variable of the name of a global, or
// replaces that.
func (c *reacher) altered(name unistring.String) bool {
	return c.variables[name] != nil
}

// member is a property that is read by name from an object.
func (c *reacher) member(object ast.Expression, name string) {
	c.named(name)
	if id, ok := object.(*ast.Identifier); ok && id.Name == "Object" {
		return
	}
	c.iterators = c.iterators || slices.Contains(iteratorNames, name)
}

// node takes down one node; its parts follow.
func (c *reacher) node(x any) bool {
	switch x := x.(type) {
	case *ast.Identifier:
		c.name(x.Name)
		c.loose.use(x.Name)
		c.iterators = c.iterators || x.Name == "Iterator"
	case *ast.StringLiteral:
		c.text(x.Value)
	case *ast.TemplateElement:
		c.text(x.Parsed)
	case *ast.DotExpression:
		c.member(x.Left, x.Identifier.Name.String())
		c.loose.tied(x.Left)
	case *ast.BracketExpression:
		c.bracket(x)
	case *ast.MethodDefinition:
		if id, ok := x.Key.(*ast.StringLiteral); ok && !x.Computed && id.Value == "constructor" {
			eachNode(x.Body, c.node)
			return false // it names nothing of the language
		}
	case *ast.BinaryExpression:
		switch x.Operator {
		case token.IN:
			c.keys = append(c.keys, x.Left)
		case token.INSTANCEOF:
			c.loose.tied(x.Right)
		}
	case *ast.CallExpression:
		c.loose.tied(x.Callee)
		c.call(x)
	case *ast.NewExpression:
		c.loose.tied(x.Callee)
	case *ast.RegExpLiteral:
		c.patterns = true
	case *ast.ThisExpression:
		c.this = true
	case *ast.WithStatement:
		c.with = true
	default:
		c.binding(x)
	}
	return true
}

// bracket is object[key].
func (c *reacher) bracket(x *ast.BracketExpression) {
	switch key := x.Member.(type) {
	case *ast.StringLiteral:
		c.member(x.Left, key.Value.String())
	case *ast.TemplateLiteral:
		if len(key.Elements) == 1 {
			c.member(x.Left, key.Elements[0].Parsed.String())
		}
	}
	if id, ok := x.Left.(*ast.Identifier); ok && c.host[id.Name] {
		c.members = append(c.members, x)
		return
	}
	c.keys = append(c.keys, x.Member)
}

// wellKnown are the properties of Symbol that hold a symbol for good.
var wellKnown = []string{
	"iterator", "asyncIterator", "hasInstance", "isConcatSpreadable", "match", "matchAll", "replace", "search", "species", "split",
	"toPrimitive", "toStringTag", "unscopables", "dispose", "asyncDispose",
}

// isWellKnown says whether an expression reads one of those.
func isWellKnown(x *ast.DotExpression) bool {
	object, ok := x.Left.(*ast.Identifier)
	return ok && object.Name == "Symbol" && slices.Contains(wellKnown, x.Identifier.Name.String())
}

// isLiteral says whether a key is a text that is written out in its place.
func isLiteral(x ast.Expression) bool {
	switch x.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral:
		return true
	}
	return false
}

// call sees to a replacer of JSON.stringify, which may be a list of names, and to
// what the console and Object.assign are given.
func (c *reacher) call(x *ast.CallExpression) {
	method, ok := x.Callee.(*ast.DotExpression)
	if !ok {
		return
	}
	object, ok := method.Left.(*ast.Identifier)
	switch {
	case method.Identifier.Name == "stringify":
		c.stringify--
		for i, argument := range x.ArgumentList {
			if _, spread := argument.(*ast.SpreadElement); spread || i == 1 {
				c.replacers = append(c.replacers, argument)
			}
		}
	case !ok:
	case object.Name == "console" && plainPrint(method.Identifier.Name.String(), x.ArgumentList):
		c.loose.prints++
	case object.Name == "Object" && method.Identifier.Name == "assign" && len(x.ArgumentList) > 0:
		if _, fresh := x.ArgumentList[0].(*ast.ObjectLiteral); fresh {
			c.loose.copies++
		}
	}
}

// settle sees to objects of the language that the program holds as values. The
// console shows what properties they have, if it is asked by a text or by options
// that are made elsewhere, and Object.assign gives them properties of any name,
// which may be there already, or not; so may those that a pattern or a buffer
// inherits and that cannot be set.
func (c *reacher) settle() {
	held := c.this || c.holds("globalThis") || c.holds("valueOf") || c.holds("species") || c.loose.held > 0
	readOnly := c.patterns || c.holds("RegExp") || c.holds("ArrayBuffer") || c.holds("buffer")
	c.hidden = c.hidden || held && c.loose.console > c.loose.prints || (held || readOnly) && c.loose.assign > c.loose.copies ||
		c.loose.console > c.loose.reads // its methods, those without a name in the text
}

// binding takes down how variables get their values.
func (c *reacher) binding(x any) {
	switch x := x.(type) {
	case *ast.VariableStatement:
		c.declare(x.List)
	case *ast.LexicalDeclaration:
		c.declare(x.List)
	case *ast.ForLoopInitializerVarDeclList:
		c.declare(x.List)
	case *ast.ForLoopInitializerLexicalDecl:
		c.declare(x.LexicalDeclaration.List)
	case *ast.AssignExpression:
		c.assign(x)
	case *ast.ObjectPattern:
		for _, p := range x.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				c.member(nil, p.Name.Name.String())
				c.variable(p.Name.Name).open = true
			case *ast.PropertyKeyed:
				c.patternKey(p)
				c.opened(p.Value)
			}
		}
		c.opened(x.Rest)
	case *ast.ArrayPattern:
		for _, element := range x.Elements {
			c.opened(element)
		}
		c.opened(x.Rest)
	case *ast.PropertyShort:
		c.name(x.Name.Name)
		c.loose.use(x.Name.Name)
	case *ast.ParameterList:
		for _, b := range x.List {
			c.opened(b.Target)
		}
		c.opened(x.Rest)
	case *ast.ForInStatement:
		c.into(x.Into)
	case *ast.ForOfStatement:
		c.into(x.Into)
	case *ast.CatchStatement:
		c.opened(x.Parameter)
	case *ast.FunctionLiteral:
		c.iterators = c.iterators || x.Generator
		if x.Name != nil {
			c.variable(x.Name.Name).open = true
		}
	case *ast.ClassLiteral:
		if x.Name != nil {
			c.variable(x.Name.Name).open = true
		}
		c.loose.tied(x.SuperClass)
	}
}

// patternKey is the name of a property that a pattern reads.
func (c *reacher) patternKey(p *ast.PropertyKeyed) {
	switch key := p.Key.(type) {
	case *ast.StringLiteral:
		c.member(nil, key.Value.String())
	case *ast.Identifier:
		if !p.Computed {
			c.member(nil, key.Name.String())
		}
	}
	if p.Computed {
		c.keys = append(c.keys, p.Key)
	}
}

func (c *reacher) declare(list []*ast.Binding) {
	for _, b := range list {
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			continue // a pattern: see there
		}
		v := c.variable(id.Name)
		v.declared = true
		if b.Initializer != nil {
			v.sources = append(v.sources, b.Initializer)
		}
	}
}

func (c *reacher) assign(x *ast.AssignExpression) {
	id, ok := x.Left.(*ast.Identifier)
	if !ok {
		c.loose.written(x.Left)
		return
	}
	source := x.Right
	switch x.Operator {
	case token.ASSIGN, token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
	default:
		source = &ast.BinaryExpression{Operator: x.Operator, Left: id, Right: x.Right}
	}
	v := c.variable(id.Name)
	v.sources = append(v.sources, source)
}

// into is the variable of for in and for of.
func (c *reacher) into(x ast.ForInto) {
	switch x := x.(type) {
	case *ast.ForIntoVar:
		c.opened(x.Binding.Target)
	case *ast.ForDeclaration:
		c.opened(x.Target)
	case *ast.ForIntoExpression:
		c.opened(x.Expression)
	}
}

// opened is a variable that gets a value from elsewhere. The parts of patterns are
// seen by themselves.
func (c *reacher) opened(target ast.Expression) {
	switch x := target.(type) {
	case *ast.Identifier:
		c.variable(x.Name).open = true
	case *ast.AssignExpression: // with a value for undefined
		c.opened(x.Left)
	case *ast.Binding:
		c.opened(x.Target)
	default:
		c.loose.written(target)
	}
}

// known finds the variables that hold nothing but numbers, and those that hold
// nothing but numbers and texts that are written out: it begins with all that are
// set in the text alone, and takes out what is set to anything else.
func (c *reacher) known() known {
	var begin []*variable
	for _, v := range c.all {
		// A global of the same name may be meant elsewhere, and may hold any text.
		_, host := c.host[v.name]
		if v.declared && !host && !isGlobal(v.name) && !v.open && !c.this && !c.holds("globalThis") {
			v.number, v.key, v.replacer = true, true, true
			begin = append(begin, v)
		}
	}
	k := known{c}
	for pass := 0; k.less(begin); pass++ {
		if pass == maxPasses {
			for _, v := range begin {
				v.number, v.key, v.replacer = false, false, false
			}
		}
	}
	return k
}

// maxPasses bounds how often variables are looked at that are set to one another: a
// text of a thousand in a row could need a thousand passes. Programs need three.
const maxPasses = 20

// less is lessOf for all.
func (k known) less(variables []*variable) (changed bool) {
	for _, v := range variables {
		changed = v.replacer && k.lessOf(v) || changed
	}
	return changed
}

// lessOf takes from a variable what it is not, as far as is known, and says whether
// that was anything.
func (k known) lessOf(v *variable) (changed bool) {
	for _, source := range v.sources {
		if v.number && !k.number(source) {
			v.number, changed = false, true
		}
		if v.key && !k.key(source) {
			v.key, changed = false, true
		}
		if v.replacer && !k.replacer(source) {
			v.replacer, changed = false, true
		}
	}
	return changed
}

// keepKnown notes the variables that were taken to hold known keys.
func (c *reacher) keepKnown() {
	for _, v := range c.all {
		if v.key {
			c.names[v.name.String()] = true
		}
	}
}

// known judges expressions.
type known struct{ *reacher }

// holding is the variable of a name; a new one, of which nothing is known, if
// nothing is done to it.
func (k known) holding(name unistring.String) variable {
	if v := k.variables[name]; v != nil {
		return *v
	}
	return variable{}
}

// replacer says whether an expression is a function or a key, and so no list of
// names. A function is not known as a key: it may have a toString of its own.
func (k known) replacer(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.ArrowFunctionLiteral, *ast.FunctionLiteral:
		return true
	case *ast.Identifier:
		if k.holding(x.Name).replacer {
			return true
		}
	}
	return k.key(x) || eachOutcome(x, k.replacer)
}

// key says whether an expression is a number, a symbol of the language, or a text
// that is written out. What is no text becomes one of no name of the library:
// undefined, null, true, false.
func (k known) key(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.StringLiteral, *ast.NullLiteral, *ast.BooleanLiteral:
		return true
	case *ast.TemplateLiteral:
		return x.Tag == nil && len(x.Elements) == 1
	case *ast.Identifier:
		return k.holding(x.Name).key || x.Name == "undefined" && !k.altered(x.Name)
	case *ast.DotExpression:
		return isWellKnown(x) && !k.altered("Symbol")
	}
	return k.number(x) || eachOutcome(x, k.key)
}

// number says whether an expression is a number, or a BigInt.
func (k known) number(x ast.Expression) bool {
	if alwaysNumber(x) {
		return true
	}
	switch x := x.(type) {
	case *ast.Identifier:
		return k.holding(x.Name).number
	case *ast.BinaryExpression:
		if x.Operator == token.PLUS {
			return k.number(x.Left) && k.number(x.Right)
		}
	}
	return eachOutcome(x, k.number)
}

// alwaysNumber says whether an expression can have no other value than a number or
// a BigInt.
func alwaysNumber(x ast.Expression) bool {
	switch x := x.(type) {
	case *ast.NumberLiteral:
		return true
	case *ast.UnaryExpression:
		switch x.Operator {
		case token.PLUS, token.MINUS, token.BITWISE_NOT, token.INCREMENT, token.DECREMENT:
			return true
		}
	case *ast.BinaryExpression:
		switch x.Operator {
		case token.MINUS, token.MULTIPLY, token.EXPONENT, token.SLASH, token.REMAINDER,
			token.AND, token.OR, token.EXCLUSIVE_OR, token.SHIFT_LEFT, token.SHIFT_RIGHT, token.UNSIGNED_SHIFT_RIGHT:
			return true
		}
	}
	return false
}

// eachOutcome says whether is holds for every part of an expression that may be its
// value; false for expressions that have no such parts.
func eachOutcome(x ast.Expression, is func(ast.Expression) bool) bool {
	switch x := x.(type) {
	case *ast.ConditionalExpression:
		return is(x.Consequent) && is(x.Alternate)
	case *ast.SequenceExpression:
		return len(x.Sequence) > 0 && is(x.Sequence[len(x.Sequence)-1])
	case *ast.AssignExpression:
		return x.Operator == token.ASSIGN && is(x.Right)
	case *ast.BinaryExpression:
		switch x.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			return is(x.Left) && is(x.Right)
		}
	}
	return false
}
