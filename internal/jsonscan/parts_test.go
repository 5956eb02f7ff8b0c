package jsonscan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/jsonscan"
)

func TestParts(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []jsonscan.Part
	}{
		{`{}`, nil},
		{`[]`, nil},
		{`7`, nil},
		{`[1,"a,b",[2,{"c":3}],{}]`, []jsonscan.Part{{Raw: `1`}, {Raw: `"a,b"`}, {Raw: `[2,{"c":3}]`}, {Raw: `{}`}}},
		{`{"a":{"b":[1]},"\n":null,"":-0}`, []jsonscan.Part{{Key: `"a"`, Raw: `{"b":[1]}`}, {Key: `"\n"`, Raw: `null`}, {Key: `""`, Raw: `-0`}}},
	} {
		parts := jsonscan.Split(tt.text)
		if diff := cmp.Diff(tt.want, parts); diff != "" {
			t.Errorf("Split(%s) (-want +got):\n%s", tt.text, diff)
		}
		if kind := tt.text[0]; kind == '{' || kind == '[' {
			if got := jsonscan.Join(kind, parts); got != tt.text {
				t.Errorf("joined again %s, want %s", got, tt.text)
			}
		}
	}
	if got := (jsonscan.Part{Key: `"\u0000x"`}).Name(); got != "\x00x" {
		t.Errorf("name %q", got)
	}
}
