package tools_test

import (
	"math"
	"strings"
	"testing"

	"github.com/runcode-go/runcode/tools"
)

// TestComposer: what is composed piece by piece is what ParseJSON would make of it.
func TestComposer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		write func(*tools.Composer)
		want  string
	}{
		{"an object left open", func(c *tools.Composer) { c.Object("no name at the root") }, `{}`},
		{"members in order, none for the zero JSON", func(c *tools.Composer) {
			c.Object("")
			c.Value("gone", tools.JSON{})
			c.Value("z", tools.MustJSON("1.0"))
			c.Text("a\"\n", "x")
			c.Value("gone", tools.JSON{})
			c.Bool("yes", true)
		}, `{"z":1.0,"a\"\n":"x","yes":true}`},
		{"elements, null for the zero JSON", func(c *tools.Composer) {
			c.Array("")
			c.Value("no name", tools.MustJSON("-0"))
			c.Value("", tools.JSON{})
			c.Object("")
			c.End()
			c.Array("")
			c.End()
			c.Bool("", false)
		}, `[-0,null,{},[],false]`},
		{"numbers", func(c *tools.Composer) {
			c.Object("")
			c.Int("i", math.MinInt64)
			c.Uint("u", math.MaxUint64)
			c.Float("whole", 2)
			c.Float("parts", 0.125)
			c.Float("large", 1e21)
			c.Float("none", math.NaN())
			c.Float("endless", math.Inf(-1))
		}, `{"i":-9223372036854775808,"u":18446744073709551615,"whole":2,"parts":0.125,"large":1000000000000000000000,"none":null,"endless":null}`},
		{"texts that end like an opening bracket", func(c *tools.Composer) {
			c.Array("")
			c.Text("", "{")
			c.Text("", "[")
			c.Object("")
			c.Text("{", "\ud7ff\u2028\x00")
			c.Text("[", "")
		}, "[\"{\",\"[\",{\"{\":\"\ud7ff\u2028\\u0000\",\"[\":\"\"}]"},
		{"a text that is no UTF-8, half a pair", func(c *tools.Composer) { c.Text("", "\xff\xed\xa0\x80") }, "\"\ufffd\\ud800\""},
		{"a scalar at the root", func(c *tools.Composer) { c.Value("", tools.MustJSON("1e5")) }, `1e5`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := tools.Compose(tt.write)
			if got.String() != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if again, err := tools.ParseJSON(got.String()); err != nil || again != got {
				t.Errorf("read again: %s, %v", again, err)
			}
		})
	}
	if got := tools.Compose(func(*tools.Composer) {}); !got.IsZero() {
		t.Errorf("nothing composed is %q", got)
	}
}

// TestComposerKeepsNothing: a buffer that held one value shows none of it in the
// next, also if composing was broken off, and the value outlives the buffer.
func TestComposerKeepsNothing(t *testing.T) {
	long := tools.Compose(func(c *tools.Composer) { c.Array(""); c.Text("", strings.Repeat("secret", 1000)) })
	func() {
		defer func() { _ = recover() }()
		tools.Compose(func(c *tools.Composer) {
			c.Object("")
			c.Text("secret", "secret")
			panic("broken off")
		})
	}()
	for range 10 {
		if got := tools.Compose(func(c *tools.Composer) { c.Object(""); c.Int("n", 1) }); got.String() != `{"n":1}` {
			t.Fatalf("got %s", got)
		}
	}
	if want := `["` + strings.Repeat("secret", 1000) + `"]`; long.String() != want {
		t.Errorf("the first value has changed: %.40s", long)
	}
}

// TestComposerReset: a Composer of one's own begins anew.
func TestComposerReset(t *testing.T) {
	var c tools.Composer
	for range 2 {
		c.Reset()
		c.Object("")
		c.Array("list")
		c.Text("", "x")
		if got := string(c.Bytes()); got != `{"list":["x"]}` {
			t.Errorf("got %s", got)
		}
	}
}

// FuzzComposer: a Composer writes what ComposeObject and ComposeArray make of the
// same parts.
func FuzzComposer(f *testing.F) {
	f.Add([]byte("o\x01t\x02av\x00z,"), "name", "text \"quoted\"")
	f.Add([]byte("aooo]]zt"), "\xff", "\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, program []byte, name, text string) {
		whole, _ := nested(program, name, text)
		got := tools.Compose(func(c *tools.Composer) {
			c.Object("")
			compose(c, program, name, text)
		})
		if want := tools.ComposeObject(whole...); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// nested is what a program of one letter a step makes with ComposeObject and
// ComposeArray, and the steps it leaves to the containers around it.
func nested(program []byte, name, text string) (members []tools.Member, rest []byte) {
	for len(program) > 0 {
		step := program[0]
		program = program[1:]
		var v tools.JSON
		switch step {
		case 'o', 'a':
			var inner []tools.Member
			inner, program = nested(program, name, text)
			if step == 'o' {
				v = tools.ComposeObject(inner...)
				break
			}
			items := make([]tools.JSON, len(inner))
			for i, m := range inner {
				items[i] = m.Value
			}
			v = tools.ComposeArray(items...)
		case ']':
			return members, program
		case 't':
			v = tools.StringJSON(text)
		case 'v':
			v = tools.MustJSON(`{"a":[1]}`)
		}
		members = append(members, tools.Member{Name: name, Value: v})
	}
	return members, nil
}

// compose does the same with a Composer.
func compose(c *tools.Composer, program []byte, name, text string) (rest []byte) {
	for len(program) > 0 {
		step := program[0]
		program = program[1:]
		switch step {
		case 'o', 'a':
			if step == 'o' {
				c.Object(name)
			} else {
				c.Array(name)
			}
			program = compose(c, program, name, text)
			c.End()
		case ']':
			return program
		case 't':
			c.Text(name, text)
		case 'v':
			c.Value(name, tools.MustJSON(`{"a":[1]}`))
		default:
			c.Value(name, tools.JSON{})
		}
	}
	return nil
}
