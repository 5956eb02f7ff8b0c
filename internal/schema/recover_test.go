package schema

import "testing"

// TestCheckRecovers breaks a compiled schema on purpose.
func TestCheckRecovers(t *testing.T) {
	t.Parallel()
	broken := newRule()
	broken.pattern = &pattern{source: "x"} // without an engine
	got := (&Schema{root: broken}).Check(`"a"`, Root{Name: "value"})
	if len(got) != 1 || got[0].Text != `"value" could not be checked: the check itself failed on this schema` {
		t.Errorf("problems: %v", got)
	}
}

// TestCheckNotJSON hands over a text that is no JSON.
func TestCheckNotJSON(t *testing.T) {
	t.Parallel()
	s, err := Compile(`true`)
	if err != nil {
		t.Fatal(err)
	}
	got := s.Check(`{`, Root{Name: "value"})
	if len(got) != 1 || got[0].Text != `"value" is no JSON value: invalid JSON at byte 1: unexpected end of text, expected a property name in double quotes` {
		t.Errorf("problems: %v", got)
	}
}
