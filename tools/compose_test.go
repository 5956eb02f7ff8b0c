package tools_test

import (
	"testing"

	"github.com/runcode-go/runcode/tools"
)

// TestCompose: composed texts are what ParseJSON would make of them.
func TestCompose(t *testing.T) {
	for _, tt := range []struct {
		name string
		got  tools.JSON
		want string
	}{
		{"no members", tools.ComposeObject(), `{}`},
		{"members in order, none for the zero JSON", tools.ComposeObject(
			tools.Member{Name: "z", Value: tools.MustJSON("1.0")},
			tools.Member{Name: "gone"},
			tools.Member{Name: "a\"\n", Value: tools.StringJSON("x")},
		), `{"z":1.0,"a\"\n":"x"}`},
		{"only zero members", tools.ComposeObject(tools.Member{Name: "gone"}), `{}`},
		{"no items", tools.ComposeArray(), `[]`},
		{"items, null for the zero JSON", tools.ComposeArray(tools.MustJSON("-0"), tools.JSON{}, tools.ComposeObject()), `[-0,null,{}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.got.String(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if again, err := tools.ParseJSON(tt.got.String()); err != nil || again != tt.got {
				t.Errorf("read again: %s, %v", again, err)
			}
		})
	}
}
