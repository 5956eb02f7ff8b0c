package mocktools

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// maxFile is the largest file Load reads, in bytes.
const maxFile = 16 << 20

// maxDelay is the longest delayMs and timeoutMs.
const maxDelay = 24 * time.Hour

// LoadFile is Load for a file; its errors begin with the path.
func LoadFile(path string) ([]*tools.Definition, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot load mock tools: %w", err)
	}
	defer f.Close()
	defs, err := Load(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return defs, nil
}

// Load reads tools in the format the package comment shows, in the order of the
// file. The error lists every problem, one a line, with its line, column and
// RFC 6901 pointer. The definitions are safe for concurrent calls.
func Load(r io.Reader) ([]*tools.Definition, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read mock tools: %w", err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("mock tools are larger than %d MiB; split the file", maxFile>>20)
	}
	s := &source{text: strings.TrimPrefix(string(text), "\uFEFF")}
	var defs []*tools.Definition
	if root := s.parse(); root != nil {
		defs = s.file(root)
	}
	if err := s.err(); err != nil {
		return nil, fmt.Errorf("invalid mock tools: %w", err)
	}
	return defs, nil
}

func (s *source) file(root *value) []*tools.Definition {
	var defs []*tools.Definition
	found := false
	first := map[string]string{} // name -> pointer of the tool that has it
	ok := s.members(root, "the file", []string{"tools"}, func(_ string, member *value) {
		found = true
		s.array(member, `"tools"`, func(element *value) {
			def := s.tool(element)
			if def == nil {
				return
			}
			if other, taken := first[def.Name]; taken {
				s.fail(element.start, element.pointer, "the name %q is taken by %s; choose another", def.Name, other)
			}
			first[def.Name] = element.pointer
			defs = append(defs, def)
		})
	})
	if ok && !found {
		s.fail(root.start, "", `the file must have the member "tools", an array of tools`)
	}
	return defs
}

var toolMembers = []string{"name", "description", "inputSchema", "outputSchema", "concurrent", "delayMs", "ignoresCancel", "timeoutMs", "readOnly", "idempotent", "destructive", "cases", "result"}

// tool reads one tool; nil if a problem was recorded.
func (s *source) tool(v *value) *tools.Definition {
	before := len(s.problems) + s.more
	def := &tools.Definition{}
	m := &mock{}
	named := false
	ok := s.members(v, "a tool", toolMembers, func(name string, member *value) {
		switch name {
		case "name":
			named = true
			if m.name, _ = s.string(member, `"name"`); m.name == "" && member.kind == jsonscan.String {
				s.fail(member.start, member.pointer, `"name" must not be empty`)
			}
		case "description":
			def.Description, _ = s.string(member, `"description"`)
		case "inputSchema":
			def.Input = s.schema(member, name)
		case "outputSchema":
			def.Output = s.schema(member, name)
		case "concurrent":
			if s.boolean(member, `"concurrent"`) {
				def.Concurrent = func(tools.JSON) bool { return true }
			}
		case "delayMs":
			m.delay = s.delay(member, name)
		case "ignoresCancel":
			m.deaf = s.boolean(member, `"ignoresCancel"`)
		case "timeoutMs":
			def.Timeout = s.delay(member, name)
		case "readOnly":
			def.Annotations.ReadOnly = s.boolean(member, `"readOnly"`)
		case "idempotent":
			def.Annotations.Idempotent = s.boolean(member, `"idempotent"`)
		case "destructive":
			def.Annotations.Destructive = s.boolean(member, `"destructive"`)
		case "cases":
			s.array(member, `"cases"`, func(element *value) { m.cases = append(m.cases, s.testCase(element)) })
		case "result":
			m.cases = append(m.cases, mockCase{result: s.json(member), fallback: true})
		}
	})
	if ok && !named {
		s.fail(v.start, v.pointer, `a tool needs a "name"`)
	}
	if len(s.problems)+s.more > before {
		return nil
	}
	m.sortFallback()
	if def.Output.IsZero() {
		m.textValues()
	}
	def.Name, def.Handler = m.name, m.handle
	if m.name == tools.TransportName {
		s.fail(v.start, v.pointer, "the name %q is reserved for the tool that runs programs; choose another", m.name)
		return nil
	}
	if _, err := tools.NewTool(def); err != nil {
		s.fail(v.start, v.pointer, "%v", err)
		return nil
	}
	return def
}

