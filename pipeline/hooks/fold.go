package hooks

import "strings"

// verdict is what the hooks of one point say together: the strictest wins, and
// brings the reasons of its own rank only.
type verdict struct {
	rank     rank
	reasons  []string
	contexts []string
}

// add folds one answer in. A failure counts as a denial where it blocks, else
// as no answer. who is what has failed.
func (v *verdict) add(a answer, blocks bool, who string) {
	if a.failure != "" {
		if !blocks {
			return
		}
		a.rank, a.reason = rankDeny, "blocked because "+who+" "+a.failure
	}
	if a.context != "" {
		v.contexts = append(v.contexts, a.context)
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
