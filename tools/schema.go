package tools

// schema is a compiled JSON Schema. A nil *schema accepts what its root allows.
type schema struct{}

// root says how a value is named in problem texts and what it must be.
type root struct {
	name   string // "arguments" or "value"
	object bool   // the value must be an object
}

var (
	argsRoot  = root{name: "arguments", object: true}
	valueRoot = root{name: "value"}
)

func compileSchema(text JSON) (*schema, error) { return nil, nil }

func (s *schema) check(value JSON, r root) []Problem { return nil }
