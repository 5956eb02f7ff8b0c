package hooks

import (
	"context"
	"runtime/debug"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// Prompt is what an agent is about to be asked.
type Prompt struct {
	Agent any // see Options.Session
	Text  string
}

// Turn is a turn an agent is about to end.
type Turn struct {
	Agent any
	// HookActive says that the agent already goes on because a Stop hook has
	// blocked. Pass true from then until the next prompt: without it, hooks that
	// block until something is done cannot know that they have said so.
	HookActive bool
}

// Opening is the beginning of a session.
type Opening struct {
	Agent  any
	Source string // "startup", "resume" and the like; what matchers are tested on
}

// Subagent is an agent that works for another.
type Subagent struct {
	Agent any    // the one whose session it is
	ID    string // names this sub-agent, and is the same when it starts and stops
	Type  string // "general-purpose" and the like; what matchers are tested on
	// HookActive is that of Turn. Only hooks of SubagentStop are told.
	HookActive bool
}

// Verdict is what the hooks of one event say together. The zero Verdict has
// nothing to say.
type Verdict struct {
	// Blocked rejects a prompt, or makes an agent go on that would stop. No
	// other event can be blocked.
	Blocked bool
	// Reason is why, and for an agent that goes on its next input. It is empty
	// unless Blocked.
	Reason string
	// Contexts is for the model: none or one message, with a block for each hook
	// that had something to add. It has no ID.
	Contexts []tools.Message
	// SystemMessages is for the person.
	SystemMessages []string
	// Halt says that a hook wants the session to end ("continue": false), for
	// HaltReason, which may be empty. It is for the harness to obey; Claude Code
	// puts it above Blocked.
	Halt       bool
	HaltReason string
}

// UserPromptSubmit runs the hooks that judge a prompt, before an agent gets it.
// They can reject it or add context. A hook that fails rejects nothing unless
// the file says so: a prompt does nothing by itself, what a model makes of it
// comes past the PreToolUse hooks, and one broken script should not leave a
// person without an agent.
//
// This and the four methods below run all hooks of the event in the order of the
// file and return when the last has ended; a harness that does not want to wait
// calls them in a goroutine. p takes the log of the hooks; nil: it is not kept.
// An error means that the hooks have not all been asked, because ctx ended or
// something of the host's crashed; the Verdict is then zero. All are safe for
// concurrent use.
func (b *Bridge) UserPromptSubmit(ctx context.Context, p *pipeline.Pipeline, e Prompt) (Verdict, error) {
	return b.tell(ctx, p, UserPromptSubmit, occasion{
		agent:  e.Agent,
		fields: func() []tools.Member { return []tools.Member{text("prompt", e.Text)} },
	})
}

// Stop runs the hooks that may keep an agent from ending its turn. A hook that
// fails where the file says that failures block does so once: not when
// e.HookActive is set, since a hook that is broken would block for ever.
func (b *Bridge) Stop(ctx context.Context, p *pipeline.Pipeline, e Turn) (Verdict, error) {
	return b.tell(ctx, p, Stop, occasion{
		agent:    e.Agent,
		failOpen: e.HookActive,
		fields:   func() []tools.Member { return []tools.Member{boolean("stop_hook_active", e.HookActive)} },
	})
}

// SessionStart runs the hooks that have context for the first request of a
// session.
func (b *Bridge) SessionStart(ctx context.Context, p *pipeline.Pipeline, e Opening) (Verdict, error) {
	return b.tell(ctx, p, SessionStart, occasion{
		agent:    e.Agent,
		subjects: []string{e.Source},
		fields:   func() []tools.Member { return []tools.Member{text("source", e.Source)} },
	})
}

// SubagentStart runs the hooks that have context for a sub-agent.
func (b *Bridge) SubagentStart(ctx context.Context, p *pipeline.Pipeline, e Subagent) (Verdict, error) {
	return b.tell(ctx, p, SubagentStart, ofSubagent(e))
}

// SubagentStop runs the hooks that watch sub-agents end. They change nothing:
// the Verdict has neither Blocked nor Contexts.
func (b *Bridge) SubagentStop(ctx context.Context, p *pipeline.Pipeline, e Subagent) (Verdict, error) {
	return b.tell(ctx, p, SubagentStop, ofSubagent(e, boolean("stop_hook_active", e.HookActive)))
}

func ofSubagent(e Subagent, more ...tools.Member) occasion {
	return occasion{
		agent:    e.Agent,
		subjects: []string{e.Type},
		fields: func() []tools.Member {
			return append([]tools.Member{text("agent_id", e.ID), text("agent_type", e.Type)}, more...)
		},
	}
}

// tell asks the hooks of an event that is not a call's. What it runs of the
// host's (Options and their Logger) may crash.
func (b *Bridge) tell(ctx context.Context, p *pipeline.Pipeline, event string, o occasion) (out Verdict, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = Verdict{}, &tools.PanicError{Where: "asking the " + event + " hooks", Value: r, Stack: debug.Stack()}
		}
	}()
	v, err := b.ask(ctx, p, event, o)
	if err != nil {
		return Verdict{}, err
	}
	t := traitsOf(event)
	out = Verdict{SystemMessages: v.systemMessages, Halt: v.stop, HaltReason: v.stopReason}
	if t.blocks && v.rank == rankDeny {
		out.Blocked, out.Reason = true, v.reason(fallback(event))
	}
	if t.contexts {
		out.Contexts = v.messages()
	}
	return out, nil
}
