package openapitools

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/runcode-go/runcode/internal/nethttp"
)

// credential adds a secret to a request; field is what it sets.
type credential struct {
	in, field string
	add       func(*http.Request)
}

// credentials are the operator's secrets, ready for use, by security scheme.
func (d *document) credentials(secrets map[string]string) (map[string]credential, error) {
	out := map[string]credential{}
	schemes := d.root.get("components").get("securitySchemes")
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		scheme, err := d.follow(schemes.get(name))
		if err == nil && scheme == nil {
			err = fmt.Errorf("the document has no such security scheme; it has %s", listNames(schemes))
		}
		if err == nil {
			out[name], err = newCredential(scheme, secrets[name])
		}
		if err != nil {
			return nil, fmt.Errorf("Options.Credentials[%q]: %w", name, err)
		}
	}
	return out, nil
}

func listNames(n *node) string {
	if !n.isObject() || len(n.names) == 0 {
		return "none"
	}
	return fmt.Sprintf("%q", n.names)
}

// newCredential reads one scheme. Its errors do not hold the secret.
func newCredential(scheme *node, secret string) (credential, error) {
	if err := nethttp.CheckHeaderValue(secret); err != nil || secret == "" {
		return credential{}, fmt.Errorf("the secret is empty, has white space around it or holds control characters")
	}
	kind := scheme.str("type")
	switch {
	case kind == "apiKey":
		return apiKey(scheme.str("in"), scheme.str("name"), secret)
	case kind == "oauth2", kind == "openIdConnect", kind == "http" && strings.EqualFold(scheme.str("scheme"), "bearer"):
		return authorization("Bearer " + secret), nil
	case kind == "http" && strings.EqualFold(scheme.str("scheme"), "basic"):
		if !strings.Contains(secret, ":") {
			return credential{}, fmt.Errorf(`the secret of a basic scheme is "user:password"`)
		}
		return authorization("Basic " + base64.StdEncoding.EncodeToString([]byte(secret))), nil
	}
	return credential{}, fmt.Errorf("security schemes of the type %q %q are not supported; apiKey, http basic and bearer, oauth2 and openIdConnect are", kind, scheme.str("scheme"))
}

func authorization(value string) credential {
	return credential{inHeader, "Authorization", func(req *http.Request) { req.Header.Set("Authorization", value) }}
}

func apiKey(in, name, secret string) (credential, error) {
	c := credential{in: in, field: name}
	switch in {
	case inHeader:
		if err := nethttp.CheckHeaderName(name); err != nil {
			return c, fmt.Errorf("the key's header field %q %w", name, err)
		}
		c.add = func(req *http.Request) { req.Header.Set(name, secret) }
	case inQuery:
		key := escape(name, "") + "=" + escape(secret, "")
		c.add = func(req *http.Request) { req.URL.RawQuery = strings.TrimPrefix(req.URL.RawQuery+"&"+key, "&") }
	case inCookie:
		if !nethttp.IsToken(name) || strings.ContainsAny(secret, "; ,\"\\") {
			return c, fmt.Errorf("the key's cookie %q cannot be written", name)
		}
		c.add = func(req *http.Request) { addCookie(req.Header, name, secret) }
	default:
		return c, fmt.Errorf("the key stands in %q; header, query and cookie are supported", in)
	}
	return c, nil
}

func addCookie(header http.Header, name, value string) {
	cookies := header.Get("Cookie")
	if cookies != "" {
		cookies += "; "
	}
	header.Set("Cookie", cookies+name+"="+value)
}

// chosen are the credentials an operation is sent with: those of its first
// alternative that are all there and are any. It is not ok if it wants some and
// none fit.
func (d *document) chosen(operation *node, have map[string]credential) (use []credential, ok bool) {
	alternatives := operation.get("security")
	if alternatives == nil {
		alternatives = d.root.get("security")
	}
	if alternatives == nil || len(alternatives.kids) == 0 {
		return nil, true
	}
	for _, alternative := range alternatives.kids {
		use = nil
		for _, name := range alternative.names {
			if c, given := have[name]; given {
				use = append(use, c)
			}
		}
		if len(use) == len(alternative.names) {
			ok = true
			if len(use) > 0 {
				return use, true
			}
		}
	}
	return nil, ok
}
