package httptools_test

import (
	"strings"
	"testing"

	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/permission"
	"github.com/runcode-go/runcode/tools"
	"github.com/runcode-go/runcode/tools/httptools"
)

// TestRulesOfHosts: rules for WebFetch are about the hosts calls connect to.
// Nobody is there to be asked.
func TestRulesOfHosts(t *testing.T) {
	t.Parallel()
	url, host := serve(t, echo)
	port := host[strings.LastIndexByte(host, ':'):]
	reg, _ := newTool(t, &httptools.Options{Private: []string{host}})
	for _, tt := range []struct{ name, settings, url, code, text string }{
		{"no rule", `{}`, url, tools.CodeApprovalUnavailable, "http connects to 127.0.0.1" + port + " and no rule allows it"},
		{"allowed", `{"allow":["WebFetch(domain:127.0.0.1)"]}`, url, "", ""},
		{"another host allowed", `{"allow":["WebFetch(domain:example.org)"]}`, url, tools.CodeApprovalUnavailable, ""},
		{"denied", `{"allow":["WebFetch"],"deny":["WebFetch(domain:127.0.0.1)"]}`, url, tools.CodeDeniedByPolicy, ""},
		{"a spelling of what is denied", `{"allow":["WebFetch"],"deny":["WebFetch(domain:example.org)"]}`, "https://EXAMPLE.org.:443/#x", tools.CodeDeniedByPolicy, ""},
		{"what cannot be judged", `{"allow":["WebFetch"]}`, "file:///etc/passwd", tools.CodeInvalidArgs, ""},
	} {
		settings, err := permission.Parse(`{"permissions":`+tt.settings+`}`, permission.Source{Name: "policy.json", Trusted: true})
		if err != nil {
			t.Fatal(err)
		}
		policy, err := permission.New(reg, []*permission.Settings{settings}, permission.Options{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		p := pipeline.New(reg, nil)
		p.UseRule("permissions", policy.Rule)
		o := p.Execute(t.Context(), pipeline.Request{Name: "http", Args: `{"url":"` + tt.url + `"}`})
		if o.Info().Code != tt.code || tt.text != "" && !strings.Contains(o.Text(), tt.text) {
			t.Errorf("%s: %s %s, want %s %s", tt.name, o.Info().Code, o.Text(), tt.code, tt.text)
		}
	}
}
