package hooks

import (
	"strings"

	"github.com/runcode-go/runcode/tools"
)

// verdict is what the hooks of one point say together: the strictest wins, and
// brings the reasons of its own rank only; all else adds up.
type verdict struct {
	rank           rank
	reasons        []string
	contexts       []string
	systemMessages []string
	stop           bool   // a hook asked for the session to end
	stopReason     string // the first one
}

// add folds one answer in. A failure counts as a denial where it blocks, else
// it decides nothing. who is what has failed.
func (v *verdict) add(a answer, blocks bool, who string) {
	if a.failure != "" && blocks {
		a.rank, a.reason = rankDeny, "blocked because "+who+" "+a.failure
	}
	if a.context != "" {
		v.contexts = append(v.contexts, a.context)
	}
	if a.systemMessage != "" {
		v.systemMessages = append(v.systemMessages, a.systemMessage)
	}
	if a.stop {
		v.stop, v.stopReason = true, or(v.stopReason, a.stopReason)
	}
	if a.rank > v.rank {
		v.rank, v.reasons = a.rank, nil
	}
	if a.rank == v.rank && a.reason != "" {
		v.reasons = append(v.reasons, a.reason)
	}
}

// reason is the reasons as one text, or fallback without any.
func (v *verdict) reason(fallback string) string {
	if len(v.reasons) == 0 {
		return fallback
	}
	return strings.Join(v.reasons, "\n\n")
}

// messages is the contexts of one point as one message, a block for each, or
// none.
func (v *verdict) messages() []tools.Message {
	if len(v.contexts) == 0 {
		return nil
	}
	m := tools.ContextMessage(Name, "")
	m.Content = m.Content[:0]
	for _, text := range v.contexts {
		m.Content = append(m.Content, tools.TextContent(text))
	}
	return []tools.Message{m}
}

// fallback is the reason of a denial without one. That of Stop is the next input
// of an agent.
func fallback(event string) string {
	reason := "blocked by " + event + " hook"
	if event == Stop {
		return "continue: " + reason
	}
	return reason
}