func (s *source) schema(v *value, name string) tools.JSON {
	switch v.kind {
	case jsonscan.ObjectStart, jsonscan.True, jsonscan.False:
		return s.json(v)
	}
	s.fail(v.start, v.pointer, "%q must be a JSON Schema, an object or a boolean, got %s", name, v.describe())
	return tools.JSON{}
}

func (s *source) delay(v *value, name string) time.Duration {
	ms, err := strconv.ParseInt(s.text[v.start:v.end], 10, 64)
	if err != nil || ms < 0 || ms > maxDelay.Milliseconds() {
		s.fail(v.start, v.pointer, `%q must be a whole number of milliseconds from 0 to %d, got %s`, name, maxDelay.Milliseconds(), shorten(s.text[v.start:v.end]))
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

var caseMembers = []string{"when", "result", "error", "content", "contexts"}

func (s *source) testCase(v *value) mockCase {
	var c mockCase
	given := map[string]bool{}
	ok := s.members(v, "a case", caseMembers, func(name string, member *value) {
		given[name] = true
		switch name {
		case "when":
			if member.kind != jsonscan.ObjectStart {
				s.fail(member.start, member.pointer, `"when" must be an object, got %s`, member.describe())
				return
			}
			c.when = s.json(member)
		case "result":
			c.result = s.json(member)
		case "error":
			c.err = s.failure(member)
		case "content":
			c.content = []tools.Content{}
			s.array(member, `"content"`, func(element *value) { c.content = append(c.content, s.block(element)) })
		case "contexts":
			s.array(member, `"contexts"`, func(element *value) {
				text, _ := s.string(element, "a context")
				c.contexts = append(c.contexts, text)
			})
		}
	})
	switch answered := given["result"] || given["content"]; {
	case !ok:
	case given["error"] && answered:
		s.fail(v.start, v.pointer, `a case has either "error" or "result" and "content", not both`)
	case !given["error"] && !answered:
		s.fail(v.start, v.pointer, `a case needs a "result", a "content" or an "error"`)
	}
	return c
}

// failure reads an error: its message, or an object of message and code.
func (s *source) failure(v *value) error {
	e := &tools.Error{}
	switch v.kind {
	case jsonscan.String:
		e.Message, _ = s.string(v, "an error")
	case jsonscan.ObjectStart:
		s.members(v, "an error", []string{"message", "code"}, func(name string, member *value) {
			text, _ := s.string(member, strconv.Quote(name))
			if name == "code" {
				e.Name, e.Code = "MockError", text
			} else {
				e.Message = text
			}
		})
	default:
		s.fail(v.start, v.pointer, `"error" must be a string or an object of message and code, got %s`, v.describe())
		return nil
	}
	if e.Message == "" {
		s.fail(v.start, v.pointer, "an error needs a message that is not empty")
	}
	return e
}

var blockMembers = []string{"type", "text", "data", "mimeType", "uri"}

// block reads one content block; a string is a text block.
func (s *source) block(v *value) tools.Content {
	if v.kind == jsonscan.String {
		text, _ := s.string(v, "a block")
		return tools.TextContent(text)
	}
	if v.kind != jsonscan.ObjectStart {
		s.fail(v.start, v.pointer, "a content block must be a string or an object, got %s", v.describe())
		return tools.Content{}
	}
	var b tools.Content
	fields := map[string]*string{"type": &b.Type, "text": &b.Text, "data": &b.Data, "mimeType": &b.MIMEType, "uri": &b.URI}
	s.members(v, "a content block", blockMembers, func(name string, member *value) {
		*fields[name], _ = s.string(member, strconv.Quote(name))
	})
	if err := checkBlock(b); err != nil {
		s.fail(v.start, v.pointer, "%v", err)
	}
	return b
}

func checkBlock(b tools.Content) error {
	if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil {
		return fmt.Errorf(`"data" of a content block must be base64: %w`, err)
	}
	switch {
	case b.Type == "":
		return errors.New(`a content block needs a "type", for example "text"`)
	case b.Type == tools.ContentImage && (b.Data == "" || b.MIMEType == ""):
		return errors.New(`an image block needs "data" and "mimeType"`)
	}
	return nil
}
