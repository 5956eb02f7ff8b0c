package schema

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkAnew is Check with memory of its own.
func checkAnew(s *Schema, text string, root Root) []Problem {
	v, err := parse(text)
	if err != nil {
		return []Problem{{"", `"` + root.Name + `" is no JSON value: ` + err.Error()}}
	}
	return s.check(v, root, new(checking))
}

var argumentsRoot = Root{Name: "arguments", Arguments: true}

// TestChecksShareNothing: checks that use each other's memory say what they would
// say with memory of their own, whatever was checked before, and at once.
func TestChecksShareNothing(t *testing.T) {
	s, err := Compile(`{"type":"object","properties":{"path":{"type":"string","maxLength":5},"list":{"type":"array","uniqueItems":true,
		"items":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"],"additionalProperties":false}},
		"any":{"anyOf":[{"required":["a"]},{"required":["b"]}]}},"required":["path"]}`)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		`{}`, `[]`, `"text"`, `{"path":"a"}`, `{"path":"abcdef"}`, `{"Path":"a"}`, `{"path":"a","PATH":"b"}`, `{"path":"a","x":1,"X":2}`,
		`{"path":"a","list":[{"id":1},{"id":2}]}`, `{"path":"a","list":[{"id":1},{"id":1.0}]}`, `{"path":"a","list":[{"Id":1}]}`,
		`{"path":"a","list":[{"id":1,"more":{"deep":[[[{}]]]}}]}`, `{"path":"a","any":{"b":1}}`, `{"path":"a","any":{"c":1}}`, `{"path":`, `{"path":"a"} `,
		`{"path":"a","list":[` + strings.Repeat(`{"id":1},`, 300) + `{"id":2}]}`,
		`{"path":"a"` + strings.Repeat(" ", smallText) + `}`,
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000),
	}
	for n := range 30 {
		texts = append(texts, fmt.Sprintf(`{"path":"a","p%d":"%s"}`, n, strings.Repeat("x", n*100)))
	}
	var all sync.WaitGroup
	for from := range 4 {
		all.Go(func() {
			for i := range 3 * len(texts) {
				text := texts[(i*(from+1)+from)%len(texts)]
				if diff := cmp.Diff(checkAnew(s, text, argumentsRoot), s.Check(text, argumentsRoot)); diff != "" {
					t.Errorf("%.80s (-anew +again):\n%s", text, diff)
				}
			}
		})
	}
	all.Wait()
}

// TestWorkForgets: what was checked is not to be found in the memory that is kept,
// and that of large values is not kept.
func TestWorkForgets(t *testing.T) {
	for _, text := range []string{`{"a":"secret","b":[1,{"c":"secret"}],"d":{}}`, `[` + strings.Repeat(`"secret",`, 400) + `0]`} {
		w := takeWork(text)
		if _, err := w.parse(text); err != nil {
			t.Fatal(err)
		}
		w.quick = checking{root: "secret", reason: "secret"}
		w.release()
		values := append(w.parser.values[:cap(w.parser.values)], w.arena.items[:cap(w.arena.items)]...)
		names := append(w.parser.names[:cap(w.parser.names)], w.arena.names[:cap(w.arena.names)]...)
		for _, v := range values {
			if v.raw != "" || v.text != "" || v.names != nil || v.items != nil || v.index != nil {
				t.Fatalf("%.40s: a value is left: %+v", text, v)
			}
		}
		if kept := strings.Join(names, ""); kept != "" || len(values) > 2*mostKept {
			t.Errorf("%.40s: the names %q and %d values are left", text, kept, len(values))
		}
		if w.quick.root != "" || w.quick.reason != "" || w.scanner.Offset() != 0 {
			t.Errorf("%.40s: the check is left", text)
		}
	}
}

// TestAlone: a rule that stands alone applies itself and nothing else.
func TestAlone(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"properties":{"a":{"allOf":[{}]}}}`: true, `{"items":{},"contains":{}}`: true, `{"not":{"required":["a"]}}`: true,
		`{"allOf":[{}]}`: false, `{"anyOf":[{}]}`: false, `{"oneOf":[{}]}`: false, `{"$ref":"#/$defs/a","$defs":{"a":{}}}`: false,
		`{"if":{},"then":{"required":["a"]}}`: false, `{"dependentSchemas":{"a":{}}}`: false, `{"not":{},"allOf":[{}]}`: false,
	} {
		s, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		c := &checking{left: budget}
		if got := s.root.alone(); got != want || got != (len(c.applied([]*rule{s.root})) == 1) {
			t.Errorf("%s is alone: %v, want %v", text, got, want)
		}
	}
}
