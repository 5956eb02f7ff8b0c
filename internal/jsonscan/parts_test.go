package jsonscan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
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

// scanned is Split by the scanner.
func scanned(text string) (parts []jsonscan.Part) {
	var p jsonscan.Part
	s := jsonscan.New(text)
	start := 0
	for {
		tok, err := s.Next()
		if err != nil || tok.Kind == jsonscan.EOF {
			return parts
		}
		switch tok.Kind {
		case jsonscan.ObjectStart, jsonscan.ArrayStart:
			if s.Depth() == 2 {
				start = tok.Offset
			}
			continue
		case jsonscan.Key:
			if s.Depth() == 1 {
				p.Key = tok.Raw
			}
			continue
		case jsonscan.ObjectEnd, jsonscan.ArrayEnd:
		default:
			if s.Depth() == 1 {
				start = tok.Offset
			}
		}
		if s.Depth() == 1 {
			p.Raw = text[start:s.Offset()]
			parts = append(parts, p)
		}
	}
}

// FuzzSplit: the parts of a canonical text are those the scanner finds, and a text
// that is not canonical does no harm.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `7`, `"a"`, `null`, `[1,"a,b",[2,{"c":3}],{}]`, `{"a":{"b":[1]},"\n":null,"":-0}`, `["\\","\"","\\\"]","{[\\\\"]`,
		`{"\\":[],"\"":{"}":"]"},"x":[[[]]],"y":true}`, `[[],[],{},{}]`, `{"a"`, `{"a":`, `[1`, `["`, `[,`, `{"a":1}}`, `[[`, ` [1]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		jsonscan.Split(text)
		canonical, err := tools.ParseJSON(text)
		if err != nil {
			return
		}
		if diff := cmp.Diff(scanned(canonical.String()), jsonscan.Split(canonical.String())); diff != "" {
			t.Errorf("Split(%s) (-want +got):\n%s", canonical, diff)
		}
	})
}
