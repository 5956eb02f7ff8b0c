package gojavm

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/dop251/goja"
)

// maxPattern is the longest regular expression that is compiled: compiling
// cannot be interrupted.
const maxPattern = 256 << 10

// forceBacktracking is a group that matches nothing everywhere. The engine's
// linear matcher refuses it, so that a pattern goes to the other one, which
// knows Unicode properties; the linear one reads \p{L} as the letters p{L}.
const forceBacktracking = "(?=)"

// engineRegExp is what of the engine's RegExp the guards have replaced.
type engineRegExp struct {
	constructor, proto *goja.Object
	source, flags      goja.Callable // getters
}

// patternNames are the functions that make a pattern, or run one that they make.
var patternNames = append([]string{"RegExp", "replaceAll"}, patternMethods...)

// guardPatterns replaces the RegExp constructor by one that makes Unicode
// property escapes work, or refuses them: the engine alone never matches them.
// The transpiler turns literals with such escapes into calls of it.
func (r *run) guardPatterns() error {
	if r.reach != nil && !r.reach.patterns && !r.reach.hasAny(patternNames...) {
		return nil
	}
	original := r.vm.Get("RegExp").ToObject(r.vm)
	construct, ok := goja.AssertConstructor(original)
	syntaxError, known := goja.AssertConstructor(r.vm.Get("SyntaxError"))
	if !ok || !known {
		return nil
	}
	refuse := func(text string) {
		e, err := syntaxError(nil, r.vm.ToValue("Invalid regular expression: "+text))
		if err != nil {
			panic(err)
		}
		panic(e)
	}
	var guarded *goja.Object
	guarded = r.vm.ToValue(func(c goja.ConstructorCall) *goja.Object {
		target := c.NewTarget
		if target == nil || target == guarded {
			target = original
		}
		made, err := construct(target, r.patternArguments(c.Arguments, refuse)...)
		if err != nil {
			panic(err)
		}
		return made
	}).(*goja.Object)
	if err := r.mimic("RegExp", original, guarded); err != nil {
		return err
	}
	proto := original.Get("prototype").ToObject(r.vm)
	own := &engineRegExp{constructor: original, proto: proto}
	var err error
	if own.source, err = r.getterOf(proto, "source"); err != nil {
		return err
	}
	if own.flags, err = r.getterOf(proto, "flags"); err != nil {
		return err
	}
	r.regExp = own
	for _, guard := range []func() error{
		func() error { return r.guardPatternTexts(refuse) },
		r.showPatterns,
	} {
		if err := guard(); err != nil {
			return err
		}
	}
	return r.defineGlobal("RegExp", guarded)
}

// patternArguments are the arguments of RegExp with the pattern rewritten.
// refuse throws.
func (r *run) patternArguments(args []goja.Value, refuse func(text string)) []goja.Value {
	if len(args) == 0 {
		return args
	}
	pattern := args[0]
	if object, ok := pattern.(*goja.Object); ok && object.ClassName() == "RegExp" {
		if len(args) < 2 || goja.IsUndefined(args[1]) {
			return args // a copy of a pattern that has been through here
		}
		pattern = object.Get("source") // as it was written
	}
	if pattern == nil || goja.IsUndefined(pattern) {
		return args
	}
	switch pattern.(type) {
	case goja.String:
	case *goja.Object:
		pattern = r.vm.ToValue(pattern.String()) // once: it may be the program's own code
	default:
		return args // no text of one holds an escape
	}
	if n := pattern.(goja.String).Length(); n > maxPattern {
		refuse(tooLongPattern(n))
	}
	text := pattern.String()
	if repeatsGroupName(text) {
		refuse("/" + text + "/: " + duplicateGroup)
	}
	args = append([]goja.Value{pattern}, args[1:]...)
	if len(args) < 2 || goja.IsUndefined(args[1]) {
		return args
	}
	flags := args[1].String()
	args[1] = r.vm.ToValue(flags)
	if !strings.Contains(flags, "u") || !hasProperty(text) {
		return args
	}
	rewritten, problem := rewriteProperties(text)
	if problem != "" {
		refuse("/" + text + "/" + flags + ": " + problem)
	}
	if rewritten != text {
		put(&r.patterns, rewritten, text)
	}
	args[0] = r.vm.ToValue(rewritten)
	return args
}

