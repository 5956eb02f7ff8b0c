package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

func TestSortedKeys(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{"b":1,"a":{"d":-0,"c":1.0}}`, `{"a":{"c":1.0,"d":-0},"b":1}`},
		{`[{"b":9007199254740993,"a":1e400},"\ud800"]`, `[{"a":1e400,"b":9007199254740993},"\ud800"]`},
		{`"text"`, `"text"`},
		{strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 10000) + strings.Repeat("]", 10000)},
	} {
		if got := sortedKeys(tools.MustJSON(tt.args)); got != tt.want {
			t.Errorf("sortedKeys(%.80s) = %.80s, want %.80s", tt.args, got, tt.want)
		}
	}
	if got := sortedKeys(tools.JSON{}); got != "" {
		t.Errorf("sortedKeys of nothing = %q", got)
	}
}

func FuzzSortedKeys(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":[{"d":1,"c":2}]}`, `{"\ud800":1,"\udc00":2}`, `"x"`, `-0`, `{"":{"":1}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args, err := tools.ParseJSON(text)
		if err != nil {
			t.Skip()
		}
		sorted := sortedKeys(args)
		again, err := tools.ParseJSON(sorted)
		if err != nil {
			t.Fatalf("%s became %s: %v", args, sorted, err)
		}
		if len(sorted) != args.Len() || sortedKeys(again) != sorted {
			t.Errorf("%s became %s, then %s", args, sorted, sortedKeys(again))
		}
		var before, after any
		if json.Unmarshal(args.Bytes(), &before) == nil && json.Unmarshal([]byte(sorted), &after) == nil && !reflect.DeepEqual(before, after) {
			// Unpaired surrogates are all one to this decoder, so that names
			// may coincide.
			if !strings.Contains(args.String(), `\ud`) {
				t.Errorf("%s became %s, another value", args, sorted)
			}
		}
	})
}
