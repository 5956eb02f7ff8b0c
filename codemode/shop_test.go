package codemode_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/mocktools"
)

// TestShop runs programs as a model writes them over the tools of a small shop,
// in both isolations.
func TestShop(t *testing.T) {
	defs, err := mocktools.LoadFile("../testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, isolation := range []codemode.Isolation{codemode.IsolationInProcess, codemode.IsolationWorker} {
		t.Run(isolation.String(), func(t *testing.T) {
			p := pipeline.New(registry(t, defs...), nil)
			p.PreExecute.Use("refunds", func(ctx context.Context, c tools.Call, next pipeline.Next[pipeline.Decision]) (pipeline.Decision, error) {
				if c.Name() == "refund" {
					return pipeline.Ask("a refund costs money"), nil
				}
				return next(ctx)
			})
			cm := open(t, p, &codemode.Options{Isolation: isolation})
			for _, tc := range []struct{ name, code, want string }{
				{"a sum over dependent calls", `
					const { orders } = await tools.find_orders({ customer: "c9" });
					let sum = 0;
					for (const { id } of orders) sum += (await tools.get_order({ id })).total;
					return sum;`, `19.75`},
				{"an id beyond doubles comes back whole", `return (await tools.find_orders({ customer: "c9" })).orders[0].id`, `9007199254740993`},
				{"a wrong argument name is explained", `
					try { await tools.find_orders({ customer: "c9", limit: 5 }) }
					catch (e) { return [e.code, /limit/.test(e.message), /customer, max/.test(e.message), /additionalProperties|schema/.test(e.message)] }`,
					`["INVALID_ARGS",true,true,false]`},
				{"catch and go on", `
					const out = [];
					for (const customer of ["c7", "down", "c9"]) {
						try { out.push((await tools.find_orders({ customer })).orders.length) }
						catch (e) { out.push(e instanceof ToolCallError ? e.toolName : "other") }
					}
					return out;`, `[0,"find_orders",2]`},
				{"a text that looks like a number stays text", `return await tools["label.print"]({ text: "x" })`, `"00420"`},
				{"an approval nobody can give", `try { await tools.refund({ id: 17 }) } catch (e) { return [e.code, e.origin] }`, `["APPROVAL_UNAVAILABLE","approval"]`},
				{"arguments of the wrong kind are named, not emptied", `
					const say = async (...args) => { try { return await tools.find_orders(...args) } catch (e) { return e.code } };
					return [await say("c9"), await say(), await say(null), await say(["c9"]), await say({ customer: undefined }), await say({ customer: "c7" }, { extra: 1 })]`,
					`["INVALID_ARGS","INVALID_ARGS","INVALID_ARGS","INVALID_ARGS","INVALID_ARGS","INVALID_ARGS"]`},
				{"one of three fails, the others run to their end", `
					const all = await Promise.allSettled([tools.get_order({ id: 17 }), tools.find_orders({ customer: "down" }), tools.find_orders({ customer: "c7" })]);
					return all.map(r => r.status)`, `["fulfilled","rejected","fulfilled"]`},
			} {
				t.Run(tc.name, func(t *testing.T) {
					out := run(t, cm, tc.code)
					if out.Err() != nil {
						t.Fatal(out.Err())
					}
					if diff := cmp.Diff(`{"logs":[],"result":`+tc.want+`}`, out.Value().String()); diff != "" {
						t.Errorf("value (-want +got):\n%s", diff)
					}
				})
			}
			t.Run("contexts are counted", func(t *testing.T) {
				out := run(t, cm, `await tools.get_order({ id: 9007199254740993n })`)
				if out.Err() != nil || len(out.Contexts()) != 0 || codemode.ReportOf(out).Usage.DroppedContexts != 1 {
					t.Errorf("err %v, contexts %v, report %+v; want one dropped", out.Err(), out.Contexts(), codemode.ReportOf(out))
				}
			})
			t.Run("Promise.all fails once, its siblings are in the ledger", func(t *testing.T) {
				e := fail(t, cm, `await Promise.all([tools.find_orders({ customer: "c7" }), tools.find_orders({ customer: "down" }), tools.get_order({ id: 17 })])`)
				if e.Failure.Tool != "find_orders" || !strings.Contains(e.Failure.Message, "the order service is down") {
					t.Errorf("failure %+v, want the one of find_orders", e.Failure)
				}
				if calls := e.Report.Calls; len(calls) < 2 || calls[0].State != pipeline.StateDone || calls[1].State != pipeline.StateFailed {
					t.Errorf("ledger %+v, want done, failed, ...", calls)
				}
			})
		})
	}
}
