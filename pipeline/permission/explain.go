package permission

import "github.com/runcode-go/runcode/tools"

// Line is one thing Explain has to say.
type Line struct {
	// Subject is what the call does, as in "reading secrets/key"; empty where
	// the line is about the tool.
	Subject string `json:"subject,omitempty"`
	// Rule is the rule as written and Source its place; both are empty for what
	// holds without one.
	Rule    string `json:"rule,omitempty"`
	Source  string `json:"source,omitempty"`
	Verdict string `json:"verdict"` // "allow", "ask" or "deny"
	Text    string `json:"text"`    // all of it in a sentence
}

// Explain lists every rule that applies to a call and what holds where none
// does. The strictest line is what Rule decides.
func (p *Policy) Explain(call tools.Call) []Line {
	lines := []Line{}
	for _, f := range p.judge(call) {
		line := Line{Subject: f.subject, Verdict: f.verdict.String(), Text: f.text}
		if f.rule != nil {
			line.Rule, line.Source = f.rule.text, f.rule.place
		}
		lines = append(lines, line)
	}
	return lines
}
