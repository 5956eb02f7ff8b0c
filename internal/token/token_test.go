package token_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"testing"

	"github.com/runcode-go/runcode/internal/token"
)

func TestIdentity(t *testing.T) {
	t.Parallel()
	seen := map[token.Token]bool{}
	for range 1000 {
		seen[token.New()] = true
	}
	if len(seen) != 1000 {
		t.Errorf("%d of 1000 tokens are different", len(seen))
	}
	var none token.Token
	if !none.IsZero() || token.New().IsZero() || seen[none] {
		t.Error("only the zero token is zero")
	}
	a := token.New()
	if b := a; a != b {
		t.Error("a copy differs")
	}
}

func TestNoTextForm(t *testing.T) {
	t.Parallel()
	a, b := token.New(), token.New()
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		if x, y := fmt.Sprintf(format, a), fmt.Sprintf(format, b); x != y || regexp.MustCompile("0x|[0-9]{4}").MatchString(x) {
			t.Errorf("%s tells tokens apart: %s and %s", format, x, y)
		}
	}
	if got := fmt.Sprint(token.Token{}); got != "token(none)" {
		t.Errorf("no token prints as %s", got)
	}
	text, err := json.Marshal(struct{ T token.Token }{a})
	if err != nil || string(text) != `{"T":null}` {
		t.Errorf("in a document: %s, %v", text, err)
	}
}
