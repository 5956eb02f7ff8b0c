package openapitools

import (
	"encoding/json"
	"fmt"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/runcode-go/runcode/tools"
)

// maxSwagger bounds a document that is converted, which costs more than reading it.
const maxSwagger = 4 << 20

// fromSwagger is a Swagger 2.0 document as OpenAPI 3.0. A library converts it, which
// sorts members and reads numbers as floats; its schemas describe values, so that
// this changes no call. It loads nothing. A document it cannot convert, or that
// makes it panic, is refused whole.
func fromSwagger(text tools.JSON) (converted tools.JSON, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the document is Swagger 2.0 and cannot be converted: %v", r)
		}
	}()
	if text.Len() > maxSwagger {
		return tools.JSON{}, fmt.Errorf("the document is Swagger 2.0 and has %d bytes; the largest that is converted has %d MiB: convert it to OpenAPI 3.0 first", text.Len(), maxSwagger>>20)
	}
	var old openapi2.T
	if err := json.Unmarshal(text.Bytes(), &old); err != nil {
		return tools.JSON{}, fmt.Errorf("the document is Swagger 2.0 and cannot be converted: %w", err)
	}
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = false
	now, err := openapi2conv.ToV3WithLoader(&old, loader, nil)
	if err != nil {
		return tools.JSON{}, fmt.Errorf("the document is Swagger 2.0 and cannot be converted: %w", err)
	}
	out, err := now.MarshalJSON()
	if err != nil {
		return tools.JSON{}, fmt.Errorf("the document is Swagger 2.0 and cannot be converted: %w", err)
	}
	return tools.ParseJSON(string(out))
}
