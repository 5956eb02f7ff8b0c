package openapitools

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/internal/nethttp"
	"github.com/runcode-go/runcode/tools"
)

// The codes of failures beside those of package nethttp and HTTP_<status>.
const (
	codeInvalidJSON = "HTTP_INVALID_JSON"
	codeTooLarge    = "HTTP_TOO_LARGE"
)

// quotedBytes is how much of a body a failure holds.
const quotedBytes = 4 << 10

// result is the value of a response, or the failure it is.
func (op *operation) result(resp *nethttp.Response) (tools.Result, error) {
	if resp.Status < 200 || resp.Status > 299 {
		return tools.Result{}, op.refusal(resp)
	}
	if resp.Truncated {
		return tools.Result{}, nethttp.Fail(codeTooLarge, nil, "%s, and the response is larger than %d bytes, so it was not read", op.done(resp), op.set.opts.MaxBytes)
	}
	value, err := op.value(resp)
	if err != nil {
		return tools.Result{}, err
	}
	r := tools.Result{Value: value}
	if note := op.mismatch(value); note != "" {
		text, plain := value.Text()
		if !plain {
			text = value.String()
		}
		r.Content = []tools.Content{tools.TextContent(text), tools.TextContent(note)}
	}
	return r, nil
}

// done says that the request was carried out.
func (op *operation) done(resp *nethttp.Response) string {
	return fmt.Sprintf("%s %s was carried out with the status %d", op.method, op.docPath, resp.Status)
}

// value is the body as a program gets it. A body that does not say it is JSON is
// read as JSON all the same where the document says so.
func (op *operation) value(resp *nethttp.Response) (tools.JSON, error) {
	if len(resp.Body) == 0 {
		return tools.MustJSON("null"), nil
	}
	kind := resp.Header.Get("Content-Type")
	declared := nethttp.IsJSON(kind)
	if declared || len(op.accept) > 0 {
		value, err := tools.ParseJSON(string(bytes.TrimPrefix(resp.Body, []byte("\uFEFF"))))
		if err == nil {
			return value, nil
		}
		if declared {
			return value, nethttp.Fail(codeInvalidJSON, err, "%s, and the response says it is JSON and is not: %v: %s", op.done(resp), err, quote(resp))
		}
	}
	if text, ok := resp.Text(); ok {
		return tools.StringJSON(text), nil
	}
	if mediaType, _, err := mime.ParseMediaType(kind); err == nil {
		kind = mediaType
	}
	return tools.ToJSON(map[string]string{"mediaType": strings.ToValidUTF8(kind, "\uFFFD"), "base64": base64.StdEncoding.EncodeToString(resp.Body)})
}

// mismatch says what about a value the document does not allow, "" if nothing.
func (op *operation) mismatch(value tools.JSON) string {
	var wrong *tools.OutputError
	if !errors.As(op.tool.CheckValue(value), &wrong) {
		return ""
	}
	const most = 5
	var texts []string
	for _, p := range wrong.Problems[:min(len(wrong.Problems), most)] {
		texts = append(texts, p.Text)
	}
	if more := len(wrong.Problems) - most; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return "(the response is not what the API's document describes: " + strings.Join(texts, "; ") + ")"
}

// refusal is a response that is no success.
func (op *operation) refusal(resp *nethttp.Response) error {
	text := fmt.Sprintf("%s %s answered %d", op.method, op.docPath, resp.Status)
	if name := http.StatusText(resp.Status); name != "" {
		text += " " + name
	}
	if value := resp.Header.Get("Retry-After"); value != "" {
		text += fmt.Sprintf(" (Retry-After: %.100q)", value)
	}
	if value := resp.Header.Get("Location"); value != "" && resp.Status/100 == 3 {
		text += fmt.Sprintf(" to %.300q, and redirects to another origin are not followed", value)
	}
	return nethttp.Fail("HTTP_"+strconv.Itoa(resp.Status), nil, "%s: %s", text, quote(resp))
}

// quote is the beginning of a body, on one line if it is JSON.
func quote(resp *nethttp.Response) string {
	text, ok := resp.Text()
	switch {
	case len(resp.Body) == 0:
		return "no body"
	case !ok:
		return fmt.Sprintf("a body of %d bytes that is no text", len(resp.Body))
	}
	if value, err := tools.ParseJSON(text); err == nil {
		text = value.String()
	}
	if len(text) > quotedBytes || resp.Truncated {
		text = strings.ToValidUTF8(text[:min(len(text), quotedBytes)], "")
		text += fmt.Sprintf("… (the first %d bytes)", len(text))
	}
	return text
}
