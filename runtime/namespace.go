package runtime

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Namespace is a global object of functions that a program can call. It is
// immutable, so that one can serve many runs at once.
type Namespace struct {
	global  string
	members []Member
	class   ErrorClass
}

// Member is one function of a namespace.
type Member struct {
	Name string // any text, also "__proto__" or "then"; what Invocation.Member says
	// Path is where the member can also be reached: {"github", "search"} is
	// tools.github.search. Nil: only under its own name.
	Path []string
}

// ErrorClass is the class a failed call throws. The zero value is a plain Error.
type ErrorClass struct {
	Name     string // the constructor's global name and the error's name
	Property string // own property that carries the member's name
}

// NewNamespace checks the names and sorts the members. Global and class name
// must be identifiers of [A-Za-z_][A-Za-z0-9_]* that no language reserves and
// the runtime does not use itself; the class's property must be none that an
// error has already. Member names are any non-empty text and unique; a path
// must not meet another member's name or path. The rules are DSH's; paths are
// ours.
func NewNamespace(global string, class ErrorClass, members []Member) (*Namespace, error) {
	if err := checkGlobal("global", global); err != nil {
		return nil, err
	}
	if err := checkClass(class); err != nil {
		return nil, fmt.Errorf("namespace %s: %w", global, err)
	}
	n := &Namespace{global: global, class: class, members: slices.Clone(members)}
	slices.SortStableFunc(n.members, func(a, b Member) int { return compareUnits(a.Name, b.Name) })
	for i := range n.members {
		n.members[i].Path = slices.Clone(n.members[i].Path)
	}
	if err := checkMembers(n.members); err != nil {
		return nil, fmt.Errorf("namespace %s: %w", global, err)
	}
	return n, nil
}

// Global is the name of the global object.
func (n *Namespace) Global() string { return n.global }

// Class is the error class of failed calls.
func (n *Namespace) Class() ErrorClass { return n.class }

// Members lists the members in code-unit order of their names. The caller must
// not change the slice.
func (n *Namespace) Members() []Member { return n.members }

// Has says whether the namespace has a member of that name.
func (n *Namespace) Has(name string) bool {
	_, found := slices.BinarySearchFunc(n.members, name, func(m Member, name string) int {
		return compareUnits(m.Name, name)
	})
	return found
}

func checkMembers(members []Member) error {
	for i, m := range members {
		if m.Name == "" {
			return fmt.Errorf("member %d has no name; every member needs one", i)
		}
		if i > 0 && members[i-1].Name == m.Name {
			return fmt.Errorf("member %q is given twice; names must be unique", m.Name)
		}
	}
	return checkPaths(members)
}

// checkPaths refuses paths that could not all be reached: an inner node of one
// path must not be a function.
func checkPaths(members []Member) error {
	taken := map[string]string{} // path of a function -> member
	inner := map[string]string{} // path of a nested object -> member
	for _, m := range members {
		taken[pathKey([]string{m.Name})] = m.Name
	}
	for _, m := range members {
		if len(m.Path) == 0 || len(m.Path) == 1 && m.Path[0] == m.Name {
			continue
		}
		if slices.Contains(m.Path, "") {
			return fmt.Errorf("member %q has the path %q; a path has no empty part", m.Name, m.Path)
		}
		key := pathKey(m.Path)
		if other, ok := taken[key]; ok {
			return fmt.Errorf("member %q has the path %q, where %q is already", m.Name, m.Path, other)
		}
		taken[key] = m.Name
		for end := 1; end < len(m.Path); end++ {
			inner[pathKey(m.Path[:end])] = m.Name
		}
	}
	for key, name := range inner {
		if other, ok := taken[key]; ok {
			return fmt.Errorf("a path of member %q leads through %q, which is a function", name, other)
		}
	}
	return nil
}

func pathKey(path []string) string { return strings.Join(path, "\x00") }

func checkClass(class ErrorClass) error {
	if class.Name == "" {
		if class.Property != "" {
			return fmt.Errorf("error property %q has no error class; name the class, or drop the property", class.Property)
		}
		return nil
	}
	if err := checkGlobal("error class", class.Name); err != nil {
		return err
	}
	p := class.Property
	dunder := strings.HasPrefix(p, "__") && strings.HasSuffix(p, "__") && len(p) > 4
	if p == "" || dunder || slices.Contains(errorProperties, p) {
		return fmt.Errorf("error property %q of class %s cannot be used; choose a name that errors do not have, such as toolName", p, class.Name)
	}
	return nil
}

var errorProperties = []string{"name", "message", "stack", "cause", "code", "callId", "args", "with_traceback", "add_note"}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func checkGlobal(what, name string) error {
	if !identifier.MatchString(name) {
		return fmt.Errorf("%s %q is not a usable identifier; use letters, digits and underscores, and no digit first", what, name)
	}
	if _, ok := slices.BinarySearch(reservedWords, name); ok {
		return fmt.Errorf("%s %q is not a usable identifier: it is a reserved word", what, name)
	}
	if slices.Contains(runtimeNames, name) {
		return fmt.Errorf("%s %q is reserved by the runtime", what, name)
	}
	return nil
}

var runtimeNames = []string{"console", "globalThis", "input", "__dsh_main__", "__builtins__", "__name__", "__debug__"}

// reservedWords are those of ECMAScript, TypeScript's types aside, and Python, as
// in DSH, so that a namespace suits programs of either language; sorted.
var reservedWords = []string{
	"False", "Infinity", "NaN", "None", "True", "_", "and", "arguments", "as", "assert", "async", "await", "break", "case", "catch",
	"class", "const", "continue", "debugger", "def", "default", "del", "delete", "do", "elif", "else", "enum", "eval", "except",
	"export", "extends", "false", "finally", "for", "from", "function", "global", "if", "implements", "import", "in", "instanceof",
	"interface", "is", "lambda", "let", "match", "new", "nonlocal", "not", "null", "or", "package", "pass", "private", "protected",
	"public", "raise", "return", "static", "super", "switch", "this", "throw", "true", "try", "type", "typeof", "undefined", "var",
	"void", "while", "with", "yield",
}

// compareUnits orders strings by UTF-16 code units, as ECMAScript sorts.
func compareUnits(a, b string) int {
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			ua, ub := firstUnit(ra), firstUnit(rb)
			return cmp.Or(cmp.Compare(ua, ub), cmp.Compare(ra, rb))
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit is the first code unit of r: characters beyond U+FFFF begin with a
// surrogate and so sort before U+E000.
func firstUnit(r rune) rune {
	if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
		return high
	}
	return r
}
