package trace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// Fetch gets the text behind a locator of a cut.
type Fetch func(ctx context.Context, locator string) (string, error)

// Restore gets back what was cut of the call's arguments and result, checks it
// by its size and hash, and makes the call as it would be in a log without a
// bound. It fails, and changes nothing, if a part was not kept, cannot be
// fetched (a nil fetch fetches nothing) or is not what was cut.
func (c *Call) Restore(ctx context.Context, fetch Fetch) error {
	call, result := c.call, c.result
	for _, cut := range c.Cuts {
		part := &result
		if cut.OfCall {
			part = &call
		}
		var err error
		if *part, err = cut.restore(ctx, fetch, *part); err != nil {
			return fmt.Errorf("cannot restore call %s of %s, which was cut in the log at %q: %w", c.ID, c.Tool, cut.Path, err)
		}
	}
	return c.reread(call, result)
}

// RestoreWorld gets back what was cut of World, if there is one, as Restore does for
// the rest.
func (c *Call) RestoreWorld(ctx context.Context, fetch Fetch) error {
	if c.World == nil || len(c.World.Cuts) == 0 {
		return nil
	}
	whole := c.world
	for _, cut := range c.World.Cuts {
		var err error
		if whole, err = cut.restore(ctx, fetch, whole); err != nil {
			return fmt.Errorf("cannot restore the world of the program, which was cut in the log at %q: %w", cut.Path, err)
		}
	}
	var d data
	if err := decode(whole, &d); err != nil {
		return fmt.Errorf("the world of the program cannot be read once it is restored: %w", err)
	}
	d.Cut = tools.JSON{}
	c.World, c.world = newWorld(d), whole
	return nil
}

// restore is data with the part that was cut in its place.
func (cut Cut) restore(ctx context.Context, fetch Fetch, data tools.JSON) (tools.JSON, error) {
	text, err := cut.fetch(ctx, fetch)
	if err != nil {
		return data, err
	}
	return replace(data, cut.Path, text)
}

func (cut Cut) fetch(ctx context.Context, fetch Fetch) (string, error) {
	switch {
	case cut.Locator == "":
		return "", fmt.Errorf("its %d bytes were not kept", cut.Bytes)
	case fetch == nil:
		return "", fmt.Errorf("its %d bytes are at %s, and there is nothing to fetch them with", cut.Bytes, cut.Locator)
	}
	text, err := fetch(ctx, cut.Locator)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256([]byte(text)); len(text) != cut.Bytes || hex.EncodeToString(sum[:]) != cut.SHA256 {
		return "", fmt.Errorf("at %s are %d bytes with sha256 %x; cut were %d bytes with sha256 %s", cut.Locator, len(text), sum, cut.Bytes, cut.SHA256)
	}
	return text, nil
}

// reread takes the call's events as they were before anything was cut.
func (c *Call) reread(call, result tools.JSON) error {
	if len(c.Cuts) == 0 {
		return nil
	}
	again := newBuilder()
	if c.Parent != nil {
		again.latest[c.Parent.ID] = &Call{State: StateOpen}
	}
	for _, e := range []struct {
		data tools.JSON
		read func(event, data)
	}{{call, c.opener(again)}, {result, c.closer(again)}} {
		var d data
		if e.data.IsZero() {
			continue
		}
		if err := decode(e.data, &d); err != nil {
			return fmt.Errorf("call %s of %s cannot be read once it is restored: %w", c.ID, c.Tool, err)
		}
		e.read(event{Data: e.data}, d)
	}
	if len(again.order) != 1 {
		return fmt.Errorf("call %s of %s is not one call once it is restored", c.ID, c.Tool)
	}
	whole := again.order[0]
	c.Arguments, c.Program, c.About = whole.Arguments, whole.Program, whole.About
	c.Content, c.Value, c.Failure = whole.Content, whole.Value, whole.Failure
	c.call, c.result, c.Cuts = call, result, nil
	return nil
}

func (c *Call) opener(b *builder) func(event, data) {
	if c.Parent == nil {
		return b.announce
	}
	return b.nest
}

func (c *Call) closer(b *builder) func(event, data) {
	if c.Parent == nil {
		return b.settle
	}
	return b.settleNested
}

var errNoPlace = errors.New("the data has no such place")

// replace puts a text that was cut back into its place.
func replace(data tools.JSON, path, cut string) (tools.JSON, error) {
	var put func(raw string, steps []string) (string, error)
	put = func(raw string, steps []string) (string, error) {
		if len(steps) == 0 {
			if raw[0] == '"' {
				return jsonscan.Quote(cut), nil
			}
			return cut, nil
		}
		parts := jsonscan.Split(raw)
		i := find(parts, steps[0])
		if i < 0 {
			return "", errNoPlace
		}
		inner, err := put(parts[i].Raw, steps[1:])
		if err != nil {
			return "", err
		}
		parts[i].Raw = inner
		return jsonscan.Join(raw[0], parts), nil
	}
	if data.IsZero() {
		return data, errNoPlace
	}
	text, err := put(data.String(), steps(path))
	if err != nil {
		return data, err
	}
	return tools.ParseJSON(text)
}

// at is what stands at a place, zero for nothing.
func at(data tools.JSON, path string) tools.JSON {
	raw := data.String()
	for _, step := range steps(path) {
		parts := jsonscan.Split(raw)
		i := find(parts, step)
		if i < 0 {
			return tools.JSON{}
		}
		raw = parts[i].Raw
	}
	j, _ := tools.ParseJSON(raw)
	return j
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func steps(path string) []string {
	if path == "" {
		return nil
	}
	list := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := range list {
		list[i] = unescapePointer.Replace(list[i])
	}
	return list
}

// under reports whether a place is prefix or within it.
func under(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// find is the index of the part a step of a pointer leads to, -1 for none.
func find(parts []jsonscan.Part, step string) int {
	if len(parts) > 0 && parts[0].Key == "" {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(parts) {
			return i
		}
		return -1
	}
	return slices.IndexFunc(parts, func(p jsonscan.Part) bool {
		return strings.ToValidUTF8(p.Name(), "\uFFFD") == step
	})
}

// decode reads JSON that may be missing.
func decode(j tools.JSON, v any) error {
	if j.IsZero() {
		return errors.New("it is missing")
	}
	return j.Unmarshal(v)
}
