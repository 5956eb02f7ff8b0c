package gojavm

import "github.com/dop251/goja/ast"

// walker is told the parts of a node of a syntax tree, in the order of the node's
// fields and without those that are missing.
type walker interface {
	// node is a part that stays where it is.
	node(any)
	// expression is a place where any expression may stand.
	expression(*ast.Expression)
	// body is the statement that another one repeats or depends on.
	body(*ast.Statement)
	// list are statements, one after the other.
	list(*[]ast.Statement)
}

// isLeaf says whether a node is one of the frequent ones that have no parts: half of
// a tree.
func isLeaf(n any) bool {
	switch n.(type) {
	case *ast.Identifier, *ast.StringLiteral, *ast.NumberLiteral, *ast.TemplateElement, *ast.BooleanLiteral, *ast.NullLiteral, *ast.ThisExpression:
		return true
	}
	return false
}

// walkParts tells w what a node, which is a pointer, consists of. What is named
// nowhere below has no parts. Lists of declarations are left out, for they repeat
// nodes of the body. Expressions and whatever else is in nearly every line are found
// at once, the rest by walkStatement and walkDefinition.
func walkParts(n any, w walker) {
	switch x := n.(type) {
	case *ast.Identifier, *ast.StringLiteral, *ast.NumberLiteral, *ast.TemplateElement:
		// The most frequent ones end here.
	case *ast.ArrayLiteral:
		tellExpressions(x.Value, w)
	case *ast.AssignExpression:
		tellExpression(&x.Left, w)
		tellExpression(&x.Right, w)
	case *ast.AwaitExpression:
		tellExpression(&x.Argument, w)
	case *ast.BinaryExpression:
		tellExpression(&x.Left, w)
		tellExpression(&x.Right, w)
	case *ast.BracketExpression:
		tellExpression(&x.Left, w)
		tellExpression(&x.Member, w)
	case *ast.CallExpression:
		tellExpression(&x.Callee, w)
		tellExpressions(x.ArgumentList, w)
	case *ast.ConditionalExpression:
		tellExpression(&x.Test, w)
		tellExpression(&x.Consequent, w)
		tellExpression(&x.Alternate, w)
	case *ast.DotExpression:
		tellExpression(&x.Left, w)
	case *ast.MetaProperty:
		tellNode(x.Meta, w)
		tellNode(x.Property, w)
	case *ast.NewExpression:
		tellExpression(&x.Callee, w)
		tellExpressions(x.ArgumentList, w)
	case *ast.ObjectLiteral:
		tellNodes(x.Value, w)
	case *ast.Optional:
		tellExpression(&x.Expression, w)
	case *ast.OptionalChain:
		tellExpression(&x.Expression, w)
	case *ast.PrivateDotExpression:
		tellExpression(&x.Left, w)
	case *ast.PropertyKeyed:
		tellExpression(&x.Key, w)
		tellExpression(&x.Value, w)
	case *ast.PropertyShort:
		tellExpression(&x.Initializer, w)
	case *ast.SequenceExpression:
		tellExpressions(x.Sequence, w)
	case *ast.SpreadElement:
		tellExpression(&x.Expression, w)
	case *ast.TemplateLiteral:
		tellExpression(&x.Tag, w)
		tellNodes(x.Elements, w)
		tellExpressions(x.Expressions, w)
	case *ast.UnaryExpression:
		tellExpression(&x.Operand, w)
	case *ast.YieldExpression:
		tellExpression(&x.Argument, w)
	case *ast.ArrowFunctionLiteral:
		tellNode(x.ParameterList, w)
		tellPart(x.Body, w)
	case *ast.Binding:
		tellPart(x.Target, w)
		tellExpression(&x.Initializer, w)
	case *ast.ExpressionBody:
		tellExpression(&x.Expression, w)
	case *ast.ExpressionStatement:
		tellExpression(&x.Expression, w)
	case *ast.ParameterList:
		tellNodes(x.List, w)
		tellExpression(&x.Rest, w)
	default:
		walkStatement(n, w)
	}
}

