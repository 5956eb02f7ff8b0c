package codemode

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/runtime/worker"
	"github.com/runcode-go/runcode/tools"
)

// EventWorld is the type of the event that says what a program takes from the
// world around it (Options.Record): data is {callId, seed, start, zone, limits, tools,
// input}. callId is the call of run_code. seed is runtime.Request.Seed, at most 2^53-1.
// start is what the program's clock shows before its first call, in milliseconds
// since the epoch; a result that it takes moves the clock on to the time of that
// result's event. zone is the host's time zone then, as in "CET +01:00". limits are the runtime.Limits of the run, tools the names of
// those it may call. input is the global input, missing if there is none. The event is
// ignorable.
const EventWorld = "code/world"

// record gives the program a world that can be had again, and logs it.
func (c *CodeMode) record(req *runtime.Request, callID string, list []*tools.Tool) error {
	if req.Limits.Depth == 0 {
		req.Limits.Depth = c.depth()
	}
	seed, start := rand.Uint64()>>11, c.pipeline.Now().UnixMilli()
	limits, err := tools.ToJSON(req.Limits)
	if err != nil {
		return err
	}
	names := make([]tools.JSON, len(list))
	for i, tool := range list {
		names[i] = tools.StringJSON(tool.Name())
	}
	members := []tools.Member{
		{Name: "callId", Value: tools.StringJSON(callID)},
		{Name: "seed", Value: tools.MustJSON(strconv.FormatUint(seed, 10))},
		{Name: "start", Value: tools.MustJSON(strconv.FormatInt(start, 10))},
		{Name: "zone", Value: tools.StringJSON(time.UnixMilli(start).Format("MST -07:00"))},
		{Name: "limits", Value: limits},
		{Name: "tools", Value: tools.ComposeArray(names...)},
	}
	if req.Input != "" {
		members = append(members, tools.Member{Name: "input", Value: tools.MustJSON(req.Input)})
	}
	if err := c.pipeline.Emit(EventWorld, tools.ComposeObject(members...)); err != nil {
		return fmt.Errorf("the program was not run because its world could not be logged: %w", err)
	}
	req.Seed, req.Clock = &seed, func() time.Time { return time.UnixMilli(start) }
	return nil
}

// depth is the default that a Runtime has for Limits.Depth.
func (c *CodeMode) depth() int {
	if _, ok := c.runtime.(*worker.Runtime); ok {
		return runtime.DepthWorker
	}
	return runtime.DepthInProcess
}
