package pipeline_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/pipelinetest"
	"github.com/runcode-go/runcode/tools"
)

// forgeries are values of type D that no constructor made, by all the ways the
// language and the usual codecs have, without package unsafe. Some ways end in
// a panic, which is the forger's own.
func forgeries[D any]() map[string]func() D {
	return map[string]func() D{
		"zero":            func() (d D) { return d },
		"new":             func() D { return *new(D) },
		"reflect.Zero":    func() D { return reflect.Zero(reflect.TypeFor[D]()).Interface().(D) },
		"reflect.New":     func() D { return reflect.New(reflect.TypeFor[D]()).Elem().Interface().(D) },
		"a made slice":    func() D { return make([]D, 1)[0] },
		"a missing key":   func() D { return map[string]D{}["allow"] },
		"a closed chan":   func() D { c := make(chan D); close(c); return <-c },
		"fields set":      func() (d D) { setFields(reflect.ValueOf(&d).Elem()); return d },
		"a failed assert": func() D { var v any; d, _ := v.(D); return d },
		"JSON": func() (d D) {
			_ = json.Unmarshal([]byte(`{"verdict":2,"made":true,"kind":1,"by":"me","Verdict":2,"Made":true,"Kind":1}`), &d)
			return d
		},
		"gob of a lookalike": func() (d D) {
			var b bytes.Buffer
			_ = gob.NewEncoder(&b).Encode(struct {
				Verdict, Kind uint8
				Made          bool
			}{2, 1, true})
			_ = gob.NewDecoder(&b).Decode(&d)
			return d
		},
		"a converted lookalike": func() D {
			type lookalike struct {
				verdict pipeline.Verdict
				made    bool
				reason  string
				by      string
			}
			return reflect.ValueOf(lookalike{verdict: pipeline.VerdictAllow, made: true}).Convert(reflect.TypeFor[D]()).Interface().(D)
		},
		"scanned": func() (d D) { _, _ = fmt.Sscan("{2 true  }", &d); return d },
	}
}

// setFields sets whatever reflection lets it.
func setFields(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		switch f.Kind() {
		case reflect.Uint8:
			f.SetUint(2)
		case reflect.Bool:
			f.SetBool(true)
		}
	}
}

// carriers hand a value on; none may change what it says.
func carriers[D any]() map[string]func(D) D {
	return map[string]func(D) D{
		"as it is":        func(d D) D { return d },
		"by pointer":      func(d D) D { p := &d; return *p },
		"in an interface": func(d D) D { return any(d).(D) },
		"through a chan":  func(d D) D { c := make(chan D, 1); c <- d; return <-c },
		"in a copied slice": func(d D) D {
			to := make([]D, 1)
			copy(to, []D{d})
			return to[0]
		},
		"set by reflection": func(d D) D {
			var to D
			reflect.ValueOf(&to).Elem().Set(reflect.ValueOf(d))
			return to
		},
		"over an allow": func(d D) D {
			to := reflect.New(reflect.TypeFor[D]())
			if allow, ok := any(pipeline.Allow()).(D); ok {
				to.Elem().Set(reflect.ValueOf(allow))
			}
			to.Elem().Set(reflect.ValueOf(d))
			return to.Elem().Interface().(D)
		},
	}
}

// opens makes a call on a pipeline with what register adds, where every
// question is refused, and reports whether the body ran.
func opens(t *testing.T, register func(p *pipeline.Pipeline)) (ran bool, o pipeline.Outcome) {
	t.Helper()
	p := pipelinetest.New(t, &pipeline.Options{Approver: pipelinetest.NewApprover(pipeline.Rejected)},
		pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
			ran = true
			return tools.Result{}, nil
		}))
	register(p)
	o = exec(p, "tool")
	return ran, o
}

