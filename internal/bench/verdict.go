package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Verdict says whether a program beats the fair baseline.
type Verdict struct {
	Word     string  `json:"word"`     // wins, loses, even or mixed: code against direct-batched
	Tokens   float64 `json:"tokens"`   // input and output of code, over those of direct-batched
	Cost     float64 `json:"cost"`     // Tokens.Cost, likewise
	Seconds  float64 `json:"seconds"`  // modelled, likewise
	Requests float64 `json:"requests"` // likewise
	Why      string  `json:"why"`
	Cheapest string  `json:"cheapest"` // the arm with the least Cost
}

// The words of a Verdict.
const (
	Wins  = "wins"
	Loses = "loses"
	Even  = "even"
	Mixed = "mixed"
)

// margin is the difference that is called even.
const margin = 0.03

// judge compares programs with direct calls sent together, by tokens, by cost and
// by modelled seconds. A program wins if one is better and none is worse, and
// loses the other way round; what is mixed depends on prices.
func judge(base, code *Arm) Verdict {
	v := Verdict{
		Tokens: ratio(float64(code.Total()), float64(base.Total())), Cost: ratio(code.Cost(), base.Cost()),
		Seconds: ratio(code.ModelSeconds, base.ModelSeconds), Requests: ratio(float64(code.Requests), float64(base.Requests)),
	}
	better, worse := 0, 0
	for _, r := range []float64{v.Tokens, v.Cost, v.Seconds} {
		if r < 1-margin {
			better++
		}
		if r > 1+margin {
			worse++
		}
	}
	switch {
	case better > 0 && worse > 0:
		v.Word = Mixed
	case better > 0:
		v.Word = Wins
	case worse > 0:
		v.Word = Loses
	default:
		v.Word = Even
	}
	v.Why = why(base, code)
	return v
}

// Says is the word, and for what is mixed which side is better. It is what a
// report prints.
func (v Verdict) Says() string {
	if v.Word != Mixed {
		return v.Word
	}
	slower, faster := v.Seconds > 1+margin, v.Seconds < 1-margin
	switch cheaper, dearer := v.Cost < 1-margin, v.Cost > 1+margin; {
	case cheaper && slower:
		return "cheaper, slower"
	case dearer && faster:
		return "faster, dearer"
	case cheaper:
		return "cheaper, more tokens"
	case dearer:
		return "dearer, fewer tokens"
	case faster:
		return "faster, more tokens"
	}
	return "slower, fewer tokens"
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 1
	}
	return a / b
}

// reason is a part of the difference of the tokens of two arms.
type reason struct {
	tokens int
	text   string
}

// why names the largest parts of the difference: what the prompt and the tools
// take in every request, how often the conversation is sent, and what is written.
func why(base, code *Arm) string {
	fewer := code.Requests - base.Requests
	list := []reason{
		surfaceReason(base, code),
		{fewer * base.perRequest(), fmt.Sprintf("requests %s → %s", thousands(base.Requests), thousands(code.Requests))},
		conversationReason(base, code),
		{code.Output.Tokens - base.Output.Tokens, fmt.Sprintf("output %s → %s", thousands(base.Output.Tokens), thousands(code.Output.Tokens))},
	}
	slices.SortStableFunc(list, func(a, b reason) int { return cmp.Compare(abs(b.tokens), abs(a.tokens)) })
	sides := map[bool][]string{} // by whether it saves
	for _, r := range list[:2] {
		if abs(r.tokens)*100 > base.Total() { // more than one in a hundred
			sides[r.tokens < 0] = append(sides[r.tokens < 0], r.text)
		}
	}
	var texts []string
	if sides[true] != nil {
		texts = append(texts, "saves: "+strings.Join(sides[true], ", "))
	}
	if sides[false] != nil {
		texts = append(texts, "costs: "+strings.Join(sides[false], ", "))
	}
	if texts == nil {
		return "next to no difference"
	}
	return strings.Join(texts, "; ")
}

func surfaceReason(base, code *Arm) reason {
	return reason{(code.perRequest() - base.perRequest()) * code.Requests,
		fmt.Sprintf("prompt %s → %s", thousands(base.perRequest()), thousands(code.perRequest()))}
}

// conversationReason is what remains: calls and results, which are sent again
// with every request that follows.
func conversationReason(base, code *Arm) reason {
	delta := (code.Input.Tokens - code.Surface.Tokens) - (base.Input.Tokens - base.Surface.Tokens)
	text := "programs longer than calls"
	switch {
	case delta < 0 && code.KeptOut > 0:
		text = bytesText(code.KeptOut) + " of results stay out"
	case delta < 0:
		text = "calls and results read again less often"
	case code.Requests > base.Requests:
		text = "calls and results read again more often"
	}
	return reason{delta, text}
}

func abs(n int) int { return max(n, -n) }

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func bytesText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
