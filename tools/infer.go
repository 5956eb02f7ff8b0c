package tools

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema is the schema of arguments of type t, or an error that says why t
// cannot be arguments. The zero JSON stands for any object.
func inputSchema(t reflect.Type) (JSON, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case marshalsItself(t) && t.Kind() != reflect.Struct && t.Kind() != reflect.Map && !isRaw(t),
		t.Kind() != reflect.Struct && t.Kind() != reflect.Map && !isRaw(t), t == reflect.TypeFor[time.Time]():
		return JSON{}, errors.New("arguments are a JSON object; use a struct with a field for each argument")
	case marshalsItself(t):
		return JSON{}, nil
	}
	if cyclic(t, nil) {
		return JSON{}, errors.New("the type contains itself, which cannot be inferred; give the schema as Input in DefineWith")
	}
	return infer(t, true)
}

// outputSchema is the schema of values of type t. The zero JSON stands for any
// value: that of a type which says nothing about its JSON, or contains itself.
func outputSchema(t reflect.Type) (JSON, error) {
	base := t
	for base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	if base == reflect.TypeFor[Result]() || base.Kind() == reflect.Interface || isRaw(base) || cyclic(base, nil) {
		return JSON{}, nil
	}
	return infer(t, false)
}

func infer(t reflect.Type, input bool) (JSON, error) {
	known := map[reflect.Type]*jsonschema.Schema{}
	if err := collect(t, known, map[reflect.Type]bool{}); err != nil {
		return JSON{}, err
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		return JSON{}, err
	}
	tidy(s, t, known, input)
	text, err := s.MarshalJSON()
	if err != nil {
		return JSON{}, err
	}
	return ParseJSON(string(text))
}

// isRaw reports whether t holds JSON as it is.
func isRaw(t reflect.Type) bool {
	return t == reflect.TypeFor[JSON]() ||
		t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && implements[json.Marshaler](t)
}

func isBytes(t reflect.Type) bool {
	return (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() == reflect.Uint8
}

// implements reports whether t or *t implements I.
func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Implements(i) || reflect.PointerTo(t).Implements(i)
}

func marshalsItself(t reflect.Type) bool {
	return implements[json.Marshaler](t) || implements[json.MarshalerTo](t) ||
		implements[json.Unmarshaler](t) || implements[json.UnmarshalerFrom](t)
}

func marshalsText(t reflect.Type) bool {
	return implements[encoding.TextMarshaler](t) || implements[encoding.TextUnmarshaler](t)
}

// special is the schema of a type whose JSON form its Go kind does not tell, nil
// for any other.
func special(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "integer", Description: "nanoseconds"}
	case t.Kind() == reflect.Interface:
		return nil
	case marshalsItself(t):
		return &jsonschema.Schema{}
	case marshalsText(t):
		return &jsonschema.Schema{Type: "string"}
	case isBytes(t):
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

// collect finds the special types below t.
func collect(t reflect.Type, known map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) error {
	if seen[t] {
		return nil
	}
	seen[t] = true
	if t.Kind() != reflect.Pointer {
		if s := special(t); s != nil {
			known[t] = s
			return nil
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return collect(t.Elem(), known, seen)
	case reflect.Struct:
		for f := range fields(t) {
			if f.Anonymous {
				if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
					return fmt.Errorf("the embedded field %s has a JSON name, which cannot be inferred; name the field or give the schema", f.Name)
				}
			}
			if _, options, _ := strings.Cut(f.Tag.Get("json"), ","); slices.Contains(strings.Split(options, ","), "string") {
				return fmt.Errorf("the field %s is a number in a string, which cannot be inferred; give the schema", f.Name)
			}
			if err := collect(f.Type, known, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// fields lists the fields of a struct that may reach its JSON, the embedded ones
// included.
func fields(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
				continue
			}
			if !yield(f) {
				return
			}
		}
	}
}

// cyclic reports whether t contains itself; above are the types around it.
func cyclic(t reflect.Type, above []reflect.Type) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		if t.Name() != "" {
			if special(t) != nil {
				return false
			}
			if slices.Contains(above, t) {
				return true
			}
			above = append(above, t)
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || special(t) != nil {
		return false
	}
	if slices.Contains(above, t) {
		return true
	}
	above = append(slices.Clone(above), t)
	for f := range fields(t) {
		if cyclic(f.Type, above) {
			return true
		}
	}
	return false
}

// tidy makes an inferred schema say what the codec does: a nil slice is written
// as [], so that no array is null, and of arguments a pointer field is optional.
func tidy(s *jsonschema.Schema, t reflect.Type, known map[reflect.Type]*jsonschema.Schema, input bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s == nil {
		return
	}
	if known[t] != nil {
		if slices.Equal(s.Types, []string{"null"}) {
			s.Types = nil // a pointer to what may be any value
		}
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if slices.Contains(s.Types, "array") {
			s.Type, s.Types = "array", nil
		}
		tidy(s.Items, t.Elem(), known, input)
	case reflect.Map:
		tidy(s.AdditionalProperties, t.Elem(), known, input)
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous || !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			if input && f.Type.Kind() == reflect.Pointer {
				s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
			}
			tidy(s.Properties[name], f.Type, known, input)
		}
	}
}
