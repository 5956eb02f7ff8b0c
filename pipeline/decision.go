package pipeline

import "fmt"

// Verdict is what a Decision says. The zero Verdict denies.
type Verdict uint8

// The verdicts, from the strictest.
const (
	VerdictDeny Verdict = iota
	VerdictAsk
	VerdictAllow
)

// String is "allow", "ask" or "deny"; what is none of the verdicts denies too.
func (v Verdict) String() string {
	switch v {
	case VerdictAllow:
		return "allow"
	case VerdictAsk:
		return "ask"
	}
	return "deny"
}

// Decision is the answer of a pre-execute listener. It is made by Allow, Ask or
// Deny only; the zero Decision denies.
type Decision struct {
	verdict Verdict
	made    bool
	reason  string
	by      string
}

// Allow lets the call go on to the guards.
func Allow() Decision { return Decision{verdict: VerdictAllow, made: true} }

// Ask sends the call to the Approver; the reason is for the person who is
// asked, and for the model where nobody can be asked. It may be empty.
func Ask(reason string) Decision {
	return Decision{verdict: VerdictAsk, made: true, reason: reason}
}

// Deny refuses the call. The reason is what the model reads, so it should say
// what to do instead; an empty one is replaced by a stand-in.
func Deny(reason string) Decision {
	if reason == "" {
		reason = "denied by policy without a reason"
	}
	return Decision{verdict: VerdictDeny, made: true, reason: reason}
}

// Verdict is what was decided.
func (d Decision) Verdict() Verdict { return d.verdict }

// Reason is the text given with an ask or a denial.
func (d Decision) Reason() string { return d.reason }

// By is the name of the listener that decided, stamped by the pipeline; "" for
// the pipeline's own allow.
func (d Decision) By() string { return d.by }

// stamped names the listener that gave the answer, unless the answer is what it
// got from further in.
func (d Decision) stamped(name string, asked *Decision) Decision {
	if asked != nil && *asked == d {
		return d
	}
	if !d.made {
		d = Deny(fmt.Sprintf("policy %q returned no decision", name))
	}
	d.by = name
	return d
}
