package codemode_test

import (
	"context"
	"fmt"
	"log"
	"net"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// A tool of one's own: its schemas come from Go types, its annotations and
// subjects tell policy what a call does, its card is what a person is shown.
func Example_customTool() {
	type site struct {
		Host string `json:"host" jsonschema:"the host name, without a scheme"`
		Port int    `json:"port,omitzero" jsonschema:"443 if left out"`
	}
	type health struct {
		Up     bool `json:"up"`
		Status int  `json:"status" jsonschema:"of the answer; 0 if there was none"`
	}
	check := tools.DefineWith(tools.Definition{
		Name:        "check_site",
		Description: "Check that a site answers.",
		Annotations: tools.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		Concurrent:  func(tools.JSON) bool { return true },
		Subjects: func(args tools.JSON) ([]tools.Subject, error) {
			s := site{Port: 443}
			err := args.Unmarshal(&s)
			return []tools.Subject{{Access: tools.AccessNet, Host: net.JoinHostPort(s.Host, fmt.Sprint(s.Port))}}, err
		},
		PresentResult: func(args tools.JSON, _ tools.Final) tools.Card {
			var s site
			_ = args.Unmarshal(&s) // they fit the schema
			return tools.Card{Title: "Check " + s.Host, Action: "fetch"}
		},
	}, func(_ context.Context, _ *tools.Run, _ site) (health, error) {
		return health{Up: true, Status: 200}, nil // a real one would dial the host
	})

	reg, err := tools.NewRegistry(check)
	if err != nil {
		log.Fatal(err)
	}
	p := pipeline.New(reg, nil)
	// Policy judges what the call would touch, however the arguments spell it.
	p.UseRule("known-hosts", func(call tools.Call) pipeline.Decision {
		subjects, err := call.Subjects()
		if err != nil {
			return pipeline.Deny(err.Error())
		}
		for _, s := range subjects {
			if s.Access == tools.AccessNet && s.Host != "example.org:443" {
				return pipeline.Deny(s.Host + " is not a host we check")
			}
		}
		return pipeline.Allow()
	})
	p.OnResult("cards", func(o pipeline.Outcome) {
		call := o.Call()
		if tool := reg.Lookup(call.Name()); tool != nil {
			card := tool.PresentResult(call.Args(), tools.Final{IsError: o.IsError(), Content: o.Content(), Value: o.Value(), Err: o.Err(), Detail: o.Detail()})
			fmt.Printf("[%s] %s: %s\n", card.Action, card.Title, tools.ContentString(card.Content))
		}
	})
	cm, err := codemode.New(p, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer cm.Close()

	o := cm.Run(context.Background(), codemode.Program{Code: `
		const up: string[] = [];
		for (const host of ["example.org", "intranet"]) {
			try {
				if ((await tools.check_site({ host })).up) up.push(host);
			} catch (e) {
				if (e.code !== "DENIED_BY_POLICY") throw e;
			}
		}
		return up.join();`})
	fmt.Println(o.Text())
	// Output:
	// [fetch] Check example.org: {"up":true,"status":200}
	// [fetch] Check intranet: Error: intranet:443 is not a host we check
	// example.org
}
