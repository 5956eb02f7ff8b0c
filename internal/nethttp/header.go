package nethttp

import (
	"errors"
	"fmt"
	"mime"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"github.com/runcode-go/runcode/internal/jsonscan"
	"github.com/runcode-go/runcode/tools"
)

// ours are the header fields that belong to the connection, or say which host
// is meant: what a caller put there would be another request than the one that
// was judged.
var ours = map[string]bool{
	"Accept-Encoding": true, "Connection": true, "Content-Length": true, "Expect": true, "Host": true, "Keep-Alive": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// CheckHeaderName refuses a name of a header field that cannot be sent, or that
// this package sets.
func CheckHeaderName(name string) error {
	if !IsToken(name) {
		return errors.New("is no name of a header field")
	}
	key := textproto.CanonicalMIMEHeaderKey(name)
	if ours[key] || strings.HasPrefix(key, "Proxy-") {
		return fmt.Errorf("is set by the connection; leave %s out", key)
	}
	return nil
}

// IsToken reports whether text is a token of HTTP's grammar, as the names of
// header fields and cookies are, and methods.
func IsToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// CheckHeaderValue refuses a value that would be sent as another one, or not at
// all.
func CheckHeaderValue(value string) error {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errors.New("must not hold line breaks or other control characters")
	}
	if strings.Trim(value, " \t") != value {
		return errors.New("must not begin or end with white space, which is not sent")
	}
	return nil
}

// IsJSON reports whether a content type is JSON: application/json, text/json or
// any that ends in +json.
func IsJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return false
	}
	return kind == "application/json" || kind == "text/json" || strings.HasSuffix(kind, "+json")
}

// StringOf is the text of a JSON string as it is sent. A string with an unpaired
// surrogate has no form in bytes.
func StringOf(value tools.JSON) (string, error) {
	text := jsonscan.Unquote(value.String())
	if !utf8.ValidString(text) {
		return "", errors.New("holds half a surrogate pair, which has no form in UTF-8")
	}
	return text, nil
}