// places are where a decision can be handed to the pipeline.
var places = map[string]func(p *pipeline.Pipeline, forge func() pipeline.Decision){
	"a listener": func(p *pipeline.Pipeline, forge func() pipeline.Decision) {
		p.PreExecute.Use("forger", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) { return forge(), nil })
	},
	"a listener that asked further in": func(p *pipeline.Pipeline, forge func() pipeline.Decision) {
		p.PreExecute.Use("forger", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
			_, _ = next(ctx)
			return forge(), nil
		})
	},
	"a rule": func(p *pipeline.Pipeline, forge func() pipeline.Decision) {
		p.UseRule("forger", func(tools.Call) pipeline.Decision { return forge() })
	},
	"a rule between rules that allow": func(p *pipeline.Pipeline, forge func() pipeline.Decision) {
		allow := func(tools.Call) pipeline.Decision { return pipeline.Allow() }
		p.UseRule("outer", allow)
		p.UseRule("forger", func(tools.Call) pipeline.Decision { return forge() })
		p.UseRule("inner", allow)
	},
	"a listener below one that overrules": func(p *pipeline.Pipeline, forge func() pipeline.Decision) {
		p.PreExecute.Use("forger", func(context.Context, tools.Call, preNext) (pipeline.Decision, error) { return forge(), nil })
		p.PreExecute.Prepend("overrules", func(ctx context.Context, _ tools.Call, next preNext) (pipeline.Decision, error) {
			_, _ = next(ctx)
			return pipeline.Allow(), nil
		})
	},
}

// Only Allow opens the gate: neither a decision nobody made, nor a copy of
// another one, wherever it is handed in.
func TestOnlyAllowOpens(t *testing.T) {
	sources := forgeries[pipeline.Decision]()
	sources["Deny"] = func() pipeline.Decision { return pipeline.Deny("no") }
	sources["Deny without a reason"] = func() pipeline.Decision { return pipeline.Deny("") }
	sources["Allow"] = pipeline.Allow
	tried := 0
	for source, forge := range sources {
		for carrier, carry := range carriers[pipeline.Decision]() {
			for place, hand := range places {
				tried++
				forged := func() pipeline.Decision { return carry(forge()) }
				ran, o := opens(t, func(p *pipeline.Pipeline) { hand(p, forged) })
				if want := source == "Allow"; ran != want || o.IsError() == want {
					t.Errorf("%s, handed on %s, from %s: the body ran: %v, outcome %q", source, carrier, place, ran, o.Text())
				}
			}
		}
	}
	t.Logf("tried %d combinations of decision, carrier and place", tried)
}

// A copy of an ask is still an ask: without a grant nothing runs. It is not
// among the decisions above since a listener may answer Allow over one.
func TestCopiedAskAsks(t *testing.T) {
	for carrier, carry := range carriers[pipeline.Decision]() {
		for _, place := range []string{"a listener", "a listener that asked further in", "a rule", "a rule between rules that allow"} {
			ran, o := opens(t, func(p *pipeline.Pipeline) {
				places[place](p, func() pipeline.Decision { return carry(pipeline.Ask("?")) })
			})
			check(t, carrier+" from "+place, []any{ran, o.Info().Code}, []any{false, tools.CodeApprovalRejected})
		}
	}
}

// No decision of post-execute that nobody made lets a result through.
func TestForgedPostDecisions(t *testing.T) {
	for source, forge := range forgeries[pipeline.PostDecision]() {
		for carrier, carry := range carriers[pipeline.PostDecision]() {
			_, o := opens(t, func(p *pipeline.Pipeline) {
				p.PostExecute.Use("forger", func(context.Context, pipeline.Settled, postNext) (pipeline.PostDecision, error) {
					return carry(forge()), nil
				})
			})
			if !o.IsError() {
				t.Errorf("%s, handed on %s: the result passed", source, carrier)
			}
		}
	}
}

// Of all answers an approver's type has room for, two let a call pass, and only
// without an error.
func TestOnlyGrantsOpen(t *testing.T) {
	for n := range 256 {
		for _, failure := range []error{nil, errPlain} {
			answer := pipeline.Answer(n)
			ran := false
			p := pipelinetest.New(t, &pipeline.Options{Approver: pipeline.ApproverFunc(
				func(context.Context, pipeline.ApprovalRequest) (pipeline.Answer, error) { return answer, failure })},
				pipelinetest.Tool("tool", func(context.Context, *tools.Run) (tools.Result, error) {
					ran = true
					return tools.Result{}, nil
				}))
			p.PreExecute.Use("asks", always(pipeline.Ask("?")))
			exec(p, "tool")
			if want := failure == nil && (answer == pipeline.AllowedOnce || answer == pipeline.Granted); ran != want {
				t.Errorf("answer %d with error %v: the body ran: %v, want %v", n, failure, ran, want)
			}
		}
	}
}
