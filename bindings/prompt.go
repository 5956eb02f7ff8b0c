package bindings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/runcode-go/runcode/runtime"
)

// PromptOptions says what the instructions must be true of. The zero value is
// the default run: serialized calls, default limits, no input.
type PromptOptions struct {
	Parallel int            // as runtime.Request.Parallel: 0 and 1 are serialized
	Limits   runtime.Limits // zero fields are defaults; invalid limits are left out of the text
	Input    bool           // the program finds a global "input"
	// Budget is how many tokens the declarations may take in a Prompt, counted
	// as four bytes each; a longer text is replaced by a list of names. Zero and
	// less: DefaultBudget.
	Budget int
}

// DefaultBudget is room for the declarations of some 150 usual tools.
const DefaultBudget = 16_000

// Prompt is what to tell a model: the instructions and, in a code block, the
// declarations. If these exceed the budget the block lists the tools instead,
// says that it is incomplete and how a program gets the rest, through the global
// of SearchNamespace. The list itself keeps to the budget, first without the
// descriptions, then without some of the names, which it says. The text depends
// on the tools and the options alone.
func (c *Catalog) Prompt(o PromptOptions) string {
	most := o.room()
	if c.Fits(o) {
		return c.Instructions(o) + "\n```ts\n" + c.declarations + "```\n"
	}
	return c.Instructions(o) + incomplete + "\n```ts\n" + c.index(most) + "```\n"
}

// Fits reports whether Prompt has the declarations rather than a list.
func (c *Catalog) Fits(o PromptOptions) bool { return len(c.declarations) <= o.room() }

// room is how many bytes the declarations may take.
func (o PromptOptions) room() int {
	if o.Budget <= 0 {
		return DefaultBudget * bytesPerToken
	}
	return o.Budget * bytesPerToken
}

// bytesPerToken is what English and code take on average.
const bytesPerToken = 4

// incomplete is one more line of the instructions.
const incomplete = "- The list of tools below is incomplete: before you call one, return `await " +
	SearchGlobal + "." + searchMember + "(\"words\")` or `await " + SearchGlobal + "." + describeMember + "(\"name\")`.\n"

// Instructions is the part of the model's prompt that says how to write
// programs. The declarations belong after it, as Prompt puts them. The
// text is Markdown, holds nothing that changes between requests, and ends with a
// line break.
//
// It is sent with every request, so a sentence stands here only if a model would
// do something else without it, and neither ToolDescription, which is sent as
// well, nor a declaration nor the text of a failure says it.
func (c *Catalog) Instructions(o PromptOptions) string {
	lines := []string{
		"Write programs for `run_code`. Each call needs both `code` and `description`.",
		"",
		"- " + c.callForm(),
		"- Arguments and what you return must be lossless JSON: no NaN, Map, Set, class instances or pending promises. Integers beyond 2^53 arrive as BigInt.",
		"- An `unknown` result may be anything, also a string to `JSON.parse`: look before you rely on a shape.",
		"- A failed or denied call throws `" + ErrorClass + "`; uncaught, it ends the run. Calls already made are not undone.",
		"- " + concurrency(o.Parallel),
		"- Keep large data in variables; return just what you need, log only what you must see. Build long texts from an array with `join`.",
		"- No `import`, `require`, file system or network; nothing is kept between runs.",
	}
	if o.Input {
		lines = append(lines, "- The global `input` holds the data this run was given.")
	}
	if text := limitsText(o.Limits); text != "" {
		lines = append(lines, "- "+text)
	}
	return strings.Join(lines, "\n") + "\n"
}

// callForm says how to call a tool, with an example of each form that some tool
// needs and that a reader of its declaration may miss.
func (c *Catalog) callForm() string {
	text := "Call tools as declared: `await tools.name(args)`."
	if name := c.first(func(name string) bool { return c.paths[name] == nil && !isIdentifier(name) }); name != "" {
		text += fmt.Sprintf(" Quoted names need brackets: `%s`.", c.spelled(name))
	}
	if name := c.first(func(name string) bool { return c.paths[name] != nil }); name != "" {
		text += fmt.Sprintf(" `%s` is also `%s`.", c.spelled(name), Global+access(name))
	}
	return text
}

// first is the first tool's name of which is says so; "" if there is none.
func (c *Catalog) first(is func(name string) bool) string {
	if i := slices.IndexFunc(c.names, is); i >= 0 {
		return c.names[i]
	}
	return ""
}

// spelled is how a program writes the tool, by its short form if it has one.
func (c *Catalog) spelled(name string) string {
	if path := c.paths[name]; path != nil {
		return Global + access(path[0]) + access(path[1])
	}
	return Global + access(name)
}

// access is the member access that reads name.
func access(name string) string {
	if isIdentifier(name) {
		return "." + name
	}
	return "[" + quoteName(name) + "]"
}

func concurrency(parallel int) string {
	if parallel <= 1 {
		return "Calls run one after another, even under `Promise.all`."
	}
	return fmt.Sprintf("Up to %d calls may overlap under `Promise.all`; `await` each call on which a later one depends.", parallel)
}

func limitsText(limits runtime.Limits) string {
	l, err := limits.WithDefaults()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("Limits: %s (%s computing), %s calls, %s a result.",
		spell(l.Wall), spell(l.Compute), thousands(l.Calls), bytesText(l.Result))
}

func spell(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%d s", d/time.Second)
	default:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func bytesText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return thousands(n) + " bytes"
	}
}
