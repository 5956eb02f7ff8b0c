package jslib

import (
	"errors"
	"testing"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/require"
	"github.com/dop251/goja_nodejs/url"
)

// TestWhyNotNodejs holds the reasons why URL is this package's own and not that
// of goja_nodejs, whose answers differ from Node's without an error. When a row
// fails because goja_nodejs has become right, the choice can be reconsidered.
func TestWhyNotNodejs(t *testing.T) {
	theirs := goja.New()
	require.NewRegistry(require.WithLoader(func(string) ([]byte, error) {
		return nil, errors.New("nothing is loaded here")
	})).Enable(theirs)
	url.Enable(theirs)
	ours := goja.New()
	if err := Install(ours, Host{}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, code, node, theirs string }{
		{"a query set through searchParams",
			`const u = new URL("/q?a=1", "https://ex.com:8080"); u.searchParams.append("c", "d"); u.href`,
			"https://ex.com:8080/q?a=1&c=d", "https://ex.com:8080/q"},
		{"the port of an origin", `new URL("https://ex.com:8080/").origin`, "https://ex.com:8080", "https://ex.com"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, engine := range []struct {
				name string
				vm   *goja.Runtime
				want string
			}{{"this package", ours, tc.node}, {"goja_nodejs", theirs, tc.theirs}} {
				got, err := engine.vm.RunString(tc.code)
				if err != nil {
					t.Fatal(err)
				}
				if got.String() != engine.want {
					t.Errorf("%s answers %q, want %q", engine.name, got, engine.want)
				}
			}
		})
	}
}