// showPatterns makes the property source and the text of a pattern what the
// author wrote. The engine's own functions would show a rewritten pattern.
func (r *run) showPatterns() error {
	proto, source := r.regExp.proto, r.regExp.source
	shown := r.native("get source", 0, func(c goja.FunctionCall) goja.Value {
		v := must(source(c.This))
		text, ok := v.(goja.String)
		if !ok {
			return v
		}
		plain := slashes(text.String())
		if own, ok := r.patterns[plain]; ok {
			plain = own
		}
		if plain == text.String() {
			return v // with its lone surrogates
		}
		return r.vm.ToValue(plain)
	})
	if err := proto.DefineAccessorProperty("source", shown, nil, goja.FLAG_TRUE, goja.FLAG_FALSE); err != nil {
		return err
	}
	text := r.native("toString", 0, func(c goja.FunctionCall) goja.Value {
		this, ok := c.This.(*goja.Object)
		if !ok {
			panic(r.vm.NewTypeError("RegExp.prototype.toString was called on %s", kindOf(c.This)))
		}
		return r.vm.ToValue("/" + this.Get("source").String() + "/" + this.Get("flags").String())
	})
	return proto.DefineDataProperty("toString", text, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// getterOf is the function of an accessor property.
func (r *run) getterOf(object *goja.Object, name string) (goja.Callable, error) {
	d, err := r.real.call("getOwnPropertyDescriptor", object, r.vm.ToValue(name))
	if err != nil {
		return nil, err
	}
	getter, ok := goja.AssertFunction(d.ToObject(r.vm).Get("get"))
	if !ok {
		return nil, fmt.Errorf("the engine's %s is no accessor", name)
	}
	return getter, nil
}

// slashes writes the slashes of a pattern as V8 does, where the engine writes
// \u002f.
func slashes(pattern string) string {
	const escaped = `\u002f`
	if !strings.Contains(pattern, escaped) {
		return pattern
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], escaped):
			if !class {
				b.WriteByte('\\')
			}
			b.WriteByte('/')
			i += len(escaped) - 1
			continue
		case c == '\\' && i+1 < len(pattern):
			b.WriteByte(c)
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// duplicateGroup is why a pattern with two groups of one name is refused: one of
// the engine's two matchers gives such groups no value and the other cannot
// compile them. ECMA-262 allows them in different alternatives since 2025.
const duplicateGroup = "Duplicate capture group name"

// repeatsGroupName says whether two groups of a pattern have the same name.
func repeatsGroupName(pattern string) bool {
	if strings.Count(pattern, "(?<") < 2 {
		return false
	}
	names := map[string]bool{}
	class := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '(' && !class:
			name, ok := strings.CutPrefix(pattern[i:], "(?<")
			if !ok || strings.HasPrefix(name, "=") || strings.HasPrefix(name, "!") {
				continue
			}
			name, _, _ = strings.Cut(name, ">")
			if names[name] {
				return true
			}
			names[name] = true
		}
	}
	return false
}

// patternMethods make a pattern of a text without the constructor.
var patternMethods = []string{"match", "matchAll", "search"}

// guardPatternTexts refuses in those methods what the constructor refuses.
func (r *run) guardPatternTexts(refuse func(text string)) error {
	proto := r.vm.Get("String").ToObject(r.vm).Get("prototype").ToObject(r.vm)
	for _, name := range patternMethods {
		if !r.reach.Has(name) {
			continue
		}
		if err := r.guard(proto, "String.prototype.", name, func(c goja.FunctionCall) float64 {
			text, ok := c.Argument(0).(goja.String)
			switch {
			case !ok:
			case text.Length() > maxPattern:
				refuse(tooLongPattern(text.Length()))
			case repeatsGroupName(text.String()):
				refuse("/" + text.String() + "/: " + duplicateGroup)
			}
			return 0
		}); err != nil {
			return err
		}
	}
	return nil
}

func tooLongPattern(n int) string {
	return fmt.Sprintf("it has %d characters; the most is %d", n, maxPattern)
}

// hasProperty says whether a text may hold a Unicode property escape.
func hasProperty(text string) bool {
	return strings.Contains(text, `\p{`) || strings.Contains(text, `\P{`)
}

