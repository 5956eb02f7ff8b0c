package gojavm

import (
	goast "go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/dop251/goja/ast"
	"github.com/google/go-cmp/cmp"
)

// treeNodes are all nodes that a syntax tree may have, without the program itself.
var treeNodes = []any{
	&ast.ArrayLiteral{}, &ast.ArrayPattern{}, &ast.ArrowFunctionLiteral{}, &ast.AssignExpression{}, &ast.AwaitExpression{}, &ast.BadExpression{},
	&ast.BadStatement{}, &ast.BinaryExpression{}, &ast.Binding{}, &ast.BlockStatement{}, &ast.BooleanLiteral{}, &ast.BracketExpression{},
	&ast.BranchStatement{}, &ast.CallExpression{}, &ast.CaseStatement{}, &ast.CatchStatement{}, &ast.ClassDeclaration{}, &ast.ClassLiteral{},
	&ast.ClassStaticBlock{}, &ast.ConditionalExpression{}, &ast.DebuggerStatement{}, &ast.DoWhileStatement{}, &ast.DotExpression{}, &ast.EmptyStatement{},
	&ast.ExpressionBody{}, &ast.ExpressionStatement{}, &ast.FieldDefinition{}, &ast.ForDeclaration{}, &ast.ForInStatement{}, &ast.ForIntoExpression{},
	&ast.ForIntoVar{}, &ast.ForLoopInitializerExpression{}, &ast.ForLoopInitializerLexicalDecl{}, &ast.ForLoopInitializerVarDeclList{},
	&ast.ForOfStatement{}, &ast.ForStatement{}, &ast.FunctionDeclaration{}, &ast.FunctionLiteral{}, &ast.Identifier{}, &ast.IfStatement{},
	&ast.LabelledStatement{}, &ast.LexicalDeclaration{}, &ast.MetaProperty{}, &ast.MethodDefinition{}, &ast.NewExpression{}, &ast.NullLiteral{},
	&ast.NumberLiteral{}, &ast.ObjectLiteral{}, &ast.ObjectPattern{}, &ast.Optional{}, &ast.OptionalChain{}, &ast.ParameterList{},
	&ast.PrivateDotExpression{}, &ast.PrivateIdentifier{}, &ast.PropertyKeyed{}, &ast.PropertyShort{}, &ast.RegExpLiteral{}, &ast.ReturnStatement{},
	&ast.SequenceExpression{}, &ast.SpreadElement{}, &ast.StringLiteral{}, &ast.SuperExpression{}, &ast.SwitchStatement{}, &ast.TemplateElement{},
	&ast.TemplateLiteral{}, &ast.ThisExpression{}, &ast.ThrowStatement{}, &ast.TryStatement{}, &ast.UnaryExpression{}, &ast.VariableDeclaration{},
	&ast.VariableStatement{}, &ast.WhileStatement{}, &ast.WithStatement{}, &ast.YieldExpression{},
}

// A node that a new version of the engine brings must not be walked past.
func TestTreeNodesAreAllOfTheEngine(t *testing.T) {
	pkg, err := build.Import("github.com/dop251/goja/ast", ".", build.FindOnly)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(pkg.Dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no source of the engine's package ast: ", err)
	}
	structs := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range typesOf(file) {
			if _, ok := spec.Type.(*goast.StructType); ok && file.Name.Name == "ast" && spec.Name.Name != "Program" {
				structs[spec.Name.Name] = true
			}
		}
	}
	known := map[string]bool{}
	for _, n := range treeNodes {
		known[reflect.TypeOf(n).Elem().Name()] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(structs)), slices.Sorted(maps.Keys(known))); diff != "" {
		t.Errorf("nodes (-engine +treeNodes); teach walkParts the new ones:\n%s", diff)
	}
}

func typesOf(file *goast.File) (specs []*goast.TypeSpec) {
	for _, d := range file.Decls {
		if group, ok := d.(*goast.GenDecl); ok && group.Tok == token.TYPE {
			for _, spec := range group.Specs {
				specs = append(specs, spec.(*goast.TypeSpec))
			}
		}
	}
	return specs
}

// part is a part of a node, and how the walker is told of it.
type part struct {
	As   string
	Node any
}

// recorder is a walker that writes down what it is told.
type recorder struct{ parts []part }

func (r *recorder) node(n any)                   { r.parts = append(r.parts, part{"node", n}) }
func (r *recorder) expression(x *ast.Expression) { r.parts = append(r.parts, part{"expression", *x}) }
func (r *recorder) body(s *ast.Statement)        { r.parts = append(r.parts, part{"body", *s}) }
func (r *recorder) list(list *[]ast.Statement) {
	for _, s := range *list {
		r.parts = append(r.parts, part{"list", s})
	}
}

// Every field of every node that may hold nodes is told, in order.
func TestWalkPartsTellsAll(t *testing.T) {
	for _, n := range treeNodes {
		kind := reflect.TypeOf(n).Elem()
		if kind == reflect.TypeFor[ast.VariableDeclaration]() {
			continue // it stands in lists of declarations alone
		}
		t.Run(kind.Name(), func(t *testing.T) {
			full := reflect.New(kind)
			want := fill(t, full.Elem())
			var got recorder
			walkParts(full.Interface(), &got)
			same := slices.EqualFunc(want, got.parts, func(a, b part) bool { return a.As == b.As && a.Node == b.Node })
			if !same {
				t.Errorf("%d parts %v, want %d: %v", len(got.parts), kinds(got.parts), len(want), kinds(want))
			}
			var none recorder
			walkParts(reflect.New(kind).Interface(), &none)
			if len(none.parts) > 0 {
				t.Errorf("parts of a node that has none: %v", kinds(none.parts))
			}
		})
	}
}

