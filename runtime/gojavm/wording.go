package gojavm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/nearest"
	"github.com/runcode-go/runcode/runtime"
)

// What the engine says, up to the part that differs.
const (
	saysRead       = "Cannot read property '"
	saysMember     = "Object has no member '"
	saysNotObject  = "Value is not an object: "
	saysNotMade    = "Value is not a constructor"
	saysNotIterate = "object is not iterable"
	saysCoercible  = "Value is not object coercible"
	saysConvert    = "Cannot convert undefined or null to object"
	saysBefore     = "Cannot access a variable before initialization"
	saysClass      = "Class constructor cannot be invoked without 'new'"
	saysNoInitial  = "No initial value"
	saysPrimitive  = "Could not convert &{"   // and the insides of an object
	saysPanicked   = "(PANIC=String method: " // and why an object has no text
	saysMissing    = " %!s(MISSING)"
	saysProxy      = "proxy target is not a function"
)

// saysAny says whether a text is one that reworded may change.
func saysAny(text string) bool {
	if _, ok := engineTexts[text]; ok || saysInsides(text) {
		return true
	}
	return slices.ContainsFunc([]string{
		saysRead, saysMember, saysNotObject, saysNotMade, saysNotIterate, saysCoercible, saysConvert, saysBefore, saysClass,
		saysPrimitive, saysProxy,
	}, func(says string) bool { return strings.HasPrefix(text, says) })
}

// saysInsides says whether the engine put what its own language says of a value into
// a text: it formats objects that have no text of their own as they lie in memory.
func saysInsides(text string) bool {
	return strings.HasPrefix(text, saysPrimitive) || strings.Contains(text, saysPanicked) || strings.HasSuffix(text, saysMissing)
}

// afterInsides is what the engine says behind an object that has no text, in all
// the places where it names one.
var afterInsides = []string{" is not extensible", " is not a function", "' of undefined", "' of undefined or null", "' of null", "')", " to a BigInt"}

// shownObject stands for an object that has no text of its own, as V8 shows it.
const shownObject = "#<Object>"

// withoutInsides is a text without them. Nothing that stood between the first and the
// last stays, for it may hold what looks like the end.
func withoutInsides(text string) string {
	if strings.HasPrefix(text, saysPrimitive) {
		return "Cannot convert object to primitive value"
	}
	text = strings.TrimSuffix(text, saysMissing)
	at := strings.Index(text, saysPanicked)
	if at < 0 {
		return text
	}
	before, rest := strings.TrimRight(text[:at], "sv"), ""
	for _, after := range afterInsides {
		if strings.HasSuffix(text, ")"+after) && len(after) > len(rest) {
			rest = after
		}
	}
	return strings.TrimSuffix(before, "%!") + shownObject + rest
}

// engineTexts are those that mean the same wherever they are said.
var engineTexts = map[string]string{
	saysNoInitial:   "Reduce of empty array with no initial value",
	"Malformed URI": "URI malformed",
}

var (
	readText         = regexp.MustCompile(`^Cannot read property '(.*)' of undefined(?: or null)?$`)
	assigned         = regexp.MustCompile(`^\s*(?:=[^=>]|[-+*/%&|^]=|\*\*=|<<=|>>>?=|&&=|\|\|=|\?\?=|\+\+|--)`)
	indexed          = regexp.MustCompile(`^\s*\[['"]?([^\]'"]*)['"]?\]\s*(?:=[^=>]|[-+*/%]=|\+\+|--)`)
	constructed      = regexp.MustCompile(`^new\s+([\w$.]+)`)
	iterated         = regexp.MustCompile(`^for\s*(?:await\s*)?\(.*?\sof\s+(.+?)\)\s*[{\w]?`)
	taken            = regexp.MustCompile(`^(?:const|let|var)\s*[[{].*[]}]\s*(?::[^=]+)?=\s*(.+?)\s*;?\s*$`)
	firstProperty    = regexp.MustCompile(`^(?:const|let|var)\s*\{\s*([\w$]+)`)
	parameterPattern = regexp.MustCompile(`^(?:async\s+)?(?:function\b\s*\*?\s*)?[\w$]*\s*\(?\s*\{\s*([\w$]+).*(?:=>|\{)`)
	instanceOf       = regexp.MustCompile(`^[^;]*?\binstanceof\b`)
	inOperator       = regexp.MustCompile(`^[^;]*?\bin\b`)
	propertiesBefore = regexp.MustCompile(`(?:const|let|var)\s*\{\s*([\w$]+)[^;]*\}\s*(?::[^=;]+)?=\s*$`)
	elementsBefore   = regexp.MustCompile(`(?:const|let|var)\s*\[[^;]*\]\s*(?::[^=;]+)?=\s*$`)
	spreadArgument   = regexp.MustCompile(`^\([^()]*\.\.\.([\w$.]+)[^()]*\)`)
	calledNext       = regexp.MustCompile(`^\s*!?\s*(?:\?\.)?\s*(?:<[^()]*>)?\(`)
)

