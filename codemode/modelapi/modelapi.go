// Package modelapi speaks the JSON of model APIs: it puts the tools and the
// prompt of a codemode.Presentation into a request, reads the tool calls out of
// an answer, and packs their outcomes for the next request. It sends nothing; the
// harness does.
//
// A conversation is a list of JSON values in the API's own form. What a model said
// stays in it as it came, so that nothing the API wants back is lost.
package modelapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/runcode-go/runcode/codemode"
	"github.com/runcode-go/runcode/pipeline"
	"github.com/runcode-go/runcode/tools"
)

// API is one API's JSON. The values of this package have no state and are safe
// for concurrent use.
type API interface {
	// Name is what ByName knows it by.
	Name() string
	// Path is where requests go, below a base URL that ends before it.
	Path() string
	// Header is what a request carries for authentication with a key, beside its
	// content type.
	Header(key string) map[string]string
	// Request is the body of one request.
	Request(Request) (tools.JSON, error)
	// Answer reads the body of a successful answer. The error says what is missing
	// or of another kind than the API documents; it is an *Error where the body
	// holds the API's own account of a failure.
	Answer(body string) (Answer, error)
	// User is what the user says.
	User(text string) tools.JSON
	// Results is what follows an answer: the results of its calls, in the order
	// of the calls and none left out, and after them the contexts.
	Results(results []Result, contexts []tools.Message) []tools.JSON
}

// The APIs.
var (
	// OpenAIChat is OpenAI's chat completions, which many others serve as well.
	OpenAIChat API = openAIChat{}
	// OpenAIResponses is OpenAI's responses. The conversation is sent whole each
	// time; no earlier response is referred to.
	OpenAIResponses API = openAIResponses{}
	// Anthropic is Anthropic's messages.
	Anthropic API = anthropic{}
)

// All lists the APIs.
func All() []API { return []API{OpenAIChat, OpenAIResponses, Anthropic} }

// ByName returns the API of a name: openai, openai-responses or anthropic.
func ByName(name string) (API, error) {
	var names []string
	for _, a := range All() {
		if a.Name() == name {
			return a, nil
		}
		names = append(names, a.Name())
	}
	return nil, fmt.Errorf("unknown model API %q; known are %s", name, strings.Join(names, ", "))
}

// Request is what one request is made of.
type Request struct {
	Model string
	// System is the host's own instructions. The prompt of the Presentation
	// follows it.
	System       string
	Presentation codemode.Presentation
	Messages     []tools.JSON // the conversation
	// MaxTokens bounds the answer. Zero leaves it to the API, or is
	// DefaultMaxTokens where the API demands a number.
	MaxTokens int
}

// DefaultMaxTokens bounds an answer where an API must be given a number.
const DefaultMaxTokens = 16_384

// instructions is the system prompt.
func (r *Request) instructions() string {
	return strings.TrimSpace(strings.TrimSpace(r.System) + "\n\n" + r.Presentation.Prompt)
}

// Answer is what a model said.
type Answer struct {
	Text  string // its words; of several texts, a line break between them
	Calls []Call // in order
	// Cut says that the answer ended at its token limit. Calls may lack their end
	// then, and must not be run; Refuse is their result.
	Cut bool
	// Stop is the API's own word for why the answer ended.
	Stop     string
	Messages []tools.JSON // what it adds to the conversation, as it came
	Usage    Usage
}

// Usage counts tokens. Zero is also what an API does not tell.
type Usage struct {
	Input  int `json:"input"`  // of the request, those from a cache included
	Cached int `json:"cached"` // of Input, those from a cache
	Output int `json:"output"`
}

// tokens is a count as an API tells it. What is none counts as nothing: an answer is
// not lost for it.
type tokens int

// UnmarshalJSON implements json.Unmarshaler.
func (t *tokens) UnmarshalJSON(text []byte) error {
	const most = 1e12
	if n, err := strconv.ParseFloat(string(text), 64); err == nil && n > 0 && n < most {
		*t = tokens(n)
	}
	return nil
}