func kinds(parts []part) (names []string) {
	for _, p := range parts {
		names = append(names, p.As+" "+reflect.TypeOf(p.Node).String())
	}
	return names
}

// fill gives a node each part that it may have, and says what a walker must hear.
func fill(t *testing.T, node reflect.Value) (want []part) {
	for i := range node.NumField() {
		field, name := node.Field(i), node.Type().Field(i).Name
		as := "node"
		switch {
		case name == "DeclarationList":
			continue
		case field.Type() == reflect.TypeFor[ast.Expression](), field.Type() == reflect.TypeFor[[]ast.Expression]():
			as = "expression"
		case field.Type() == reflect.TypeFor[[]ast.Statement]():
			as = "list"
		case field.Type() == reflect.TypeFor[ast.Statement]() && node.Type() != reflect.TypeFor[ast.LabelledStatement]():
			as = "body"
		}
		switch field.Kind() {
		case reflect.Slice:
			list := reflect.MakeSlice(field.Type(), 2, 2)
			for i := range 2 {
				list.Index(i).Set(some(t, field.Type().Elem()))
				want = append(want, part{as, list.Index(i).Interface()})
			}
			field.Set(list)
		case reflect.Struct:
			want = append(want, fill(t, field)...)
		case reflect.Pointer, reflect.Interface:
			if field.Type() != reflect.TypeFor[any]() { // the value of a literal
				field.Set(some(t, field.Type()))
				want = append(want, part{as, field.Interface()})
			}
		}
	}
	return want
}

// some is a new value of a pointer or of an interface of nodes.
func some(t *testing.T, want reflect.Type) reflect.Value {
	if want.Kind() == reflect.Pointer {
		return reflect.New(want.Elem())
	}
	for _, n := range treeNodes {
		if reflect.TypeOf(n).Implements(want) {
			return reflect.New(reflect.TypeOf(n).Elem())
		}
	}
	t.Fatalf("no node is a %s", want)
	return reflect.Value{}
}

func TestEachNodeStopsWhereItIsTold(t *testing.T) {
	tree, err := parseProgram("a(function () { b() }); c(d())")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	eachNodeOf(tree.Body, func(n any) bool {
		if name, ok := n.(*ast.Identifier); ok {
			names = append(names, name.Name.String())
		}
		_, function := n.(*ast.FunctionLiteral)
		return !function
	})
	if diff := cmp.Diff([]string{"a", "c", "d"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// The outer expression is replaced before those in it, and those of what nothing
// replaces stay.
func TestEachExpression(t *testing.T) {
	tree, err := parseProgram("if (a) { b(c, [d]) } else e")
	if err != nil {
		t.Fatal(err)
	}
	kept := tree.Body[0].(*ast.IfStatement).Alternate.(*ast.ExpressionStatement)
	var names []string
	eachExpression(tree.Body, func(x ast.Expression) ast.Expression {
		switch x := x.(type) {
		case *ast.Identifier:
			names = append(names, x.Name.String())
			if x.Name == "e" {
				return nil
			}
		case *ast.ArrayLiteral:
			return &ast.SequenceExpression{Sequence: append(x.Value, &ast.Identifier{Name: "f"})}
		}
		return x
	})
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "f", "e"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if name, ok := kept.Expression.(*ast.Identifier); !ok || name.Name != "e" {
		t.Errorf("what nothing replaced became %#v", kept.Expression)
	}
}

// A return that belongs to the program is one in its statements, wherever it
// stands; those of functions are theirs.
func TestReturnsAreThePrograms(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		own          int
	}{
		{"none", "f()", 0},
		{"at the end", "return 1", 1},
		{"two", "if (a) return 1\nreturn 2", 2},
		{"else", "if (a) ; else return 1", 1},
		{"loops", "for (;;) return 1\nfor (const a of b) return 2\nfor (a in b) { return 3 }\nwhile (a) return 4\ndo return 5; while (a)", 5},
		{"a labelled block", "a: { b: for (;;) return 1 }", 1},
		{"try", "try { return 1 } catch { return 2 } finally { return 3 }", 3},
		{"switch", "switch (a) { case 1: return 1; default: return 2 }", 2},
		{"a function", "function f() { return 1 }\nconst g = () => { return 2 }, h = function () { return 3 }", 0},
		{"in a class", "class A { static { (() => { return 1 })() } m() { return 2 } x = () => { return 3 } }", 0},
		{"a default in a pattern", "const { a = () => { return 1 } } = b\ntry {} catch ({ c = () => { return 2 } }) {}", 0},
		{"arguments", "f(() => { return 1 }, async function () { return 2 })", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree, err := parseProgram(wrapPrefix + tt.source + wrapSuffix)
			if err != nil {
				t.Fatal(err)
			}
			body := unwrap(tree).Body
			var found returnFinder
			found.node(body)
			if found.count != tt.own {
				t.Errorf("%d returns, want %d", found.count, tt.own)
			}
			slow := 0
			eachNode(body, func(n any) bool {
				switch n.(type) {
				case *ast.ReturnStatement:
					slow++
				case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
					return false
				}
				return true
			})
			if slow != tt.own {
				t.Errorf("%d returns among all nodes, want %d", slow, tt.own)
			}
		})
	}
}
