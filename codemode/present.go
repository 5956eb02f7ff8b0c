package codemode

import (
	"slices"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/tools"
)

// Presentation is what a model request carries in the mode in force.
type Presentation struct {
	// Tools are the tools on the wire, in order; run_code comes last.
	Tools []ToolSchema
	// Prompt is a section for the system prompt: the rule which calls are
	// allowed directly, how to write a program, and the declarations. It is
	// empty in native mode, and byte-identical for the same set of tools.
	Prompt string
	// Notes tell the harness author what the model is not told: short names
	// that were dropped because two tools would share them.
	Notes []string
}

// ToolSchema is one tool as model APIs want it.
type ToolSchema struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Parameters  tools.JSON `json:"parameters"` // JSON Schema
}

// onlyRule is said in code mode alone; in the other modes it would be false.
const onlyRule = "Only `" + ToolName + "` can be called directly; a direct call of any other tool fails. Reach every other tool from inside a program.\n\n"

// Present returns what to put into a model request.
func (c *CodeMode) Present() (Presentation, error) {
	catalog, err := c.snapshot()
	if err != nil {
		return Presentation{}, err
	}
	c.mu.Lock()
	p := Presentation{Notes: slices.Clone(c.notes)}
	c.mu.Unlock()
	if c.opts.Mode != ModeCode {
		for _, t := range c.pipeline.Registry().All() {
			def := t.Definition()
			p.Tools = append(p.Tools, ToolSchema{def.Name, def.Description, def.Input})
		}
	}
	if c.opts.Mode == ModeNative {
		return p, nil
	}
	p.Tools = append(p.Tools, ToolSchema{ToolName, bindings.ToolDescription, bindings.TransportSchema()})
	p.Prompt = catalog.Instructions(bindings.PromptOptions{Parallel: c.opts.Parallel, Limits: c.opts.Limits}) + "\n```ts\n" + catalog.Declarations() + "```\n"
	if c.opts.Mode == ModeCode {
		p.Prompt = onlyRule + p.Prompt
	}
	return p, nil
}

// Declarations is the TypeScript text that tells a model which tools a program
// can call.
func (c *CodeMode) Declarations() (string, error) {
	catalog, err := c.snapshot()
	if err != nil {
		return "", err
	}
	return catalog.Declarations(), nil
}