// reworded is the text of an error of the engine in the words of V8, as far as
// the author's text at its place tells. native says that a function of the
// engine's own threw. Any other text stays.
func (p *program) reworded(text string, site runtime.Site, native bool) string {
	if said, ok := engineTexts[text]; ok {
		return said
	}
	if saysInsides(text) {
		text = withoutInsides(text)
	}
	switch {
	case text == saysProxy:
		if expression, rest := p.operandAt(site); calledNext.MatchString(rest) {
			return expression + " is not a function"
		}
	case site.Line < 1 || site.Line > len(p.lines):
		return text
	}
	first, _, _ := strings.Cut(p.textAt(site), "\n")
	if native || strings.HasPrefix(first, "new Promise") {
		return p.rewordedNative(text, first, site)
	}
	expression, rest := p.operandAt(site)
	if expression == "" {
		expression = unnamed
	}
	switch {
	case strings.HasPrefix(text, saysRead):
		if m := readText.FindStringSubmatch(text); m != nil {
			missing := "undefined"
			if p.objectAt(site, m[1]) == "null" {
				missing = "null"
			}
			return "Cannot read properties of " + missing + " (reading '" + m[1] + "')"
		}
	case strings.HasPrefix(text, saysMember):
		name := strings.TrimSuffix(text[len(saysMember):], "'")
		if strings.HasSuffix(expression, name) || strings.HasSuffix(expression, "]") {
			return expression + " is not a function"
		}
		return unnamed + "." + name + " is not a function"
	case text == saysNotMade || strings.HasPrefix(text, saysNotObject) && strings.HasPrefix(first, "new "):
		if m := constructed.FindStringSubmatch(first); m != nil && slices.Contains(keyedCollections, m[1]) {
			return "Iterator value " + text[len(saysNotObject):] + " is not an entry object"
		} else if m != nil {
			return m[1] + " is not a constructor"
		}
	case strings.HasPrefix(text, saysNotObject):
		return p.rewordedOperand(text, first, expression, rest, site)
	case text == saysConvert && indexed.MatchString(rest):
		return "Cannot set properties of undefined (setting '" + indexed.FindStringSubmatch(rest)[1] + "')"
	case text == saysConvert && assigned.MatchString(rest):
		return "Cannot set properties of undefined (setting '" + expression[strings.LastIndexByte(expression, '.')+1:] + "')"
	case (text == saysConvert || text == saysNotIterate) && spreadArgument.MatchString(rest):
		return spreadArgument.FindStringSubmatch(rest)[1] + " is not iterable"
	case text == saysConvert && p.walked(expression, rest, site):
		return expression + " is not iterable"
	case text == saysNotIterate:
		if calledNext.MatchString(rest) {
			expression += "(...)"
		}
		return p.notIterable(first, expression)
	case text == saysCoercible:
		if m := propertiesBefore.FindStringSubmatch(p.before(site)); m != nil {
			return "Cannot destructure property '" + m[1] + "' of '" + expression + "' as it is undefined"
		}
		return notTaken(first)
	case text == saysBefore && isNameRune([]rune(expression)[0]):
		return "Cannot access '" + expression + "' before initialization"
	case text == saysClass && calledNext.MatchString(rest):
		return "Class constructor " + expression + " cannot be invoked without 'new'"
	}
	return text
}

// rewordedOperand is what is said of a value that is called, or that stands on the
// right of in and instanceof.
func (p *program) rewordedOperand(text, first, expression, rest string, site runtime.Site) string {
	value := text[len(saysNotObject):]
	switch {
	case calledNext.MatchString(rest):
		return expression + " is not a function"
	case strings.ContainsAny(p.goesOn(rest, site), "(`"):
		return expression + " is not a function"
	case instanceOf.MatchString(first):
		return "Right-hand side of 'instanceof' is not callable: " + value
	case inOperator.MatchString(first):
		return "Cannot use 'in' operator to search in " + value
	}
	return text
}

// keyedCollections are constructors that take entries.
var keyedCollections = []string{"Map", "WeakMap"}

// before is the text of a line before a place.
func (p *program) before(site runtime.Site) string {
	line := []rune(p.lines[site.Line-1])
	return string(line[:min(max(site.Column-1, 0), len(line))])
}

// goesOn is the character that follows an expression, perhaps on the next line.
func (p *program) goesOn(rest string, site runtime.Site) string {
	if strings.TrimSpace(rest) == "" && site.Line < len(p.lines) {
		rest = p.lines[site.Line]
	}
	rest = strings.TrimSpace(rest)
	return rest[:min(1, len(rest))]
}

// joined is the character at the beginning of the next line that makes it a part
// of the expression at the end of this one, or nothing.
func (p *program) joined(site runtime.Site) string {
	if _, rest := p.operandAt(site); strings.TrimSpace(rest) == "" {
		if c := p.goesOn(rest, site); c != "" && strings.ContainsAny(c, "([`") {
			return c
		}
	}
	return ""
}

