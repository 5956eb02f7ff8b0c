package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/internal/termtext"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/pipeline/redact"
	"github.com/runcode-go/runcode/runtime"
	"github.com/runcode-go/runcode/tools"
)

// print writes the outcome to standard output, and the summary to standard
// error.
func (s *session) print(out pipeline.Outcome) error {
	if s.live != nil {
		s.live.finish()
	}
	err := s.write(out)
	if s.live != nil {
		s.live.summary(out)
		s.unaskedNote()
		if err := out.Err(); err != nil {
			if missing := s.flags.tools.missingIn(err.Error()); missing != "" {
				s.note("%s", missing)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("cannot write the outcome: %w", err)
	}
	return nil
}

// write prints the outcome. It is what the program is run for, so nothing is
// taken out of it but secrets of this process, which no program is given.
func (s *session) write(out pipeline.Outcome) error {
	text, escape := s.redactor.Known(plainText(out)), termtext.Escape
	if s.flags.json {
		doc, err := jsonText(out)
		if err != nil {
			return err
		}
		text, escape = withoutSecrets(s.redactor, doc), termtext.EscapeJSON
	}
	if isTerminal(s.streams.out) {
		text = escape(text)
	}
	_, err := io.WriteString(s.console.out, text+"\n")
	return err
}

// withoutSecrets is a JSON text without the secrets of this process. One that
// is a number cannot be replaced in its place; then all that looks secret goes.
func withoutSecrets(redactor *redact.Redactor, doc tools.JSON) string {
	text := redactor.Known(doc.String())
	if _, err := tools.ParseJSON(text); err != nil {
		return redactor.JSON(doc).String()
	}
	return text
}

// plainText is the whole text of the outcome, which a model may get cut.
func plainText(out pipeline.Outcome) string {
	report := codemode.ReportOf(out)
	switch {
	case report == nil:
		return out.Text()
	case out.IsError():
		return "Error: " + report.Output
	}
	return report.Output
}

// printedError is the member error of what --json prints.
type printedError struct {
	Name    string `json:"name,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Kind    string `json:"kind,omitempty"`
	Line    int    `json:"line,omitempty"`   // 1-based
	Column  int    `json:"column,omitempty"` // 1-based, in characters
	Frame   string `json:"frame,omitempty"`
	Tool    string `json:"tool,omitempty"`   // of an uncaught ToolCallError
	Reason  string `json:"reason,omitempty"` // its code
	Hint    string `json:"hint,omitempty"`
}

// jsonText is the object that --json prints, on one line. The value goes into
// it as it is: a codec could refuse it, or alter it.
func jsonText(out pipeline.Outcome) (tools.JSON, error) {
	calls, usage := []codemode.CallRecord{}, (*codemode.Usage)(nil)
	if report := codemode.ReportOf(out); report != nil {
		calls, usage = report.Calls, &report.Usage
	}
	members := []tools.Member{
		{Name: "isError", Value: tools.MustJSON(strconv.FormatBool(out.IsError()))},
		{Name: "text", Value: tools.StringJSON(out.Text())}, // what a model reads
		{Name: "value", Value: out.Value()},
	}
	for _, part := range []struct {
		name  string
		value any
		left  bool
	}{
		{"error", errorOf(out), !out.IsError()},
		{"calls", calls, false},
		{"usage", usage, usage == nil},
	} {
		if part.left {
			continue
		}
		value, err := encode(part.value)
		if err != nil {
			return tools.JSON{}, err
		}
		members = append(members, tools.Member{Name: part.name, Value: value})
	}
	return tools.ComposeObject(members...), nil
}

func errorOf(out pipeline.Outcome) *printedError {
	err := out.Err()
	if err == nil {
		return nil
	}
	info := out.Info()
	e := &printedError{Name: info.Name, Code: info.Code, Message: err.Error()}
	var run *codemode.RunError
	if errors.As(err, &run) {
		e.describe(run.Failure)
	}
	return e
}

// describe takes over what is known of a program's failure.
func (e *printedError) describe(f runtime.Failure) {
	e.Message, e.Kind = f.Message, string(f.Kind)
	e.Line, e.Column, e.Frame = f.Site.Line, f.Site.Column, f.Frame
	e.Tool, e.Reason, e.Hint = f.Tool, f.Code, f.Hint
}

func encode(value any) (tools.JSON, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return tools.JSON{}, err
	}
	return tools.ParseJSON(b.String())
}
