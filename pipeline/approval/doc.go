// Package approval asks several answerers on behalf of a pipeline: a terminal, a
// phone, a rule that stands in for a person.
//
//	asks := approval.New(nil)
//	asks.Use("rules", rules)
//	asks.Use("people", approval.First(terminal, approval.Within(time.Minute, phone)))
//	p := pipeline.New(registry, &pipeline.Options{Approver: asks})
//	asks.Attach(p)
//
// Answerers are asked one after the other, in order of registration, until one
// decides; First asks several at once. What an agent's own answerers are, and
// whether anybody is asked about its calls at all, can be said for each agent
// (Service.For, Service.SetPolicy).
//
// The package decides nothing itself but what a Policy says: which calls are
// asked about is the business of the pipeline's listeners, how often, and what is
// logged of it, the pipeline's.
package approval
