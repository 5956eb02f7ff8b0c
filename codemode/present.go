package codemode

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/runcode-go/runcode/bindings"
	"github.com/runcode-go/runcode/tools"
)

// Presentation is what a model request carries in the mode in force.
type Presentation struct {
	// Tools are the tools on the wire, in order; run_code comes last.
	Tools []ToolSchema
	// Prompt is a section for the system prompt: the rule which calls are
	// allowed directly, how to write a program, and the declarations, or a list
	// of the tools where these exceed Options.PromptBudget. It is empty in native
	// mode, and byte-identical for the same set of tools.
	Prompt string
	// Listed says that the declarations exceed Options.PromptBudget, so that the
	// Prompt lists the tools and programs look them up.
	Listed bool
	// Notes tell the harness author what the model is not told: short names
	// that were dropped because two tools would share them, and tools that are
	// not on the wire because model APIs refuse their names.
	Notes []string
}

// ToolSchema is one tool as model APIs want it.
type ToolSchema struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Parameters  tools.JSON `json:"parameters"` // JSON Schema
}

// onlyRule is said in code mode alone; in the other modes it would be false.
const onlyRule = "Only `" + ToolName + "` can be called directly; its programs call the other tools.\n\n"

// Present returns what to put into a model request of no agent in particular.
func (c *CodeMode) Present() (Presentation, error) { return c.PresentFor(nil) }

// PresentFor returns what to put into a model request of an agent: the tools it
// sees, in its mode.
func (c *CodeMode) PresentFor(agent any) (Presentation, error) {
	scopes, err := c.pipeline.Scopes(agent)
	if err != nil {
		return Presentation{}, err
	}
	now, err := c.snapshot(agent)
	if err != nil {
		return Presentation{}, err
	}
	mode := c.mode(scopes)
	p := Presentation{Notes: slices.Clone(now.notes)}
	if mode != ModeCode {
		for _, t := range now.list {
			p.add(t.Definition())
		}
	}
	if mode == ModeNative {
		return p, nil
	}
	p.Tools = append(p.Tools, ToolSchema{ToolName, bindings.ToolDescription, bindings.TransportSchema()})
	options := bindings.PromptOptions{Parallel: c.opts.Parallel, Limits: c.opts.Limits, Budget: c.opts.PromptBudget}
	p.Prompt, p.Listed = now.catalog.Prompt(options), !now.catalog.Fits(options)
	if mode == ModeCode {
		p.Prompt = onlyRule + p.Prompt
	}
	return p, nil
}

// modelName is what model APIs accept as a tool's name.
var modelName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// anyObject is the schema of a tool that declares none.
var anyObject = tools.MustJSON(`{"type":"object"}`)

// add puts a tool on the wire. One whose name model APIs refuse would spoil the
// whole request, so it is left out and noted.
func (p *Presentation) add(def tools.Definition) {
	if !modelName.MatchString(def.Name) {
		p.Notes = append(p.Notes, fmt.Sprintf("tool %q cannot be called directly: model APIs accept names of 1 to 64 letters, digits, _ and - only; programs can call it, or rename it", def.Name))
		return
	}
	schema := def.Input
	if schema.Kind() != '{' {
		schema = anyObject
	}
	p.Tools = append(p.Tools, ToolSchema{def.Name, def.Description, schema})
}

// Catalog is the tools that a program of an agent can call, with names,
// declarations and search.
func (c *CodeMode) Catalog(agent any) (*bindings.Catalog, error) {
	now, err := c.snapshot(agent)
	if err != nil {
		return nil, err
	}
	return now.catalog, nil
}

// Declarations is the TypeScript text that tells a model which tools a program
// of no agent in particular can call.
func (c *CodeMode) Declarations() (string, error) {
	now, err := c.snapshot(nil)
	if err != nil {
		return "", err
	}
	return now.catalog.Declarations(), nil
}