// callbackTakers are methods that call what they are given.
var callbackTakers = []string{
	"map", "filter", "forEach", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "reduce", "reduceRight", "flatMap", "sort", "toSorted",
}

// rewordedNative is what a function of the engine's says of what it was given.
func (p *program) rewordedNative(text, first string, site runtime.Site) string {
	expression, _ := p.operandAt(site)
	value, notObject := strings.CutPrefix(text, saysNotObject)
	switch {
	case notObject && slices.Contains(callbackTakers, expression[strings.LastIndexByte(expression, '.')+1:]):
		return value + " is not a function"
	case notObject && strings.HasPrefix(first, "new Promise"):
		return "Promise resolver " + value + " is not a function"
	}
	return text
}

// walked says whether what stands before an expression walks it: of, three dots,
// or a declaration that takes it apart.
func (p *program) walked(expression, rest string, site runtime.Site) bool {
	if elementsBefore.MatchString(p.before(site)) {
		return true
	}
	before, ok := strings.CutSuffix(p.lines[site.Line-1], expression+rest)
	before = strings.TrimSpace(before)
	return ok && (strings.HasSuffix(before, " of") || strings.HasSuffix(before, "..."))
}

// notIterable says what cannot be walked: what for … of names, what is taken
// apart, or the expression at the place.
func (p *program) notIterable(line, expression string) string {
	for _, form := range []*regexp.Regexp{iterated, taken} {
		if m := form.FindStringSubmatch(line); m != nil {
			return shorten(m[1], shownExpression) + " is not iterable"
		}
	}
	if expression == unnamed || slices.Contains(operatorWords, expression) {
		return saysNotIterate
	}
	return expression + " is not iterable"
}

// notTaken says what cannot be taken apart into properties.
func notTaken(line string) string {
	value := ""
	if m := taken.FindStringSubmatch(line); m != nil {
		value = " of '" + shorten(m[1], shownExpression) + "'"
	}
	if m := firstProperty.FindStringSubmatch(line); m != nil {
		return "Cannot destructure property '" + m[1] + "'" + value + " as it is undefined"
	}
	if m := parameterPattern.FindStringSubmatch(line); m != nil {
		return "Cannot destructure property '" + m[1] + "' of a parameter as it is undefined"
	}
	return "Cannot destructure a value that is undefined"
}

// advise is a hint about an error of the engine, or nothing.
func (p *program) advise(text string, site runtime.Site) string {
	if c := p.joined(site); c != "" {
		return "end the line before one that begins with " + c + " with a semicolon"
	}
	if _, name, ok := strings.Cut(text, "Cannot read properties of undefined (reading '"); ok {
		if object := p.objectAt(site, strings.TrimSuffix(name, "')")); object != "" && object != "undefined" {
			return object + " is undefined or null here; look at what it holds, or read it with ?."
		}
		return ""
	}
	if strings.HasPrefix(text, "Cannot set properties of undefined") {
		if path, _ := p.operandAt(site); strings.Contains(path, ".") {
			return path[:strings.LastIndexByte(path, '.')] + " is undefined or null here; look at what it holds"
		}
		return ""
	}
	path, ok := strings.CutSuffix(text, " is not a function")
	dot := strings.LastIndexByte(path, '.')
	if !ok || dot < 0 {
		return ""
	}
	object, name := path[:dot], path[dot+1:]
	switch {
	case slices.Contains(arrayMethodNames, name):
		return object + " is not an array"
	case slices.Contains(textMethodNames, name):
		return object + " is not a text"
	}
	known := slices.Concat(arrayMethodNames, textMethodNames, otherMethodNames)
	if near := nearest.Names(name, known, 1); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}

// Names of methods that programs call on the wrong value, or get wrong.
var (
	arrayMethodNames = []string{
		"map", "filter", "forEach", "find", "findIndex", "findLast", "some", "every", "reduce", "flatMap", "flat", "push", "pop", "shift",
		"unshift", "splice", "sort", "toSorted", "reverse", "join", "fill",
	}
	textMethodNames = []string{
		"split", "trim", "trimStart", "trimEnd", "replace", "replaceAll", "toUpperCase", "toLowerCase", "startsWith", "endsWith", "padStart", "padEnd",
		"match", "matchAll", "substring", "charAt", "charCodeAt", "localeCompare", "normalize", "repeat",
	}
	otherMethodNames = []string{
		"includes", "indexOf", "lastIndexOf", "slice", "concat", "at", "keys", "values", "entries", "has", "get", "set", "add", "delete", "clear",
		"toString", "toFixed", "toISOString", "getTime", "getFullYear", "getMonth", "getDate", "then", "catch", "finally", "stringify", "parse",
		"log", "warn", "error", "info", "debug", "table", "fromEntries", "assign", "isArray", "from", "groupBy", "all", "allSettled", "race", "any",
	}
)
