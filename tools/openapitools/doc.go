// Package openapitools makes tools of the operations of an OpenAPI document,
// version 3.0 or 3.1, in JSON or YAML. Swagger 2.0 is converted to 3.0.
//
//	set, err := openapitools.New(document, openapitools.Options{
//		Name:        "shop",
//		BaseURL:     "https://api.shop.example/v2",
//		Credentials: map[string]string{"bearerAuth": token},
//	})
//	if err != nil { ... }
//	defer set.Close()
//	for _, s := range set.Skipped() { log.Print(s) }
//	reg, err := tools.NewRegistry(set.Tools()...)
//
// An operation becomes the tool mcp__<name>__<operationId>, or, where it has no
// operationId, of its method and path. The prefix is that of all imported tools:
// policy asks about them unless a rule such as mcp__shop or mcp__shop__list*
// allows them, no rule about a built-in tool allows one, and a program may write
// tools.shop.listOrders. The host a call connects to is its subject.
//
// # Arguments
//
// Parameters are arguments by their names; where two names differ in place or in
// case only, each is <place>_<name>, as in path_id and query_id. The body is the
// argument body. Values are written in the style the document gives, or the
// specification's default; what a style cannot write (null, a list in a list) is
// refused before anything is sent. A part of a path is escaped whole, and may not
// be empty or lead elsewhere (".."). Properties that are readOnly are no part of
// a request.
//
// # Values
//
// The value is the body of a response with a 2xx status: parsed if it is JSON,
// null if there is none, a string if it is text, {mediaType, base64} if it is
// neither; the fields of its header are no part of it. Any other status is a
// failure with the code HTTP_<status>, such as HTTP_404, and the beginning of the
// body in its message; see package httptools for what else may fail.
// HTTP_INVALID_JSON and HTTP_TOO_LARGE are about responses that cannot be read:
// their requests have been carried out.
//
// The document's response schema is the tool's output schema. It describes and
// does not bind (tools.Definition.OutputDescribes): documents are wrong about what
// servers send more often than servers are, and refusing a response would hide
// that its request was carried out. A value that does not fit is returned all the
// same, and the text a model reads says what is wrong with it.
//
// # Trust
//
// A document is not trusted. It loads nothing: what refers to a file or an
// address is skipped. Its servers are used only with Options.UseServers, and
// credentials go to one origin, that of the base URL. What a document says about
// an operation only tightens: other methods than GET, HEAD and OPTIONS are marked
// as destructive, and none as reading only unless the document is
// Options.Trusted.
//
// What is not supported is skipped with its reason and never guessed: bodies that
// are neither JSON nor a form, files above all, operations with servers of their
// own, TRACE, and schemas with $id, $anchor or $dynamicRef.
package openapitools