func usage(input, cached, output tokens) Usage { return Usage{int(input), int(cached), int(output)} }

// Add returns the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Cached + v.Cached, u.Output + v.Output}
}

// Call is one call that a model wants made.
type Call struct {
	ID   string // empty where a server gives none
	Name string
	Args string // as the model wrote them, perhaps no JSON at all: the pipeline judges
}

// Request is the call for the pipeline.
func (c Call) Request(agent any) pipeline.Request {
	return pipeline.Request{ID: c.ID, Name: c.Name, Args: c.Args, Agent: agent}
}

// Result is what became of one call.
type Result struct {
	Call    Call
	Content []tools.Content
	Value   tools.JSON // of a success; MCP alone carries it beside the content
	IsError bool
}

// ResultOf is the result of a call with that outcome.
func ResultOf(call Call, o pipeline.Outcome) Result {
	return Result{Call: call, Content: o.Content(), Value: o.Value(), IsError: o.IsError()}
}

// Refuse is the result of a call that the harness does not make.
func Refuse(call Call, why string) Result {
	return Result{Call: call, Content: []tools.Content{tools.TextContent("Error: " + why)}, IsError: true}
}

// Error is an API's own account of a failure.
type Error struct {
	API     string
	Type    string // the API's word, empty if it gives none
	Message string
}

// Error names the API, the type and the message.
func (e *Error) Error() string {
	if e.Type == "" {
		return fmt.Sprintf("%s answers with an error: %s", e.API, e.Message)
	}
	return fmt.Sprintf("%s answers with an error (%s): %s", e.API, e.Type, e.Message)
}

// errorBody is how all three APIs write a failure.
type errorBody struct {
	Error *struct {
		Type    string     `json:"type"`
		Code    tools.JSON `json:"code"` // a text or a number
		Message string     `json:"message"`
	} `json:"error"`
}

// ErrorOf reads the body of an answer that is no success; nil if it has none that
// the API documents.
func ErrorOf(api API, body string) *Error {
	text, err := tools.ParseJSON(body)
	if err != nil {
		return nil
	}
	var b errorBody
	if text.Unmarshal(&b) != nil || b.Error == nil {
		return nil
	}
	return &Error{API: api.Name(), Type: b.Error.Type, Message: b.Error.Message}
}

// read parses an answer's body into v.
func read(api API, body string, v any) error {
	text, err := tools.ParseJSON(body)
	if err != nil {
		return fmt.Errorf("the answer of %s is not JSON: %w", api.Name(), err)
	}
	if failure := ErrorOf(api, body); failure != nil {
		return failure
	}
	if err := text.Unmarshal(v); err != nil {
		return fmt.Errorf("the answer of %s is not what the API documents: %w", api.Name(), err)
	}
	return nil
}

var errNoOutput = errors.New("it holds no answer of the model")

// lacking is the error for a body of the right form without an answer in it.
func lacking(api API) error {
	return fmt.Errorf("the answer of %s is not what the API documents: %w", api.Name(), errNoOutput)
}

// pack writes what this package made itself.
func pack(v any) tools.JSON {
	text, err := tools.ToJSON(v)
	if err != nil {
		// Structs of texts, numbers and JSON.
		panic("modelapi: " + err.Error())
	}
	return text
}

// dataURL is an image as the OpenAI APIs take it.
func dataURL(c tools.Content) string { return "data:" + c.MIMEType + ";base64," + c.Data }

// images are the image blocks of results, each with the call it belongs to.
func images(results []Result, each func(call Call, block tools.Content)) {
	for _, r := range results {
		for _, block := range r.Content {
			if block.Type == tools.ContentImage {
				each(r.Call, block)
			}
		}
	}
}

// imageCaption stands before an image that could not be put into its result.
func imageCaption(c Call) string { return "Image in the result of call " + c.ID + " (" + c.Name + "):" }

// valid is a text without what JSON over the wire cannot carry: model APIs refuse
// unpaired surrogates.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
