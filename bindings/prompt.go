package bindings

import (
	"fmt"
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
const incomplete = "- The list of tools below is incomplete: it lacks arguments and results. Before you call a tool, look it up in a program: return `await " +
	SearchGlobal + "." + searchMember + "(\"words\")` or `await " + SearchGlobal + "." + describeMember + "(\"name\")`.\n"

// Instructions is the part of the model's prompt that says how to write
// programs. The declarations belong after it, as Prompt puts them. The
// text is Markdown, holds nothing that changes between requests, and ends with a
// line break.
func (c *Catalog) Instructions(o PromptOptions) string {
	lines := []string{
		"Write programs for the `run_code` tool. Each call needs both arguments: `code` and `description`.",
		"",
		"- `code` is the body of an async function in TypeScript or JavaScript; `await` and `return` work at the top level.",
		"- " + c.callForm(),
		"- Arguments must be one lossless JSON object: no NaN, Infinity, functions, Map, Set or class instances, no `undefined` in arrays. `await` a promise before passing it on.",
		"- Results are plain JSON values of the declared type: `Tool<A, R>` takes A and resolves to R. `unknown` means the tool declares none: look before you rely on a shape. Text that looks like JSON stays a string until you `JSON.parse` it.",
		"- A failed or denied call throws `" + ErrorClass + "` (`" + ErrorProperty + "`, `message`, `code`, `callId`). Catch it to go on; uncaught, it ends the run. Calls already made are not undone.",
		"- " + concurrency(o.Parallel),
		"- Only the returned value and `console.log` output come back to you. Keep intermediate data in variables and return just what you need.",
		"- Integers beyond 2^53 arrive as BigInt although declared `number`; convert with `Number(x)` or `String(x)` to mix them with numbers.",
		"- There is no `import`, `require`, file system or network: tools are the only way out. `run_code` cannot be called inside a program, and nothing is kept between runs.",
	}
	if o.Input {
		lines = append(lines, "- The global `input` holds the data this run was given.")
	}
	if text := limitsText(o.Limits); text != "" {
		lines = append(lines, "- "+text)
	}
	return strings.Join(lines, "\n") + "\n"
}

func (c *Catalog) callForm() string {
	text := "Call a tool with `await tools.name(args)`, or `await tools[\"exact.name\"](args)` when its name is no identifier."
	for _, name := range c.names {
		if path := c.paths[name]; path != nil {
			text += fmt.Sprintf(" `mcp__server__tool` is also `tools.server.tool`: here `%s`.", c.spelled(name))
			break
		}
	}
	return text + " Use the declared names exactly."
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
		return "Calls run one after another in the order you make them, even under `Promise.all`, which is fine for collecting results but saves no time."
	}
	return fmt.Sprintf("Up to %d calls may overlap under `Promise.all` where the tools allow it; other calls run alone, in the order you make them. Chain calls that depend on each other with `await`.", parallel)
}

func limitsText(limits runtime.Limits) string {
	l, err := limits.WithDefaults()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("A run may take %s (%s of it computing) and make %s calls; one result may hold %s.",
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