// rewriteProperties writes the Unicode property escapes of a pattern with the
// flag u in a form the engine's backtracking matcher knows. A problem says why
// one cannot be.
func rewriteProperties(pattern string) (rewritten, problem string) {
	var b strings.Builder
	class, changed := false, false // class: inside [ ]
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '\\' && i+1 < len(pattern) && (pattern[i+1] == 'p' || pattern[i+1] == 'P'):
			name, ok := braced(pattern[i+2:])
			if !ok {
				return "", "Invalid property name"
			}
			members, ok := propertyClass(name)
			if !ok {
				return "", "Invalid property name " + name
			}
			negated := pattern[i+1] == 'P'
			switch {
			case negated && len(members) == 1 && strings.HasPrefix(members[0], `\p`):
				b.WriteString(`\P` + members[0][2:])
			case negated && class:
				return "", `\P{` + name + `} cannot stand in a class here; write [^\p{` + name + `}]`
			case class || len(members) == 1 && strings.HasPrefix(members[0], `\p`):
				b.WriteString(strings.Join(members, ""))
			case negated:
				b.WriteString("[^" + strings.Join(members, "") + "]")
			default:
				b.WriteString("[" + strings.Join(members, "") + "]")
			}
			i += len(`p{}`) + len(name)
			changed = true
			continue
		case c == '\\' && i+1 < len(pattern):
			b.WriteByte(c)
			i++
			c = pattern[i]
		case c == '[':
			class = true
		case c == ']':
			class = false
		}
		b.WriteByte(c)
	}
	if !changed || strings.HasPrefix(pattern, forceBacktracking) {
		return b.String(), ""
	}
	return forceBacktracking + b.String(), ""
}

// braced is the text between the braces that s starts with.
func braced(s string) (string, bool) {
	end := strings.IndexByte(s, '}')
	if len(s) == 0 || s[0] != '{' || end < 2 {
		return "", false
	}
	return s[1:end], true
}

// propertyClass lists what a character class must hold to match the property
// name of ECMA-262.
func propertyClass(name string) (members []string, ok bool) {
	if kind, value, found := strings.Cut(name, "="); found {
		switch kind {
		case "Script", "sc", "Script_Extensions", "scx":
			if long, ok := shortScripts[value]; ok {
				value = long
			}
			_, ok := unicode.Scripts[value]
			return []string{`\p{` + value + `}`}, ok
		case "General_Category", "gc":
			return category(value)
		}
		return nil, false
	}
	if members, ok := derivedProperties[name]; ok {
		return members, true
	}
	if members, ok := category(name); ok {
		return members, true
	}
	_, isProperty := unicode.Properties[name]
	_, isScript := unicode.Scripts[name] // what Script=name was rewritten to
	return []string{`\p{` + name + `}`}, isProperty || isScript || matcherProperties[name]
}

func category(name string) ([]string, bool) {
	if long, ok := unicode.CategoryAliases[name]; ok {
		name = long
	}
	_, ok := unicode.Categories[name]
	return []string{`\p{` + name + `}`}, ok
}

// derivedProperties are properties that are unions of others.
var derivedProperties = map[string][]string{
	"Alphabetic":  {`\p{L}`, `\p{Nl}`, `\p{Other_Alphabetic}`},
	"Alpha":       {`\p{L}`, `\p{Nl}`, `\p{Other_Alphabetic}`},
	"Uppercase":   {`\p{Lu}`, `\p{Other_Uppercase}`},
	"Upper":       {`\p{Lu}`, `\p{Other_Uppercase}`},
	"Lowercase":   {`\p{Ll}`, `\p{Other_Lowercase}`},
	"Lower":       {`\p{Ll}`, `\p{Other_Lowercase}`},
	"ID_Start":    {`\p{L}`, `\p{Nl}`, `\p{Other_ID_Start}`},
	"ID_Continue": {`\p{L}`, `\p{Nl}`, `\p{Other_ID_Start}`, `\p{Mn}`, `\p{Mc}`, `\p{Nd}`, `\p{Pc}`, `\p{Other_ID_Continue}`},
	"space":       {`\p{White_Space}`},
	"Any":         {`\s\S`},
	"ASCII":       {`\x00-\x7F`},
	"Cased":       {`\p{Lu}`, `\p{Ll}`, `\p{Lt}`, `\p{Other_Uppercase}`, `\p{Other_Lowercase}`},
}

// matcherProperties are those of the emoji data, which the matcher knows.
var matcherProperties = map[string]bool{
	"Emoji": true, "Emoji_Component": true, "Emoji_Modifier": true, "Emoji_Modifier_Base": true, "Emoji_Presentation": true,
	"Extended_Pictographic": true, "Math": true, "EPres": true, "EMod": true, "EBase": true, "EComp": true, "ExtPict": true,
}

// shortScripts are the short names of scripts that programs use.
var shortScripts = map[string]string{
	"Latn": "Latin", "Grek": "Greek", "Cyrl": "Cyrillic", "Hani": "Han", "Hira": "Hiragana", "Kana": "Katakana",
	"Hang": "Hangul", "Arab": "Arabic", "Hebr": "Hebrew", "Deva": "Devanagari", "Thai": "Thai", "Armn": "Armenian",
	"Geor": "Georgian", "Zyyy": "Common", "Zinh": "Inherited", "Beng": "Bengali", "Taml": "Tamil", "Telu": "Telugu",
}
