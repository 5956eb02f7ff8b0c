package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// catalogue is one call among k tools.
func catalogue(name string, k int, others []*tools.Definition, about string) workload {
	w := single("Bergen")
	w.name, w.size, w.about = name, k, fmt.Sprintf("one call, %d tools; %s", k, about)
	w.open = func() *world {
		return &world{defs: append(slices.Clone(others[:k-1]), weatherTool()), state: nothing}
	}
	return w
}

// neverCalled is the body of a tool that is only there to be declared.
func neverCalled(context.Context, *tools.Run) (tools.Result, error) {
	return tools.Result{}, errors.New("this tool is declared and not served")
}

// invented makes k definitions of the kind and length that servers of a company's
// systems offer.
func invented(k int) []*tools.Definition {
	things := strings.Fields("invoice customer ticket project contract shipment employee campaign deployment repository branch document folder meeting calendar vehicle warehouse supplier refund subscription")
	verbs := []struct{ verb, text, properties string }{
		{"get", "Get one %s by its id.", `"id":{"type":"string","description":"The id of the %[1]s"},"fields":{"type":"array","items":{"type":"string"},"description":"Names of the fields to return; all if left out"}},"required":["id"]`},
		{"list", "List every %s that matches a filter, newest first.", `"filter":{"type":"string","description":"An expression such as status = open"},"limit":{"type":"integer","minimum":1,"maximum":100,"description":"Most to return"},"cursor":{"type":"string","description":"Where the page before ended"}}`},
		{"create", "Create a %s and return it with its id.", `"name":{"type":"string","description":"Name of the new %[1]s"},"owner":{"type":"string","description":"Id of the user it belongs to"},"labels":{"type":"array","items":{"type":"string"}},"priority":{"type":"string","enum":["low","normal","high"],"description":"How urgent it is"}},"required":["name"]`},
		{"update", "Change the given fields of a %s and leave the others as they are.", `"id":{"type":"string","description":"The id of the %[1]s"},"changes":{"type":"object","properties":{"name":{"type":"string"},"owner":{"type":"string"},"status":{"type":"string","enum":["open","closed"]}},"description":"The new values"}},"required":["id","changes"]`},
		{"delete", "Delete a %s for good. Fails if others refer to it.", `"id":{"type":"string","description":"The id of the %[1]s"},"force":{"type":"boolean","description":"Delete what refers to it as well"}},"required":["id"]`},
	}
	servers := []string{"erp", "crm", "desk", "ops"}
	var list []*tools.Definition
	for i := range k {
		thing, verb, server := things[i/len(verbs)%len(things)], verbs[i%len(verbs)], servers[i/(len(verbs)*len(things))%len(servers)]
		list = append(list, &tools.Definition{
			Name: fmt.Sprintf("mcp__%s__%s_%s", server, verb.verb, thing), Description: fmt.Sprintf(verb.text, thing),
			Input:   tools.MustJSON(`{"type":"object","properties":{` + strings.ReplaceAll(verb.properties, "%[1]s", thing) + `}`),
			Handler: neverCalled,
		})
	}
	return list
}

// realCatalogues is the catalogues of the tool lists in a directory: answers to
// MCP's tools/list, one server a file.
func realCatalogues(dir string) ([]workload, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []*tools.Definition
	for _, file := range files {
		list, err := listedTools(file)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	var out []workload
	for _, k := range []int{10, 50, len(all) + 1} {
		if k <= len(all)+1 {
			out = append(out, catalogue("real-catalogue", k, all, "definitions of real MCP servers"))
		}
	}
	return out, nil
}

func listedTools(file string) ([]*tools.Definition, error) {
	var list struct {
		Tools []struct {
			Name         string     `json:"name"`
			Description  string     `json:"description"`
			InputSchema  tools.JSON `json:"inputSchema"`
			OutputSchema tools.JSON `json:"outputSchema"`
		} `json:"tools"`
	}
	if err := readJSON(file, &list); err != nil {
		return nil, err
	}
	server := strings.TrimSuffix(filepath.Base(file), ".json")
	var out []*tools.Definition
	for _, t := range list.Tools {
		out = append(out, &tools.Definition{
			Name: "mcp__" + server + "__" + t.Name, Description: t.Description, Input: t.InputSchema, Output: t.OutputSchema, Handler: neverCalled,
		})
	}
	return out, nil
}

// readJSON reads a file of one JSON value.
func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	value, err := tools.ParseJSON(string(text))
	if err == nil {
		err = value.Unmarshal(v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