// walkStatement is walkParts for other statements.
func walkStatement(n any, w walker) {
	switch x := n.(type) {
	case *ast.BlockStatement:
		w.list(&x.List)
	case *ast.BranchStatement:
		tellNode(x.Label, w)
	case *ast.CaseStatement:
		tellExpression(&x.Test, w)
		w.list(&x.Consequent)
	case *ast.CatchStatement:
		tellPart(x.Parameter, w)
		tellNode(x.Body, w)
	case *ast.ClassDeclaration:
		tellNode(x.Class, w)
	case *ast.DoWhileStatement:
		tellExpression(&x.Test, w)
		tellBody(&x.Body, w)
	case *ast.ForInStatement:
		tellPart(x.Into, w)
		tellExpression(&x.Source, w)
		tellBody(&x.Body, w)
	case *ast.ForOfStatement:
		tellPart(x.Into, w)
		tellExpression(&x.Source, w)
		tellBody(&x.Body, w)
	case *ast.ForStatement:
		tellPart(x.Initializer, w)
		tellExpression(&x.Update, w)
		tellExpression(&x.Test, w)
		tellBody(&x.Body, w)
	case *ast.FunctionDeclaration:
		tellNode(x.Function, w)
	case *ast.IfStatement:
		tellExpression(&x.Test, w)
		tellBody(&x.Consequent, w)
		tellBody(&x.Alternate, w)
	case *ast.LabelledStatement:
		tellNode(x.Label, w)
		tellPart(x.Statement, w) // no body: what comes before it comes before its label
	case *ast.LexicalDeclaration:
		tellNodes(x.List, w)
	case *ast.ReturnStatement:
		tellExpression(&x.Argument, w)
	case *ast.SwitchStatement:
		tellExpression(&x.Discriminant, w)
		tellNodes(x.Body, w)
	case *ast.ThrowStatement:
		tellExpression(&x.Argument, w)
	case *ast.TryStatement:
		tellNode(x.Body, w)
		tellNode(x.Catch, w)
		tellNode(x.Finally, w)
	case *ast.VariableStatement:
		tellNodes(x.List, w)
	case *ast.WhileStatement:
		tellExpression(&x.Test, w)
		tellBody(&x.Body, w)
	case *ast.WithStatement:
		tellExpression(&x.Object, w)
		tellBody(&x.Body, w)
	default:
		walkDefinition(n, w)
	}
}

// walkDefinition is walkParts for functions, classes, patterns and what declares
// names in them and in loops.
func walkDefinition(n any, w walker) {
	switch x := n.(type) {
	case *ast.ArrayPattern:
		tellExpressions(x.Elements, w)
		tellExpression(&x.Rest, w)
	case *ast.ClassLiteral:
		tellNode(x.Name, w)
		tellExpression(&x.SuperClass, w)
		tellNodes(x.Body, w)
	case *ast.ClassStaticBlock:
		tellNode(x.Block, w)
	case *ast.FieldDefinition:
		tellExpression(&x.Key, w)
		tellExpression(&x.Initializer, w)
	case *ast.ForDeclaration:
		tellPart(x.Target, w)
	case *ast.ForIntoExpression:
		tellExpression(&x.Expression, w)
	case *ast.ForIntoVar:
		tellNode(x.Binding, w)
	case *ast.ForLoopInitializerExpression:
		tellExpression(&x.Expression, w)
	case *ast.ForLoopInitializerLexicalDecl:
		tellNodes(x.LexicalDeclaration.List, w)
	case *ast.ForLoopInitializerVarDeclList:
		tellNodes(x.List, w)
	case *ast.FunctionLiteral:
		tellNode(x.Name, w)
		tellNode(x.ParameterList, w)
		tellNode(x.Body, w)
	case *ast.MethodDefinition:
		tellExpression(&x.Key, w)
		tellNode(x.Body, w)
	case *ast.ObjectPattern:
		tellNodes(x.Properties, w)
		tellExpression(&x.Rest, w)
	}
}

func tellExpression(x *ast.Expression, w walker) {
	if *x != nil {
		w.expression(x)
	}
}

func tellExpressions(list []ast.Expression, w walker) {
	for i := range list {
		tellExpression(&list[i], w)
	}
}

func tellBody(s *ast.Statement, w walker) {
	if *s != nil {
		w.body(s)
	}
}

// tellPart is for parts that are one of several kinds.
func tellPart(n any, w walker) {
	if n != nil {
		w.node(n)
	}
}

func tellNode[T any](n *T, w walker) {
	if n != nil {
		w.node(n)
	}
}

func tellNodes[T any](list []T, w walker) {
	for _, n := range list {
		tellPart(n, w)
	}
}

// eachNode calls f with every node of a part of a syntax tree, which is a pointer,
// and says by its answer whether the parts of one follow.
func eachNode(n any, f func(any) bool) { visitor(f).node(n) }

// eachNodeOf is eachNode for statements.
func eachNodeOf(list []ast.Statement, f func(any) bool) { visitor(f).list(&list) }

// visitor is the walker of eachNode.
type visitor func(any) bool

func (f visitor) node(n any) {
	if f(n) {
		walkParts(n, f)
	}
}

func (f visitor) expression(x *ast.Expression) { f.node(*x) }

func (f visitor) body(s *ast.Statement) { f.node(*s) }

func (f visitor) list(list *[]ast.Statement) {
	for _, s := range *list {
		f.node(s)
	}
}

// eachExpression replaces the expressions in statements where any may stand, the
// outer before those in them. What nothing replaces is not walked into.
func eachExpression(list []ast.Statement, replace func(ast.Expression) ast.Expression) {
	replacer(replace).list(&list)
}

// replacer is the walker of eachExpression.
type replacer func(ast.Expression) ast.Expression

func (f replacer) node(n any) { walkParts(n, f) }

func (f replacer) expression(x *ast.Expression) {
	if replaced := f(*x); replaced != nil {
		*x = replaced
		walkParts(replaced, f)
	}
}

func (f replacer) body(s *ast.Statement) { walkParts(*s, f) }

func (f replacer) list(list *[]ast.Statement) {
	for _, s := range *list {
		walkParts(s, f)
	}
}
